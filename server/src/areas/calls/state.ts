import type { Fact, InitiatedFact } from './facts.ts'

/**
 * A call's state, replayed from its facts. Facts in the ledger have been accepted, so replaying them never fails and
 * never asks anything but the facts: the same ledger always gives the same state.
 */

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

export function isFinal(status: CallStatus): boolean {
  return status !== 'initiated' && status !== 'ongoing'
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
          each.rid === fact.rid ? { ...each, endTime: recordedUntil(state, fact.at), url: fact.url } : each,
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

/** A recorder that stops after the call has recorded nothing since its end. */
function recordedUntil({ endedAt }: CallState, stoppedAt: number): number {
  return endedAt === undefined ? stoppedAt : Math.min(stoppedAt, endedAt)
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

/** A switch counts from its moment until the next one known, so one that is told late undoes no later one. */
function withCamera(
  state: CallState,
  { uid, deviceId, at }: { uid: string; deviceId: string; at: number },
  medium: Medium,
  number: number,
): Entry[] {
  return changeEntry(state.entries, entryOf(state, uid, deviceId), (entry) => {
    const place = entry.spans.findLastIndex(({ from }) => from <= at)
    const span = entry.spans[place]
    if (!span || span.medium === medium || (span.to !== undefined && span.to <= at)) return entry
    const until = { ...span, to: at, closedBy: number }
    const since = { ...span, medium, from: at, openedBy: number }
    return { ...entry, spans: entry.spans.toSpliced(place, 1, until, since) }
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

export function openSpan(entry: Entry | undefined): Span | undefined {
  return entry?.spans.find(({ to }) => to === undefined)
}

export function entryOf({ entries }: CallState, uid: string, deviceId: string): Entry | undefined {
  return entries.find((entry) => entry.uid === uid && entry.deviceId === deviceId)
}

export function ongoingEntry(state: CallState, uid: string, deviceId: string): Entry | undefined {
  const entry = entryOf(state, uid, deviceId)
  return entry?.state === 'ongoing' ? entry : undefined
}

function waitingEntryOf({ entries }: CallState, uid: string): Entry | undefined {
  return entries.find((entry) => entry.uid === uid && entry.deviceId === undefined)
}

export function runningRecording({ recordings }: CallState, rid: string): Recording | undefined {
  return recordings.find((recording) => recording.rid === rid && recording.endTime === undefined)
}

export function someoneIsThere({ entries }: CallState): boolean {
  return entries.some(({ state }) => state === 'ongoing')
}
