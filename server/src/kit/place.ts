import type { Place } from './ports.ts'

const httpsPort = 443

/** The domain as it ends the host in an address; the port that everybody expects is not named. */
export function domainWithPort({ domain, port }: Pick<Place, 'domain' | 'port'>): string {
  return port === httpsPort ? domain : `${domain}:${port}`
}

/** Where a host of this install is reached, by the part of its name before the domain. */
export function originOf(place: Pick<Place, 'domain' | 'port'>, name: string): string {
  return `https://${name}.${domainWithPort(place)}`
}
