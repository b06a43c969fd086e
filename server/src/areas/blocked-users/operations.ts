import { eachItem, Outcomes } from '../../kit/each.ts'
import { type Actor, operation } from '../../kit/operation.ts'
import { paginate, userPageOf, withCursor } from '../../kit/page.ts'
import { one } from '../../kit/reply.ts'
import { permissionDenied } from '../rbac/errors.ts'
import { refuseUnless } from '../rbac/index.ts'
import { userNotFound } from '../users/errors.ts'
import { holdUsers, requireActiveUser, toUser, type UserRow } from '../users/index.ts'
import { User } from '../users/schemas.ts'
import { cannotBlockSelf } from './errors.ts'
import { userBlocked, userUnblocked } from './events.ts'
import { BlockListQuery, UsersBlock, UsersUnblock } from './schemas.ts'
import { addBlocks, blockedUsersOf, blockFilters, blocksWith, removeBlocks } from './store.ts'

const blockUsers = operation({
  id: 'blockUsers',
  route: 'POST /users/{uid}/blockedusers',
  summary: 'Block users',
  description:
    'The user in the path blocks the others: no direct message and no call passes between them, in either direction. ' +
    'The answer tells for each UID what became of it; blocking twice is a success and keeps the first time.',
  doors: ['server', 'client'],
  may: 'blockUser',
  body: UsersBlock,
  reply: one(Outcomes),
  errors: [userNotFound, permissionDenied],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run(call) {
    const { db, found, body, actor, emit } = call
    refuseOthers(found, actor)
    const uids = body.blockedUids.map((uid) => uid.toLowerCase())
    const held = await holdUsers(db, [found.uid, ...uids])
    const user = requireStillActive(held, found.uid)
    const wanted: UserRow[] = []
    const data = await eachItem(uids, (uid) => {
      if (uid === user.uid) throw cannotBlockSelf()
      wanted.push(requireStillActive(held, uid))
      return `${user.uid} has blocked ${uid}.`
    })
    const blocked = await addBlocks(call, user, wanted)
    const by = toUser(user)
    for (const other of wanted.filter(({ uid }) => blocked.has(uid))) {
      await emit(userBlocked, { by, user: toUser(other) })
    }
    return { data }
  },
})

const unblockUsers = operation({
  id: 'unblockUsers',
  route: 'DELETE /users/{uid}/blockedusers',
  summary: 'Unblock users',
  description: 'Unblocking somebody who is not blocked is a success. The answer tells for each UID what became of it.',
  doors: ['server', 'client'],
  may: 'unblockUser',
  body: UsersUnblock,
  reply: one(Outcomes),
  errors: [userNotFound, permissionDenied],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run({ db, found, body, actor, emit }) {
    refuseOthers(found, actor)
    const uids = body.blockedUids.map((uid) => uid.toLowerCase())
    const held = await holdUsers(db, [found.uid, ...uids])
    const user = requireStillActive(held, found.uid)
    const wanted: UserRow[] = []
    const data = await eachItem(uids, (uid) => {
      const other = held.get(uid)
      if (!other) throw userNotFound({ uid })
      wanted.push(other)
      return `${user.uid} does not block ${uid}.`
    })
    const unblocked = await removeBlocks(db, user, wanted)
    const by = toUser(user)
    for (const other of wanted.filter(({ uid }) => unblocked.has(uid))) {
      await emit(userUnblocked, { by, user: toUser(other) })
    }
    return { data }
  },
})

const listBlockedUsers = operation({
  id: 'listBlockedUsers',
  route: 'GET /users/{uid}/blockedusers',
  summary: 'List blocked users',
  description:
    'Newest block first. Deactivated users are left out until they are reactivated; their blocks are kept. ' +
    'Blocks and conversation ids are those of the user in the path.',
  doors: ['server', 'client'],
  may: 'getBlockedUsers',
  query: BlockListQuery,
  reply: userPageOf(User),
  errors: [userNotFound, permissionDenied],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run({ db, found, query, actor, caller }) {
    refuseOthers(found, actor)
    const { direction = actor ? 'both' : 'blockedByMe', ...rest } = query
    const rows = await paginate(blockedUsersOf(db, found, direction), blockFilters(db), rest, (row) => row)
    const uids = rows.data.map(({ uid }) => uid)
    const blocks = await blocksWith(db, found.uid, uids)
    const view = { actorUid: found.uid, withTags: false, withPrivate: caller.kind === 'server' }
    const data = rows.data.map((row) => toUser(row, { ...view, blocks: blocks.get(row.uid) }))
    return withCursor({ data, meta: rows.meta })
  },
})

/** Users manage their own blocks and nobody else's. */
function refuseOthers(user: UserRow, actor: Actor | undefined): void {
  refuseUnless(actor === undefined || actor.uid === user.uid)
}

function requireStillActive(held: Map<string, UserRow>, uid: string): UserRow {
  const user = held.get(uid)
  if (user?.deactivated_at !== null) throw userNotFound({ uid })
  return user
}

export const operations = [blockUsers, listBlockedUsers, unblockUsers]
