import { MetadataInput } from '../../common/metadata.ts'
import { listQuery } from '../../common/page.ts'
import { SearchKey, Tags, WebAddress, Words } from '../../common/shapes.ts'
import { Clearable, FilledText, Id, NeverEmpty, OneOf, Seconds, type Static, Text, Type } from '../../kit/schema.ts'

const nameCharactersMax = 100
const statusMessageCharactersMax = 255
const addressCharactersMax = 3_000
const metadataBytesMax = 5_120

const uidPattern = /^[A-Za-z0-9_-]{1,100}$/

/** Words in whose place a path has something of its own. */
const reservedUids = ['online-count']

export function isUid(uid: string): boolean {
  return uidPattern.test(uid) && !reservedUids.includes(uid.toLowerCase())
}

/** How a UID looks, in a path or a body; it is stored in lower case. */
export const Uid = Id(
  Type.String({ pattern: uidPattern.source, description: "A user's unique id", examples: ['nora'] }),
)

/** What the acting user and this one have to do with each other. */
const relationFields = {
  conversationId: Type.Optional(Type.String({ description: 'Of the acting user and this one' })),
  blockedByMe: Type.Optional(Type.Literal(true, { description: 'The acting user has blocked this one' })),
  blockedByMeAt: Type.Optional(Seconds('Since when')),
  hasBlockedMe: Type.Optional(Type.Literal(true, { description: 'This user has blocked the acting one' })),
  hasBlockedMeAt: Type.Optional(Seconds('Since when')),
  blockedAt: Type.Optional(Seconds('The later of the two')),
}

const userFields = {
  uid: Type.String({ description: 'The unique id; it never changes', examples: ['nora'] }),
  name: Type.String({ description: 'The name to show', examples: ['Nora Lind'] }),
  avatar: Type.Optional(
    Type.String({ description: 'Address of an image', examples: ['https://img.example.org/nora.png'] }),
  ),
  link: Type.Optional(Type.String({ description: 'Address of a profile page' })),
  role: Type.String({ description: 'Id of the role', examples: ['default'] }),
  status: OneOf(['available', 'offline'], 'Whether the user is connected'),
  statusMessage: Type.Optional(Type.String({ description: 'What the user says about the moment' })),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Free data. What stands under `@private` is shown to API keys alone.',
    }),
  ),
  tags: Type.Optional(Type.Array(Type.String(), { examples: [['beta']] })),
  lastActiveAt: Type.Optional(Seconds('When the user was last connected')),
  createdAt: Seconds('When the user was created'),
  updatedAt: Type.Optional(Seconds('When the user was last changed')),
  deactivatedAt: Type.Optional(Seconds('When the user was deactivated')),
}

export const User = Type.Object({ ...userFields, ...relationFields }, { title: 'User' })
export type User = Static<typeof User>

export const CreatedUser = Type.Object(
  {
    ...userFields,
    authToken: Type.Optional(Type.String({ description: 'A fresh token, with `withAuthToken`' })),
  },
  { title: 'CreatedUser' },
)

const profileFields = {
  name: NeverEmpty(FilledText(nameCharactersMax, 'The name to show')),
  avatar: Type.Optional(WebAddress(addressCharactersMax, 'Address of an image')),
  link: Type.Optional(WebAddress(addressCharactersMax, 'Address of a profile page')),
  statusMessage: Type.Optional(Clearable(Text(statusMessageCharactersMax, 'What the user says about the moment'))),
  metadata: Type.Optional(MetadataInput(metadataBytesMax)),
  tags: Type.Optional(Tags),
}

const role = Type.Optional(Id(Type.String({ description: 'Id of an existing role; `default` unless said otherwise' })))

export const UserCreate = Type.Object(
  {
    // Its form is checked by the operation, which has a code of its own for a malformed one.
    uid: Id(FilledText(10_000, 'The unique id: 1 to 100 of a-z, 0-9, - and _; upper case is stored as lower case')),
    ...profileFields,
    role,
    withAuthToken: Type.Optional(Type.Boolean({ description: 'Answer a fresh auth token with the user' })),
  },
  { examples: [{ uid: 'nora', name: 'Nora Lind', tags: ['beta'], withAuthToken: true }] },
)
export type UserCreate = Static<typeof UserCreate>

const unset = Type.Optional(
  Type.Array(OneOf(['avatar', 'link', 'metadata']), {
    description: 'Properties to remove; wins over a value sent beside it',
  }),
)

export const UserUpdate = Type.Object(
  { ...profileFields, name: Type.Optional(profileFields.name), role, unset },
  { examples: [{ statusMessage: 'Back on Monday', unset: ['avatar'] }] },
)
export type UserUpdate = Static<typeof UserUpdate>

/** Users change everything about themselves but their role. */
export const ProfileUpdate = Type.Object(
  { ...profileFields, name: Type.Optional(profileFields.name), unset },
  { examples: [{ statusMessage: 'Back on Monday' }] },
)

export const UserDelete = Type.Object(
  { permanent: Type.Optional(Type.Boolean({ description: 'Remove the user for good, with everything of theirs' })) },
  { examples: [{ permanent: true }] },
)

const Uids = (description: string) =>
  Type.Array(Id(FilledText(10_000)), { minItems: 1, description, examples: [['nora', 'milo']] })

export const UsersDeactivate = Type.Object(
  { uidsToDeactivate: Uids('Whom to deactivate') },
  { examples: [{ uidsToDeactivate: ['nora', 'milo'] }] },
)

export const UsersReactivate = Type.Object(
  { uidsToActivate: Uids('Whom to let in again') },
  { examples: [{ uidsToActivate: ['nora'] }] },
)

const someUids = Type.Optional(Type.Array(Type.String()))

export const Deactivated = Type.Object(
  { deactivatedUids: someUids, alreadyDeactivatedUids: someUids, notFound: someUids },
  { title: 'DeactivatedUsers' },
)

export const Reactivated = Type.Object(
  { reactivatedUids: someUids, nonDeactivatedUids: someUids, notFound: someUids },
  { title: 'ReactivatedUsers' },
)

/** How any list of users is searched. */
export const searchFields = {
  searchKey: SearchKey('Part of the name or UID, in any script and letter case'),
  searchIn: Type.Optional(Type.Array(OneOf(['name', 'uid']), { description: 'Where to look; in both unless given' })),
}

export const UserListQuery = listQuery({
  ...searchFields,
  status: Type.Optional(Type.String({ description: '`available` or `offline`; `online` means `available`' })),
  count: Type.Optional(
    Type.Boolean({ description: 'Taken and changes nothing: how many there are is always in `meta.pagination.total`' }),
  ),
  role: Type.Optional(Type.String({ description: 'Users of this role' })),
  roles: Words('Users of any of these roles'),
  withTags: Type.Optional(Type.Boolean({ description: 'Show tags' })),
  tags: Words('Users with any of these tags'),
  onlyDeactivated: Type.Optional(Type.Boolean({ description: 'Deactivated users alone' })),
  withDeactivated: Type.Optional(Type.Boolean({ description: 'Deactivated users too' })),
  uids: Words('These users, at most 25'),
  friendsOnly: Type.Optional(Type.Boolean({ description: 'Friends of the acting user alone' })),
  hideBlockedUsers: Type.Optional(
    Type.Boolean({ description: 'Leave out whom the acting user blocked, or was blocked by' }),
  ),
})
export type UserListQuery = Static<typeof UserListQuery>
