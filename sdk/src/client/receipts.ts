import { keyOf, placeOf, receiverIn, type To } from '../collections/address.ts'
import type { Message } from '../generated/records.ts'
import type { Runtime } from '../runtime/runtime.ts'

/** Tells senders that what they wrote has arrived: a conversation at a time, up to the last message that came. */
export interface Receipts {
  hear(message: Message): void
  drop(): void
}

interface Parts {
  runtime: Runtime
  me(): string
  say(frame: object): void
}

// A device may not say much in a second, and what is told of the last message holds for all before.
const everyMs = 1_000

export function createReceipts({ runtime, me, say }: Parts): Receipts {
  const latest = new Map<string, { to: To; messageId: string }>()
  let callOff: (() => void) | undefined

  function tell(): void {
    callOff = undefined
    for (const { to, messageId } of latest.values()) {
      say({ type: 'receipts', ...receiverIn(to), body: { action: 'delivered', messageId } })
    }
    latest.clear()
  }

  return {
    hear(message) {
      if (message.sender === me()) return
      const to = placeOf(message, me())
      latest.set(keyOf(to), { to, messageId: message.id })
      callOff ??= runtime.after(everyMs, tell)
    },
    drop() {
      callOff?.()
      callOff = undefined
      latest.clear()
    },
  }
}
