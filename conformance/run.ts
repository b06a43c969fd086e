import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { findingLines, summary } from './report.ts'
import { checkedAreas, examine, type Finding, type Target, usualPatienceSeconds } from './suite.ts'

/** Holds a server against the contract: npm run conformance -- --url … --api-key … --auth-key … */

const usage = `Usage: npm run conformance -- WHERE [options]

  --credentials FILE   the credentials.json of a demo install; says all that follows
  --url URL            the chat address, with /v3
  --calls-url URL      the calls address, with /v3; the chat address unless given
  --api-key KEY        a fullAccess key of an app that may be written to
  --auth-key KEY       an authOnly key of the same app
  --management-url URL, --management-key KEY, --management-secret SECRET, --app ID
                       the management door and the app's id there; without them its checks are not seen
  --ca FILE            certificate authority to trust
  --connect-to H:P     connect there, whatever the address says (for names without DNS)
  --only AREA[,AREA]   only these: ${checkedAreas.map(({ name }) => name).join(', ')}
  --patience SECONDS   how long a consequence may take to be seen; ${usualPatienceSeconds} unless given
  --json               one JSON document instead of the table

The suite makes users, groups, keys and roles of its own and removes them. The exit code is 0 if all holds, 1 if something does
not, 2 if it was called wrongly.`

const exitUsage = 2

interface Flags {
  credentials?: string
  url?: string
  'calls-url'?: string
  'api-key'?: string
  'auth-key'?: string
  'management-url'?: string
  'management-key'?: string
  'management-secret'?: string
  app?: string
  ca?: string
  'connect-to'?: string
  only?: string
  patience?: string
  json?: boolean
  help?: boolean
}

function readFlags(): Flags {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    options: {
      credentials: text,
      url: text,
      'calls-url': text,
      'api-key': text,
      'auth-key': text,
      'management-url': text,
      'management-key': text,
      'management-secret': text,
      app: text,
      ca: text,
      'connect-to': text,
      only: text,
      patience: text,
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  return values
}

interface CredentialsFile {
  baseUrl?: string
  callsBaseUrl?: string
  apiKey?: string
  authKey?: string
  managementUrl?: string
  managementKey?: string
  managementSecret?: string
  appId?: string
  caFile?: string
}

function targetOf(flags: Flags): Target {
  const file: CredentialsFile = flags.credentials ? JSON.parse(readFileSync(flags.credentials, 'utf8')) : {}
  const url = flags.url ?? file.baseUrl
  const apiKey = flags['api-key'] ?? file.apiKey
  const authKey = flags['auth-key'] ?? file.authKey
  if (!url || !apiKey || !authKey) throw new Error('An address, an API key and an auth key are needed.')
  const ca = flags.ca ?? file.caFile
  return {
    url: withoutSlash(url),
    callsUrl: withoutSlash(flags['calls-url'] ?? file.callsBaseUrl ?? url),
    apiKey,
    authKey,
    management: managementOf(flags, file),
    ca: ca === undefined ? undefined : readFileSync(ca, 'utf8'),
    connectTo: flags['connect-to'] ?? loopbackFor(url),
    patienceSeconds: patienceOf(flags.patience),
  }
}

function patienceOf(seconds: string | undefined): number | undefined {
  if (seconds !== undefined && !/^\d{1,4}$/.test(seconds)) throw new Error('The patience is a number of seconds.')
  return seconds === undefined ? undefined : Number(seconds)
}

function managementOf(flags: Flags, file: CredentialsFile): Target['management'] {
  const url = flags['management-url'] ?? file.managementUrl
  const key = flags['management-key'] ?? file.managementKey
  const secret = flags['management-secret'] ?? file.managementSecret
  const appId = flags.app ?? file.appId
  return url && key && secret && appId ? { url: withoutSlash(url), key, secret, appId } : undefined
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** Names below `localhost` mean this machine; not every resolver knows. */
function loopbackFor(url: string): string | undefined {
  const { hostname, port } = new URL(url)
  return hostname.endsWith('.localhost') ? `127.0.0.1:${port || 443}` : undefined
}

function chosenAreas(only: string | undefined) {
  if (only === undefined) return checkedAreas
  const names = only.split(',')
  const unknown = names.find((name) => !checkedAreas.some((area) => area.name === name))
  if (unknown !== undefined) throw new Error(`There is no area "${unknown}".`)
  return checkedAreas.filter(({ name }) => names.includes(name))
}

function understood() {
  try {
    const flags = readFlags()
    if (flags.help) {
      console.log(usage)
      process.exit(0)
    }
    return { target: targetOf(flags), areas: chosenAreas(flags.only), json: flags.json === true }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    process.exit(exitUsage)
  }
}

const { target, areas, json } = understood()
let previous: Finding | undefined
const findings = await examine(target, areas, (finding) => {
  if (!json) console.log(findingLines(finding, previous))
  previous = finding
})
if (json) console.log(JSON.stringify({ url: target.url, findings }, null, 2))
else console.log(`\n${summary(findings)}`)
process.exitCode = findings.some(({ verdict }) => verdict === 'does not hold') ? 1 : 0
