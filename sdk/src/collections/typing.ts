import type { Runtime } from '../runtime/runtime.ts'
import type { Frame } from '../socket/frame.ts'
import { cell, type Readable } from '../store/cell.ts'
import type { LiveUser } from '../sync/session.ts'
import { receiverIn, type To } from './address.ts'

/** Who is writing in a conversation, and that the user is. */
export interface Typing extends Readable<readonly LiveUser[]> {
  /** For every key that is struck; what is told of it, and when it ends, is found out here. */
  keystroke(): void
  /** The user has stopped, before it ends by itself. */
  end(): void
}

export interface TypingParts {
  to: To
  runtime: Runtime
  say(frame: object): void
}

// The server ends it after five seconds in which nothing was told.
const toldEveryMs = 3_000
const endsAfterMs = 4_500
const forgottenAfterMs = 6_000

export function createTyping({ to, runtime, say }: TypingParts) {
  const writers = cell<readonly LiveUser[]>([])
  const callOffs = new Map<string, () => void>()
  let toldAt = Number.NEGATIVE_INFINITY
  let callOffEnd = () => {}

  const tell = (action: 'started' | 'ended') => say({ type: 'typing_indicator', ...receiverIn(to), body: { action } })

  function forget(uid: string): void {
    callOffs.get(uid)?.()
    if (callOffs.delete(uid)) writers.set(writers.get().filter((writer) => writer.uid !== uid))
  }

  function end(): void {
    callOffEnd()
    if (toldAt === Number.NEGATIVE_INFINITY) return
    toldAt = Number.NEGATIVE_INFINITY
    tell('ended')
  }

  const typing: Typing = {
    get: writers.get,
    subscribe: writers.subscribe,
    keystroke() {
      callOffEnd()
      callOffEnd = runtime.after(endsAfterMs, end)
      if (runtime.now() - toldAt < toldEveryMs) return
      toldAt = runtime.now()
      tell('started')
    },
    end,
  }
  return {
    typing,
    hear({ type, sender = '', body }: Frame): void {
      if (type === 'message') return void forget(String(body.sender))
      if (type !== 'typing_indicator') return
      if (body.action !== 'started') return void forget(sender)
      if (!callOffs.has(sender)) writers.set([...writers.get(), body.user as LiveUser])
      callOffs.get(sender)?.()
      callOffs.set(
        sender,
        runtime.after(forgottenAfterMs, () => forget(sender)),
      )
    },
    drop(): void {
      callOffEnd()
      toldAt = Number.NEGATIVE_INFINITY
      for (const uid of [...callOffs.keys()]) forget(uid)
    },
  }
}
