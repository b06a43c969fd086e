import { replyKeptSeconds } from '../dispatch/idempotency.ts'
import type { Area } from '../kit/area.ts'
import type { Tools } from '../kit/ports.ts'
import type { Connection } from '../storage/connection.ts'
import type { Database } from '../storage/database.ts'

const secondsPerDay = 24 * 3600
const rowsPerBatch = 500

/**
 * Throws away what nobody needs any more: events that every follower has read, and replies kept for repeated requests.
 * Both are taken from their oldest end in small transactions, so it costs next to nothing where there is nothing to do.
 */
export function createHousekeeping(database: Database, areas: Area[], tools: () => Tools, retentionDays: number) {
  const names = areas.flatMap((area) => area.followers).map(({ name }) => name)

  return async function clean(): Promise<void> {
    const now = tools().clock.now()
    while ((await database.write((connection) => dropReplies(connection, now - replyKeptSeconds))) === rowsPerBatch) {}
    const oldest = now - retentionDays * secondsPerDay
    const end = await slowestOf(database, names)
    if (end) while ((await database.write((connection) => dropEvents(connection, oldest, end))) === rowsPerBatch) {}
  }
}

async function dropReplies({ query }: Connection, until: number): Promise<number> {
  const expired = await query
    .selectFrom('idempotent_replies')
    .select(['app_id', 'caller', 'key'])
    .where('created_at', '<=', until)
    .orderBy('created_at')
    .limit(rowsPerBatch)
    .execute()
  for (const { app_id, caller, key } of expired) {
    await query
      .deleteFrom('idempotent_replies')
      .where('app_id', '=', app_id)
      .where('caller', '=', caller)
      .where('key', '=', key)
      .execute()
  }
  return expired.length
}

/** Where the slowest follower stands; nothing, while one has not begun. Up to there no event can come any more. */
async function slowestOf(database: Database, names: string[]): Promise<number | undefined> {
  const rows = await database.reader.query.selectFrom('followers').selectAll().orderBy('id').execute()
  const known = rows.filter(({ name }) => names.includes(name))
  return known.length < names.length ? undefined : (known[0]?.id ?? (await database.logEnd()))
}

async function dropEvents({ query }: Connection, oldest: number, end: number): Promise<number> {
  const first = await query.selectFrom('events').select(['id', 'at']).orderBy('id').limit(rowsPerBatch).execute()
  const young = first.findIndex(({ id, at }) => at >= oldest || id > end)
  const old = young < 0 ? first : first.slice(0, young)
  const last = old.at(-1)
  if (last) await query.deleteFrom('events').where('id', '<=', last.id).execute()
  return old.length
}
