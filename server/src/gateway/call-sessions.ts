import { notAPart } from '../areas/calls/errors.ts'
import { isThere, signOfLife } from '../areas/calls/index.ts'
import {
  callSessionRate,
  type InSession,
  joinSession,
  leaveSession,
  passIn,
  switchCamera,
} from '../areas/ringing/index.ts'
import { actorOf } from '../areas/users/index.ts'
import { viewIn, workIn } from '../common/work-in.ts'
import { authTokenUnknown } from '../dispatch/errors.ts'
import { badRequest } from '../kit/errors.ts'
import type { Limits } from '../kit/limits.ts'
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
  /** A connection is over for good: its page was closed, so the device has left its calls. */
  closed(session: Session): void
}

interface Parts {
  database: Database
  tools: Tools
  limits: { count(...counted: Parameters<Limits['count']>): Promise<unknown> }
  tellTrouble(error: unknown): void
}

// One at a time is usual; whoever has more has forgotten to leave some.
const callsMax = 5

export function createCallSessions({ database, tools, limits, tellTrouble }: Parts): CallSessions {
  /** The calls in which the device of a connection is. */
  const callsOf = new WeakMap<Session, Set<string>>()

  function remember(session: Session, sessionId: string): void {
    const calls = callsOf.get(session) ?? new Set()
    callsOf.set(session, calls.add(sessionId))
    const [oldest] = calls
    if (calls.size > callsMax && oldest !== undefined) calls.delete(oldest)
  }

  const deviceIn = ({ caller, resource }: Session, sessionId: string): InSession => ({
    ...{ sessionId, uid: caller.uid, deviceId: resource },
  })

  /** The device, if it is in the call. One that comes back over another connection is looked for once. */
  async function requireThere(session: Session, sessionId: string): Promise<InSession> {
    const { app, caller } = session
    const device = deviceIn(session, sessionId)
    if (callsOf.get(session)?.has(sessionId)) return device
    const isIn = await database.read((connection) => isThere(viewIn(connection, app.id, tools).db, device), app.id)
    if (!isIn) throw notAPart({ uid: caller.uid })
    remember(session, sessionId)
    return device
  }

  const write = <T>({ app, resource }: Session, act: (work: Work) => Promise<T>): Promise<T> =>
    database.write(
      (connection) => act(workIn(connection, app.id, tools, undefined, { ...app, device: resource })),
      app.id,
    )

  async function join(session: Session, { token = '', video }: FrameOf<'call_session'>['body']): Promise<object> {
    const { app, caller } = session
    const pass = passIn(tools.secrets, token, tools.clock.now())
    if (pass?.appId !== app.id || pass.uid !== caller.uid) {
      throw badRequest({ token: ['must be a call token of this user that is not older than five minutes'] })
    }
    const joined = await write(session, async (work) => {
      const actor = await actorOf(work.db, caller.uid)
      if (!actor) throw authTokenUnknown()
      return joinSession(work, actor, deviceIn(session, pass.sessionId), video)
    })
    remember(session, pass.sessionId)
    return { session: joined }
  }

  async function leaveAll(session: Session, calls: Iterable<string>): Promise<void> {
    for (const sessionId of calls) {
      // Where that fails, the device is not heard of any more, and its lease ends.
      await write(session, (work) => leaveSession(work, deviceIn(session, sessionId), 'closed')).catch(tellTrouble)
    }
  }

  return {
    async obey(session, { body }) {
      const { action, sessionId = '', video } = body
      const { app, caller } = session
      if (action !== 'ping') await limits.count(callSessionRate, [app.id, caller.uid])
      if (action === 'join') return join(session, body)
      if (sessionId === '') throw badRequest({ 'body.sessionId': ['is required'] })
      const device = await requireThere(session, sessionId)
      if (action === 'ping') {
        const key = [sessionId, device.uid, device.deviceId]
        tools.notes.take(signOfLife, app.id, { key, at: tools.clock.now() })
      } else if (action === 'leave') {
        callsOf.get(session)?.delete(sessionId)
        await write(session, (work) => leaveSession(work, device, 'hungUp'))
      } else if (video !== undefined) {
        await write(session, (work) => switchCamera(work, device, video))
      }
      return undefined
    },
    closed(session) {
      const calls = callsOf.get(session)
      callsOf.delete(session)
      if (calls) void leaveAll(session, calls)
    },
  }
}
