import type { RawBuilder, SqlBool } from 'kysely'
import type { Where } from '../../kit/event.ts'
import type { Actor } from '../../kit/operation.ts'
import { gate } from '../../plain/gate.ts'
import type { TenantDb } from '../../storage/tenant.ts'

/**
 * What areas below know about messages and put into their records. Each is asked once for all messages of an answer, with
 * the ids of those it can concern.
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

/** When the viewer saved each message. */
export const savedBy = gate<PerMessage<number>>('savedBy', nothing)

/** Which messages begin a thread that the viewer follows. */
export const followedBy = gate<PerMessage<true>>('followedBy', nothing)

/** What the viewer did with the elements of interactive messages. */
export const interactionsOf = gate<PerMessage<{ elementId: string; interactedAt: number }[]>>('interactionsOf', nothing)

/** Which messages lists may hold for a viewer, as conditions on `messages`; none, where nothing is kept from them. */
export const listedTo = gate('listedTo', async (_db: TenantDb, _viewer: Actor): Promise<RawBuilder<SqlBool>[]> => [])
