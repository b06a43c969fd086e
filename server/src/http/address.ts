/**
 * What a host name says: an app in a region on the chat or the calls host, a region alone, the management host, or nothing.
 * Clients of end users have a name of their own for the chat host, which is that host in all that follows.
 */
export interface Address {
  kind: 'app' | 'region' | 'management' | 'bare'
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
  // Whatever is shaped like an app's host names an app, if only one that does not exist; without the label of an app, the
  // chat host of a region is left.
  const base = domain.replaceAll('.', '\\.')
  const ofApp = new RegExp(`^(.*)\\.(api|apiclient|call)-([^.]*)\\.${base}$`)
  const ofRegion = new RegExp(`^api-([^.]*)\\.${base}$`)
  const remembered = new Map<string, Address>()

  function parse(host: string): Address {
    const name = host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
    if (name === `apimgmt.${domain}`) return management
    const app = ofApp.exec(name)
    if (app) return { kind: 'app', host: app[2] === 'call' ? 'call' : 'api', appId: app[1], region: app[3] }
    const region = ofRegion.exec(name)
    return region ? { ...bare, kind: 'region', region: region[1] } : bare
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
