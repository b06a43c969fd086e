import { Outcomes } from '../../common/each.ts'
import { paginate, userPageOf, withCursor } from '../../common/page.ts'
import { one } from '../../common/reply.ts'
import { type Actor, operation } from '../../kit/operation.ts'
import { permissionDenied } from '../rbac/errors.ts'
import { policyOf, refuseUnless, roleRules } from '../rbac/index.ts'
import { userNotFound } from '../users/errors.ts'
import { newestChange, requireActiveUser, seenBy, sightOf, toUser, type UserRow } from '../users/index.ts'
import { User } from '../users/schemas.ts'
import { block, unblock } from './acts.ts'
import { BlockListQuery, UsersBlock, UsersUnblock } from './schemas.ts'
import { blockedUsersOf, blockFilters, blocksWith, leaveIfBlockedByMany } from './store.ts'

const blockUsers = operation({
  id: 'blockUsers',
  route: 'POST /users/{uid}/blockedusers',
  summary: 'Block users',
  description:
    'The user in the path blocks the others: no direct message and no call passes between them, in either direction. ' +
    'The answer tells for each UID what became of it: blocking twice is a success and keeps the first time, and ' +
    '`ERR_PLAN_QUOTA_RESTRICTION` stands where 1,000 are blocked already.',
  doors: ['server', 'client'],
  may: 'blockUser',
  body: UsersBlock,
  reply: one(Outcomes),
  errors: [userNotFound, permissionDenied],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run(call) {
    refuseOthers(call.found, call.actor)
    const policy = call.actor && (await policyOf(call.db, call.actor))
    const isAllowed = (role: string) => !policy || roleRules.mayBlock(policy, role)
    return { data: await block(call, call.found.uid, call.body.blockedUids, isAllowed) }
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
  async run(call) {
    refuseOthers(call.found, call.actor)
    const policy = call.actor && (await policyOf(call.db, call.actor))
    const isAllowed = (role: string) => !policy || roleRules.mayUnblock(policy, role)
    return { data: await unblock(call, call.found.uid, call.body.blockedUids, isAllowed) }
  },
})

const listBlockedUsers = operation({
  id: 'listBlockedUsers',
  route: 'GET /users/{uid}/blockedusers',
  summary: 'List blocked users',
  description:
    'Oldest block first. Deactivated users are left out until they are reactivated; their blocks are kept. ' +
    'Blocks and conversation ids are those of the user in the path.',
  doors: ['server', 'client'],
  may: 'getBlockedUsers',
  query: BlockListQuery,
  mayTakeLong: true,
  reply: userPageOf(User),
  errors: [userNotFound, permissionDenied],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run(call) {
    const { db, found, query, actor, caller } = call
    refuseOthers(found, actor)
    const { direction = actor ? 'both' : 'blockedByMe', ...rest } = query
    await leaveIfBlockedByMany(db, found)
    const visible = actor && (await seenBy(db, actor))
    const roles = actor ? roleRules.listedBlockedRoles(await policyOf(db, actor)) : []
    const pageOf = (asked: typeof rest) =>
      paginate(blockedUsersOf(db, found, direction, roles), blockFilters(db, visible), asked, (row) => row)
    const rows = await pageOf(rest)
    const uids = rows.data.map(({ uid }) => uid)
    const blocks = await blocksWith(db, found.uid, uids)
    const view = { actorUid: found.uid, withTags: false, withPrivate: caller.kind === 'server' }
    const sees = await sightOf(db, actor, () => uids)
    const data = rows.data.map((row) =>
      toUser(call, row, { ...view, blocks: blocks.get(row.uid), veiled: !sees(row.uid) }),
    )
    const first = async (perPage: number) => (await pageOf({ ...rest, page: 1, perPage })).data
    const newest = await newestChange(db, { page: rows.data, total: rows.meta.pagination.total, first, visible })
    return withCursor({ data, meta: rows.meta }, newest)
  },
})

/** Users manage their own blocks and nobody else's. */
function refuseOthers(user: UserRow, actor: Actor | undefined): void {
  refuseUnless(actor === undefined || actor.uid === user.uid)
}

export const operations = [blockUsers, listBlockedUsers, unblockUsers]
