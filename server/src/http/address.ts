/** What a host name says: an app in a region on the chat or the calls host, the management host, or nothing. */
export interface Address {
  kind: 'app' | 'management' | 'bare'
  host: 'api' | 'call'
  appId: string | undefined
  region: string | undefined
}

const bare: Address = { kind: 'bare', host: 'api', appId: undefined, region: undefined }
const management: Address = { ...bare, kind: 'management' }
const hostsRememberedMax = 10_000
const hostCharactersMax = 255

/** Reads host names of this install's domain; each is parsed once. */
export function addressReader(domain: string): (host: string | undefined) => Address {
  // Whatever is shaped like an app's host names an app, if only one that does not exist.
  const shape = new RegExp(`^(.*)\\.(api|call)-([^.]*)\\.${domain.replaceAll('.', '\\.')}$`)
  const remembered = new Map<string, Address>()

  function parse(host: string): Address {
    const name = host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
    if (name === `apimgmt.${domain}`) return management
    const match = shape.exec(name)
    if (!match) return bare
    return { kind: 'app', host: match[2] as Address['host'], appId: match[1], region: match[3] }
  }

  return (host) => {
    if (host === undefined || host.length > hostCharactersMax) return bare
    let address = remembered.get(host)
    if (!address) {
      address = parse(host)
      if (remembered.size >= hostsRememberedMax) remembered.clear()
      remembered.set(host, address)
    }
    return address
  }
}
