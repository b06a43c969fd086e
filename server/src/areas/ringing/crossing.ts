import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { type CallState, inCall, liveCallsOf } from '../calls/index.ts'

/**
 * Two people ring each other at the same moment. Both calls ring; as soon as one of them is answered, the other has nobody
 * left to ring for, and is taken back. Each call is changed by itself: whoever holds two could keep others waiting in a
 * circle.
 */

/** Somebody has answered; by a call of their own they ring for nobody any more. */
export async function takeBackCrossed(work: Work, { start }: CallState, uid: string): Promise<void> {
  if (start.receiverType !== 'user' || uid === start.initiator) return
  for (const sessionId of await crossedBy(work.db, uid, start.initiator)) {
    await work.later(takeBack, { sessionId, at: work.now }, { key: sessionId })
  }
}

/** Calls by which `caller` still rings `called`. */
async function crossedBy(db: TenantDb, caller: string, called: string): Promise<string[]> {
  const live = await liveCallsOf(db, caller)
  return live.filter(({ document }) => isRing(document, caller, called)).map((row) => row.session_id)
}

function isRing(document: string, caller: string, called: string): boolean {
  const { initiator, receiver, receiverType, status } = JSON.parse(document)
  return status === 'initiated' && receiverType === 'user' && initiator === caller && receiver === called
}

export const takeBack = job({
  name: 'ringing.takeBack',
  payload: Type.Object({ sessionId: Type.String(), at: Type.Integer() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ sessionId, at }, work) {
    await inCall(work, sessionId, (course) =>
      course.bringAbout(({ status }) =>
        status === 'initiated' ? { kind: 'canceled', cause: 'the other call was answered', happenedAt: at } : undefined,
      ),
    )
    return undefined
  },
})
