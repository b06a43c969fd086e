import type { Announcer, PresenceSubscriber } from './announcer.ts'
import type { PresenceWish } from './frames-in.ts'
import type { Session } from './session.ts'
import { unhurried } from './unhurried.ts'

/** Which devices hear who comes and goes. */
export interface Subscriptions {
  /** Lets a device hear of it as it wishes, and no longer as it wished before. */
  subscribe(session: Session, wish: PresenceWish): void
}

export function createSubscriptions(announcer: Announcer): Subscriptions {
  const ends = new Map<Session, () => void>()
  const sends = new WeakMap<Session, PresenceSubscriber['send']>()

  /** One for a device, whatever it wishes: what waits there comes before what is told later. */
  function sendTo(session: Session): PresenceSubscriber['send'] {
    const send = sends.get(session) ?? unhurried(session.line)
    sends.set(session, send)
    return send
  }

  return {
    subscribe(session, { mode, roles = [] }) {
      const { app, caller, line } = session
      const endBefore = ends.get(session)
      ends.delete(session)
      if (mode !== 'NONE' && line.isOpen()) {
        const whom = { appId: app.id, uid: caller.uid, mode, roles: new Set(roles) }
        // None is left out: whoever does not take them is let go, and asks anew when they come back.
        ends.set(session, announcer.subscribe({ ...whom, send: sendTo(session) }))
      }
      // Only now: with its last subscriber an app forgets what it was about to tell.
      endBefore?.()
    },
  }
}
