import { setTimeout as pause } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { RunStatement } from './connection.ts'
import type { Tables } from './tables.ts'

/**
 * On PostgreSQL an id is given out before its row is committed, so a reader can see a larger id before a smaller one, and
 * whoever reads on from the larger would never see the smaller. Writers therefore show from where on their ids can be:
 * before they get one, they take a shared lock whose key is the last id given out. Locks of this kind wait for nobody,
 * and end with the transaction, just after its rows are there for everyone.
 */

const keyBits = 48

/** Names the locks of one table among all others. */
const family = (table: string) => `(hashtext('${table}') & 32767)::bigint`

/** Makes writers of a numbered table show what they have under way. */
export async function showIdsUnderWay(schema: Kysely<Tables>, table: keyof Tables): Promise<void> {
  // Before the statement, not before the row: a row has its id already.
  await sql
    .raw(`CREATE FUNCTION ${table}_under_way() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock_shared(${family(table)} << ${keyBits} | last_value) FROM ${table}_id_seq;
        RETURN NULL;
      END $$`)
    .execute(schema)
  await sql
    .raw(`CREATE TRIGGER ${table}_under_way BEFORE INSERT ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION ${table}_under_way()`)
    .execute(schema)
}

// A message is under way for some milliseconds; whoever has just sent one is to find it.
const patience = [1, 2, 4, 8, 16]

/**
 * The largest id up to which every row is there that ever will be. Waits a moment for those under way; what takes longer
 * holds the answer back, and not the reader.
 */
export async function settledId(run: RunStatement, table: keyof Tables): Promise<number> {
  // The order matters. Whoever has an id up to this one took the lock before it: is the lock gone, then the row is there.
  const given = await idIn<number>(run, `SELECT last_value AS id FROM ${table}_id_seq`)
  for (const milliseconds of [...patience, 0]) {
    const underWay = await idIn<number | null>(run, oldestUnderWay(table))
    if (underWay === null || underWay >= given) return given
    if (milliseconds === 0) return underWay
    await pause(milliseconds)
  }
  return given
}

function oldestUnderWay(table: keyof Tables): string {
  return `SELECT min((classid::bigint << 32 | objid::bigint) & ((1::bigint << ${keyBits}) - 1)) AS id FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> ${keyBits - 32} = ${family(table)}
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
}

export function takeId(run: RunStatement, table: keyof Tables): Promise<number> {
  return idIn<number>(run, `SELECT nextval('${table}_id_seq') AS id`)
}

async function idIn<Id>(run: RunStatement, statement: string): Promise<Id> {
  const { rows } = await run(statement, [])
  const [{ id }] = rows as [{ id: Id }]
  return id
}
