import { listQuery } from '../../common/page.ts'
import { OneOf, Seconds, type Static, Type } from '../../kit/schema.ts'
import { callExample, explanationExample, listedCallExample, transcriptionExample } from './examples.ts'
import { CallMode, CallType, Fact, ReceiverType } from './facts.ts'
import { callAdditions, clientStatuses, participantAdditions, userLogFilters } from './user-log-schemas.ts'

const Minutes = (description: string) => Type.Number({ minimum: 0, description: `${description}, in minutes` })

const statuses = ['initiated', 'ongoing', 'ended', 'unanswered', 'rejected', 'canceled'] as const
const Status = OneOf(statuses, 'How far the call has come')
const StatusFilter = OneOf(
  [...statuses, ...clientStatuses],
  'How far the call has come. `missed`, `busy` and `cancelled` are for users, and match nothing where none acts',
)
const State = OneOf(['ongoing', 'ended', 'unanswered', 'rejected'], 'How far this participant has come')

export const Participant = Type.Object(
  {
    uid: Type.String(),
    totalAudioMinutes: Minutes('Time in the call without sending video'),
    totalVideoMinutes: Minutes('Time in the call sending video'),
    totalDurationInMinutes: Minutes('Audio and video time together'),
    totalDuration: Minutes('The same number again'),
    deviceId: Type.Optional(Type.String({ description: 'The device used to join' })),
    isJoined: Type.Boolean(),
    joinedAt: Type.Optional(Seconds('When this device first joined')),
    leftAt: Type.Optional(Seconds('When this device last left')),
    state: State,
    mid: Type.Optional(Type.String({ description: 'Id of the media meeting' })),
    ...participantAdditions,
  },
  { title: 'Participant' },
)

export const RecordingRecord = Type.Object(
  {
    rid: Type.String({ description: 'Recording id' }),
    duration: Minutes('Length'),
    startTime: Seconds('When recording started'),
    endTime: Seconds('When recording ended'),
    recording_url: Type.String({ description: 'Address of the file' }),
  },
  { title: 'Recording' },
)

export const TranscriptionRecord = Type.Object(
  {
    roomName: Type.String({ description: 'The media room' }),
    mid: Type.Optional(Type.String({ description: 'Id of the media meeting' })),
    tid: Type.String({ description: 'Transcript id' }),
    startTime: Seconds('Where the covered span begins'),
    endTime: Seconds('Where the covered span ends'),
    transcriptDate: Type.String({ description: 'When it was produced, ISO 8601' }),
    transcriptUrl: Type.String({ description: 'Address of the file' }),
  },
  { title: 'Transcription', examples: [transcriptionExample] },
)

const recordFields = {
  sessionId: Type.String({ description: 'Unique id of the call; treat it as opaque' }),
  type: CallType,
  mode: CallMode,
  receiverType: ReceiverType,
  status: Status,
  initiator: Type.String({ description: 'UID of the caller' }),
  receiver: Type.String({ description: 'UID or GUID, according to `receiverType`' }),
  initiatedAt: Seconds('When the call was placed'),
  startedAt: Seconds('When the call was placed'),
  endedAt: Type.Optional(Seconds('When the call reached a final state')),
  totalAudioMinutes: Minutes('Sum over the participants'),
  totalVideoMinutes: Minutes('Sum over the participants'),
  totalDurationInMinutes: Minutes('Audio and video time together'),
  totalDuration: Type.String({ pattern: '^\\d{2,}:[0-5]\\d:[0-5]\\d$', description: 'The same as HH:MM:SS' }),
  totalParticipants: Type.Integer({ description: 'Number of entries in `participants`, one per device' }),
  hasRecording: Type.Boolean(),
  hasTranscription: Type.Boolean(),
  mid: Type.Optional(Type.String({ description: 'Id of the media meeting, once someone has joined' })),
  participants: Type.Array(Participant),
  recordings: Type.Optional(Type.Array(RecordingRecord)),
  transcriptions: Type.Optional(Type.Array(TranscriptionRecord, { description: 'The five newest' })),
  ...callAdditions,
}

/** A call as it stands in lists. */
export const ListedCall = Type.Object(recordFields, { title: 'ListedCall', examples: [listedCallExample] })
export type ListedCall = Static<typeof ListedCall>

/** A call on its own; it also shows what the app attached to it. */
export const Call = Type.Object(
  {
    ...recordFields,
    metaData: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown())], {
      description: 'Free data; an empty array when there is none',
    }),
    tags: Type.Array(Type.String()),
  },
  { title: 'Call', examples: [callExample] },
)

export const CallListQuery = listQuery({
  type: Type.Optional(CallType),
  mode: Type.Optional(CallMode),
  status: Type.Optional(StatusFilter),
  receiverType: Type.Optional(ReceiverType),
  participantsCount: Type.Optional(Type.Integer({ description: 'Exactly so many participant entries' })),
  hasRecording: Type.Optional(Type.Boolean()),
  hasTranscription: Type.Optional(Type.Boolean()),
  uid: Type.Optional(Type.String({ description: 'Calls this user placed, received or took part in' })),
  startedAt: Type.Optional(Type.Integer({ description: 'Not started before this moment, in UNIX seconds' })),
  endedAt: Type.Optional(Type.Integer({ description: 'Ended at this moment or before, in UNIX seconds' })),
  hideTranscription: Type.Optional(Type.Boolean({ description: 'Leave out `transcriptions`' })),
  ...userLogFilters,
})
export type CallListQuery = Static<typeof CallListQuery>

export const TranscriptionListQuery = listQuery({})

const Seen = Type.Object({ fact: Type.Integer({ description: 'Its number in the ledger' }), at: Type.Integer() })

export const Explanation = Type.Object(
  {
    sessionId: Type.String(),
    asOf: Seconds('The moment up to which running time is counted'),
    facts: Type.Array(Type.Object({ number: Type.Integer(), recordedAt: Type.Integer(), fact: Fact })),
    status: Type.Array(
      Type.Object({ status: Status, at: Type.Integer(), fact: Type.Integer(), cause: Type.String() }),
      { description: 'Each status the call had, and the fact that made it so' },
    ),
    participants: Type.Array(
      Type.Object({
        uid: Type.String(),
        deviceId: Type.Optional(Type.String()),
        state: State,
        spans: Type.Array(
          Type.Object({
            medium: CallType,
            from: Seen,
            to: Type.Partial(Seen),
            seconds: Type.Integer(),
          }),
        ),
        audioSeconds: Type.Integer(),
        videoSeconds: Type.Integer(),
        audioMinutes: Type.String({ description: 'How the answered figure follows' }),
        videoMinutes: Type.String(),
      }),
    ),
    totals: Type.Object({
      audioMinutes: Type.String(),
      videoMinutes: Type.String(),
      durationInMinutes: Type.String(),
      duration: Type.String(),
      participants: Type.String(),
      endedAt: Type.Optional(Type.String()),
    }),
    notListed: Type.Array(Type.String(), { description: 'Rung, but beyond the 50 entries a record holds' }),
  },
  { title: 'CallExplanation', examples: [explanationExample] },
)
export type Explanation = Static<typeof Explanation>

export type { Fact, InitiatedFact } from './facts.ts'
export { CallMode, CallType, ReceiverType } from './facts.ts'
