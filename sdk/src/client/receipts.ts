import { keyOf, placeOf, receiverIn, type To } from '../collections/address.ts'
import type { InView } from '../collections/collections.ts'
import type { Message } from '../generated/records.ts'
import type { Runtime } from '../runtime/runtime.ts'

/** Tells senders by itself what has become of what they wrote. */
export interface Receipts {
  hear(message: Message): void
  /** Something may be seen that was not before. */
  look(): void
  drop(): void
}

interface Parts {
  runtime: Runtime
  me(): string
  say(frame: object): void
  inView(): InView[]
  /** What is told: that it has arrived, and also that it was read. */
  tells: 'off' | 'delivered' | 'read'
}

// A device may not say much in a second, and what is told of the last message holds for all before.
const everyMs = 1_000
// Whoever passes by has not read it.
const seenMs = 1_000

export function createReceipts({ runtime, me, say, inView, tells }: Parts): Receipts {
  const arrived = new Map<string, { to: To; messageId: string }>()
  /** Up to where each conversation was read. It is told once: the user may want it to be unread again. */
  const read = new Map<string, string>()
  let callOffTelling: (() => void) | undefined
  let callOffLooking: (() => void) | undefined

  function tell(): void {
    callOffTelling = undefined
    for (const { to, messageId } of arrived.values()) {
      say({ type: 'receipts', ...receiverIn(to), body: { action: 'delivered', messageId } })
    }
    arrived.clear()
  }

  function look(): void {
    if (tells !== 'read' || callOffLooking || !runtime.isSeen()) return
    const seen = inView().filter(({ key, last }) => read.get(key) !== last.id)
    if (seen.length > 0) callOffLooking = runtime.after(seenMs, () => finish(seen))
  }

  function finish(seen: InView[]): void {
    callOffLooking = undefined
    const still = new Set(inView().map(({ key }) => key))
    if (runtime.isSeen()) for (const each of seen) if (still.has(each.key)) markRead(each)
    look()
  }

  function markRead({ key, last, conversation }: InView): void {
    read.set(key, last.id)
    if (last.sender === me() || last.readByMeAt !== undefined) return
    conversation.markRead(last.id).catch(() => {
      if (read.get(key) === last.id) read.delete(key)
    })
  }

  return {
    hear(message) {
      if (tells === 'off' || message.sender === me()) return
      const to = placeOf(message, me())
      arrived.set(keyOf(to), { to, messageId: message.id })
      callOffTelling ??= runtime.after(everyMs, tell)
    },
    look,
    drop() {
      callOffTelling?.()
      callOffLooking?.()
      callOffTelling = undefined
      callOffLooking = undefined
      arrived.clear()
      read.clear()
    },
  }
}
