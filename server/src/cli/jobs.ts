import type { House } from '../compose.ts'
import {
  dropAllDead,
  dropDead,
  findJob,
  type JobFilter,
  type JobState,
  jobIdOf,
  jobStates,
  listJobs,
  parseJobId,
  retryAllDead,
  retryDead,
  stateOf,
} from '../storage/job-rows.ts'
import type { JobRow } from '../storage/tables.ts'
import { type Command, type CommandOutcome, type Invocation, table, UsageError, withExistingHouse } from './command.ts'

const shownMax = 100
const errorCharactersShown = 80

export const jobs: Command = {
  name: 'jobs',
  usage: [
    'parley jobs list [--app ID] [--name NAME] [--state waiting|due|running|dead]',
    'parley jobs show JOB',
    'parley jobs retry JOB',
    'parley jobs retry --all [--app ID] [--name NAME]',
    'parley jobs drop JOB',
    'parley jobs drop --all --name NAME [--app ID]',
  ],
  about: 'List and show work for later; try again, or drop, what was given up. JOB is what the list has in front.',
  options: {
    app: { type: 'string', about: 'Only jobs of this app' },
    name: { type: 'string', about: 'Only jobs of this name' },
    state: { type: 'string', about: `Only jobs that are ${jobStates.join(', ')}` },
    all: { type: 'boolean', about: 'Everything that was given up, as far as --app and --name let it through' },
  },
  async run(invocation) {
    const [verb, id] = invocation.words
    switch (verb) {
      case 'list':
        return list(invocation)
      case 'show':
        return withJob(invocation, id, show)
      case 'retry':
        return invocation.flags.all === true ? retryAll(invocation) : withJob(invocation, id, retry)
      case 'drop':
        return invocation.flags.all === true ? dropAll(invocation) : withJob(invocation, id, drop)
      default:
        throw new UsageError('Say "jobs list", "jobs show", "jobs retry" or "jobs drop".')
    }
  },
}

function filterOf({ flags }: Invocation): JobFilter {
  const text = (flag: string) => (typeof flags[flag] === 'string' ? flags[flag] : undefined)
  const state = text('state')
  if (state !== undefined && !jobStates.includes(state as JobState))
    throw new UsageError(`--state is one of ${jobStates.join(', ')}.`)
  return { appId: text('app'), name: text('name'), state: state as JobState | undefined }
}

function momentIn({ tools }: House) {
  return { due: tools.clock.now(), now: Math.floor(Date.now() / 1000) }
}

function list(invocation: Invocation): Promise<CommandOutcome> {
  const filter = filterOf(invocation)
  return withExistingHouse(invocation.config, async (house) => {
    const { jobs: rows, isCut } = await listJobs(house.database, filter, momentIn(house), shownMax)
    const data = rows.map((row) => shown(house, row))
    if (data.length === 0) return { text: nothingFound(filter), data }
    const lines = data.map(({ id, state, attempts, runAt, lastError }) => [
      ...[
        id,
        state,
        `${attempts}x`,
        time(runAt),
        (lastError ?? '').split('\n')[0]?.slice(0, errorCharactersShown) ?? '',
      ],
    ])
    const rest = isCut ? [`There are more than these ${shownMax}; narrow them with --app, --name or --state.`] : []
    return { text: [table(lines), ...rest].join('\n'), data }
  })
}

function nothingFound({ appId, name, state }: JobFilter): string {
  if (appId === undefined && name === undefined && state === undefined)
    return 'There are no jobs: nothing is left to do.'
  if (appId === undefined && name === undefined && state === 'dead') return 'No job has been given up.'
  return 'There are no such jobs.'
}

function shown(house: House, row: JobRow) {
  return {
    id: jobIdOf(row),
    app: row.app_id,
    name: row.name,
    key: row.key,
    state: stateOf(row, momentIn(house)),
    lane: row.lane,
    destination: row.destination,
    attempts: row.attempts,
    runAt: row.run_at,
    deadAt: row.dead_at,
    lastError: row.last_error,
  }
}

const time = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '')

/** Does something with the job that is named. */
function withJob(
  { config }: Invocation,
  id: string | undefined,
  work: (house: House, row: JobRow) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  if (id === undefined) throw new UsageError('Name a job, as "jobs list" does: APP/NAME/KEY.')
  const parts = parseJobId(id)
  if (!parts) throw new UsageError(`"${id}" names no job; "jobs list" has them in front: APP/NAME/KEY.`)
  return withExistingHouse(config, async (house) => {
    const row = await findJob(house.database, parts)
    if (!row) throw new Error(`There is no job ${id}. It may have been done meanwhile.`)
    return work(house, row)
  })
}

async function show(house: House, row: JobRow): Promise<CommandOutcome> {
  const data = { ...shown(house, row), payload: JSON.parse(row.payload) as unknown }
  const lines = Object.entries(data)
    .filter(([, value]) => value !== null && value !== '')
    .map(([field, value]) => [field, readable(field, value)])
  return { text: table(lines), data }
}

function readable(field: string, value: unknown): string {
  if (field.endsWith('At')) return time(value as number)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

async function retry({ database, tools }: House, row: JobRow): Promise<CommandOutcome> {
  requireDead(row, await database.write((connection) => retryDead(connection, row, tools.clock.now())))
  database.wake()
  return { text: `The job ${jobIdOf(row)} is tried again.`, data: { retried: 1 } }
}

async function drop({ database }: House, row: JobRow): Promise<CommandOutcome> {
  requireDead(row, await database.write((connection) => dropDead(connection, row)))
  return { text: `The job ${jobIdOf(row)} is dropped.`, data: { dropped: 1 } }
}

/** What is not dead is still going to happen; whoever waits for it would wait in vain. */
function requireDead(row: JobRow, wasDead: boolean): void {
  if (!wasDead) throw new Error(`The job ${jobIdOf(row)} has not been given up; it is left as it is.`)
}

function retryAll(invocation: Invocation): Promise<CommandOutcome> {
  const filter = deadOnly(invocation)
  return withExistingHouse(invocation.config, async ({ database, tools }) => {
    const retried = await retryAllDead(database, filter, tools.clock.now())
    database.wake()
    return {
      text: retried === 0 ? 'There was nothing to try again.' : `${counted(retried)} tried again.`,
      data: { retried },
    }
  })
}

function dropAll(invocation: Invocation): Promise<CommandOutcome> {
  const filter = deadOnly(invocation)
  if (filter.name === undefined) throw new UsageError('--name is needed: what is dropped is gone.')
  return withExistingHouse(invocation.config, async ({ database }) => {
    const dropped = await dropAllDead(database, filter)
    return { text: dropped === 0 ? 'There was nothing to drop.' : `${counted(dropped)} dropped.`, data: { dropped } }
  })
}

function deadOnly(invocation: Invocation): JobFilter {
  const filter = filterOf(invocation)
  if (invocation.words.length > 1) throw new UsageError('Name a job, or say --all; not both.')
  if (filter.state !== undefined && filter.state !== 'dead')
    throw new UsageError('Only what was given up is tried again or dropped; leave --state out.')
  return filter
}

const counted = (jobs: number) => (jobs === 1 ? '1 job is' : `${jobs} jobs are`)
