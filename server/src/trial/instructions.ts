import { regions } from '../plain/regions.ts'

/** What a person has to tell clients, so that names of another service lead to this install. */
export interface Trial {
  domain: string
  region: string
  port: number
  proxyPort: number
  caFile: string
  appIds: string[]
}

/** The names of the trial: those that the install's certificate is made out to, and no other. */
export function trialNames(domain: string): (host: string) => boolean {
  const end = `.${domain}`
  const known = new Set(['apimgmt', ...regions.map((region) => `api-${region}`)])
  const ofApp = new RegExp(`^[a-z0-9]{1,32}\\.(api|apiclient|call)-(${regions.join('|')})$`)
  return (host) => {
    const name = host.endsWith(end) ? host.slice(0, -end.length) : ''
    return known.has(name) || ofApp.test(name)
  }
}

/** Variables that common clients go by: the proxy, and the authority to trust. */
export function trialEnvironment({ proxyPort, caFile }: Trial): Record<string, string> {
  const proxy = `http://127.0.0.1:${proxyPort}`
  return {
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    // Node asks to be told that it should look at the proxy at all.
    NODE_USE_ENV_PROXY: '1',
    NODE_EXTRA_CA_CERTS: caFile,
    SSL_CERT_FILE: caFile,
    CURL_CA_BUNDLE: caFile,
    REQUESTS_CA_BUNDLE: caFile,
  }
}

/** The same for a shell. */
export function exportLines(environment: Record<string, string>): string {
  return Object.entries(environment)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('')
}

/** For `/etc/hosts`, where a client knows nothing of proxies; such a file has no wildcards, so it names every app. */
export function hostsLines({ domain, region, appIds }: Trial): string[] {
  const shared = `127.0.0.1 api-${region}.${domain} apimgmt.${domain}`
  const ofApps = appIds.map((id) =>
    ['127.0.0.1', ...['api', 'apiclient', 'call'].map((host) => `${id}.${host}-${region}.${domain}`)].join(' '),
  )
  return [shared, ...ofApps]
}

export function trialText(trial: Trial, environmentFile: string): string {
  const { domain, region, port, proxyPort, caFile, appIds } = trial
  const app = appIds[0] ?? 'APP_ID'
  return `
  Parley answers as ${domain}, on this machine only.

  Clients that know of proxies (curl, Node 24, Python, most HTTP libraries):

    . ${quoted(environmentFile)}

  That sends what goes to the API's names in ${domain} over 127.0.0.1:${proxyPort} to this install; all else is refused.

  curl without it:

    curl --cacert ${quoted(caFile)} --connect-to ::127.0.0.1:${port} \\
      -H 'apikey: KEY' 'https://${app}.api-${region}.${domain}/v3/users'

  Clients that know nothing of proxies need these lines in /etc/hosts, and --port 443${port === 443 ? ' (as it is)' : ''}:

    ${hostsLines(trial).join('\n    ')}

  ${appIds.length === 0 ? 'There are no apps yet: "npx parley apps create --name NAME" makes one.' : `Apps: ${appIds.join(', ')}`}
  Keys: "npx parley keys list --app ID". Stop with Ctrl-C.

`
}

function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
