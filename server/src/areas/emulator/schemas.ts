import { FilledText, Id, OneOf, Seconds, type Static, Text, Type } from '../../kit/schema.ts'
import { CallMode, CallType, ReceiverType } from '../calls/schemas.ts'
import { Uid } from '../users/schemas.ts'

const idCharactersMax = 100
const urlCharactersMax = 3_000
const stepsMax = 2_000

const DeviceId = Id(FilledText(idCharactersMax, 'The device'))
/** Long enough for any call, short enough that times stay ordinary numbers. */
const afterMax = 400 * 24 * 3600

const ScriptStep = Type.Object({
  after: Type.Integer({ minimum: 0, maximum: afterMax, description: 'Seconds after the call was placed' }),
  do: OneOf(
    [
      'ring',
      'join',
      'cameraOn',
      'cameraOff',
      'leave',
      'vanish',
      'reject',
      'cancel',
      'end',
      'startRecording',
      'stopRecording',
      'transcribe',
    ],
    '`vanish` is a device that is not heard of any more',
  ),
  uid: Type.Optional(Uid),
  deviceId: Type.Optional(DeviceId),
  camera: Type.Optional(
    Type.Boolean({ description: 'Joins with the camera on or off; the call’s type decides if absent' }),
  ),
  busy: Type.Optional(Type.Boolean({ description: 'Rejects because the user is in another call' })),
  rid: Type.Optional(Id(FilledText(idCharactersMax, 'The recording; made up if absent'))),
  url: Type.Optional(Text(urlCharactersMax, 'Address of the recording or transcript; made up if absent')),
})
export type ScriptStep = Static<typeof ScriptStep>

const scriptExample = {
  initiator: 'nora',
  receiver: 'milo',
  type: 'video',
  steps: [
    { after: 4, do: 'join', uid: 'milo', deviceId: 'ios-22' },
    { after: 64, do: 'leave', uid: 'milo', deviceId: 'ios-22' },
  ],
}

export const Script = Type.Object(
  {
    initiator: Uid,
    receiver: Uid,
    receiverType: Type.Optional(ReceiverType),
    type: Type.Optional(CallType),
    mode: Type.Optional(CallMode),
    invited: Type.Optional(Type.Array(Uid, { description: 'Members of the group who are rung', maxItems: 1000 })),
    startAt: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 32_503_680_000,
        description: 'When the call is placed, in UNIX seconds; so that the last step is now, if absent',
      }),
    ),
    tags: Type.Optional(Type.Array(FilledText(idCharactersMax), { maxItems: 25 })),
    metaData: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    steps: Type.Array(ScriptStep, { maxItems: stepsMax }),
  },
  { examples: [scriptExample] },
)
export type Script = Static<typeof Script>

export const ClockReading = Type.Object({
  now: Seconds('What the server takes for the present'),
  offsetSeconds: Type.Integer({ description: 'How far it is ahead of real time' }),
})

export const ClockChange = Type.Object(
  {
    now: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 32_503_680_000, description: 'The new present, in UNIX seconds' }),
    ),
    advance: Type.Optional(
      Type.Integer({ minimum: -afterMax, maximum: afterMax, description: 'Seconds to go forward' }),
    ),
  },
  { examples: [{ advance: 3600 }] },
)
