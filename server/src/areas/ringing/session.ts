import { randomUUID } from 'node:crypto'
import type { Actor } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { callTerminated } from '../calls/errors.ts'
import { type CallState, type Course, inCall, isFinal, ongoingEntry, openSpan } from '../calls/index.ts'
import { authorise } from '../rbac/index.ts'
import { takeBackCrossed } from './crossing.ts'
import { devicesOf, refuseOneMore } from './devices.ts'
import { requirePart } from './parts.ts'
import { refuseJoining } from './permissions.ts'

/** What a device does in the session of a call, once it is there: everything that minutes follow from. */

export interface InSession {
  sessionId: string
  uid: string
  deviceId: string
}

/** What a device is told that joins. */
export interface SessionState {
  sessionId: string
  mid: string
  type: 'audio' | 'video'
  participants: { uid: string; deviceId: string; joinedAt: number }[]
}

/** A device comes in, or says that it is there after its user has accepted. `camera` is whether it sends video. */
export async function joinSession(
  work: Work,
  actor: Actor,
  { sessionId, uid, deviceId }: InSession,
  camera: boolean | undefined,
): Promise<SessionState> {
  const { group, initiator } = await requirePart(work, sessionId, actor)
  await refuseJoining(work.db, actor, group)
  // Joining answers, as setting a status does.
  if (uid !== initiator) await authorise(work.db, actor, 'updateCall')
  const { state } = await inCall(work, sessionId, (course) => {
    if (isFinal(course.state.status)) throw callTerminated()
    const happenedAt = course.now
    if (mediumOf(course.state, uid, deviceId) !== undefined) return turnCamera(course, uid, deviceId, camera)
    refuseOneMore(course.state, uid, deviceId)
    const { mid = randomUUID(), start } = course.state
    const seen = camera === undefined ? {} : { camera: camera && start.type === 'video' }
    course.happen({ kind: 'joined', uid, deviceId, mid, happenedAt, ...seen })
  })
  await takeBackCrossed(work, state, uid)
  return sessionState(sessionId, state)
}

/** A device says that its camera is on now, or off; in a call without video it stays off. */
export async function switchCamera(work: Work, { sessionId, uid, deviceId }: InSession, on: boolean): Promise<void> {
  await inCall(work, sessionId, (course) => turnCamera(course, uid, deviceId, on))
}

/** A device goes. Where two talk, one who hangs up with their last device ends the call for both. */
export async function leaveSession(
  work: Work,
  { sessionId, uid, deviceId }: InSession,
  how: 'hungUp' | 'closed',
): Promise<void> {
  await inCall(work, sessionId, (course) => {
    const { state, now: happenedAt } = course
    if (mediumOf(state, uid, deviceId) === undefined) return
    const isLast = devicesOf(state, uid).every((each) => each === deviceId)
    const ends = how === 'hungUp' && isLast && state.status === 'ongoing' && state.start.receiverType === 'user'
    if (ends) course.happen({ kind: 'ended', by: uid, cause: 'hung up', happenedAt })
    else course.happen({ kind: 'left', uid, deviceId, happenedAt, ...(how === 'closed' && { cause: 'page closed' }) })
  })
}

/** What a device sends at the moment; nothing, if it is not there. */
function mediumOf(state: CallState, uid: string, deviceId: string): 'audio' | 'video' | undefined {
  return openSpan(ongoingEntry(state, uid, deviceId))?.medium
}

function turnCamera(course: Course, uid: string, deviceId: string, on: boolean | undefined): void {
  const { state, now: happenedAt } = course
  const medium = on && state.start.type === 'video' ? 'video' : 'audio'
  const before = mediumOf(state, uid, deviceId)
  if (on === undefined || before === undefined || before === medium) return
  course.happen({ kind: medium === 'video' ? 'cameraOn' : 'cameraOff', uid, deviceId, happenedAt })
}

function sessionState(sessionId: string, { mid = '', start, entries }: CallState): SessionState {
  const there = entries.flatMap(({ uid, deviceId, state, joinedAt }) =>
    state === 'ongoing' && deviceId !== undefined && joinedAt !== undefined ? [{ uid, deviceId, joinedAt }] : [],
  )
  return { sessionId, mid, type: start.type, participants: there }
}
