import { Metadata, MetadataInput } from '../../common/metadata.ts'
import { listQuery } from '../../common/page.ts'
import { Seconds, type Static, Text, Type } from '../../kit/schema.ts'

const platformCharactersMax = 100
const userAgentCharactersMax = 1_000
const appInfoBytesMax = 5_120

export const AuthToken = Type.Object(
  {
    uid: Type.String({ description: 'Whose token it is', examples: ['nora'] }),
    authToken: Type.String({
      description: 'The token itself',
      examples: ['nora_17672256009f3c1a7be20d4586c1f09a7e34b2c7'],
    }),
    createdAt: Seconds('When it was created'),
    platform: Type.Optional(Type.String({ description: 'The platform of the device', examples: ['ios'] })),
    userAgent: Type.Optional(Type.String({ description: 'The software on the device' })),
    appInfo: Type.Optional(Metadata),
  },
  { title: 'AuthToken' },
)
export type AuthToken = Static<typeof AuthToken>

export const AuthTokenCreate = Type.Object(
  {
    force: Type.Optional(
      Type.Boolean({ description: 'Issue a new token even if the user has one; otherwise the newest is answered' }),
    ),
  },
  { examples: [{ force: true }] },
)

export const AuthTokenUpdate = Type.Object(
  {
    platform: Type.Optional(Text(platformCharactersMax, 'The platform of the device')),
    userAgent: Type.Optional(Text(userAgentCharactersMax, 'The software on the device')),
    appInfo: Type.Optional(MetadataInput(appInfoBytesMax)),
  },
  { examples: [{ platform: 'ios', appInfo: { version: '2.1' } }] },
)
export type AuthTokenUpdate = Static<typeof AuthTokenUpdate>

export const AuthTokenListQuery = listQuery({})
