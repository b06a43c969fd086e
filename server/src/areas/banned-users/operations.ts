import { paginationOf, sliceOf, userPageOf, withCursor } from '../../common/page.ts'
import { Done, done } from '../../common/reply.ts'
import { type Operation, operation, type Route } from '../../kit/operation.ts'
import {
  alreadyBanned,
  bannedFromGroup,
  groupNotFound,
  groupNotJoined,
  noClearance,
  noModeratorScope,
  noSelfAction,
  notAMember,
  notBanned,
} from '../groups/errors.ts'
import {
  activeIn,
  ban,
  deleteBan,
  findBan,
  findMember,
  type GroupBanRow,
  groupRules,
  holdScene,
  placeIn,
  reachOf,
  requireGroup,
  requireGroupAndUser,
  requireReach,
  scopeOfStanding,
  selectBanned,
  standingOf,
  tellDeed,
  touch,
} from '../groups/index.ts'
import { userNotFound } from '../users/errors.ts'
import { blocksBetween, newestChange, seenBy, sightOf, toUser } from '../users/index.ts'
import { BanListQuery, BannedUser } from './schemas.ts'

const banUser = operation({
  id: 'banUser',
  route: 'POST /groups/{guid}/bannedusers/{uid}',
  summary: 'Ban a member',
  description:
    'The member leaves the group and cannot come back before the ban is lifted. Admins ban anyone but the owner, ' +
    'moderators ban participants. Whoever is not in the group is banned with `usersToBan` of `addMembers`.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'ban',
  reply: Done,
  errors: [
    groupNotFound,
    userNotFound,
    alreadyBanned,
    notAMember,
    noSelfAction,
    noClearance,
    groupNotJoined,
    bannedFromGroup,
  ],
  find: ({ db, params }) => requireGroupAndUser(db, params),
  async run(call) {
    const { db, actor } = call
    const { guid, uid } = call.found
    const scene = await holdScene(db, guid, actor, [uid])
    groupRules.requireMember(scene.acting, guid)
    const reach = await reachOf(db, actor, scene.group, scene.acting, 'ban')
    const user = activeIn(scene.users, uid)
    if (await findBan(db, scene.group, uid)) throw alreadyBanned({ uid, guid })
    const member = await findMember(db, scene.group, uid)
    if (!member) throw notAMember({ uid, guid })
    const standing = standingOf(scene.group, member)
    requireReach(reach, scopeOfStanding(standing))
    groupRules.requireMayRemove(reach.acting, { standing, self: uid === actor?.uid }, guid)
    await ban(call, scene, user, member)
    return done(`${uid} is banned from the group ${guid}.`)
  },
})

const unbanUser = operation({
  id: 'unbanUser',
  route: 'DELETE /groups/{guid}/bannedusers/{uid}',
  summary: 'Lift a ban',
  description: 'The user is not in the group again, but may join or be added.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'unban',
  reply: Done,
  errors: [groupNotFound, userNotFound, notBanned, noClearance, groupNotJoined, bannedFromGroup],
  find: ({ db, params }) => requireGroupAndUser(db, params),
  async run(call) {
    const { db, actor } = call
    const { guid, uid } = call.found
    const scene = await holdScene(db, guid, actor, [uid])
    const reach = await reachOf(db, actor, scene.group, scene.acting, 'unban')
    groupRules.requireMayUnban(reach.acting, guid)
    const user = activeIn(scene.users, uid)
    const row = await findBan(db, scene.group, uid)
    if (!row) throw notBanned({ uid, guid })
    await deleteBan(db, scene.group, row)
    const group = await touch(call, scene.group)
    await tellDeed(call, 'unbanned', { group, by: scene.by, on: user })
    return done(`${uid} is no longer banned from the group ${guid}.`)
  },
})

const listBannedUsers = operation({
  id: 'listBannedUsers',
  route: 'GET /groups/{guid}/bannedusers',
  summary: 'List banned users',
  description: 'Newest ban first. Whoever acts must be a moderator or an admin of the group.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'listBannedUsers',
  query: BanListQuery,
  mayTakeLong: true,
  reply: userPageOf(BannedUser),
  errors: [groupNotFound, groupNotJoined, noModeratorScope, bannedFromGroup],
  find: ({ db, params }) => requireGroup(db, params.guid),
  async run(call) {
    const { db, found, query, actor } = call
    if (actor) {
      const { standing } = await placeIn(db, found, actor.uid)
      const { acting } = await reachOf(db, actor, found, standing, 'listBannedUsers')
      groupRules.requireModerator(acting, found.guid)
    }
    const slice = sliceOf(query)
    const visible = actor && (await seenBy(db, actor))
    const { total, rows } = await selectBanned(db, found, { ...query, visible }, slice)
    const uids = rows.map(({ user }) => user.uid)
    const blocks = actor ? await blocksBetween.ask(db, actor.uid, uids) : new Map()
    const sees = await sightOf(db, actor, () => uids)
    const view = { actorUid: actor?.uid, withTags: false, withPrivate: !actor }
    const data = rows.map(({ user, row }) => ({
      ...toUser(call, user, { ...view, blocks: blocks.get(user.uid), veiled: !sees(user.uid) }),
      ...former(row),
      isBanned: true as const,
      bannedAt: row.banned_at,
    }))
    const meta = { pagination: paginationOf(total, data.length, slice) }
    const users = (listed: typeof rows) => listed.map(({ user }) => user)
    const first = async (limit: number) => users((await selectBanned(db, found, query, { limit, offset: 0 })).rows)
    return withCursor({ data, meta }, await newestChange(db, { page: users(rows), total, first, visible }))
  },
})

/** What the user was in the group before. */
function former({ scope, joined_at }: GroupBanRow) {
  return { ...(scope !== null && { scope }), ...(joined_at !== null && { joinedAt: joined_at }) }
}

/** The same under the path that some guides have for it. */
function byOtherPath(original: Operation, id: string): Operation {
  const path = original.path.replace('bannedusers', 'banned_members')
  const route = `${original.method} ${path}` as Route
  return { ...original, id, path, route, deprecated: { replacedBy: `/v3${original.path}` } }
}

export const operations = [
  banUser,
  unbanUser,
  listBannedUsers,
  byOtherPath(banUser, 'banMember'),
  byOtherPath(unbanUser, 'unbanMember'),
  byOtherPath(listBannedUsers, 'listBannedMembers'),
]
