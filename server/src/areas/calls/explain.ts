import type { NumberedFact } from './ledger.ts'
import { clockFace, listedEntries, recordOf, secondsOf, spanSeconds, sum } from './record.ts'
import type { Explanation } from './schemas.ts'
import type { CallState, Entry, Span } from './state.ts'

/** How every number of a call's record follows from the facts in its ledger. */
export function explain(sessionId: string, facts: NumberedFact[], state: CallState, now: number): Explanation {
  const record = recordOf(sessionId, state, now)
  const listed = listedEntries(state)
  const seconds = listed.map((entry) => secondsOf(entry, now))
  return {
    sessionId,
    asOf: state.endedAt ?? now,
    facts,
    status: state.statusChanges,
    participants: listed.map((entry) => explainEntry(entry, now)),
    totals: {
      audioMinutes: sumText(
        record.participants.map((each) => each.totalAudioMinutes),
        record.totalAudioMinutes,
      ),
      videoMinutes: sumText(
        record.participants.map((each) => each.totalVideoMinutes),
        record.totalVideoMinutes,
      ),
      durationInMinutes: `${record.totalAudioMinutes} audio + ${record.totalVideoMinutes} video = ${record.totalDurationInMinutes}`,
      duration: durationText(seconds.map(({ audio, video }) => audio + video)),
      participants: `${listed.length} entries: one per device that joined, one per user who was rung and did not`,
      ...(state.endedAt !== undefined && { endedAt: endText(state) }),
    },
    notListed: state.entries.filter((entry) => !listed.includes(entry)).map(({ uid }) => uid),
  }
}

function explainEntry(entry: Entry, now: number): Explanation['participants'][number] {
  const { audio, video } = secondsOf(entry, now)
  return {
    uid: entry.uid,
    ...(entry.deviceId !== undefined && { deviceId: entry.deviceId }),
    state: entry.state,
    spans: entry.spans.map((span) => explainSpan(span, now)),
    audioSeconds: audio,
    videoSeconds: video,
    audioMinutes: `${audio} s / 60 = ${audio / 60}`,
    videoMinutes: `${video} s / 60 = ${video / 60}`,
  }
}

function explainSpan(span: Span, now: number): Explanation['participants'][number]['spans'][number] {
  return {
    medium: span.medium,
    from: { fact: span.openedBy, at: span.from },
    to: span.closedBy === undefined || span.to === undefined ? {} : { fact: span.closedBy, at: span.to },
    seconds: spanSeconds(span, now),
  }
}

function sumText(parts: number[], total: number): string {
  return parts.length === 0 ? '0, as nobody takes part' : `${parts.join(' + ')} = ${total}`
}

function durationText(seconds: number[]): string {
  const total = sum(seconds)
  return `${seconds.join(' + ') || 0} s = ${total} s = ${clockFace(total)}`
}

function endText({ statusChanges }: CallState): string {
  const last = statusChanges.at(-1)
  return last ? `fact ${last.fact} made the call ${last.status}: ${last.cause}` : ''
}
