import type { Session } from './session.ts'

interface Addressee {
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
  elsewhere(word: { appId: string; channel: string; resource: string; frame: { body?: object } }, end: () => void): void
  forget(session: Session): void
  close(): void
}

const elsewhereMilliseconds = 6_000
const againMilliseconds = 1_000

interface Typing {
  toldAt: number
  timer: NodeJS.Timeout
  end(): void
}

export function createTypists(typingMilliseconds: number): Typists {
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
      if (action === 'ended') return typing !== undefined
      if (!typing || performance.now() - typing.toldAt >= againMilliseconds) return true
      typing.timer.refresh()
      return false
    },
    told(session, to, action, end) {
      const key = keyOf(to)
      stop(session, key)
      if (action === 'ended') return
      const timer = setTimeout(() => {
        stop(session, key)
        end()
      }, typingMilliseconds).unref()
      here.set(session, (here.get(session) ?? new Map()).set(key, { toldAt: performance.now(), timer, end }))
    },
    elsewhere({ appId, channel, resource, frame: { body } }, end) {
      const key = JSON.stringify([appId, channel, resource])
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
      for (const key of keys) stop(session, key)?.end()
    },
    close() {
      for (const typings of here.values()) for (const { timer } of typings.values()) clearTimeout(timer)
      for (const timer of others.values()) clearTimeout(timer)
      here.clear()
      others.clear()
    },
  }
}
