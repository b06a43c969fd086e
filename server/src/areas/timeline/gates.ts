import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Where } from '../../kit/event.ts'
import type { Actor } from '../../kit/operation.ts'
import { gate } from '../../plain/gate.ts'
import type { TenantDb } from '../../storage/tenant.ts'

/**
 * What areas below know about messages and put into their records. What every record tells comes as a column of its row;
 * the rest is asked once for all messages of an answer, with the ids of those it can concern.
 */

export interface ReactionCount {
  reaction: string
  count: number
  reactedByMe?: true
}

type PerMessage<Value> = (db: TenantDb, ids: number[], viewer: string | undefined) => Promise<Map<number, Value>>

const nothing = async () => new Map()

type Content = Record<string, unknown>

/** The content of a message as it is shown: files have addresses that are signed at that moment. */
export const shownContent = gate('shownContent', (_where: Where, content: Content): Content => content)

/** Shown content as it is kept: files have their keys again. */
export const keptContent = gate('keptContent', (_where: Where, content: Content): Content => content)

/** Reactions by message, in the order in which they were first given. */
export const reactionsTo = gate<PerMessage<ReactionCount[]>>('reactionsTo', nothing)

/** When a viewer saved the message of a row, as a column of it. */
export const savedAt = gate(
  'savedAt',
  (_db: TenantDb, _viewer: string): RawBuilder<number | null> => sql<number | null>`NULL`,
)

/** Whether a viewer follows the thread that the message of a row begins, as a column of it: 1, or else 0. */
export const isFollowed = gate('isFollowed', (_db: TenantDb, _viewer: string): RawBuilder<0 | 1> => sql<0 | 1>`0`)

/** What the viewer did with the elements of interactive messages. */
export const interactionsOf = gate<PerMessage<{ elementId: string; interactedAt: number }[]>>('interactionsOf', nothing)

/** Which messages lists may hold for a viewer, as conditions on `messages`; none, where nothing is kept from them. */
export const listedTo = gate('listedTo', async (_db: TenantDb, _viewer: Actor): Promise<RawBuilder<SqlBool>[]> => [])
