import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { uploadByteRate } from './areas/files/index.ts'
import { areas } from './areas/index.ts'
import { requestRates } from './common/request-rates.ts'
import type { Rate } from './kit/limits.ts'
import { regions } from './plain/regions.ts'

/** The only reader of the environment: one table of settings, each checked and named in its complaint. */

/** A value that never prints. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toJSON(): string {
    return '****'
  }
  toString(): string {
    return '****'
  }
}

/** Something is wrong with the settings; the message names the variable. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

interface Setting<T> {
  variable: string
  flag: string
  about: string
  fallback: string
  read(text: string): T
}

function setting<T>(
  variable: string,
  about: string,
  fallback: string,
  read: (text: string, complain: (why: string) => never) => T,
): Setting<T> {
  const complain = (why: string): never => {
    throw new ConfigError(`${variable} ${why}.`)
  }
  const flag = variable.replace('PARLEY_', '').toLowerCase().replaceAll('_', '-')
  return { variable, flag, about, fallback, read: (text) => read(text, complain) }
}

type Complain = (why: string) => never

const text = (value: string) => value
const optional =
  <T>(read: (value: string, complain: Complain) => T) =>
  (value: string, complain: Complain): T | undefined =>
    value === '' ? undefined : read(value, complain)

const wholeNumber = (min: number, max: number) => (value: string, complain: Complain) => {
  const number = Number(value)
  if (!/^\d+$/.test(value) || number < min || number > max) {
    complain(`must be a whole number from ${min} to ${max}, not "${value}"`)
  }
  return number
}

const oneOf =
  <const Words extends readonly string[]>(...words: Words) =>
  (value: string, complain: Complain): Words[number] =>
    words.includes(value) ? value : complain(`must be one of ${words.join(', ')}, not "${value}"`)

const yesOrNo = (value: string, complain: Complain): boolean => {
  if (!/^(true|false|1|0)$/i.test(value)) complain(`must be true or false, not "${value}"`)
  return /^(true|1)$/i.test(value)
}

/** Those that can be kept to; the other two would let the server decide whether anything is encrypted. */
const sslModes = ['disable', 'require', 'verify-ca', 'verify-full']
const sslFiles = ['sslrootcert', 'sslcert', 'sslkey']

const databaseUrl = (value: string, complain: Complain) => {
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) complain('must be a postgres:// address')
  const options = new URL(value).searchParams
  const mode = options.get('sslmode')
  if (mode !== null && !sslModes.includes(mode)) {
    complain(`must have an sslmode of ${sslModes.join(', ')}, not "${mode}"`)
  }
  if (mode === 'verify-ca' && !options.has('sslrootcert')) {
    complain('must name the certificate to go by as sslrootcert where its sslmode is verify-ca')
  }
  for (const name of sslFiles) {
    const path = options.get(name)
    if (path !== null && !existsSync(path)) complain(`names a file as ${name} that does not exist: ${path}`)
  }
  return new Secret(value)
}

const redisUrl = (value: string, complain: Complain) => {
  if (!/^rediss?:\/\//.test(value) || !URL.canParse(value)) complain('must be a redis:// address')
  return new Secret(value)
}

const domainName = (value: string, complain: Complain) =>
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(value)
    ? value
    : complain(`must be a domain name in lower case, not "${value}"`)

const file = (value: string, complain: Complain) => {
  const path = resolve(value)
  if (!existsSync(path)) complain(`names a file that does not exist: ${path}`)
  return path
}

const addressRanges = (value: string, complain: Complain) =>
  list(value).map((range) => {
    try {
      return range.includes('/') ? ipaddr.parseCIDR(range) : wholeAddress(range)
    } catch {
      return complain(`must list addresses or ranges such as 10.0.0.0/8, not "${range}"`)
    }
  })

const wholeAddress = (address: string) => {
  const parsed = ipaddr.parse(address)
  return [parsed, parsed.kind() === 'ipv4' ? 32 : 128] as [ipaddr.IPv4 | ipaddr.IPv6, number]
}

const address4 = (value: string, complain: Complain) =>
  ipaddr.IPv4.isValidFourPartDecimal(value) ? value : complain(`must be an IPv4 address, not "${value}"`)

const lowestPort = 1_024
const highestPort = 65_535
const portsMin = 100
const portsOfProcessMin = 50

/** Kept as it is written; `portsIn` takes it apart. */
const portRange = (value: string, complain: Complain) => {
  const [, first = '', last = ''] = /^(\d{4,5})-(\d{4,5})$/.exec(value) ?? []
  const isWhole = Number(first) >= lowestPort && Number(last) <= highestPort
  return isWhole && Number(last) - Number(first) + 1 >= portsMin
    ? value
    : complain(`must be ${portsMin} ports or more, such as 30000-30999, not "${value}"`)
}

export function portsIn(range: string): { first: number; last: number } {
  const [first = 0, last = 0] = range.split('-').map(Number)
  return { first, last }
}

const masterKey = (value: string, complain: Complain) =>
  /^[0-9a-f]{64}$/i.test(value) ? new Secret(value.toLowerCase()) : complain('must be 64 hexadecimal characters')

const roles = (value: string, complain: Complain) => list(value).map((role) => oneOf('api', 'worker')(role, complain))

function list(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

const million = 1_000_000
const bytesPerMegabyte = million

const webAddress = (value: string, complain: Complain) =>
  /^https?:\/\//.test(value) && URL.canParse(value)
    ? value
    : complain(`must be an http or https address, not "${value}"`)

const settings = {
  data: setting('PARLEY_DATA', 'Folder for the embedded database, keys and certificates', '.parley', (value) =>
    resolve(value),
  ),
  host: setting('PARLEY_HOST', 'Address to listen on', '127.0.0.1', text),
  port: setting('PARLEY_PORT', 'Port to listen on; 0 takes a free one', '8443', wholeNumber(0, 65_535)),
  domain: setting('PARLEY_DOMAIN', 'Domain that the app addresses end in', 'localhost', domainName),
  region: setting('PARLEY_REGION', 'Region that this install serves', 'us', oneOf(...regions)),
  databaseUrl: setting(
    'PARLEY_DATABASE_URL',
    'PostgreSQL address; the embedded database if empty',
    '',
    optional(databaseUrl),
  ),
  databaseConnections: setting(
    'PARLEY_DATABASE_CONNECTIONS',
    'Connections to PostgreSQL, at most',
    '10',
    wholeNumber(2, 500),
  ),
  readers: setting(
    'PARLEY_READERS',
    'Searches and other long reads under way at once, each in a process or on a connection of its own',
    '2',
    wholeNumber(1, 64),
  ),
  readSeconds: setting(
    'PARLEY_READ_SECONDS',
    'How long a search or another long read may take before it is ended',
    '5',
    wholeNumber(1, 60),
  ),
  redisUrl: setting(
    'PARLEY_REDIS_URL',
    'Redis address; counts and presence stay in the process if empty',
    '',
    optional(redisUrl),
  ),
  masterKey: setting(
    'PARLEY_MASTER_KEY',
    'Key that secrets are encrypted under; a file in the data folder if empty',
    '',
    optional(masterKey),
  ),
  tlsCert: setting('PARLEY_TLS_CERT', 'Certificate file (PEM); a local one is made if empty', '', optional(file)),
  tlsKey: setting('PARLEY_TLS_KEY', 'Private key file (PEM) of the certificate', '', optional(file)),
  trustProxy: setting(
    'PARLEY_TRUST_PROXY',
    'Addresses of proxies whose X-Forwarded-* headers are believed',
    '',
    addressRanges,
  ),
  roles: setting('PARLEY_ROLES', 'What this process does: api, worker', 'api,worker', roles),
  emulator: setting('PARLEY_EMULATOR', 'Open the emulator door: scripted calls, movable clock', 'false', yesOrNo),
  logLevel: setting(
    'PARLEY_LOG_LEVEL',
    'What is logged',
    'info',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
  ),
  metricsToken: setting(
    'PARLEY_METRICS_TOKEN',
    'Bearer token for /metrics; only this machine may read it if empty',
    '',
    optional((value) => new Secret(value)),
  ),
  ringSeconds: setting('PARLEY_RING_SECONDS', 'How long an unanswered call rings', '45', wholeNumber(10, 180)),
  leaseSeconds: setting(
    'PARLEY_LEASE_SECONDS',
    'After how long a silent participant counts as gone',
    '60',
    wholeNumber(5, 3_600),
  ),
  appsMax: setting(
    'PARLEY_APPS_MAX',
    'Apps an account may have; no limit if empty',
    '',
    optional(wholeNumber(1, million)),
  ),
  publicPort: setting(
    'PARLEY_PUBLIC_PORT',
    'Port that clients reach the service at, for addresses in answers; the one listened on if empty',
    '',
    optional(wholeNumber(1, 65_535)),
  ),
  fileMegabytesMax: setting(
    'PARLEY_FILE_MEGABYTES_MAX',
    'Megabytes that a file may have, and all files of a request together',
    '100',
    wholeNumber(1, 10_000),
  ),
  filesMax: setting('PARLEY_FILES_MAX', 'Files that a message may have', '10', wholeNumber(1, 100)),
  fileUrlHours: setting(
    'PARLEY_FILE_URL_HOURS',
    'How long the address of a file works, at least; twice as long at most',
    '24',
    wholeNumber(1, 8_760),
  ),
  uploadStallSeconds: setting(
    'PARLEY_UPLOAD_STALL_SECONDS',
    'After how long without a byte an upload is given up',
    '30',
    wholeNumber(1, 600),
  ),
  downloadStallSeconds: setting(
    'PARLEY_DOWNLOAD_STALL_SECONDS',
    'After how long without taking anything of an answer a client is let go',
    '300',
    wholeNumber(1, 3_600),
  ),
  connectionsMax: setting(
    'PARLEY_CONNECTIONS_MAX',
    'Connections at a time; idle ones make room for new ones',
    '10000',
    wholeNumber(1, million),
  ),
  connectionsPerAddressMax: setting(
    'PARLEY_CONNECTIONS_PER_ADDRESS_MAX',
    'The same from one address, unless it is that of a trusted proxy',
    '1000',
    wholeNumber(1, million),
  ),
  heldMegabytesMax: setting(
    'PARLEY_HELD_MEGABYTES_MAX',
    'Megabytes held in memory for clients that have not taken their answer or not sent their request to the end',
    '256',
    wholeNumber(16, 100_000),
  ),
  s3Bucket: setting(
    'PARLEY_S3_BUCKET',
    'Bucket of an S3-compatible store for files; the data folder if empty',
    '',
    optional(text),
  ),
  s3Endpoint: setting('PARLEY_S3_ENDPOINT', 'Address of the store; that of AWS if empty', '', optional(webAddress)),
  s3Region: setting('PARLEY_S3_REGION', 'Region of the bucket', 'us-east-1', text),
  s3AccessKey: setting(
    'PARLEY_S3_ACCESS_KEY',
    'Access key of the store',
    '',
    optional((value) => new Secret(value)),
  ),
  s3SecretKey: setting(
    'PARLEY_S3_SECRET_KEY',
    'Secret key of the store',
    '',
    optional((value) => new Secret(value)),
  ),
  media: setting(
    'PARLEY_MEDIA',
    'Media of calls: on, off, or auto, which does without where it cannot be had',
    'auto',
    oneOf('auto', 'on', 'off'),
  ),
  mediaJanus: setting(
    'PARLEY_MEDIA_JANUS',
    'Program file of the media engine; looked for in the usual folders if empty',
    '',
    optional(text),
  ),
  mediaAddress: setting(
    'PARLEY_MEDIA_ADDRESS',
    'Address of this machine that media goes to, not loopback; the first one if empty',
    '',
    optional(address4),
  ),
  mediaPublicAddress: setting(
    'PARLEY_MEDIA_PUBLIC_ADDRESS',
    'Address that clients reach the media address by, where it is another (1:1 NAT)',
    '',
    optional(address4),
  ),
  mediaPorts: setting('PARLEY_MEDIA_PORTS', 'UDP ports of media; each device takes two', '30000-30999', portRange),
  mediaProcesses: setting(
    'PARLEY_MEDIA_PROCESSES',
    'Processes of the media engine, at most; calls are spread over them',
    '2',
    wholeNumber(1, 32),
  ),
  mediaUid: setting(
    'PARLEY_MEDIA_UID',
    'User id that engines run as if Parley runs as root; nobody if empty',
    '',
    optional(wholeNumber(1, 4_294_967_294)),
  ),
  mediaRelay: setting(
    'PARLEY_MEDIA_RELAY',
    'Relay (TURN) for clients that no media reaches otherwise: on, off, or auto: if there is a public address',
    'auto',
    oneOf('auto', 'on', 'off'),
  ),
  mediaRelayPort: setting('PARLEY_MEDIA_RELAY_PORT', 'UDP and TCP port of the relay', '3478', wholeNumber(1, 65_535)),
  mediaRelayPorts: setting(
    'PARLEY_MEDIA_RELAY_PORTS',
    'UDP ports that the relay reaches the media engine from',
    '31000-31999',
    portRange,
  ),
  mediaRelayMinutes: setting(
    'PARLEY_MEDIA_RELAY_MINUTES',
    'How long a device may begin to use the relay with the credentials it was given',
    '60',
    wholeNumber(1, 1_440),
  ),
  logRetentionDays: setting(
    'PARLEY_EVENT_RETENTION_DAYS',
    'How long events are kept for late readers',
    '7',
    wholeNumber(1, 3_650),
  ),
}

type LimitVariable = Rate['setting']['variable']

/** Limits are declared with what is counted, and go by the names of their variables. */
const limitSettings: Record<LimitVariable, Setting<number>> = Object.fromEntries(
  [...requestRates, ...areas.flatMap(({ rates }) => rates)].map(({ setting: { variable, about, usual } }) => [
    variable,
    setting(variable, about, String(usual), wholeNumber(1, 1_000 * million)),
  ]),
)

const allSettings = { ...settings, ...limitSettings }

export type Config = { [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['read']> } & Partial<
  Record<LimitVariable, number>
>

/** How much there may be of what is counted. */
export function limitIn(config: Config, { setting: { variable, usual }, times = 1 }: Rate): number {
  return Math.ceil((config[variable] ?? usual) * times)
}

export const settingsList = Object.values(allSettings).map(({ variable, flag, about, fallback }) => ({
  variable,
  flag,
  about,
  fallback,
}))

/** The effective settings: flags before environment before defaults. */
export function readConfig(
  environment: Record<string, string | undefined>,
  flags: Record<string, string | undefined> = {},
): Config {
  const known = new Set(settingsList.map(({ variable }) => variable))
  const unknown = Object.keys(environment).find((name) => name.startsWith('PARLEY_') && !known.has(name))
  if (unknown) throw new ConfigError(`${unknown} is not a setting of Parley; "parley config --help" lists them all.`)
  const config = Object.fromEntries(
    Object.entries(allSettings).map(([name, each]) => [
      name,
      each.read(flags[each.flag] ?? environment[each.variable] ?? each.fallback),
    ]),
  ) as Config
  refuseContradictions(config)
  return config
}

function refuseContradictions(config: Config): void {
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    throw new ConfigError('PARLEY_TLS_CERT and PARLEY_TLS_KEY belong together; set both or none.')
  }
  if (config.databaseUrl && config.emulator && config.redisUrl) {
    throw new ConfigError(
      'PARLEY_EMULATOR moves the clock of one process only; do not combine it with PARLEY_REDIS_URL.',
    )
  }
  if (config.s3Bucket && !(config.s3AccessKey && config.s3SecretKey)) {
    throw new ConfigError('PARLEY_S3_BUCKET needs PARLEY_S3_ACCESS_KEY and PARLEY_S3_SECRET_KEY.')
  }
  if (limitIn(config, uploadByteRate) < config.fileMegabytesMax * bytesPerMegabyte) {
    throw new ConfigError('PARLEY_LIMIT_UPLOAD_MEGABYTES must not be less than PARLEY_FILE_MEGABYTES_MAX.')
  }
  if (overlap(portsIn(config.mediaPorts), portsIn(config.mediaRelayPorts))) {
    throw new ConfigError('PARLEY_MEDIA_PORTS and PARLEY_MEDIA_RELAY_PORTS must have no port in common.')
  }
  const { first, last } = portsIn(config.mediaPorts)
  if ((last - first + 1) / config.mediaProcesses < portsOfProcessMin) {
    throw new ConfigError(
      `PARLEY_MEDIA_PROCESSES must not be more than one for ${portsOfProcessMin} ports of PARLEY_MEDIA_PORTS.`,
    )
  }
  if (config.roles.length === 0) throw new ConfigError('PARLEY_ROLES must name at least one role.')
}

type Ports = ReturnType<typeof portsIn>

const overlap = (one: Ports, other: Ports) => one.first <= other.last && other.first <= one.last
