import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ConfigError, readConfig, settingsList } from '../config.ts'
import { ApiError } from '../kit/errors.ts'
import { type Command, table, UsageError } from './command.ts'

/** Each is loaded when it is asked for: a look at the keys needs nothing of what a server is made of. */
const commands = new Map<string, () => Promise<Command>>([
  ['start', async () => (await import('./start.ts')).start],
  ['trial', async () => (await import('./trial.ts')).trial],
  ['migrate', async () => (await import('./migrate.ts')).migrate],
  ['config', async () => (await import('./settings.ts')).config],
  ['apps', async () => (await import('./apps.ts')).apps],
  ['keys', async () => (await import('./keys.ts')).keys],
  ['jobs', async () => (await import('./jobs.ts')).jobs],
  ['seed', async () => (await import('./seed.ts')).seed],
  ['backup', async () => (await import('./backup.ts')).backup],
  ['restore', async () => (await import('./restore.ts')).restore],
  ['trust', async () => (await import('./trust.ts')).trust],
  ['doctor', async () => (await import('./doctor.ts')).doctor],
])

const exitFailed = 1
const exitUsage = 2

const commonOptions = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  ...Object.fromEntries(settingsList.map(({ flag }) => [flag, { type: 'string' }])),
} as const

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}

async function overview(): Promise<string> {
  const all = await Promise.all([...commands.values()].map((load) => load()))
  const width = Math.max(...all.map(({ name }) => name.length))
  const lines = all.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`)
  return `parley COMMAND [--json] [--help]\n\n${lines.join('\n')}\n\n"parley COMMAND --help" says more.\n`
}

function helpFor({ usage, about, options = {}, showsSettings }: Command): string {
  const own = Object.entries(options).map(([flag, { about: what }]) => [`  --${flag}`, what])
  const settings = settingsList.map(({ flag, variable, about: what, fallback }) => [
    `  --${flag}`,
    `${what}${fallback === '' ? '' : ` [${fallback}]`} (${variable})`,
  ])
  return [
    ...usage,
    '',
    about,
    '',
    table([...own, ['  --json', 'Answer as JSON']]),
    '',
    ...(showsSettings
      ? ['Settings, by flag or by environment variable:', table(settings)]
      : ['Settings are taken as flags too; "parley config --help" lists them.']),
    '',
  ].join('\n')
}

type Say = (text: string) => void

async function run(argv: string[], environment: NodeJS.ProcessEnv, say: Say): Promise<number> {
  const [name, ...rest] = argv
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    say(await overview())
    return name === undefined ? exitUsage : 0
  }
  if (name === '--version') {
    say(`${version()}\n`)
    return 0
  }
  const load = commands.get(name)
  if (!load) throw new UsageError(`There is no command "${name}". "parley --help" lists them.`)
  const command = await load()
  const { values, positionals } = parse(command, rest)
  if (values.help === true) {
    say(helpFor(command))
    return 0
  }
  const outcome = await command.run({
    config: readConfig(environment, settingFlags(values)),
    words: positionals,
    flags: values,
    json: values.json === true,
  })
  if (!outcome) return 0
  say(`${values.json === true ? JSON.stringify(outcome.data) : outcome.text}\n`)
  return outcome.ok === false ? exitFailed : 0
}

type Values = Record<string, string | boolean | undefined>

function parse(command: Command, args: string[]): { values: Values; positionals: string[] } {
  try {
    const options = { ...commonOptions, ...command.options }
    return parseArgs({ args, options, allowPositionals: true }) as { values: Values; positionals: string[] }
  } catch (error) {
    const option = /Unknown option '(-[^']*)'/.exec((error as Error).message)?.[1]
    const reason = option ? `There is no option ${option}.` : (error as Error).message
    throw new UsageError(`${reason}\nUsage: ${command.usage.join('\n       ')}`)
  }
}

function settingFlags(values: Values): Record<string, string | undefined> {
  return Object.fromEntries(settingsList.map(({ flag }) => [flag, values[flag] as string | undefined]))
}

function detailLines({ details = {} }: ApiError): string[] {
  return Object.entries(details).map(([field, sentences]) => `${field} ${[sentences].flat().join(', ')}`)
}

function explain(error: unknown): { code: number; text: string } {
  if (error instanceof UsageError || error instanceof ConfigError) return { code: exitUsage, text: error.message }
  if (error instanceof ApiError) return { code: exitFailed, text: [error.message, ...detailLines(error)].join('\n  ') }
  const { code, message, port } = error as { code?: string; message: string; port?: number }
  if (code === 'EADDRINUSE')
    return { code: exitFailed, text: `Port ${port} is in use. Choose another with PARLEY_PORT, or 0 for a free one.` }
  if (code === 'ENOENT') return { code: exitFailed, text: `There is no such file or folder: ${message}.` }
  if (code === 'EACCES') return { code: exitFailed, text: `Not allowed: ${message}.` }
  if (code === 'ECONNREFUSED') return { code: exitFailed, text: `Cannot reach the database or Redis: ${message}` }
  return { code: exitFailed, text: message }
}

/** How a command ended: its exit code, and what it complains of. */
export interface Ending {
  code: number
  complaint?: string
}

/** Runs what the words say, in whatever process this is. */
export async function obey(words: string[], environment: NodeJS.ProcessEnv, say: Say): Promise<Ending> {
  try {
    return { code: await run(words, environment, say) }
  } catch (error) {
    const { code, text } = explain(error)
    return { code, complaint: `parley: ${text}\n` }
  }
}

/** The parley command: runs what the words say, and leaves the exit code. */
export async function parley(words: string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const { code, complaint } = await obey(words, environment, (text) => process.stdout.write(text))
  process.exitCode = code
  if (complaint === undefined) return
  process.stderr.write(complaint)
  process.exit(code)
}
