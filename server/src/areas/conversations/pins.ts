import type { Work } from '../../kit/work.ts'
import { oneAtATime } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { keepGroup } from '../groups/index.ts'
import { findSide, type Side } from '../timeline/index.ts'
import { holdUsers, requireActiveUser, systemUid, systemUser } from '../users/index.ts'
import { pinnedForEveryone, tooManyPins, tooManySystemPins } from './errors.ts'
import { conversationPinned, conversationUnpinned } from './events.ts'
import { pinOf, systemPins } from './sides.ts'
import type { ConversationPinRow } from './tables.ts'

export const pinsMax = 5

/** Pins a conversation for its user; pinned again it keeps its first time. */
export async function pin(work: Work, side: Side): Promise<Side> {
  const { db, now } = work
  const pins = await systemPins(db)
  if (pinOf(side, pins)) throw pinnedForEveryone()
  if (side.pinned_at !== null) return side
  // Two at once cannot go beyond the limit together.
  await holdUsers(db, [side.uid])
  const own = await ownPins(db, side.uid)
  if (own.filter((each) => !pinOf(each, pins)).length >= pinsMax) throw tooManyPins({ max: pinsMax })
  // It is in the list from now on, also where nothing is in it.
  await takeOver(db, side)
  return put(db, side, { pinned_at: now, kept: 1 })
}

export async function unpin(work: Work, side: Side): Promise<Side> {
  if (pinOf(side, await systemPins(work.db))) throw pinnedForEveryone()
  return side.pinned_at === null ? side : put(work.db, side, { pinned_at: null })
}

/** Writes into a row what was done to its conversation as a whole; from then on the row says so itself. */
async function takeOver(db: TenantDb, side: Side): Promise<void> {
  const { cleared_seq, delivered_seq, read_seq, read_counted } = side
  await db
    .update('conversation_rows')
    .set({ cleared_seq, delivered_seq, read_seq, read_counted })
    .where('conversation_key', '=', side.conversation_key)
    .where('uid', '=', side.uid)
    .where('cleared_seq', '<', cleared_seq)
    .execute()
}

async function put(
  db: TenantDb,
  side: Side,
  columns: Pick<Side, 'pinned_at'> & Partial<Pick<Side, 'kept'>>,
): Promise<Side> {
  await db
    .update('conversation_rows')
    .set(columns)
    .where('conversation_key', '=', side.conversation_key)
    .where('uid', '=', side.uid)
    .execute()
  return { ...side, ...columns }
}

async function ownPins(db: TenantDb, uid: string): Promise<Side[]> {
  const rows = await db
    .select('conversation_rows')
    .select('conversation_rows.conversation_key')
    .where('conversation_rows.uid', '=', uid)
    .where('conversation_rows.pinned_at', 'is not', null)
    .execute()
  const sides = await Promise.all(rows.map(({ conversation_key }) => findSide(db, conversation_key, uid)))
  return sides.filter((side) => side !== undefined)
}

export interface PinnedThing {
  uid?: string | undefined
  guid?: string | undefined
}

/** Makes the list of what is pinned for everyone; what it leaves out is unpinned. */
export async function putSystemPins(work: Work, targets: PinnedThing[]): Promise<ConversationPinRow[]> {
  const { db, now } = work
  const wanted = new Map<string, { type: 'user' | 'group'; target: string }>()
  for (const { uid, guid } of targets) {
    const target = uid === undefined ? (await keepGroup(db, guid ?? '')).guid : (await requireActiveUser(db, uid)).uid
    const type = uid === undefined ? ('group' as const) : ('user' as const)
    const key = `${type} ${target}`
    if (!wanted.has(key)) wanted.set(key, { type, target })
  }
  if (wanted.size > pinsMax) throw tooManySystemPins({ max: pinsMax })
  await oneAtATime(db, 'conversations.pins')
  const before = new Map((await systemPins(db)).map((pin) => [`${pin.type} ${pin.target}`, pin]))
  await db.delete('conversation_pins').execute()
  const rows = [...wanted.entries()].map(([key, pin], position) => ({
    ...pin,
    position,
    pinned_at: before.get(key)?.pinned_at ?? now,
  }))
  if (rows.length > 0) await db.insert('conversation_pins', rows).execute()
  for (const [key, pin] of before) {
    if (!wanted.has(key)) await work.emit(conversationUnpinned, { uid: systemUid, conversation: nameOf(pin), by })
  }
  for (const row of rows) {
    if (!before.has(`${row.type} ${row.target}`)) {
      await work.emit(conversationPinned, { uid: systemUid, conversation: toSystemPin(row), by })
    }
  }
  return systemPins(db)
}

export type PinTarget = Pick<ConversationPinRow, 'type' | 'target'>

/** What was pinned for everyone before a moment is so no longer. */
export async function unpinForEveryone(work: Work, { type, target }: PinTarget, before: number): Promise<void> {
  const pins = await work.db
    .delete('conversation_pins')
    .where('type', '=', type)
    .where('target', '=', target)
    .where('pinned_at', '<', before)
    .returning(['type', 'target'])
    .execute()
  for (const pin of pins) {
    await work.emit(conversationUnpinned, { uid: systemUid, conversation: nameOf(pin), by })
  }
}

const by = { uid: systemUid, name: systemUser.name }

function nameOf({ type, target }: PinTarget) {
  return { conversationId: `${type}_${target}`, conversationType: type }
}

export function toSystemPin(pin: Pick<ConversationPinRow, 'type' | 'target' | 'pinned_at'>) {
  return { ...nameOf(pin), pinnedBy: 'app_system' as const, pinnedAt: pin.pinned_at }
}
