import {
  alreadyJoinedGroup,
  alreadyJoinedUser,
  alreadyLeftGroup,
  callingSelf,
  callTerminated,
  groupInvalidStatus,
  notAPart,
  notStarted,
  ongoingToInvalid,
  recordingNotRunning,
  recordingRunning,
  tooManyParticipants,
} from './errors.ts'
import type { Fact, InitiatedFact } from './facts.ts'
import {
  applyFact,
  type CallState,
  type Entry,
  entryOf,
  isFinal,
  ongoingEntry,
  openSpan,
  runningRecording,
  someoneIsThere,
} from './state.ts'

/**
 * The two state machines: what may happen, and what follows.
 *
 *   call         initiated -> ongoing -> ended
 *                initiated -> rejected | canceled | unanswered
 *   participant  unanswered -> ongoing <-> ended,  unanswered -> rejected
 *
 * Pure functions all: `accept` decides whether something may happen now and which facts it leaves, `overdue` what time
 * itself brings about. state.ts replays the facts, record.ts turns the state into the numbers that are answered.
 */

export const participantsMax = 50

/** What can happen in a call. What else the rules know is added by `accept`. */
export type CallAct = { cause?: string } & (
  | { kind: 'rung'; uid: string }
  | { kind: 'joined'; uid: string; deviceId: string; camera?: boolean; mid: string }
  | { kind: 'cameraOn' | 'cameraOff'; uid: string; deviceId: string }
  | { kind: 'left'; uid: string; deviceId: string }
  | { kind: 'rejected'; uid: string }
  | { kind: 'canceled' | 'unanswered' }
  | { kind: 'ended'; by?: string }
  | { kind: 'recordingStarted'; rid: string }
  | { kind: 'recordingStopped'; rid: string; url: string }
  | { kind: 'transcribed'; tid: string; startTime: number; endTime: number; url: string }
)

/** What someone wants to happen, or tells to have happened, which may be some time ago: media engines deliver late. */
export type Intent = CallAct & { happenedAt: number }

/** The first fact of a call, or a refusal. */
export function initiate(placed: Omit<InitiatedFact, 'kind' | 'cause'>): InitiatedFact {
  if (placed.receiverType === 'user' && placed.receiver === placed.initiator && placed.mode === 'call') {
    throw callingSelf()
  }
  const invited = placed.mode === 'call' ? invitedBy(placed) : []
  return { kind: 'initiated', ...placed, invited, cause: 'placed' }
}

function invitedBy({ initiator, receiver, receiverType, invited }: Omit<InitiatedFact, 'kind' | 'cause'>): string[] {
  const rung = receiverType === 'user' ? [receiver] : invited
  return [...new Set(rung)].filter((uid) => uid !== initiator)
}

/** Which facts follow when `intent` happens at `now`; throws where the rules forbid it. */
export function accept(state: CallState, intent: Intent, now: number): Fact[] {
  refuse(state, intent)
  const fact = toFact(state, intent, now)
  const after = applyFact(state, fact)
  const consequence = consequenceOf(after, intent)
  return consequence ? [fact, consequence] : [fact]
}

/**
 * What is told of a device, as far as it is believed: an engine whose clock is ahead tells of the present, and what is
 * older than a lease was decided without it, by the device's silence.
 */
export function believed(intent: Intent, now: number, { leaseSeconds }: CallTimings): Intent {
  if (!('deviceId' in intent)) return intent
  return { ...intent, happenedAt: Math.max(intent.happenedAt, now - leaseSeconds) }
}

/**
 * What is told late is dated when it happened, but not before what it follows. What is told as it happens is dated no
 * earlier than anything known: a clock that steps back must not turn time around. Nothing is dated ahead of now.
 */
function toFact(state: CallState, { happenedAt, ...act }: Intent, now: number): Fact {
  const earliest = happenedAt < now ? earliestFor(state, act) : state.lastAt
  return { cause: usualCause[act.kind], ...act, at: Math.max(Math.min(happenedAt, now), earliest) } as Fact
}

/** What an act follows: nothing that is told late takes back what is known of the same thing. */
function earliestFor(state: CallState, act: CallAct): number {
  switch (act.kind) {
    case 'joined':
      return entryOf(state, act.uid, act.deviceId)?.leftAt ?? state.start.at
    case 'cameraOn':
    case 'cameraOff':
      return entryOf(state, act.uid, act.deviceId)?.joinedAt ?? state.start.at
    case 'left':
      return openSpan(ongoingEntry(state, act.uid, act.deviceId))?.from ?? state.lastAt
    case 'canceled':
    case 'unanswered':
    case 'ended':
      return state.lastAt
    case 'recordingStarted':
      return state.statusChanges.at(-1)?.at ?? state.start.at
    case 'recordingStopped':
      return runningRecording(state, act.rid)?.startTime ?? state.start.at
    case 'rung':
    case 'rejected':
    case 'transcribed':
      return state.start.at
  }
}

const usualCause: Record<CallAct['kind'], string> = {
  rung: 'device rang',
  joined: 'joined',
  cameraOn: 'camera switched on',
  cameraOff: 'camera switched off',
  left: 'left',
  rejected: 'declined',
  canceled: 'canceled by the caller',
  unanswered: 'ring time over',
  ended: 'ended',
  recordingStarted: 'recording started',
  recordingStopped: 'recording stopped',
  transcribed: 'transcript ready',
}

/** What must happen at once because of a fact just applied. */
function consequenceOf(after: CallState, intent: CallAct): Fact | undefined {
  if (intent.kind !== 'left' || someoneIsThere(after)) return undefined
  const { uid: by } = intent
  if (after.status === 'ongoing') return { kind: 'ended', at: after.lastAt, by, cause: 'last participant left' }
  // The caller waited in the call and gave up before anyone came.
  if (after.status === 'initiated') return { kind: 'canceled', at: after.lastAt, cause: 'caller left' }
  return undefined
}

/** A transcript is made after the call, and a recorder hands over its file when it notices that the call is over. */
const mayFollowTheEnd: ReadonlySet<CallAct['kind']> = new Set(['transcribed', 'recordingStopped'])

function refuse(state: CallState, intent: Intent): void {
  if (isFinal(state.status) && !mayFollowTheEnd.has(intent.kind)) throw callTerminated()
  switch (intent.kind) {
    case 'joined':
      refuseJoin(state, intent)
      return
    case 'left':
      if (!ongoingEntry(state, intent.uid, intent.deviceId)) throw notThere(state, intent)
      return
    case 'cameraOn':
    case 'cameraOff':
      if (!wasThere(state, intent)) throw notThere(state, intent)
      return
    case 'rejected':
      refuseRejection(state, intent)
      return
    case 'canceled':
    case 'unanswered':
      if (state.status === 'ongoing') throw ongoingToInvalid()
      return
    case 'ended':
      if (state.status === 'initiated') throw notStarted()
      return
    case 'recordingStarted':
      if (state.status === 'initiated') throw notStarted()
      if (state.recordings.some(({ rid }) => rid === intent.rid)) throw recordingRunning({ rid: intent.rid })
      return
    case 'recordingStopped':
      if (!runningRecording(state, intent.rid)) throw recordingNotRunning({ rid: intent.rid })
      return
    case 'rung':
    case 'transcribed':
      return
  }
}

function refuseJoin(state: CallState, { uid, deviceId }: { uid: string; deviceId: string }): void {
  const { start } = state
  if (start.mode === 'call' && start.receiverType === 'user' && uid !== start.initiator && uid !== start.receiver) {
    throw notAPart({ uid })
  }
  const entry = entryOf(state, uid, deviceId)
  if (entry?.state === 'ongoing') throw start.receiverType === 'group' ? alreadyJoinedGroup() : alreadyJoinedUser()
  const devices = state.entries.filter((each) => each.deviceId !== undefined).length
  if (!entry && devices >= participantsMax)
    throw tooManyParticipants({ limit: `${participantsMax} participants per call` })
}

function refuseRejection(state: CallState, { uid, cause }: { uid: string; cause?: string }): void {
  const { start } = state
  if (start.mode !== 'call') throw ongoingToInvalid()
  if (cause === 'busy' && start.receiverType === 'group') throw groupInvalidStatus()
  if (uid === start.initiator) throw notAPart({ uid })
  if (start.receiverType === 'user' && uid !== start.receiver) throw notAPart({ uid })
  if (state.entries.some((entry) => entry.uid === uid && entry.deviceId !== undefined)) throw ongoingToInvalid()
}

/** A camera may have been switched before its device left, and be told of after. */
function wasThere(state: CallState, intent: { uid: string; deviceId: string; happenedAt: number }): boolean {
  const entry = entryOf(state, intent.uid, intent.deviceId)
  return entry?.state === 'ongoing' || (entry?.leftAt !== undefined && intent.happenedAt < entry.leftAt)
}

function notThere(state: CallState, { uid, deviceId }: { uid: string; deviceId: string }) {
  const hasLeft = entryOf(state, uid, deviceId) !== undefined
  return hasLeft && state.start.receiverType === 'group' ? alreadyLeftGroup() : notAPart({ uid })
}

/** When a device was last heard of. */
export interface Sign {
  uid: string
  deviceId: string
  seenAt: number
}

/** How long a call rings, and how long a device may be silent. */
export interface CallTimings {
  ringSeconds: number
  leaseSeconds: number
}

/**
 * What time itself does to a call: the ring ends, and devices not heard of for the length of a lease have left. This is
 * what brings every call to an end after a crash of a client, of the media engine or of Parley.
 */
export function overdue(
  state: CallState,
  signs: readonly Sign[],
  now: number,
  timings: CallTimings,
): Intent | undefined {
  if (isFinal(state.status)) return undefined
  const { leaseSeconds } = timings
  const ringEndsAt = endOfRing(state, timings)
  if (state.status === 'initiated')
    return now >= ringEndsAt ? { kind: 'unanswered', happenedAt: ringEndsAt } : undefined
  if (!someoneIsThere(state)) {
    return now >= ringEndsAt ? { kind: 'ended', cause: 'nobody joined', happenedAt: ringEndsAt } : undefined
  }
  const silent = signsIn(state, signs)
    .filter(({ seenAt }) => now >= seenAt + leaseSeconds)
    .toSorted((a, b) => a.seenAt - b.seenAt)[0]
  return (
    silent && {
      kind: 'left',
      uid: silent.uid,
      deviceId: silent.deviceId,
      cause: 'connection lost',
      happenedAt: silent.seenAt,
    }
  )
}

/** Callers may say how long it rings. */
function endOfRing({ start }: CallState, { ringSeconds }: CallTimings): number {
  return start.at + (start.ringSeconds ?? ringSeconds)
}

/** The facts of everything that time has brought about by `now`. */
export function elapsed(state: CallState, signs: readonly Sign[], now: number, timings: CallTimings): Fact[] {
  return inTurn(state, now, (present) => overdue(present, signs, now, timings))
}

/** The facts of one thing after the other, as `next` names them. */
export function inTurn(state: CallState, now: number, next: (present: CallState) => Intent | undefined): Fact[] {
  const facts: Fact[] = []
  let present = state
  for (let due = next(present); due; due = next(present)) {
    const added = accept(present, due, now)
    facts.push(...added)
    present = added.reduce(applyFact, present)
  }
  return facts
}

/** When `overdue` has to be asked again at the latest; nothing, once the call is final. */
export function nextDeadline(state: CallState, signs: readonly Sign[], timings: CallTimings): number | undefined {
  if (isFinal(state.status)) return undefined
  const leases = signsIn(state, signs).map(({ seenAt }) => seenAt + timings.leaseSeconds)
  if (state.status === 'initiated' || leases.length === 0) return endOfRing(state, timings)
  return Math.min(...leases)
}

/** When each device that is in the call was last heard of. */
export function signsIn({ entries }: CallState, signs: readonly Sign[]): Sign[] {
  return entries.filter(({ state }) => state === 'ongoing').map((entry) => signOf(entry, signs))
}

/** A device that has never been heard of since it joined was last seen when its present stay began. */
function signOf(entry: Entry, signs: readonly Sign[]): Sign {
  const stayBegan = entry.spans.at(-1)?.from ?? 0
  const seenAt = signs.find(({ uid, deviceId }) => uid === entry.uid && deviceId === entry.deviceId)?.seenAt ?? 0
  return { uid: entry.uid, deviceId: entry.deviceId ?? '', seenAt: Math.max(seenAt, stayBegan) }
}
