import { sql } from 'kysely'
import { type FollowedEvent, type Follower, follower } from '../../kit/follower.ts'
import { type JobDefinition, job } from '../../kit/job.ts'
import { type Static, Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import { deleteSome } from '../../storage/sql.ts'
import type { TenantTable } from '../../storage/tables.ts'
import { messagesErased } from './events.ts'
import type { ConversationKey } from './place.ts'
import type { ReceiptKind } from './tables.ts'

/**
 * Removing what was said, and what was kept about it. There may be a million messages in a conversation and a hundred
 * thousand reactions to each, so nothing is removed without a bound, and every batch begins where the last one ended:
 * an index remembers what was deleted from it for a while, and stepping over that would cost more with every batch.
 */

/** Messages leave many indexes and the search; other rows are light. */
export const messagesPerBatch = 100
export const rowsPerBatch = 250

/** How far the emptying of a conversation has come: through the marks, then through the messages. */
export const Emptied = Type.Object({
  mark: Type.Optional(Type.Object({ uid: Type.String(), kind: Type.String(), seq: Type.Integer() })),
  seq: Type.Optional(Type.Integer()),
})
export type Emptied = Static<typeof Emptied>

/**
 * Removes some of what a conversation holds up to a number, without leaving the numbers themselves: everyone has passed
 * them. Answers how far it came, or nothing once all of it is gone.
 */
export async function emptySome(
  work: Work,
  conversationKey: ConversationKey,
  upTo: number,
  { mark = { uid: '', kind: '', seq: 0 }, seq }: Emptied,
): Promise<Emptied | undefined> {
  if (seq !== undefined) return eraseSome(work, conversationKey, upTo, seq)
  const last = await dropMarks(work, conversationKey, upTo, mark)
  return last ? { mark: last } : { seq: 0 }
}

async function eraseSome(
  { db, emit }: Work,
  conversationKey: ConversationKey,
  upTo: number,
  after: number,
): Promise<Emptied | undefined> {
  const rows = await db.sql<{ id: number; seq: number }>`
    DELETE FROM messages WHERE messages.app_id = ${db.appId} AND messages.id IN (
      SELECT messages.id FROM messages WHERE messages.app_id = ${db.appId}
      AND messages.conversation_key = ${conversationKey} AND messages.seq > ${after} AND messages.seq <= ${upTo}
      ORDER BY messages.seq LIMIT ${messagesPerBatch})
    RETURNING messages.id, messages.seq`.execute()
  if (rows.length === 0) return undefined
  await emit(messagesErased, { ids: rows.map(({ id }) => id) })
  return { seq: Math.max(...rows.map(({ seq }) => seq)) }
}

type Mark = NonNullable<Emptied['mark']>

/** Answers the last mark that was looked at; those of what was said later stay. */
async function dropMarks(
  { db }: Work,
  conversationKey: ConversationKey,
  upTo: number,
  { uid, kind, seq }: Mark,
): Promise<Mark | undefined> {
  const following = sql`receipt_marks.app_id = ${db.appId} AND receipt_marks.conversation_key = ${conversationKey}
    AND (receipt_marks.uid, receipt_marks.kind, receipt_marks.seq) > (${uid}, ${kind}, ${seq})`
  const rows = await db.sql<Mark & { kind: ReceiptKind }>`
    SELECT receipt_marks.uid, receipt_marks.kind, receipt_marks.seq FROM receipt_marks WHERE ${following}
    ORDER BY receipt_marks.uid, receipt_marks.kind, receipt_marks.seq LIMIT ${rowsPerBatch}`.execute()
  const last = rows.at(-1)
  if (!last) return undefined
  await db.sql`DELETE FROM receipt_marks WHERE ${following} AND receipt_marks.seq <= ${upTo}
    AND (receipt_marks.uid, receipt_marks.kind, receipt_marks.seq) <= (${last.uid}, ${last.kind}, ${last.seq})`.execute()
  return last
}

/** Rows about messages, and the column that names the message. */
type KeptAbout = [table: TenantTable, column: string][]

const Ids = Type.Object({ ids: Type.Array(Type.Integer()) })

/** So many events tell of as many messages as can be forgotten in one transaction. */
export const erasuresAtOnce = 5

interface Forgetting {
  /** Forgets some at once, and leaves what is more to the job; the event names it. */
  forget(event: Pick<FollowedEvent, 'id'>, ids: number[], work: Work): Promise<void>
  forgetRest: JobDefinition
  /** Follows what is erased, whoever erases it. */
  forgetErased: Follower
}

/** What an area keeps about messages, and how it goes with them, and with what else takes it away. */
export function forgettingMessages(area: string, kept: KeptAbout, alsoOn: (typeof messagesErased)[] = []): Forgetting {
  async function areMore({ db }: Work, ids: number[]): Promise<boolean> {
    let left = rowsPerBatch
    for (const [table, column] of kept) {
      const condition = sql`${sql.ref(`${table}.${column}`)} IN (${sql.join(ids)})`
      // Fewer than a batch need not be all: a row that somebody changes meanwhile is passed over.
      for (let gone = 1; gone > 0; left -= gone) {
        if (left <= 0) return true
        gone = await deleteSome(db, table, left, condition)
      }
    }
    return false
  }
  const forgetRest = job({
    name: `${area}.forgetMessages`,
    payload: Ids,
    attemptsMax: Number.POSITIVE_INFINITY,
    bulk: true,
    run: async ({ ids }, work) => ((await areMore(work, ids)) ? { againAt: work.now } : undefined),
  })
  const forget: Forgetting['forget'] = async ({ id }, ids, work) => {
    if (ids.length > 0 && (await areMore(work, ids))) await work.later(forgetRest, { ids }, { key: `event ${id}` })
  }
  const forgetErased = follower({
    name: `${area}.erasedMessages`,
    on: [messagesErased, ...alsoOn],
    eventsAtOnce: erasuresAtOnce,
    handle: (event, work) => forget(event, event.payload.ids, work),
  })
  return { forget, forgetRest, forgetErased }
}
