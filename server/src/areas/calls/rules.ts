import type { Fact, InitiatedFact } from './facts.ts'
import {
  alreadyJoinedGroup,
  alreadyJoinedUser,
  alreadyLeftGroup,
  callTerminated,
  callingSelf,
  groupInvalidStatus,
  notAPart,
  notStarted,
  ongoingToInvalid,
  recordingNotRunning,
  recordingRunning,
  tooManyParticipants,
} from './errors.ts'

/**
 * The two state machines, as pure functions.
 *
 *   call         initiated -> ongoing -> ended
 *                initiated -> rejected | canceled | unanswered
 *   participant  unanswered -> ongoing <-> ended,  unanswered -> rejected
 *
 * `accept` decides whether something may happen now and which facts it leaves; `fold` replays facts into a state. Only
 * `accept` refuses: facts in the ledger have been accepted, so folding them never fails.
 */

export const participantsMax = 50

export type CallStatus = 'initiated' | 'ongoing' | 'ended' | 'unanswered' | 'rejected' | 'canceled'
export type ParticipantState = 'ongoing' | 'ended' | 'unanswered' | 'rejected'
type Medium = 'audio' | 'video'

/** An unbroken stretch of one participant's presence with the camera on, or off. */
export interface Span {
  medium: Medium
  from: number
  /** Open while the participant is there. */
  to: number | undefined
  /** Numbers of the facts that began and ended it. */
  openedBy: number
  closedBy: number | undefined
}

/** A user on a device; or a user who was rung and has not joined. */
export interface Entry {
  uid: string
  deviceId: string | undefined
  state: ParticipantState
  joinedAt: number | undefined
  leftAt: number | undefined
  spans: Span[]
}

export interface Recording {
  rid: string
  startTime: number
  endTime: number | undefined
  url: string | undefined
}

export interface Transcription {
  tid: string
  startTime: number
  endTime: number
  producedAt: number
  url: string
}

export interface StatusChange {
  status: CallStatus
  at: number
  cause: string
  /** The number of the fact that made it so. */
  fact: number
}

export interface CallState {
  start: InitiatedFact
  status: CallStatus
  endedAt: number | undefined
  mid: string | undefined
  entries: Entry[]
  recordings: Recording[]
  transcriptions: Transcription[]
  /** The latest moment any fact speaks of; nothing new is dated before it. */
  lastAt: number
  factCount: number
  statusChanges: StatusChange[]
}

/** What someone wants to happen to a call. The time, and what else the rules know, is added by `accept`. */
export type Intent =
  | { kind: 'rung'; uid: string; cause?: string }
  | { kind: 'joined'; uid: string; deviceId: string; camera?: boolean; mid: string; cause?: string }
  | { kind: 'cameraOn' | 'cameraOff'; uid: string; deviceId: string; cause?: string }
  | { kind: 'left'; uid: string; deviceId: string; cause?: string; lastSeenAt?: number }
  | { kind: 'rejected'; uid: string; cause?: string }
  | { kind: 'canceled' | 'unanswered' | 'ended'; cause?: string }
  | { kind: 'recordingStarted'; rid: string; cause?: string }
  | { kind: 'recordingStopped'; rid: string; url: string; cause?: string }
  | { kind: 'transcribed'; tid: string; startTime: number; endTime: number; url: string; cause?: string }

export function isFinal(status: CallStatus): boolean {
  return status !== 'initiated' && status !== 'ongoing'
}

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

/** A clock that steps back must not turn time around: nothing is dated before what is known already. */
function toFact(state: CallState, intent: Intent, now: number): Fact {
  if (intent.kind === 'left' && intent.lastSeenAt !== undefined) {
    // Found out late: the participant was gone from the moment last heard of, not from the moment it was noticed.
    const { lastSeenAt, ...left } = intent
    const since = openSpan(ongoingEntry(state, intent.uid, intent.deviceId))?.from ?? lastSeenAt
    return { cause: 'left', ...left, at: Math.max(lastSeenAt, since) }
  }
  return { cause: usualCause[intent.kind], ...intent, at: Math.max(now, state.lastAt) } as Fact
}

const usualCause: Record<Intent['kind'], string> = {
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
function consequenceOf(after: CallState, intent: Intent): Fact | undefined {
  if (intent.kind !== 'left' || someoneIsThere(after)) return undefined
  if (after.status === 'ongoing') return { kind: 'ended', at: after.lastAt, cause: 'last participant left' }
  // The caller waited in the call and gave up before anyone came.
  if (after.status === 'initiated') return { kind: 'canceled', at: after.lastAt, cause: 'caller left' }
  return undefined
}

function refuse(state: CallState, intent: Intent): void {
  // A transcript is made after the call; nothing else may follow a final state.
  if (isFinal(state.status) && intent.kind !== 'transcribed') throw callTerminated()
  switch (intent.kind) {
    case 'joined':
      return refuseJoin(state, intent)
    case 'left':
    case 'cameraOn':
    case 'cameraOff':
      if (!ongoingEntry(state, intent.uid, intent.deviceId)) throw notThere(state, intent)
      return
    case 'rejected':
      return refuseRejection(state, intent)
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
  if (!entry && devices >= participantsMax) throw tooManyParticipants({ limit: `${participantsMax} participants per call` })
}

function refuseRejection(state: CallState, { uid, cause }: { uid: string; cause?: string }): void {
  const { start } = state
  if (start.mode !== 'call') throw ongoingToInvalid()
  if (cause === 'busy' && start.receiverType === 'group') throw groupInvalidStatus()
  if (uid === start.initiator) throw notAPart({ uid })
  if (start.receiverType === 'user' && uid !== start.receiver) throw notAPart({ uid })
  if (state.entries.some((entry) => entry.uid === uid && entry.deviceId !== undefined)) throw ongoingToInvalid()
}

function notThere(state: CallState, { uid, deviceId }: { uid: string; deviceId: string }) {
  const hasLeft = entryOf(state, uid, deviceId) !== undefined
  return hasLeft && state.start.receiverType === 'group' ? alreadyLeftGroup() : notAPart({ uid })
}

/** Replays a ledger. */
export function fold(facts: readonly Fact[]): CallState {
  const [start, ...rest] = facts
  if (start?.kind !== 'initiated') throw new Error('A ledger begins with the fact that the call was initiated.')
  return rest.reduce(applyFact, begin(start))
}

export function begin(start: InitiatedFact): CallState {
  const status = start.mode === 'call' ? 'initiated' : 'ongoing'
  const waiting = start.mode === 'call' ? [start.initiator, ...start.invited] : []
  return {
    start,
    status,
    endedAt: undefined,
    mid: undefined,
    entries: waiting.map(waitingEntry),
    recordings: [],
    transcriptions: [],
    lastAt: start.at,
    factCount: 1,
    statusChanges: [{ status, at: start.at, cause: start.cause, fact: 1 }],
  }
}

/** The state after one more fact. */
export function applyFact(before: CallState, fact: Fact): CallState {
  const number = before.factCount + 1
  const state = { ...before, factCount: number, lastAt: Math.max(before.lastAt, fact.at) }
  switch (fact.kind) {
    case 'joined': {
      const joined = { ...state, mid: state.mid ?? fact.mid, entries: withJoined(state, fact, number) }
      const answered = state.status === 'initiated' && fact.uid !== state.start.initiator
      return answered ? changeStatus(joined, 'ongoing', fact.at, fact.cause) : joined
    }
    case 'cameraOn':
    case 'cameraOff':
      return { ...state, entries: withCamera(state, fact, fact.kind === 'cameraOn' ? 'video' : 'audio', number) }
    case 'left':
      return {
        ...state,
        entries: changeEntry(state.entries, ongoingEntry(state, fact.uid, fact.deviceId), (entry) =>
          closeEntry(entry, fact.at, number),
        ),
      }
    case 'rejected': {
      const rejected = { ...state, entries: withRejected(state, fact.uid) }
      return state.status === 'initiated' && everyoneDeclined(rejected)
        ? finish(rejected, 'rejected', fact.at, fact.cause)
        : rejected
    }
    case 'canceled':
    case 'unanswered':
    case 'ended':
      return finish(state, fact.kind, fact.at, fact.cause)
    case 'recordingStarted': {
      const recording = { rid: fact.rid, startTime: fact.at, endTime: undefined, url: undefined }
      return { ...state, recordings: [...state.recordings, recording] }
    }
    case 'recordingStopped':
      return {
        ...state,
        recordings: state.recordings.map((each) =>
          each.rid === fact.rid ? { ...each, endTime: fact.at, url: fact.url } : each,
        ),
      }
    case 'transcribed': {
      const { tid, startTime, endTime, url, at } = fact
      return { ...state, transcriptions: [...state.transcriptions, { tid, startTime, endTime, url, producedAt: at }] }
    }
    case 'rung':
    case 'initiated':
      return state
  }
}

function changeStatus(state: CallState, status: CallStatus, at: number, cause: string): CallState {
  return { ...state, status, statusChanges: [...state.statusChanges, { status, at, cause, fact: state.factCount }] }
}

/** A final state ends everything that still runs. */
function finish(state: CallState, status: CallStatus, at: number, cause: string): CallState {
  const endedAt = Math.max(at, state.lastAt)
  return {
    ...changeStatus(state, status, endedAt, cause),
    endedAt,
    entries: state.entries.map((entry) =>
      entry.state === 'ongoing' ? closeEntry(entry, endedAt, state.factCount) : entry,
    ),
  }
}

function waitingEntry(uid: string): Entry {
  return { uid, deviceId: undefined, state: 'unanswered', joinedAt: undefined, leftAt: undefined, spans: [] }
}

function withJoined(
  state: CallState,
  fact: { uid: string; deviceId: string; camera?: boolean; at: number },
  number: number,
): Entry[] {
  const sendsVideo = fact.camera ?? state.start.type === 'video'
  const join = (entry: Entry): Entry => ({
    ...entry,
    deviceId: fact.deviceId,
    state: 'ongoing',
    joinedAt: entry.joinedAt ?? fact.at,
    leftAt: undefined,
    spans: [...entry.spans, openedSpan(sendsVideo ? 'video' : 'audio', fact.at, number)],
  })
  const place = entryOf(state, fact.uid, fact.deviceId) ?? waitingEntryOf(state, fact.uid)
  return place ? changeEntry(state.entries, place, join) : [...state.entries, join(waitingEntry(fact.uid))]
}

function withCamera(
  state: CallState,
  { uid, deviceId, at }: { uid: string; deviceId: string; at: number },
  medium: Medium,
  number: number,
): Entry[] {
  return changeEntry(state.entries, ongoingEntry(state, uid, deviceId), (entry) => {
    if (openSpan(entry)?.medium === medium) return entry
    return { ...entry, spans: [...closeSpans(entry.spans, at, number), openedSpan(medium, at, number)] }
  })
}

function withRejected(state: CallState, uid: string): Entry[] {
  const place = waitingEntryOf(state, uid)
  const reject = (entry: Entry): Entry => ({ ...entry, state: 'rejected' })
  return place ? changeEntry(state.entries, place, reject) : [...state.entries, reject(waitingEntry(uid))]
}

function everyoneDeclined({ start, entries }: CallState): boolean {
  return (
    start.invited.length > 0 &&
    start.invited.every((uid) => entries.some((entry) => entry.uid === uid && entry.state === 'rejected'))
  )
}

function closeEntry(entry: Entry, at: number, number: number): Entry {
  return { ...entry, state: 'ended', leftAt: at, spans: closeSpans(entry.spans, at, number) }
}

function openedSpan(medium: Medium, from: number, openedBy: number): Span {
  return { medium, from, to: undefined, openedBy, closedBy: undefined }
}

function closeSpans(spans: Span[], to: number, closedBy: number): Span[] {
  return spans.map((span) => (span.to === undefined ? { ...span, to, closedBy } : span))
}

function changeEntry(entries: Entry[], place: Entry | undefined, change: (entry: Entry) => Entry): Entry[] {
  return entries.map((entry) => (entry === place ? change(entry) : entry))
}

function openSpan(entry: Entry | undefined): Span | undefined {
  return entry?.spans.find(({ to }) => to === undefined)
}

function entryOf({ entries }: CallState, uid: string, deviceId: string): Entry | undefined {
  return entries.find((entry) => entry.uid === uid && entry.deviceId === deviceId)
}

function ongoingEntry(state: CallState, uid: string, deviceId: string): Entry | undefined {
  const entry = entryOf(state, uid, deviceId)
  return entry?.state === 'ongoing' ? entry : undefined
}

function waitingEntryOf({ entries }: CallState, uid: string): Entry | undefined {
  return entries.find((entry) => entry.uid === uid && entry.deviceId === undefined)
}

function runningRecording({ recordings }: CallState, rid: string): Recording | undefined {
  return recordings.find((recording) => recording.rid === rid && recording.endTime === undefined)
}

export function someoneIsThere({ entries }: CallState): boolean {
  return entries.some(({ state }) => state === 'ongoing')
}

/** When a device was last heard of. */
export interface Sign {
  uid: string
  deviceId: string
  seenAt: number
}

/**
 * What time itself does to a call: the ring ends, and devices not heard of for the length of a lease have left. This is
 * what brings every call to an end after a crash of a client, of the media engine or of Parley.
 */
export function overdue(
  state: CallState,
  signs: readonly Sign[],
  now: number,
  { ringSeconds, leaseSeconds }: { ringSeconds: number; leaseSeconds: number },
): Intent | undefined {
  if (isFinal(state.status)) return undefined
  const ringEndsAt = state.start.at + ringSeconds
  if (state.status === 'initiated') return now >= ringEndsAt ? { kind: 'unanswered' } : undefined
  if (!someoneIsThere(state)) return now >= ringEndsAt ? { kind: 'ended', cause: 'nobody joined' } : undefined
  const silent = state.entries
    .filter((entry) => entry.state === 'ongoing')
    .map((entry) => signOf(entry, signs))
    .filter(({ seenAt }) => now >= seenAt + leaseSeconds)
    .toSorted((a, b) => a.seenAt - b.seenAt)[0]
  return silent && { kind: 'left', uid: silent.uid, deviceId: silent.deviceId, cause: 'connection lost', lastSeenAt: silent.seenAt }
}

/** When `overdue` has to be asked again at the latest; nothing, once the call is final. */
export function nextDeadline(
  state: CallState,
  signs: readonly Sign[],
  { ringSeconds, leaseSeconds }: { ringSeconds: number; leaseSeconds: number },
): number | undefined {
  if (isFinal(state.status)) return undefined
  const leases = state.entries
    .filter((entry) => entry.state === 'ongoing')
    .map((entry) => signOf(entry, signs).seenAt + leaseSeconds)
  if (state.status === 'initiated' || leases.length === 0) return state.start.at + ringSeconds
  return Math.min(...leases)
}

/** A device that has never been heard of since it joined was last seen when its present stay began. */
function signOf(entry: Entry, signs: readonly Sign[]): Sign {
  const stayBegan = entry.spans.at(-1)?.from ?? 0
  const seenAt = signs.find(({ uid, deviceId }) => uid === entry.uid && deviceId === entry.deviceId)?.seenAt ?? 0
  return { uid: entry.uid, deviceId: entry.deviceId ?? '', seenAt: Math.max(seenAt, stayBegan) }
}
