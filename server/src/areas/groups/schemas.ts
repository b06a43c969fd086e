import { ItemOutcome } from '../../common/each.ts'
import { MetadataInput } from '../../common/metadata.ts'
import { listQuery } from '../../common/page.ts'
import { SearchKey, Tags, WebAddress, Words } from '../../common/shapes.ts'
import {
  Clearable,
  FilledText,
  Id,
  NeverEmpty,
  OneOf,
  Seconds,
  type Static,
  Text,
  type TSchema,
  Type,
} from '../../kit/schema.ts'
import { Message } from '../timeline/schemas.ts'

export const membersMax = 100_000
export const groupsPerUserMax = 2_000
/** In events about larger groups nobody counts who is connected. */
export const onlineCountedMax = 300

const nameCharactersMax = 100
const passwordCharactersMax = 100
const descriptionCharactersMax = 255
const addressCharactersMax = 3_000
const metadataBytesMax = 5_120
const uidCharactersMax = 10_000
export const uidsPerCallMax = 25
export const guidsPerCallMax = 25

export const groupTypes = ['public', 'password', 'private'] as const
export type GroupType = (typeof groupTypes)[number]

export const memberScopes = ['admin', 'moderator', 'participant'] as const
export type MemberScope = (typeof memberScopes)[number]

/** A path of its own begins with this word. */
const reservedGuids = ['online-counts']

const Guid = Type.Refine(
  Type.Refine(
    Id(Text(10_000, 'The unique id: 1 to 100 of a-z, 0-9, - and _; upper case is stored as lower case')),
    (guid) => /^[A-Za-z0-9_-]{1,100}$/.test(guid),
    () => 'must be 1 to 100 characters of a-z, 0-9, - and _',
  ),
  (guid) => !reservedGuids.includes(guid.toLowerCase()),
  () => 'is a word that paths use',
)

export const Group = Type.Object(
  {
    guid: Type.String({ description: 'The unique id; it never changes', examples: ['river-crew'] }),
    name: Type.String({ description: 'The name to show', examples: ['River Crew'] }),
    type: OneOf(groupTypes, 'Who may join: everyone, who knows the password, or nobody by themselves'),
    description: Type.Optional(Type.String()),
    icon: Type.Optional(
      Type.String({ description: 'Address of an image', examples: ['https://img.example.org/river.png'] }),
    ),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Data of your own' })),
    owner: Type.String({ description: 'UID of the owner, or `app_system`', examples: ['ada'] }),
    membersCount: Type.Integer({ description: 'How many members there are; the banned are not among them' }),
    onlineMembersCount: Type.Optional(Type.Integer({ description: 'How many of them are connected' })),
    conversationId: Type.String({ examples: ['group_river-crew'] }),
    tags: Type.Optional(Type.Array(Type.String(), { examples: [['weekend']] })),
    createdAt: Seconds('When it was created'),
    updatedAt: Type.Optional(Seconds('When it, or who is in it, last changed')),
    updatedBy: Type.Optional(Type.String({ description: 'Who changed it last: a UID, or `app_system`' })),
    hasJoined: Type.Optional(Type.Boolean({ description: 'Whether the acting user is a member' })),
    scope: Type.Optional(OneOf(memberScopes, "The acting user's scope")),
    joinedAt: Type.Optional(Seconds('When the acting user joined')),
  },
  { title: 'Group' },
)
export type Group = Static<typeof Group>

const Uids = (description: string) =>
  Type.Optional(Type.Array(Id(FilledText(uidCharactersMax)), { description, examples: [['milo']] }))

/** Whom to take in, and as what; whom to shut out. */
const guestLists = {
  admins: Uids('UIDs of admins to be'),
  moderators: Uids('UIDs of moderators to be'),
  participants: Uids('UIDs of participants to be'),
  usersToBan: Uids('UIDs to ban, members or not'),
}

export type GuestLists = { [List in keyof typeof guestLists]?: string[] | undefined }

/** Some clients write whom they name as an entry of the list of members. */
const NamedGuest = Type.Object({
  uid: Id(FilledText(uidCharactersMax)),
  scope: Type.Optional(OneOf(['participant'])),
})
type NamedGuest = Static<typeof NamedGuest>

type NamedLists = { [List in keyof typeof guestLists]?: (string | NamedGuest)[] | undefined }

/** Each UID counts once, however often it is named. */
export function uidsIn(lists: NamedLists): Set<string> {
  const named = [lists.admins, lists.moderators, lists.participants, lists.usersToBan]
  return new Set(named.flatMap((guests) => guests ?? []).map((guest) => uidOf(guest).toLowerCase()))
}

const uidOf = (guest: string | NamedGuest) => (typeof guest === 'string' ? guest : guest.uid)

function withFewUids<Lists extends TSchema>(lists: Lists) {
  return Type.Refine(
    lists,
    (sent) => uidsIn(sent as NamedLists).size <= uidsPerCallMax,
    () => `must not name more than ${uidsPerCallMax} users`,
  )
}

const passwordToJoin = Type.Optional(Text(passwordCharactersMax, 'Of a password group that the acting user joins'))

export const GroupJoin = Type.Object({ password: passwordToJoin }, { examples: [{ password: 'open sesame' }] })

export const MembersAdd = Type.Refine(
  withFewUids(
    Type.Object(
      {
        ...guestLists,
        participants: Type.Optional(
          Type.Array(Id(Type.Union([FilledText(uidCharactersMax), NamedGuest])), {
            description: 'UIDs of participants to be; a client that names nobody but its own user joins',
            examples: [['milo']],
          }),
        ),
        password: passwordToJoin,
      },
      { examples: [{ participants: ['milo', 'amara'] }] },
    ),
  ),
  (lists) => uidsIn(lists).size > 0,
  () => 'must name at least one user',
)
export type MembersAdd = Static<typeof MembersAdd>

const failed = ItemOutcome.anyOf[1]

/** What became of one whom a list named; the message says it in the group. */
const Admission = Type.Union([Type.Object({ success: Type.Literal(true), data: Message }), failed])
const Banning = Type.Union([Type.Object({ success: Type.Literal(true) }), failed])

const outcomes = <Outcome extends TSchema>(outcome: Outcome) => Type.Optional(Type.Record(Type.String(), outcome))

/** One outcome for each UID, under the list that won where several named it. */
export const Admissions = Type.Object(
  {
    admins: outcomes(Admission),
    moderators: outcomes(Admission),
    participants: outcomes(Admission),
    usersToBan: outcomes(Banning),
  },
  { title: 'Admissions' },
)
export type Admissions = Static<typeof Admissions>

const profileFields = {
  name: NeverEmpty(FilledText(nameCharactersMax, 'The name to show')),
  type: Type.Optional(OneOf(groupTypes, 'Who may join; `public` unless said otherwise')),
  password: Type.Optional(Text(passwordCharactersMax, 'Of a password group; it is never answered')),
  icon: Type.Optional(WebAddress(addressCharactersMax, 'Address of an image')),
  description: Type.Optional(Clearable(Text(descriptionCharactersMax))),
  metadata: Type.Optional(MetadataInput(metadataBytesMax)),
  owner: Type.Optional(Id(FilledText(uidCharactersMax, 'UID of the owner; whoever acts is the owner of a new group'))),
  tags: Type.Optional(Tags),
}

export const GroupCreate = Type.Object(
  {
    guid: Guid,
    ...profileFields,
    members: Type.Optional(withFewUids(Type.Object(guestLists, { additionalProperties: false }))),
  },
  { examples: [{ guid: 'river-crew', name: 'River Crew', members: { participants: ['milo'] } }] },
)
export type GroupCreate = Static<typeof GroupCreate>

export const CreatedGroup = Type.Object(
  { ...Group.properties, members: Type.Optional(Admissions) },
  { title: 'CreatedGroup' },
)

export const unsettable = ['icon', 'description', 'metadata'] as const

export const GroupUpdate = Type.Object(
  {
    ...profileFields,
    name: Type.Optional(profileFields.name),
    unset: Type.Optional(
      Type.Array(OneOf(unsettable), { description: 'Properties to remove; wins over a value sent beside it' }),
    ),
  },
  { examples: [{ description: 'Saturday rowing plans', unset: ['icon'] }] },
)
export type GroupUpdate = Static<typeof GroupUpdate>

export const OwnerTransfer = Type.Object(
  { uid: Id(FilledText(uidCharactersMax, 'UID of the member who is the owner from now on')) },
  { examples: [{ uid: 'milo' }] },
)

const moment = (description: string) => Type.Optional(Type.Integer({ description: `${description}, in UNIX seconds` }))
const amount = (description: string) => Type.Optional(Type.Integer({ description }))

export const GroupListQuery = listQuery({
  searchKey: SearchKey('Part of the name or GUID, in any script and letter case'),
  searchIn: Type.Optional(Type.Array(OneOf(['name', 'guid']), { description: 'Where to look; in both unless given' })),
  sortBy: Type.Optional(OneOf(['createdAt', 'name', 'guid'], 'What to sort by; newest first if absent')),
  sortOrder: Type.Optional(OneOf(['asc', 'desc'], '`asc` unless said otherwise, beside `sortBy`')),
  affix: Type.Optional(OneOf(['append', 'prepend'], 'Whether to read on after `updatedAt`, or back before it')),
  updatedAt: moment('The cursor: groups that changed after, or before, this moment'),
  withTags: Type.Optional(Type.Boolean({ description: 'Show tags' })),
  tags: Words('Groups with any of these tags'),
  type: Type.Optional(
    OneOf(['public', 'password', 'protected', 'private'], 'Groups of this type; `protected` means `password`'),
  ),
  types: Words('Groups of any of these types'),
  hasJoined: Type.Optional(Type.Boolean({ description: 'Only groups of the acting user' })),
  guid: Type.Optional(Type.String({ description: 'This group alone' })),
  guids: Words('These groups'),
  'createdAt[from]': moment('Created then or later'),
  'createdAt[to]': moment('Created then or earlier'),
  'updatedAt[from]': moment('Changed since its creation, then or later'),
  'updatedAt[to]': moment('Changed since its creation, then or earlier'),
  'membersCount[gt]': amount('With more members than this'),
  'membersCount[gte]': amount('With this many members or more'),
  'membersCount[lt]': amount('With fewer members than this'),
  'membersCount[lte]': amount('With this many members or fewer'),
  'membersCount[eq]': amount('With exactly this many members'),
})
export type GroupListQuery = Static<typeof GroupListQuery>

export const OnlineCountsQuery = Type.Object({
  guids: Words(`Which groups, ${guidsPerCallMax} at most; those that the acting user may not see are left out`),
})

export const OnlineCounts = Type.Record(Type.String(), Type.Integer(), {
  description: 'How many members are connected, by GUID',
  examples: [{ 'river-crew': 3 }],
})
