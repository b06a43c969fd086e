import type { TenantDb } from '../../storage/tenant.ts'
import { type Side, withWhom } from '../timeline/index.ts'
import type { ConversationPinRow } from './tables.ts'

export function updatedAt({ active_at, created_at }: Side): number {
  return Math.max(active_at, created_at)
}

/** A side that was reset leaves the list until something new is said, unless it was to keep its place. */
export function isListed({ cleared_seq, shown_seq, kept }: Side): boolean {
  return cleared_seq === 0 || shown_seq > cleared_seq || kept === 1
}

/** What a pin for everyone says. */
export type PinForEveryone = Omit<ConversationPinRow, 'app_id'>

/** What is pinned for everyone, in its order. */
export function systemPins(db: TenantDb): Promise<ConversationPinRow[]> {
  return db.select('conversation_pins').selectAll().orderBy('conversation_pins.position').execute()
}

/** The pin for everyone that a side falls under; nobody's conversation with themself does. */
export function pinOf<Pin extends PinForEveryone>(side: Side, pins: Pin[]): Pin | undefined {
  const target = withWhom(side)
  return pins.find((pin) => pin.type === side.type && pin.target === target && target !== side.uid)
}
