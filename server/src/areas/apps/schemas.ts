import { listQuery } from '../../common/page.ts'
import { SearchKey } from '../../common/shapes.ts'
import { FilledText, OneOf, Seconds, type Static, Type } from '../../kit/schema.ts'
import { regions } from '../../plain/regions.ts'

const nameCharactersMax = 100

export const Region = OneOf(regions, 'The data-centre region')

export const AppRecord = Type.Object(
  {
    id: Type.String({ description: 'The app id, 16 hexadecimal characters', examples: ['9f2c41d07be8a635'] }),
    name: Type.String({ examples: ['Night shift'] }),
    plan: Type.Literal('self-hosted'),
    state: OneOf(['active', 'archived'] as const),
    owner: Type.Integer({ description: 'The account that owns the app', examples: [1] }),
    region: Region,
    createdAt: Seconds('When it was created'),
    appOwner: Type.Object({
      id: Type.String({ examples: ['1'] }),
      name: Type.String({ examples: ['Ada'] }),
      email: Type.String({ examples: ['ada@example.com'] }),
    }),
    appRegion: Type.Object({
      id: Region,
      name: Type.String({ examples: ['United States'] }),
      description: Type.String({ examples: ['Served from the United States'] }),
    }),
    apiKeys: Type.Record(
      Type.String(),
      Type.Object({
        apiKey: Type.String({ examples: ['5d0a3c9be1f74826a9d3e07c4b81f25a6c90de37'] }),
        name: Type.String({ examples: ['Rest API Key'] }),
        scope: OneOf(['fullAccess', 'authOnly'] as const),
        createdBy: Type.String({ examples: ['app_system'] }),
      }),
      { description: 'The keys of the app, by their value' },
    ),
  },
  { title: 'App' },
)
export type AppRecord = Static<typeof AppRecord>

export const AppCreate = Type.Object(
  {
    name: FilledText(nameCharactersMax),
    region: Type.Optional(OneOf(regions, 'The data-centre region; that of the install unless given')),
    version: Type.Optional(
      Type.Union([Type.Literal('3'), Type.Literal(3)], { description: 'The API version; only 3 exists' }),
    ),
    skipSampleData: Type.Optional(
      Type.Boolean({ description: 'Send `false` to get a few sample users and a group; a new app is empty otherwise' }),
    ),
  },
  { examples: [{ name: 'Night shift', region: 'us' }] },
)

export const AppListQuery = listQuery({
  searchKey: SearchKey('Part of the id or the name, in any letter case'),
})
export type AppListQuery = Static<typeof AppListQuery>

export const AppDeletion = Type.Object({
  data: Type.Object({ success: Type.Literal(true), scheduledToDeleteAt: Seconds('When the app will be gone') }),
})

const Switch = (usually: boolean, description: string) =>
  Type.Boolean({ default: usually, description, examples: [usually] })

const settable = {
  'core.conversations.updateOnGroupActions': Switch(
    true,
    'Somebody joined, left or the like: becomes the last message of the conversation and counts as unread',
  ),
  'core.conversations.updateOnReplies': Switch(true, 'Replies in threads become the last message; they never count'),
  'core.conversations.updateOnMessageActions': Switch(false, 'Edits and deletions become the last message and count'),
  'core.conversations.updateOnCallActivity': Switch(false, 'Messages about calls become the last message and count'),
  'core.conversations.updateOnCustomMessage': Switch(true, 'Custom messages become the last message and count'),
  'core.threads.updateOnMessageActions': Switch(
    false,
    'Edits and deletions of replies in threads become the last message and count',
  ),
  'core.notifications.push.enabled': Switch(false, 'Push notifications are sent'),
}

const pushFeatures = ['preferences', 'templates', 'providers.multiple']

export const AppSettings = Type.Object(
  {
    ...settable,
    'core.notifications.push.accessible': Switch(true, 'Push notifications can be had; read-only'),
    'core.notifications.push.advanced.enabled': Switch(true, 'So can all that belongs to them; read-only'),
    'core.notifications.push.advanced.included': Type.Array(Type.String(), {
      default: pushFeatures,
      description: 'What belongs to them; read-only',
      examples: [pushFeatures],
    }),
  },
  { title: 'AppSettings' },
)
export type AppSettings = Static<typeof AppSettings>

export const settableKeys: ReadonlySet<string> = new Set(Object.keys(settable))

export const SettingsSet = Type.Object({
  settings: Type.Record(Type.String(), Type.Unknown(), {
    minProperties: 1,
    description: 'New values by key; what is not named stays as it is',
    examples: [{ 'core.conversations.updateOnReplies': false }],
  }),
})

export const SettingsReset = Type.Object({
  settings: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      description: 'Keys that return to their defaults; all of them if left out',
      examples: [['core.conversations.updateOnReplies']],
    }),
  ),
})
