import { paginate, userPageOf, withCursor } from '../../common/page.ts'
import { Done, done, one } from '../../common/reply.ts'
import { operation } from '../../kit/operation.ts'
import { userNotFound } from '../users/errors.ts'
import { blocksBetween, newestChange, requireActiveUser, toUser } from '../users/index.ts'
import { User } from '../users/schemas.ts'
import { befriend, unfriend } from './acts.ts'
import { notAFriend } from './errors.ts'
import { FriendListQuery, FriendsAdd, FriendsAdded, FriendsRemove } from './schemas.ts'
import { friendFilters, friendsOf } from './store.ts'

const addFriends = operation({
  id: 'addFriends',
  route: 'POST /users/{uid}/friends',
  summary: 'Add friends',
  description:
    'Makes the users friends of each other, at once and in both directions; nobody is asked. The answer tells for each ' +
    'UID what became of it: `ERR_ALREADY_FRIEND`, `ERR_CANNOT_FORM_SELF_RELATION`, `ERR_UID_NOT_FOUND`, or ' +
    '`ERR_FAILED_TO_ADD_FRIEND` where one of the two has 1,000 friends. With `addToConversations`, their conversations ' +
    'are in the lists of both a moment later.',
  body: FriendsAdd,
  reply: one(FriendsAdded),
  errors: [userNotFound],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  run: async (call) => ({ data: { accepted: await befriend(call, call.found.uid, call.body.accepted, call.body) } }),
})

const listFriends = operation({
  id: 'listFriends',
  route: 'GET /users/{uid}/friends',
  summary: 'List friends',
  description:
    'Newest users first. Deactivated friends are left out until they are reactivated. Blocks and conversation ids are ' +
    'those of the user in the path.',
  query: FriendListQuery,
  mayTakeLong: true,
  reply: userPageOf(User),
  errors: [userNotFound],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run(call) {
    const { db, found, query } = call
    const pageOf = (asked: typeof query) => paginate(friendsOf(db, found), friendFilters(db), asked, (row) => row)
    const { data: rows, meta } = await pageOf(query)
    const { total } = meta.pagination
    const first = async (perPage: number) => (await pageOf({ ...query, page: 1, perPage })).data
    const newest = await newestChange(db, { page: rows, total, first })
    const blocks = await blocksBetween.ask(
      db,
      found.uid,
      rows.map(({ uid }) => uid),
    )
    const view = { actorUid: found.uid, withTags: false, withPrivate: true }
    const data = rows.map((row) => toUser(call, row, { ...view, blocks: blocks.get(row.uid) }))
    return withCursor({ data, meta }, newest)
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
  async run(call) {
    const removed = await unfriend(call, call.found.uid, call.body.friends)
    return done(`${call.found.uid} is no longer a friend of ${removed.join(', ')}.`)
  },
})

export const operations = [addFriends, listFriends, removeFriends]
