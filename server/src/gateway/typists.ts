import type { Frame } from '../kit/event.ts'
import type { Session } from './session.ts'

export interface Addressee {
  receiver: string
  receiverType: 'user' | 'group'
}

type Action = 'started' | 'ended'

/** Who types, and until when: nobody types for ever, whatever became of their device or of its node. */
export interface Typists {
  /** Whether it is told that a device has begun or ceased to type; not so often, and not if it is known. */
  mayTell(session: Session, to: Addressee, action: Action): boolean
  /** It was told; `end` is called when nothing more is heard of it. */
  told(session: Session, to: Addressee, action: Action, end: () => void): void
  /** The same of a device of another node, which should say by itself when it ends, unless it dies. */
  elsewhere(word: { appId: string; channel: string; resource: string; frame: Frame }, end: () => void): void
  forget(session: Session): void
  close(): void
}

const usualElsewhereMilliseconds = 6_000
const againMilliseconds = 1_000

interface Typing {
  toldAt: number
  timer: NodeJS.Timeout
  /** Absent once it has ended: then only when it was last told is kept, for as long as it must not be told again. */
  end?: () => void
}

export function createTypists(typingMilliseconds: number, elsewhereMilliseconds = usualElsewhereMilliseconds): Typists {
  const here = new Map<Session, Map<string, Typing>>()
  const others = new Map<string, NodeJS.Timeout>()

  // A type is one of two words, so no two of these read alike.
  const keyOf = ({ receiver, receiverType }: Addressee) => `${receiverType} ${receiver}`

  function stop(session: Session, key: string): Typing | undefined {
    const typings = here.get(session)
    const typing = typings?.get(key)
    clearTimeout(typing?.timer)
    typings?.delete(key)
    if (typings?.size === 0) here.delete(session)
    return typing
  }

  return {
    mayTell(session, to, action) {
      const typing = here.get(session)?.get(keyOf(to))
      if (action === 'ended') return typing?.end !== undefined
      if (!typing || performance.now() - typing.toldAt >= againMilliseconds) return true
      if (typing.end) typing.timer.refresh()
      return false
    },
    told(session, to, action, end) {
      const key = keyOf(to)
      const before = stop(session, key)
      const hasEnded = action === 'ended'
      const timer = setTimeout(
        () => stop(session, key)?.end?.(),
        hasEnded ? againMilliseconds : typingMilliseconds,
      ).unref()
      const toldAt = (hasEnded ? before?.toldAt : undefined) ?? performance.now()
      const typing: Typing = { toldAt, timer, ...(!hasEnded && { end }) }
      here.set(session, (here.get(session) ?? new Map<string, Typing>()).set(key, typing))
    },
    elsewhere({ appId, channel, resource, frame: { sender, body } }, end) {
      // A device names itself, so two people may have one of the same name.
      const key = JSON.stringify([appId, channel, sender, resource])
      clearTimeout(others.get(key))
      others.delete(key)
      if ((body as { action?: Action }).action === 'ended') return
      const timer = setTimeout(() => {
        others.delete(key)
        end()
      }, elsewhereMilliseconds).unref()
      others.set(key, timer)
    },
    forget(session) {
      const keys = [...(here.get(session)?.keys() ?? [])]
      for (const key of keys) stop(session, key)?.end?.()
    },
    close() {
      for (const typings of here.values()) for (const { timer } of typings.values()) clearTimeout(timer)
      for (const timer of others.values()) clearTimeout(timer)
      here.clear()
      others.clear()
    },
  }
}
