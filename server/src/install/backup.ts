import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { secretsUnder } from '../adapters/secrets/master-key.ts'
import type { House } from '../compose.ts'
import type { Connection } from '../storage/connection.ts'
import { logStart } from '../storage/database.ts'
import { appliedMigrations, migrate } from '../storage/migrate.ts'
import { houseInstallTables, houseTables, type Tables } from '../storage/tables.ts'
import { type ArchiveLine, type Head, readArchive, writeArchive } from './archive.ts'
import { keyMark } from './identity.ts'
import { masterKey, masterKeyFile } from './master-key.ts'

const certificateFiles = ['ca.pem', 'ca-key.pem', 'server.pem', 'server-key.pem']
// Leases belong to running processes; a restored install has none.
const leftOut = new Set<string>(['leases'])
const parametersMax = 30_000

/** Followers come before events: loading has to know whose position an event is. */
function tablesOf({ areas }: House): (keyof Tables)[] {
  const all = [
    ...houseInstallTables,
    ...houseTables,
    ...areas.flatMap((area) => [...area.installTables, ...area.tables]),
  ]
  return all.filter((table) => !leftOut.has(table))
}

export interface BackupReport {
  file: string
  rows: number
  tables: Record<string, number>
}

/** Writes everything the install holds to one file, as it is at one moment, while the server goes on. */
export async function backUp(house: House, file: string, withSecrets: boolean): Promise<BackupReport> {
  const { database, config, tools } = house
  const tables: Record<string, number> = {}
  await database.snapshot(async (connection) => {
    const head = {
      createdAt: tools.clock.now(),
      keyMark: keyMark(tools.secrets),
      migrations: await appliedMigrations(connection),
    }
    await writeArchive(file, head, async (write) => {
      if (withSecrets) for (const secret of secretsOf(config)) await write(secret)
      for (const table of tablesOf(house)) {
        tables[table] = 0
        await database.scan(connection, table, async (batch) => {
          for (const row of batch) await write({ table, row })
          tables[table] = (tables[table] ?? 0) + batch.length
        })
      }
    })
  })
  return { file, rows: Object.values(tables).reduce((sum, count) => sum + count, 0), tables }
}

function secretsOf(config: House['config']): ArchiveLine[] {
  const files = certificateFiles.filter((name) => existsSync(join(config.data, name)))
  return [
    { secret: masterKeyFile, text: `${masterKey(config, false).toString('hex')}\n` },
    ...files.map((name) => ({ secret: name, text: readFileSync(join(config.data, name), 'utf8') })),
  ]
}

/**
 * Puts the backup's secrets into the data folder, and makes sure that the install has the key the backup needs. Answers
 * how the backup begins.
 */
export async function restoreSecrets(config: House['config'], file: string): Promise<Head> {
  const allowed = new Set([masterKeyFile, ...certificateFiles])
  const found = new Map<string, string>()
  let head: Head | undefined
  await readArchive(
    file,
    (first) => {
      head = first
    },
    async (line) => {
      if ('secret' in line && allowed.has(line.secret)) found.set(line.secret, line.text)
    },
  )
  if (!head) throw new Error(`${file} does not begin like a backup.`)
  const key = presentKey(config) ?? found.get(masterKeyFile)?.trim()
  if (key === undefined) {
    throw new Error(
      'The backup was made without its master key: set PARLEY_MASTER_KEY, or put master.key into the data folder.',
    )
  }
  if (keyMark(secretsUnder(Buffer.from(key, 'hex'))) !== head.keyMark) {
    throw new Error(
      'The backup was made under another master key than this install has; use an empty folder or that key.',
    )
  }
  for (const [name, text] of found) {
    const target = join(config.data, name)
    if (!existsSync(target)) writeFileSync(target, text, { mode: 0o600 })
  }
  return head
}

function presentKey(config: House['config']): string | undefined {
  const file = join(config.data, masterKeyFile)
  return config.masterKey?.reveal() ?? (existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined)
}

/** Loads a backup into an empty install, in one transaction, and brings it up to date. */
export async function restoreRows(house: House, file: string): Promise<{ rows: number }> {
  const { database, areas } = house
  const loaded = await database.writeAlone(async (connection) => {
    await refuseUnlessEmpty(connection)
    // What the new install noted about itself comes from the backup.
    await connection.query.deleteFrom('install_settings').execute()
    const known = new Set<string>(tablesOf(house))
    const loader = new Loader(connection)
    await readArchive(
      file,
      async (head) => refuseOtherTables(head, await appliedMigrations(connection)),
      async (line) => {
        if (!('table' in line)) return
        if (!known.has(line.table))
          throw new Error(`The backup holds a table that this version does not know: ${line.table}.`)
        await loader.add(line.table as keyof Tables, line.row)
      },
    )
    const rows = await loader.finish()
    for (const table of areas.flatMap((area) => area.numberedTables)) await database.renumber(connection, table)
    // A follower may stand behind the last event of a log that was trimmed, and must not miss those that come.
    await database.renumber(connection, 'events', await furthestFollower(connection))
    return { rows }
  })
  await migrate(
    database,
    areas.map((area) => area.migrations),
  )
  return loaded
}

async function refuseUnlessEmpty({ query }: Connection): Promise<void> {
  const app = await query.selectFrom('apps').select('id').limit(1).executeTakeFirst()
  if (app) throw new Error('This install has apps already; a backup is restored into an empty one.')
}

function refuseOtherTables({ migrations }: Head, applied: string[]): void {
  const newer = migrations.find((name) => !applied.includes(name))
  if (newer) throw new Error(`The backup comes from a newer version of Parley (it knows ${newer}).`)
  const older = applied.find((name) => !migrations.includes(name))
  if (older) {
    throw new Error(
      `The backup comes from an older version of Parley (it does not know ${older}), and this install is newer already. ` +
        'Restore it into a folder or database that no server has been started on; it is then brought up to date.',
    )
  }
}

async function furthestFollower({ query }: Connection): Promise<number> {
  const row = await query.selectFrom('followers').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return row?.id ?? logStart
}

/** What backups held before positions were ids (decision 35): an event's transaction, and how far a follower had come. */
interface FormerPosition {
  tx: number
  id: number
}

interface FormerFollower extends FormerPosition {
  name: string
}

/**
 * Loads rows in batches. Transactions of one database mean nothing to another, so events of a former backup are numbered
 * from 1 as the oldest transaction of all, and every follower's position is carried over to the new numbers.
 */
class Loader {
  readonly #connection: Connection
  #table: keyof Tables | undefined
  #batch: Record<string, unknown>[] = []
  #rows = 0
  #events = 0
  readonly #followers: (FormerFollower & { read: number })[] = []

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async add(table: keyof Tables, row: Record<string, unknown>): Promise<void> {
    this.#rows += 1
    if (table === 'followers' && 'tx' in row) {
      this.#followers.push({ ...(row as unknown as FormerFollower), read: 0 })
      return
    }
    if (table !== this.#table) await this.#flush()
    this.#table = table
    this.#batch.push(this.#adapted(table, row))
    if (this.#batch.length * Object.keys(row).length >= parametersMax) await this.#flush()
  }

  async finish(): Promise<number> {
    await this.#flush()
    for (const { name, read } of this.#followers) {
      const former: FormerFollower = { name, tx: 0, id: read }
      await this.#connection.query.insertInto('followers').values(former).execute()
    }
    return this.#rows
  }

  #adapted(table: keyof Tables, row: Record<string, unknown>): Record<string, unknown> {
    // Whoever had claimed a job is not running here.
    if (table === 'jobs') return { ...row, locked_until: 0 }
    if (table !== 'events' || !('tx' in row)) return row
    this.#events += 1
    const { tx, id } = row as unknown as FormerPosition
    for (const follower of this.#followers) {
      if (tx < follower.tx || (tx === follower.tx && id <= follower.id)) follower.read = this.#events
    }
    return { ...row, tx: 0, id: this.#events }
  }

  async #flush(): Promise<void> {
    if (this.#table !== undefined && this.#batch.length > 0) {
      await this.#connection.query
        .insertInto(this.#table)
        .values(this.#batch as never)
        .execute()
    }
    this.#batch = []
  }
}
