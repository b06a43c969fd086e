import { signOfLife } from '../areas/calls/index.ts'
import { type InSession, joinSession, leaveSession, passIn, switchCamera } from '../areas/ringing/index.ts'
import { actorOf } from '../areas/users/index.ts'
import { workIn } from '../common/work-in.ts'
import { authTokenUnknown } from '../dispatch/errors.ts'
import { badRequest } from '../kit/errors.ts'
import type { Tools } from '../kit/ports.ts'
import type { Work } from '../kit/work.ts'
import type { Database } from '../storage/database.ts'
import type { FrameOf } from './frames-in.ts'
import type { Session } from './session.ts'

/**
 * Devices in calls: they come with a call token, say that they are still there, whether their camera is on, and that they
 * go. What a device says becomes a fact of the call; what it does not say any more, its lease decides.
 */
export interface CallSessions {
  /** Does what a frame asks for; answers what the device is told besides that it was done. */
  obey(session: Session, frame: FrameOf<'call_session'>): Promise<object | undefined>
  /** A connection is over. A page that was closed has left its calls; any other may come back. */
  closed(session: Session, code: number): void
}

interface Parts {
  database: Database
  tools: Tools
  tellTrouble(error: unknown): void
}

// Browsers tell by these that the page goes, or that its client wanted to, with or without a word.
const deliberate = new Set([1000, 1001, 1005])

export function createCallSessions({ database, tools, tellTrouble }: Parts): CallSessions {
  /** The calls that were spoken of over a connection. */
  const callsOver = new WeakMap<Session, Set<string>>()

  function spokenOf(session: Session, sessionId: string): InSession {
    const calls = callsOver.get(session) ?? new Set()
    callsOver.set(session, calls.add(sessionId))
    return { sessionId, uid: session.caller.uid, deviceId: session.resource }
  }

  const write = <T>({ app, resource }: Session, act: (work: Work) => Promise<T>): Promise<T> =>
    database.write(
      (connection) => act(workIn(connection, app.id, tools, undefined, { ...app, device: resource })),
      app.id,
    )

  async function join(session: Session, { token = '', video }: FrameOf<'call_session'>['body']): Promise<object> {
    const pass = passIn(tools.secrets, token, tools.clock.now())
    if (pass?.appId !== session.app.id || pass.uid !== session.caller.uid) {
      throw badRequest({ token: ['must be a call token of this user that is not older than five minutes'] })
    }
    const joined = await write(session, async (work) => {
      const actor = await actorOf(work.db, pass.uid)
      if (!actor) throw authTokenUnknown()
      const device = { sessionId: pass.sessionId, uid: pass.uid, deviceId: session.resource }
      return joinSession(work, actor, device, video)
    })
    spokenOf(session, pass.sessionId)
    return { session: joined }
  }

  return {
    async obey(session, { body }) {
      if (body.action === 'join') return join(session, body)
      const { sessionId = '', video } = body
      if (sessionId === '') throw badRequest({ 'body.sessionId': ['is required'] })
      const device = spokenOf(session, sessionId)
      if (body.action === 'ping') {
        const { uid, deviceId } = device
        // Of a call in which the device is not, nothing is written down.
        tools.notes.take(signOfLife, session.app.id, { key: [sessionId, uid, deviceId], at: tools.clock.now() })
      } else if (body.action === 'leave') {
        callsOver.get(session)?.delete(sessionId)
        await write(session, (work) => leaveSession(work, device, 'hungUp'))
      } else if (video !== undefined) {
        await write(session, (work) => switchCamera(work, device, video))
      }
      return undefined
    },
    closed(session, code) {
      if (!deliberate.has(code)) return
      for (const sessionId of callsOver.get(session) ?? []) {
        const device = { sessionId, uid: session.caller.uid, deviceId: session.resource }
        // Where that fails, the device is not heard of any more, and its lease ends.
        write(session, (work) => leaveSession(work, device, 'closed')).catch(tellTrouble)
      }
    },
  }
}
