import { randomUUID } from 'node:crypto'
import { badRequest } from '../../kit/errors.ts'
import type { Actor } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { alreadyJoinedUser, callTerminated, notAPart, ongoingToInvalid } from '../calls/errors.ts'
import { type CallState, type Course, type callRules, inCall, isFinal } from '../calls/index.ts'
import { takeBackCrossed } from './crossing.ts'
import { devicesOf, refuseOneMore } from './devices.ts'
import { invalidInit } from './errors.ts'

/** What somebody does who sets a status. */
type Act = 'join' | 'reject' | 'beBusy' | 'cancel' | 'hangUp'

const acts: Record<string, Act> = {
  ongoing: 'join',
  rejected: 'reject',
  busy: 'beBusy',
  cancelled: 'cancel',
  canceled: 'cancel',
  ended: 'hangUp',
}

export function actOf(status: string): Act {
  if (status === 'initiated') throw invalidInit()
  const act = Object.hasOwn(acts, status) ? acts[status] : undefined
  if (!act) throw badRequest({ status: [`must be one of ${Object.keys(acts).join(', ')}`] })
  return act
}

/** The device of whoever acts through a server, or does not say by which one. */
const unnamedDevice = 'rest'

/** Who acts, and from where. */
interface Hand {
  uid: string
  /** Absent where it is not known: then an act goes for all their devices. */
  device: string | undefined
}

/** Brings a change of status about, if the rules allow it now. */
export async function changeCall(work: Work, sessionId: string, act: Act, { uid }: Actor): Promise<void> {
  const hand = { uid, device: work.device }
  const { state } = await inCall(work, sessionId, (course) => {
    if (isFinal(course.state.status)) throw callTerminated()
    deeds[act](course, hand)
  })
  if (act === 'join') await takeBackCrossed(work, state, uid)
}

const deeds: Record<Act, (course: Course, hand: Hand) => void> = {
  join(course, { uid, device = unnamedDevice }) {
    const { state } = course
    if (uid === state.start.initiator && !mayComeBack(state)) throw notAPart({ uid })
    if (state.start.receiverType === 'user' && devicesOf(state, uid).length > 0) throw alreadyJoinedUser()
    refuseOneMore(state, uid, device)
    const mid = state.mid ?? randomUUID()
    course.happen({ kind: 'joined', uid, deviceId: device, mid, cause: 'accepted', happenedAt: course.now })
  },
  reject: (course, { uid }) => decline(course, { kind: 'rejected', uid, happenedAt: course.now }),
  beBusy: (course, { uid }) => decline(course, { kind: 'rejected', uid, cause: 'busy', happenedAt: course.now }),
  cancel(course, { uid }) {
    if (uid !== course.state.start.initiator) throw notAPart({ uid })
    course.happen({ kind: 'canceled', happenedAt: course.now })
  },
  hangUp(course, hand) {
    const { state, now: happenedAt } = course
    if (state.status === 'initiated' || state.start.receiverType === 'user') {
      return course.happen({ kind: 'ended', by: hand.uid, cause: 'hung up', happenedAt })
    }
    for (const deviceId of devicesLeaving(state, hand)) {
      course.happen({ kind: 'left', uid: hand.uid, deviceId, happenedAt })
    }
  },
}

/** A caller cannot answer themself, but can join others in a group who talk. */
const mayComeBack = ({ start, status }: CallState) => start.receiverType === 'group' && status === 'ongoing'

/** Who declines twice has declined. */
function decline(course: Course, intent: callRules.Intent & { kind: 'rejected' }): void {
  const { start, entries, status } = course.state
  if (status === 'ongoing' && intent.cause !== 'busy') throw ongoingToInvalid()
  const hasDeclined = entries.some(({ uid, state }) => uid === intent.uid && state === 'rejected')
  if (start.receiverType === 'group' && hasDeclined && intent.cause !== 'busy') return
  course.happen(intent)
}

/** The device that hangs up. Where none is named, or that one is not there, all of theirs; where none is, the rules refuse it. */
function devicesLeaving(state: CallState, { uid, device = unnamedDevice }: Hand): string[] {
  const there = devicesOf(state, uid)
  return there.includes(device) || there.length === 0 ? [device] : there
}
