import { eachItem } from '../../kit/each.ts'
import { operation } from '../../kit/operation.ts'
import { paginate, userPageOf, withCursor } from '../../kit/page.ts'
import { Done, done, one } from '../../kit/reply.ts'
import { userNotFound } from '../users/errors.ts'
import { blocksBetween, holdUsers, requireActiveUser, toUser, type UserRow } from '../users/index.ts'
import { User } from '../users/schemas.ts'
import { notAFriend } from './errors.ts'
import { friendAdded, friendRemoved } from './events.ts'
import { joinCircle, requireNewFriend } from './rules.ts'
import { FriendListQuery, FriendsAdd, FriendsAdded, FriendsRemove } from './schemas.ts'
import { addFriendships, circleOf, friendFilters, friendsOf, removeFriendships } from './store.ts'

const addFriends = operation({
  id: 'addFriends',
  route: 'POST /users/{uid}/friends',
  summary: 'Add friends',
  description:
    'Makes the users friends of each other, at once and in both directions; nobody is asked. The answer tells for each ' +
    'UID what became of it: `ERR_ALREADY_FRIEND`, `ERR_CANNOT_FORM_SELF_RELATION`, `ERR_UID_NOT_FOUND`, or ' +
    '`ERR_FAILED_TO_ADD_FRIEND` where one of the two has 1,000 friends.',
  body: FriendsAdd,
  reply: one(FriendsAdded),
  errors: [userNotFound],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run(call) {
    const { db, found, body, emit } = call
    const uids = body.accepted.map((uid) => uid.toLowerCase())
    const held = await holdUsers(db, [found.uid, ...uids])
    const user = requireStillActive(held, found)
    const circle = await circleOf(db, user, [...held.values()])
    const added: UserRow[] = []
    const accepted = await eachItem(uids, (uid) => {
      const friend = requireNewFriend(user, uid, held.get(uid), circle)
      joinCircle(circle, user, friend)
      added.push(friend)
      return `${user.uid} and ${friend.uid} are friends now.`
    })
    await addFriendships(call, user, added)
    for (const friend of added) await emit(friendAdded, { user: toUser(user), friend: toUser(friend) })
    return { data: { accepted } }
  },
})

const listFriends = operation({
  id: 'listFriends',
  route: 'GET /users/{uid}/friends',
  summary: 'List friends',
  description:
    'Newest users first. Deactivated friends are left out until they are reactivated. Blocks and conversation ids are ' +
    'those of the user in the path.',
  query: FriendListQuery,
  reply: userPageOf(User),
  errors: [userNotFound],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run({ db, found, query }) {
    const { data: rows, meta } = await paginate(friendsOf(db, found), friendFilters(db), query, (row) => row)
    const blocks = await blocksBetween.ask(
      db,
      found.uid,
      rows.map(({ uid }) => uid),
    )
    const view = { actorUid: found.uid, withTags: false, withPrivate: true }
    return withCursor({ data: rows.map((row) => toUser(row, { ...view, blocks: blocks.get(row.uid) })), meta })
  },
})

const removeFriends = operation({
  id: 'removeFriends',
  route: 'DELETE /users/{uid}/friends',
  summary: 'Remove friends',
  description:
    'Ends friendships in both directions. UIDs that are no friends are passed over, unless none of them is one.',
  body: FriendsRemove,
  reply: Done,
  errors: [userNotFound, notAFriend],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run({ db, found, body, emit }) {
    const uids = [...new Set(body.friends.map((uid) => uid.toLowerCase()))]
    const user = requireStillActive(await holdUsers(db, [found.uid, ...uids]), found)
    const removed = await removeFriendships(db, user.id, uids)
    if (removed.length === 0) throw notAFriend({ uid: user.uid })
    for (const friendUid of removed) await emit(friendRemoved, { uid: user.uid, friendUid })
    return done(`${user.uid} is no longer a friend of ${removed.join(', ')}.`)
  },
})

/** Between the look at the path and the hold somebody else may have deactivated or deleted the user. */
function requireStillActive(held: Map<string, UserRow>, { uid }: UserRow): UserRow {
  const user = held.get(uid)
  if (user?.deactivated_at !== null) throw userNotFound({ uid })
  return user
}

export const operations = [addFriends, listFriends, removeFriends]
