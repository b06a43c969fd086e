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

/** The last id that was given out; a sequence that was never asked shows the one that comes next. */
const lastGiven = `last_value - CASE WHEN is_called THEN 0 ELSE 1 END`

/** Makes writers of a numbered table show what they have under way. */
export async function showIdsUnderWay(schema: Kysely<Tables>, table: keyof Tables): Promise<void> {
  const shown = `parley.${table}_under_way`
  // Before the statement, not before the row: a row has its id already. The first lock of a transaction has the smallest
  // key and stands for all that follows; the setting that tells of it ends with it, also where a savepoint is undone.
  await sql
    .raw(`CREATE FUNCTION ${table}_under_way() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF coalesce(current_setting('${shown}', true), '') = '' THEN
          PERFORM pg_advisory_xact_lock_shared(${family(table)} << ${keyBits} | (${lastGiven})) FROM ${table}_id_seq;
          PERFORM set_config('${shown}', 'shown', true);
        END IF;
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
  const { given, settled } = await settledNow(run, table)
  let reached = settled
  for (const milliseconds of patience) {
    if (reached >= given) return given
    await pause(milliseconds)
    reached = (await settledNow(run, table)).settled
  }
  return Math.min(reached, given)
}

export interface Settled {
  /** The last id given out. */
  given: number
  settled: number
}

/** The same without waiting. What it answers holds for statements that begin after it, not for those under way. */
export async function settledNow(run: RunStatement, table: keyof Tables): Promise<Settled> {
  // The order matters: whoever has an id up to the last one given took the lock before it, so is the lock gone, then the
  // row is there. Locks are looked for below that id, which keeps them from being looked for before it is known.
  const { rows } = await run(
    `SELECT given.id AS given, least(given.id, (SELECT min(under_way.id) FROM (
        SELECT (classid::bigint << 32 | objid::bigint) & ((1::bigint << ${keyBits}) - 1) AS id FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> ${keyBits - 32} = ${family(table)}
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS under_way
      WHERE under_way.id < given.id)) AS settled
    FROM (SELECT ${lastGiven} AS id FROM ${table}_id_seq OFFSET 0) AS given`,
    [],
  )
  return (rows as [Settled])[0]
}

export async function takeId(run: RunStatement, table: keyof Tables): Promise<number> {
  const { rows } = await run(`SELECT nextval('${table}_id_seq') AS id`, [])
  return (rows as [{ id: number }])[0].id
}
