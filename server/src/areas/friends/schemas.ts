import { Outcomes } from '../../common/each.ts'
import { listQuery } from '../../common/page.ts'
import { Id, type Static, Type } from '../../kit/schema.ts'
import { searchFields } from '../users/schemas.ts'

export const friendsMax = 1_000
const friendsPerRequestMax = 25

/** Some UIDs, each counted once; what is wrong with one of them is told of the whole list. */
function UidList(description: string) {
  // No type for the items: a wrong one would be told of the item, before the list is looked at.
  const list = Type.Array(Id(Type.Unsafe<string>({ description: 'A UID' })), {
    minItems: 1,
    description,
    examples: [['milo']],
  })
  return Type.Refine(
    Type.Refine(
      list,
      (uids) => uids.every((uid) => typeof uid === 'string' && uid.trim() !== ''),
      () => 'must hold UIDs, none of them blank',
    ),
    (uids) => new Set(uids).size <= friendsPerRequestMax,
    () => `must not name more than ${friendsPerRequestMax} users`,
  )
}

export const FriendsAdd = Type.Object(
  {
    accepted: UidList(`Whom to befriend, at most ${friendsPerRequestMax} users`),
    addToConversations: Type.Optional(
      Type.Boolean({ description: 'Their conversations are listed for both, although nothing has been said in them' }),
    ),
  },
  { examples: [{ accepted: ['milo', 'amara'] }] },
)

export const FriendsAdded = Type.Object({ accepted: Outcomes }, { title: 'FriendsAdded' })

export const FriendsRemove = Type.Object(
  { friends: UidList(`Whom to unfriend, at most ${friendsPerRequestMax} users`) },
  { examples: [{ friends: ['milo'] }] },
)

export const FriendListQuery = listQuery({ searchKey: searchFields.searchKey })
export type FriendListQuery = Static<typeof FriendListQuery>
