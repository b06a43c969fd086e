import type { Place } from './ports.ts'

const httpsPort = 443

/** The domain as it ends the host in an address; the port that everybody expects is not named. */
export function domainWithPort({ domain, port }: Pick<Place, 'domain' | 'port'>): string {
  return port === httpsPort ? domain : `${domain}:${port}`
}
