const httpsPort = 443

/** Where an install is reached. */
interface Site {
  domain: string
  port: number
}

/** The domain as it ends the host in an address; the port that everybody expects is not named. */
export function domainWithPort({ domain, port }: Site): string {
  return port === httpsPort ? domain : `${domain}:${port}`
}

/** Where a host of this install is reached, by the part of its name before the domain. */
export function originOf(place: Site, name: string): string {
  return `https://${name}.${domainWithPort(place)}`
}
