import { access, constants } from 'node:fs/promises'
import type { House } from '../compose.ts'
import type { Connection } from '../storage/connection.ts'
import { logStart } from '../storage/database.ts'
import { jobIdOf } from '../storage/job-rows.ts'
import { type TenantDb, tenantDb } from '../storage/tenant.ts'
import { type Command, withExistingHouse } from './command.ts'

interface Check {
  check: string
  ok: boolean
  findings: string[]
}

export const doctor: Command = {
  name: 'doctor',
  usage: ['parley doctor [--bucket]'],
  about:
    'Check the install: recompute every call from its ledger, every list of users from the users and every count of a ' +
    'conversation from its messages, compare, look for files without a row and rows without a file, and for what is out ' +
    'of place or stuck. It says whether calls can have media, and if not, why.',
  options: {
    bucket: { type: 'boolean', about: 'Look for files in the S3 bucket too, which is listed from end to end' },
  },
  run: ({ config, flags }) =>
    withExistingHouse(config, async (house) => {
      const checks = [
        await checkFolder(house),
        await checkJobs(house),
        await checkFollowers(house),
        await checkMedia(house),
      ]
      const withStore = config.s3Bucket === undefined || flags.bucket === true
      checks.push(...(await house.database.snapshot((connection) => checkApps(house, connection, withStore))))
      return {
        text: checks
          .flatMap(({ check, ok, findings }) => [
            `${ok ? 'ok  ' : 'BAD '} ${check}`,
            ...findings.map((each) => `       ${each}`),
          ])
          .join('\n'),
        data: { checks },
        ok: checks.every(({ ok }) => ok),
      }
    }),
}

const findingsShownMax = 20

function result(check: string, findings: string[]): Check {
  const shown = findings.slice(0, findingsShownMax)
  const rest = findings.length - shown.length
  return { check, ok: findings.length === 0, findings: rest > 0 ? [...shown, `and ${rest} more`] : shown }
}

async function checkFolder({ config }: House): Promise<Check> {
  const writable = await access(config.data, constants.W_OK).then(
    () => [],
    () => [`${config.data} cannot be written to`],
  )
  return result('the data folder can be written to', writable)
}

async function checkJobs({ database }: House): Promise<Check> {
  const dead = await database.reader.query
    .selectFrom('jobs')
    .select(['app_id', 'name', 'key', 'last_error'])
    .where('dead_at', 'is not', null)
    .execute()
  return result(
    'no job has been given up',
    dead.map((job) => `${jobIdOf(job)}: ${job.last_error}`),
  )
}

const lagMax = 10_000

async function checkFollowers({ database, areas }: House): Promise<Check> {
  const findings: string[] = []
  const rows = await database.reader.query.selectFrom('followers').selectAll().execute()
  for (const follower of areas.flatMap((area) => area.followers)) {
    const position = rows.find(({ name }) => name === follower.name)?.id ?? logStart
    const waiting = await database.eventsAfter(position, lagMax)
    if (waiting.length >= lagMax) findings.push(`${follower.name} is more than ${lagMax} events behind`)
  }
  return result('every follower keeps up with the log', findings)
}

/** Without media all else works, so it is a fault only where it was asked for. */
async function checkMedia({ config, tools }: House): Promise<Check> {
  const trouble = await tools.media.trouble()
  if (trouble === undefined) return result('calls have media', [])
  return { check: 'calls have media, if it was asked for', ok: config.media !== 'on', findings: [trouble] }
}

/** All in one view of the database, or a server that goes on working would look like one that makes mistakes. */
async function checkApps(house: House, connection: Connection, withStore: boolean): Promise<Check[]> {
  const apps = await connection.query.selectFrom('apps').select('id').orderBy('id').execute()
  const checks: Check[] = []
  for (const { id } of apps) {
    const db = tenantDb(connection, id)
    if (await isBeingPurged(house, db)) continue
    for (const { audit } of house.areas) {
      for (const [promise, findings] of Object.entries((await audit.ofApp?.(db, house.tools)) ?? {}))
        checks.push(result(`app ${id}: ${promise}`, findings))
    }
  }
  return withStore ? [...checks, ...(await checkStore(house, connection, apps))] : checks
}

/** An archived app whose time has come goes a batch at a time, and is not whole in between. */
async function isBeingPurged({ tools }: House, db: TenantDb): Promise<boolean> {
  const purge = await db
    .select('jobs')
    .select('jobs.key')
    .where('jobs.name', '=', 'apps.purge')
    .where('jobs.run_at', '<=', tools.clock.now())
    .executeTakeFirst()
  return purge !== undefined
}

async function checkStore(house: House, connection: Connection, apps: { id: string }[]): Promise<Check[]> {
  const { areas, database, tools } = house
  const views = apps.map(({ id }) => ({ snapshot: tenantDb(connection, id), present: tenantDb(database.reader, id) }))
  const checks: Check[] = []
  for (const { audit } of areas) {
    for (const [promise, findings] of Object.entries((await audit.ofStore?.(views, tools)) ?? {}))
      checks.push(result(promise, findings))
  }
  return checks
}
