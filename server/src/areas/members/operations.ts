import { quotaReached } from '../../kit/errors.ts'
import { type Actor, operation } from '../../kit/operation.ts'
import { paginationOf, sliceOf, userPageOf, withCursor } from '../../kit/page.ts'
import { Done, done, one } from '../../kit/reply.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import {
  alreadyJoined,
  bannedFromGroup,
  groupNotFound,
  groupNotJoined,
  joiningNotAllowed,
  noAdminScope,
  noClearance,
  noScopeClearance,
  noSelfAction,
  notAMember,
  noVacancy,
  passwordMissing,
  passwordWrong,
  sameScope,
} from '../groups/errors.ts'
import {
  authoriseGuests,
  decideGuests,
  endMembership,
  type GroupRow,
  groupRules,
  holdScene,
  placeIn,
  putScope,
  receiveGuests,
  requireGroup,
  requireGroupAndUser,
  selectMembers,
  tellDeed,
  tellScope,
  toGroup,
} from '../groups/index.ts'
import { Admissions, Group, type MemberScope, MembersAdd, memberScopes, membersMax, uidsIn } from '../groups/schemas.ts'
import { permissionDenied } from '../rbac/errors.ts'
import { policyOf, refuseUnless, roleRules } from '../rbac/index.ts'
import { scopeRules, scopeValues } from '../scope-permissions/index.ts'
import { userNotFound } from '../users/errors.ts'
import { blocksBetween, seenBy, sightOf, toUser } from '../users/index.ts'
import { holdMember, join, leave, requireMayEnter } from './acts.ts'
import { guess } from './guesses.ts'
import { GroupJoin, Member, MemberListQuery, ScopeChange, ScopeChanged } from './schemas.ts'

const addMembers = operation({
  id: 'addMembers',
  route: 'POST /groups/{guid}/members',
  summary: 'Add members, and ban users',
  description:
    'Up to 25 users; one whom several lists name is used once, by the first of them. The answer tells for each UID what ' +
    'became of it: `ERR_UID_NOT_FOUND`, `ERR_ALREADY_JOINED`, `ERR_BANNED_GROUPMEMBER`, `ERR_ALREADY_BANNED`, ' +
    '`ERR_NO_VACANCY`, or `ERR_PLAN_QUOTA_RESTRICTION` where a user is in 2,000 groups. Whoever acts must be an admin.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'addMember',
  body: MembersAdd,
  reply: one(Admissions),
  errors: [groupNotFound, groupNotJoined, bannedFromGroup, noAdminScope, quotaReached],
  find: ({ db, params }) => requireGroup(db, params.guid),
  async run(call) {
    const { db, actor, found, body } = call
    const uids = uidsIn(body)
    if (actor) await authoriseGuests(db, actor, body)
    const scene = await holdScene(db, found.guid, actor, uids)
    groupRules.requireAdmin(scene.acting, found.guid)
    const { usersToBan: _, ...toAdd } = body
    if (scene.group.members_count >= membersMax && uidsIn(toAdd).size > 0) {
      throw quotaReached({ limit: `${membersMax} members of a group` })
    }
    const guests = await decideGuests(db, scene, body)
    return { data: (await receiveGuests(call, scene, body, guests)).admissions }
  },
})

const listMembers = operation({
  id: 'listMembers',
  route: 'GET /groups/{guid}/members',
  summary: 'List members',
  description:
    'The latest to join first; deactivated users are among them. Everyone may ask about public and password groups, ' +
    'members alone about private ones; whoever is banned about none.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'listGroupMembers',
  query: MemberListQuery,
  mayTakeLong: true,
  reply: userPageOf(Member),
  errors: [groupNotFound, groupNotJoined, bannedFromGroup],
  find: ({ db, params }) => requireGroup(db, params.guid),
  async run({ db, found, query, actor }) {
    const slice = sliceOf(query)
    const allowed = actor ? await scopesShownTo(db, found, actor) : [...memberScopes]
    const scopes = allowed.filter((scope) => !query.scopes || query.scopes.includes(scope))
    const visible = actor && (await seenBy(db, actor.uid))
    const { total, rows } = await selectMembers(db, found, { ...query, scopes, visible }, slice)
    const uids = rows.map(({ user }) => user.uid)
    const blocks = actor ? await blocksBetween.ask(db, actor.uid, uids) : new Map()
    const sees = await sightOf(db, actor?.uid, () => uids)
    const view = { actorUid: actor?.uid, withTags: false, withPrivate: !actor }
    const data = rows.map(({ user, row }) => ({
      ...toUser(user, { ...view, blocks: blocks.get(user.uid), veiled: !sees(user.uid) }),
      scope: row.scope,
      joinedAt: row.joined_at,
    }))
    return withCursor({ data, meta: { pagination: paginationOf(total, data.length, slice) } })
  },
})

/** The scopes whose members a user may see in the list; refuses whoever may not see it at all. */
async function scopesShownTo(db: TenantDb, group: GroupRow, { uid }: Actor): Promise<MemberScope[]> {
  const { standing, member } = await placeIn(db, group, uid)
  groupRules.requireMayRead(standing, group.type, group.guid)
  if (!member) return [...memberScopes]
  const values = await scopeValues(db, { guid: group.guid, scope: member.scope })
  refuseUnless(scopeRules.scopeMay(values, 'listMembers'))
  return memberScopes.filter((scope) => scopeRules.isMemberListed(values, scope))
}

const changeMemberScope = operation({
  id: 'changeMemberScope',
  route: 'PUT /groups/{guid}/members/{uid}',
  summary: "Change a member's scope",
  description:
    'An owner may change anyone but themselves, admins whoever is no admin, and moderators may make participants ' +
    'moderators. The owner is always an admin.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'changeScope',
  body: ScopeChange,
  reply: one(ScopeChanged),
  errors: [
    groupNotFound,
    userNotFound,
    notAMember,
    sameScope,
    noSelfAction,
    noScopeClearance,
    groupNotJoined,
    bannedFromGroup,
  ],
  find: ({ db, params }) => requireGroupAndUser(db, params),
  async run(call) {
    const { guid, uid } = call.found
    const { scope = 'participant' } = call.body
    const { group, by, acting, user, target, on } = await holdMember(call, guid, call.actor, uid)
    groupRules.requireMayRescope(acting, on, scope, guid)
    if (target.scope === scope) throw sameScope({ uid, guid, scope })
    const changed = await putScope(call, group, target, scope)
    await tellScope(call, { group: changed, by, on: user }, scope, target.scope)
    return { data: { guid, uid, scope, joinedAt: target.joined_at } }
  },
})

const kickMember = operation({
  id: 'kickMember',
  route: 'DELETE /groups/{guid}/members/{uid}',
  summary: 'Kick a member',
  description:
    'They may join or be added again. Admins kick anyone but the owner, moderators kick participants. An owner whom a ' +
    'server kicks is followed by the oldest admin, else moderator, else participant.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'kickMember',
  reply: Done,
  errors: [groupNotFound, userNotFound, notAMember, noSelfAction, noClearance, groupNotJoined, bannedFromGroup],
  find: ({ db, params }) => requireGroupAndUser(db, params),
  async run(call) {
    const { guid, uid } = call.found
    const { group, by, acting, user, target, on } = await holdMember(call, guid, call.actor, uid)
    groupRules.requireMayRemove(acting, on, guid)
    const smaller = await endMembership(call, group, target)
    await tellDeed(call, 'kicked', { group: smaller, by, on: user })
    return done(`${uid} was removed from the group ${guid}.`)
  },
})

const joinGroup = operation({
  id: 'joinGroup',
  route: 'POST /groups/{guid}/join',
  summary: 'Join a group',
  description: 'Public groups are open to all, password groups to who knows the password, private ones to nobody.',
  doors: ['client'],
  may: 'joinGroup',
  rate: 'core',
  body: GroupJoin,
  reply: one(Group),
  errors: [
    groupNotFound,
    permissionDenied,
    bannedFromGroup,
    alreadyJoined,
    joiningNotAllowed,
    passwordMissing,
    passwordWrong,
    noVacancy,
    quotaReached,
    userNotFound,
  ],
  find: ({ db, params }) => requireGroup(db, params.guid),
  async prepare(call) {
    const { db, found, body } = call
    const actor = acting(call.actor)
    refuseUnless(roleRules.mayJoinGroup(await policyOf(db, actor), found.type))
    const { standing } = await placeIn(db, found, actor.uid)
    const password = requireMayEnter(found, standing, actor.uid, body.password)
    return password === undefined ? undefined : guess(call, found, actor.uid, password)
  },
  async run(call) {
    const { db, found, body, given } = call
    const actor = acting(call.actor)
    refuseUnless(roleRules.mayJoinGroup(await policyOf(db, actor), found.type))
    const { group, member } = await join(call, found.guid, actor, body.password, given)
    return { data: toGroup(group, { member }) }
  },
})

const leaveGroup = operation({
  id: 'leaveGroup',
  route: 'POST /groups/{guid}/leave',
  summary: 'Leave a group',
  description: 'An owner hands the group over first.',
  doors: ['client'],
  may: 'leaveGroup',
  rate: 'core',
  reply: Done,
  errors: [groupNotFound, groupNotJoined, bannedFromGroup, noSelfAction, userNotFound],
  find: ({ db, params }) => requireGroup(db, params.guid),
  async run(call) {
    const actor = acting(call.actor)
    await leave(call, call.found.guid, actor)
    return done(`${actor.uid} has left the group ${call.found.guid}.`)
  },
})

/** Whoever comes through the clients' door is somebody. */
function acting(actor: Actor | undefined): Actor {
  if (!actor) throw new Error('A client acts as nobody.')
  return actor
}

export const operations = [addMembers, listMembers, changeMemberScope, kickMember, joinGroup, leaveGroup]
