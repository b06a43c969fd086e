import { participantsMax } from './rules.ts'
import type { ListedCall } from './schemas.ts'
import type { CallState, Entry, Recording, Span, Transcription } from './state.ts'

/**
 * From state to the numbers the API answers. Time is counted in whole seconds; minutes are seconds / 60, not rounded.
 * Totals are the sums of the answered figures, added in the order they are listed, so a reader who adds them up gets
 * exactly the printed total.
 */

const transcriptionsShown = 5

export interface CallSeconds {
  audio: number
  video: number
}

export function recordOf(sessionId: string, state: CallState, now: number): ListedCall {
  const { start } = state
  const listed = listedEntries(state)
  const participants = listed.map((entry) => toParticipant(entry, state, now))
  const totalAudioMinutes = sum(participants.map((each) => each.totalAudioMinutes))
  const totalVideoMinutes = sum(participants.map((each) => each.totalVideoMinutes))
  const recordings = state.recordings.flatMap(toRecording)
  return {
    sessionId,
    type: start.type,
    mode: start.mode,
    receiverType: start.receiverType,
    status: state.status,
    initiator: start.initiator,
    receiver: start.receiver,
    initiatedAt: start.at,
    startedAt: start.at,
    ...(state.endedAt !== undefined && { endedAt: state.endedAt }),
    totalAudioMinutes,
    totalVideoMinutes,
    totalDurationInMinutes: totalAudioMinutes + totalVideoMinutes,
    totalDuration: clockFace(totalSeconds(listed, now)),
    totalParticipants: participants.length,
    hasRecording: recordings.length > 0,
    hasTranscription: state.transcriptions.length > 0,
    ...(state.mid !== undefined && { mid: state.mid }),
    participants,
    ...(recordings.length > 0 && { recordings }),
  }
}

/** The entries a record shows: everyone who joined, and of those who were only rung as many as there is room for. */
export function listedEntries({ entries }: CallState): Entry[] {
  let room = participantsMax - entries.filter(({ deviceId }) => deviceId !== undefined).length
  return entries.filter(({ deviceId }) => {
    if (deviceId !== undefined) return true
    room -= 1
    return room >= 0
  })
}

/** Whole seconds of one participant, up to `now` while a span is open. */
export function secondsOf(entry: Entry, now: number): CallSeconds {
  const of = (medium: Span['medium']) =>
    sum(entry.spans.filter((span) => span.medium === medium).map((span) => spanSeconds(span, now)))
  return { audio: of('audio'), video: of('video') }
}

export function spanSeconds({ from, to }: Span, now: number): number {
  return (to ?? Math.max(now, from)) - from
}

/** `HH:MM:SS`; hours may have more than two digits. */
export function clockFace(seconds: number): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
}

function totalSeconds(entries: Entry[], now: number): number {
  return sum(
    entries.map((entry) => {
      const { audio, video } = secondsOf(entry, now)
      return audio + video
    }),
  )
}

function toParticipant(entry: Entry, { mid }: CallState, now: number): ListedCall['participants'][number] {
  const seconds = secondsOf(entry, now)
  const totalAudioMinutes = seconds.audio / 60
  const totalVideoMinutes = seconds.video / 60
  const total = totalAudioMinutes + totalVideoMinutes
  const hasJoined = entry.deviceId !== undefined
  return {
    uid: entry.uid,
    totalAudioMinutes,
    totalVideoMinutes,
    totalDurationInMinutes: total,
    totalDuration: total,
    ...(entry.deviceId !== undefined && { deviceId: entry.deviceId }),
    isJoined: hasJoined,
    ...(entry.joinedAt !== undefined && { joinedAt: entry.joinedAt }),
    ...(entry.leftAt !== undefined && { leftAt: entry.leftAt }),
    state: entry.state,
    ...(hasJoined && mid !== undefined && { mid }),
  }
}

/** A recording is shown once it has a file. One that was never stopped, as when the recorder died, has none. */
function toRecording({ rid, startTime, endTime, url }: Recording) {
  if (endTime === undefined || url === undefined) return []
  return [{ rid, duration: (endTime - startTime) / 60, startTime, endTime, recording_url: url }]
}

/** A call's transcripts, newest first. */
export function transcriptionsOf(sessionId: string, state: CallState) {
  return state.transcriptions.map((transcription) => toTranscription(sessionId, transcription, state.mid)).toReversed()
}

export function shownTranscriptions(sessionId: string, state: CallState) {
  return transcriptionsOf(sessionId, state).slice(0, transcriptionsShown)
}

function toTranscription(
  sessionId: string,
  { tid, startTime, endTime, producedAt, url }: Transcription,
  mid: string | undefined,
) {
  return {
    roomName: sessionId,
    ...(mid !== undefined && { mid }),
    tid,
    startTime,
    endTime,
    transcriptDate: new Date(producedAt * 1000).toISOString(),
    transcriptUrl: url,
  }
}

export function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
