import { type Kysely, sql } from 'kysely'
import type { Connection } from './connection.ts'
import type { Database, Numbered } from './database.ts'
import type { Tables } from './tables.ts'

/** Forward-only steps, keyed `YYYYMMDD-name`; never edited after release. */
export type Migrations = Record<
  string,
  (
    schema: Kysely<Tables>,
    numbered: Numbered,
    database: Pick<Database, 'showIdsUnderWay' | 'rewriteSearch'>,
  ) => Promise<void>
>

/** Storage's own tables, which every area builds on. */
function houseMigrations(database: Database): Migrations {
  return {
    '20261101-log': (schema) => database.createLog(schema),
    '20261101-work': async ({ schema }) => {
      await schema
        .createTable('jobs')
        .addColumn('app_id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull())
        .addColumn('payload', 'text', (column) => column.notNull())
        .addColumn('run_at', 'bigint', (column) => column.notNull())
        .addColumn('attempts', 'bigint', (column) => column.notNull().defaultTo(0))
        .addColumn('locked_until', 'bigint', (column) => column.notNull().defaultTo(0))
        .addColumn('dead_at', 'bigint')
        .addColumn('last_error', 'text')
        .addPrimaryKeyConstraint('jobs_key', ['app_id', 'name', 'key'])
        .execute()
      await schema.createIndex('jobs_due').on('jobs').columns(['run_at']).execute()
      await schema
        .createTable('followers')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('tx', 'bigint', (column) => column.notNull())
        .addColumn('id', 'bigint', (column) => column.notNull())
        .execute()
      await schema
        .createTable('leases')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('holder', 'text', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute()
      await schema
        .createTable('locks')
        .addColumn('app_id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('locks_key', ['app_id', 'name'])
        .execute()
      await schema
        .createTable('install_settings')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('value', 'text', (column) => column.notNull())
        .execute()
    },
    '20261101-replies': async ({ schema }) => {
      await schema
        .createTable('idempotent_replies')
        .addColumn('app_id', 'text', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull())
        .addColumn('fingerprint', 'text', (column) => column.notNull())
        .addColumn('reply', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('idempotent_replies_key', ['app_id', 'key'])
        .execute()
      await schema.createIndex('idempotent_replies_age').on('idempotent_replies').columns(['created_at']).execute()
    },
    '20261101-search': (schema) => database.createSearch(schema),
    '20261101-tallies': async ({ schema }) => {
      await schema
        .createTable('tallies')
        .addColumn('app_id', 'text', (column) => column.notNull())
        .addColumn('list', 'text', (column) => column.notNull())
        .addColumn('level', 'bigint', (column) => column.notNull())
        .addColumn('bucket', 'bigint', (column) => column.notNull())
        .addColumn('facets', 'text', (column) => column.notNull())
        .addColumn('n', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('tallies_key', ['app_id', 'list', 'level', 'bucket', 'facets'])
        .execute()
    },
    '20261117-job-lanes': async ({ schema }) => {
      await schema
        .alterTable('jobs')
        .addColumn('lane', 'text', (column) => column.notNull().defaultTo('inside'))
        .execute()
      // What was given up stays visible and costs nobody anything.
      for (const [name, columns] of [
        ['jobs_due_in_lane', ['lane', 'run_at']],
        ['jobs_by_turn', ['lane', 'app_id', 'run_at']],
      ] as const) {
        await schema
          .createIndex(name)
          .on('jobs')
          .columns([...columns])
          .where(sql.ref('dead_at'), 'is', null)
          .execute()
      }
      await schema.dropIndex('jobs_due').execute()
    },
    '20261120-callers-of-replies': async (query) => {
      const { schema } = query
      await schema.alterTable('idempotent_replies').renameTo('replies_of_anyone').execute()
      await schema.dropIndex('idempotent_replies_age').execute()
      await schema
        .createTable('idempotent_replies')
        .addColumn('app_id', 'text', (column) => column.notNull())
        .addColumn('caller', 'text', (column) => column.notNull().defaultTo(''))
        .addColumn('key', 'text', (column) => column.notNull())
        .addColumn('fingerprint', 'text', (column) => column.notNull())
        .addColumn('reply', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('idempotent_replies_by_caller', ['app_id', 'caller', 'key'])
        .execute()
      await schema.createIndex('idempotent_replies_age').on('idempotent_replies').columns(['created_at']).execute()
      const columns = ['app_id', 'key', 'fingerprint', 'reply', 'created_at'] as const
      await query
        .insertInto('idempotent_replies')
        .columns(columns)
        .expression(query.selectFrom('replies_of_anyone' as 'idempotent_replies').select(columns))
        .execute()
      await schema.dropTable('replies_of_anyone').execute()
    },
    '20261121-log-by-id': (schema) => database.orderLogById(schema),
    '20261122-job-destinations': async ({ schema }) => {
      const jobs = () => schema.alterTable('jobs')
      await jobs()
        .addColumn('destination', 'text', (column) => column.notNull().defaultTo(''))
        .execute()
      await jobs()
        .addColumn('claims', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
      await schema
        .createIndex('jobs_in_line')
        .on('jobs')
        .columns(['lane', 'app_id', 'destination', 'run_at'])
        .where(sql.ref('dead_at'), 'is', null)
        .execute()
      await schema.dropIndex('jobs_by_turn').execute()
      await schema
        .createIndex('jobs_dead')
        .on('jobs')
        .columns(['name', 'app_id', 'key'])
        .where(sql.ref('dead_at'), 'is not', null)
        .execute()
    },
    '20261125-events-of-devices': async ({ schema }) => {
      await schema.alterTable('events').addColumn('device', 'text').execute()
    },
  }
}

interface AppliedRow {
  name: string
}

/** Brings the database up to date, or only so far as to have taken these steps; answers the names of those it took. */
export async function migrate(database: Database, ofAreas: Migrations[], only?: readonly string[]): Promise<string[]> {
  const steps = [houseMigrations(database), ...ofAreas].flatMap((migrations) =>
    Object.entries(migrations).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  refuseTwins(steps.map(([name]) => name))
  const taken = await database.writeAlone(async (connection) => {
    await connection.run('CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY)', [])
    const applied = new Set(await appliedMigrations(connection))
    const pending = steps.filter(([name]) => !applied.has(name) && (only?.includes(name) ?? true))
    for (const [name, step] of pending) {
      await step(connection.query, database.numbered, database)
      await connection.run(`INSERT INTO migrations (name) VALUES ('${name}')`, [])
    }
    return pending.map(([name]) => name)
  })
  await database.describeTables()
  return taken
}

/** Of two steps with one name the second would never be taken. */
function refuseTwins(names: string[]): void {
  const twin = names.find((name, index) => names.indexOf(name) !== index)
  if (twin) throw new Error(`Two migrations are called ${twin}.`)
}

/** The steps this database has taken. */
export async function appliedMigrations({ run }: Connection): Promise<string[]> {
  const { rows } = await run('SELECT name FROM migrations ORDER BY name', [])
  return (rows as AppliedRow[]).map(({ name }) => name)
}
