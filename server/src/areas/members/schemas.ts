import { listQuery } from '../../common/page.ts'
import { OneOf, Seconds, type Static, Type } from '../../kit/schema.ts'
import { memberScopes } from '../groups/schemas.ts'
import { searchFields, User } from '../users/schemas.ts'

const { tags: _, ...userFields } = User.properties

export const Member = Type.Object(
  {
    ...userFields,
    scope: OneOf(memberScopes, 'What the member may do in the group'),
    joinedAt: Seconds('When the member joined'),
  },
  { title: 'Member' },
)
export type Member = Static<typeof Member>

export const MemberListQuery = listQuery({
  status: Type.Optional(OneOf(['available', 'offline', 'online'], '`online` means `available`')),
  scopes: Type.Optional(Type.Array(OneOf(memberScopes), { description: 'Members of any of these scopes' })),
  searchKey: searchFields.searchKey,
})
export type MemberListQuery = Static<typeof MemberListQuery>

export const ScopeChange = Type.Object(
  { scope: Type.Optional(OneOf(memberScopes, 'The new scope; `participant` if absent')) },
  { examples: [{ scope: 'moderator' }] },
)

export const ScopeChanged = Type.Object(
  {
    guid: Type.String({ examples: ['river-crew'] }),
    uid: Type.String({ examples: ['lin'] }),
    scope: OneOf(memberScopes),
    joinedAt: Seconds('When the member joined'),
  },
  { title: 'ScopeChanged' },
)
