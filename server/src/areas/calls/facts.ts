import { OneOf, type Static, Type } from '../../kit/schema.ts'

/**
 * The ledger's vocabulary. A call is nothing but its facts, in the order they were accepted; whatever the API says about
 * a call follows from them and from nothing else.
 */

export const CallType = OneOf(['audio', 'video'], 'What the call was placed as')
export const CallMode = OneOf(['call', 'meet', 'presenter'], '`call` rings; `meet` and `presenter` are joined')
export const ReceiverType = OneOf(['user', 'group'], 'Whom the call is addressed to')

const at = Type.Integer({ description: 'When it happened, in UNIX seconds' })
const uid = Type.String()
const deviceId = Type.String()
const cause = Type.String({ description: 'Why it happened' })

const Initiated = Type.Object({
  kind: Type.Literal('initiated'),
  at,
  initiator: Type.String(),
  receiver: Type.String(),
  receiverType: ReceiverType,
  type: CallType,
  mode: CallMode,
  /** Who is rung, the caller not among them; nobody in `meet` and `presenter`. */
  invited: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  metaData: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** Names the group that was called, and no later one of the GUID. */
  groupId: Type.Optional(Type.String()),
  /** In a group nobody but those hears it ring. */
  ringsOnlyInvited: Type.Optional(Type.Literal(true)),
  /** How long it rings, where the caller has said so. */
  ringSeconds: Type.Optional(Type.Integer()),
  cause,
})

const Rung = Type.Object({ kind: Type.Literal('rung'), at, uid, cause })

const Joined = Type.Object({
  kind: Type.Literal('joined'),
  at,
  uid,
  deviceId,
  /** Absent where it is not known; the call's type then decides. */
  camera: Type.Optional(Type.Boolean()),
  /** The id of the media meeting; the first to join fixes it. */
  mid: Type.String(),
  cause,
})

const CameraOn = Type.Object({ kind: Type.Literal('cameraOn'), at, uid, deviceId, cause })
const CameraOff = Type.Object({ kind: Type.Literal('cameraOff'), at, uid, deviceId, cause })
const Left = Type.Object({ kind: Type.Literal('left'), at, uid, deviceId, cause })
const Rejected = Type.Object({ kind: Type.Literal('rejected'), at, uid, cause })
const Canceled = Type.Object({ kind: Type.Literal('canceled'), at, cause })
const Unanswered = Type.Object({ kind: Type.Literal('unanswered'), at, cause })
const Ended = Type.Object({
  kind: Type.Literal('ended'),
  at,
  /** Who hung up, or was the last to leave. */
  by: Type.Optional(Type.String()),
  cause,
})

const RecordingStarted = Type.Object({ kind: Type.Literal('recordingStarted'), at, rid: Type.String(), cause })
const RecordingStopped = Type.Object({
  kind: Type.Literal('recordingStopped'),
  at,
  rid: Type.String(),
  url: Type.String(),
  cause,
})

const Transcribed = Type.Object({
  kind: Type.Literal('transcribed'),
  at,
  tid: Type.String(),
  startTime: Type.Integer(),
  endTime: Type.Integer(),
  url: Type.String(),
  cause,
})

export const Fact = Type.Union(
  [
    Initiated,
    Rung,
    Joined,
    CameraOn,
    CameraOff,
    Left,
    Rejected,
    Canceled,
    Unanswered,
    Ended,
    RecordingStarted,
    RecordingStopped,
    Transcribed,
  ],
  { title: 'CallFact', description: 'What was seen to happen; `kind` tells which' },
)
export type Fact = Static<typeof Fact>
export type InitiatedFact = Static<typeof Initiated>

/** Which kinds there are, for documentation and tests. */
export const factKinds = Fact.anyOf.map((schema) => schema.properties.kind.const)
