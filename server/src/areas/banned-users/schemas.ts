import { listQuery } from '../../common/page.ts'
import { OneOf, Seconds, Type } from '../../kit/schema.ts'
import { memberScopes } from '../groups/schemas.ts'
import { searchFields, User } from '../users/schemas.ts'

const { tags: _, ...userFields } = User.properties

export const BannedUser = Type.Object(
  {
    ...userFields,
    scope: Type.Optional(OneOf(memberScopes, 'What the user was in the group; absent if never a member')),
    isBanned: Type.Literal(true),
    bannedAt: Seconds('When the ban was made'),
    joinedAt: Type.Optional(Seconds('When the user had joined; absent if never a member')),
  },
  { title: 'BannedUser' },
)

export const BanListQuery = listQuery({ searchKey: searchFields.searchKey })
