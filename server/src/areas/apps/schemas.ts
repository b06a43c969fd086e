import { listQuery } from '../../kit/page.ts'
import { FilledText, OneOf, Seconds, type Static, Type } from '../../kit/schema.ts'

const nameCharactersMax = 100

export const regions = ['us', 'eu', 'in'] as const
export const Region = OneOf(regions, 'The data-centre region')

export const AppRecord = Type.Object({
  id: Type.String({ description: 'The app id, 16 hexadecimal characters' }),
  name: Type.String(),
  plan: Type.Literal('self-hosted'),
  state: OneOf(['active', 'archived'] as const),
  owner: Type.Integer({ description: 'The account that owns the app' }),
  region: Region,
  createdAt: Seconds('When it was created'),
  appOwner: Type.Object({ id: Type.String(), name: Type.String(), email: Type.String() }),
  appRegion: Type.Object({ id: Region, name: Type.String(), description: Type.String() }),
  apiKeys: Type.Record(
    Type.String(),
    Type.Object({
      apiKey: Type.String(),
      name: Type.String(),
      scope: OneOf(['fullAccess', 'authOnly'] as const),
      createdBy: Type.String(),
    }),
    { description: 'The keys of the app, by their value' },
  ),
})
export type AppRecord = Static<typeof AppRecord>

export const AppCreate = Type.Object({
  name: FilledText(nameCharactersMax),
  region: Type.Optional(Region),
  version: Type.Optional(Type.Union([Type.Literal('3'), Type.Literal(3)], { description: 'The API version; only 3 exists' })),
  skipSampleData: Type.Optional(
    Type.Boolean({ description: 'Send `false` to get a few sample users and a group; a new app is empty otherwise' }),
  ),
})

export const AppListQuery = listQuery({
  searchKey: Type.Optional(Type.String({ description: 'Part of the id or the name, in any letter case' })),
})
export type AppListQuery = Static<typeof AppListQuery>

export const AppDeletion = Type.Object({
  data: Type.Object({ success: Type.Literal(true), scheduledToDeleteAt: Seconds('When the app will be gone') }),
})
