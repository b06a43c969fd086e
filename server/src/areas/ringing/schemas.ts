import { FilledText, Id, type Static, Type } from '../../kit/schema.ts'

const idCharactersMax = 100
const metadataDescription = 'Free data; it comes back as `data.metadata` of the call messages'
export const ringSecondsMin = 10
export const ringSecondsMax = 180

export const CallCreate = Type.Object({
  receiver: Id(FilledText(idCharactersMax, 'UID or GUID')),
  receiverType: Type.Unsafe<'user' | 'group'>({ type: 'string', enum: ['user', 'group'] }),
  type: Type.Unsafe<'audio' | 'video'>({ type: 'string', enum: ['audio', 'video'] }),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: metadataDescription })),
  timeout: Type.Optional(
    Type.Integer({
      minimum: ringSecondsMin,
      maximum: ringSecondsMax,
      description: 'For how many seconds it rings; 45 unless the install is set otherwise',
    }),
  ),
})
export type CallCreate = Static<typeof CallCreate>

/** A status that nobody can set has a code of its own, so it is looked at by the operation. */
export const CallChange = Type.Object({
  status: Type.String({
    description: '`ongoing` accepts or joins; `rejected` and `busy` refuse; `cancelled` takes back; `ended` hangs up',
  }),
  joinedAt: Type.Optional(
    Type.Integer({ description: 'Taken from clients that send it; the moment counts at which Parley hears of it' }),
  ),
})
export type CallChange = Static<typeof CallChange>
