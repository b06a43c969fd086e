import { acting } from '../../common/acting.ts'
import { paginationOf, sliceOf, userPageOf, withCursor } from '../../common/page.ts'
import { quotaReached } from '../../common/refusals.ts'
import { Done, done, one } from '../../common/reply.ts'
import { badRequest } from '../../kit/errors.ts'
import { type Actor, operation } from '../../kit/operation.ts'
import type { View, Work } from '../../kit/work.ts'
import {
  bannedFromGroup,
  groupNotFound,
  groupNotJoined,
  noAdminScope,
  noClearance,
  noScopeClearance,
  noSelfAction,
  notAMember,
  sameScope,
} from '../groups/errors.ts'
import {
  authoriseGuests,
  decideGuests,
  endMembership,
  findMember,
  type GroupMemberRow,
  type GroupRow,
  groupRules,
  holdScene,
  type Match,
  putScope,
  reachOf,
  reachOverGuests,
  receiveGuests,
  requireGroup,
  requireGroupAndUser,
  requireReach,
  selectMembers,
  tellDeed,
  tellScope,
  toGroup,
} from '../groups/index.ts'
import {
  Admissions,
  Group,
  GroupJoin,
  type GuestLists,
  MembersAdd,
  memberScopes,
  membersMax,
  uidsIn,
} from '../groups/schemas.ts'
import { authorise } from '../rbac/index.ts'
import { userNotFound } from '../users/errors.ts'
import { blocksBetween, findUser, newestChange, seenBy, sightOf, toUser, type UserRow } from '../users/index.ts'
import { holdMember, leave } from './acts.ts'
import { countAsJoining, isJoining, join, joiningErrors, prepareToJoin } from './joining.ts'
import { scopesShownTo } from './permissions.ts'
import { Member, MemberListQuery, ScopeChange, ScopeChanged } from './schemas.ts'

const addMembers = operation({
  id: 'addMembers',
  route: 'POST /groups/{guid}/members',
  summary: 'Add members, and ban users',
  description:
    'Up to 25 users; one whom several lists name is used once, by the first of them. The answer tells for each UID what ' +
    'became of it: `ERR_UID_NOT_FOUND`, `ERR_ALREADY_JOINED`, `ERR_BANNED_GROUPMEMBER`, `ERR_ALREADY_BANNED`, ' +
    '`ERR_NO_VACANCY`, or `ERR_PLAN_QUOTA_RESTRICTION` where a user is in 2,000 groups. Whoever acts must be an admin; ' +
    'but a client that names nobody but its own user, as a participant, joins the group: then all is as it is there, ' +
    'and a refusal is one of the request.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  body: MembersAdd,
  reply: one(Admissions),
  errors: [...joiningErrors, groupNotJoined, noAdminScope],
  find: ({ db, params }) => requireGroup(db, params.guid),
  async prepare(call) {
    const { found, body, caller } = call
    if (!isJoining(caller, body)) return undefined
    const actor = acting(call.actor)
    if (!call.again) await countAsJoining(call, actor)
    return prepareToJoin(call, found, actor, body.password)
  },
  async run(call) {
    const { db, actor, found, body, caller } = call
    if (isJoining(caller, body)) return { data: await admitOneself(call, acting(actor)) }
    const lists = plainLists(body)
    if (actor) await authoriseGuests(db, actor, lists, ['addMember'])
    const scene = await holdScene(db, found.guid, actor, uidsIn(lists))
    const reach = await reachOverGuests(db, actor, scene, lists)
    groupRules.requireAdmin(reach.adding.acting, found.guid)
    const { usersToBan: _, ...toAdd } = lists
    if (scene.group.members_count >= membersMax && uidsIn(toAdd).size > 0) {
      throw quotaReached({ limit: `${membersMax} members of a group` })
    }
    const guests = await decideGuests(db, scene, lists, reach)
    return { data: (await receiveGuests(call, scene, lists, guests)).admissions }
  },
})

/** The acting user joins, and is told so in the form that adding answers in. */
async function admitOneself(
  call: Work & { found: GroupRow; body: MembersAdd; given: Match | undefined },
  actor: Actor,
): Promise<Admissions> {
  const { message } = await join(call, call.found, actor, call.body.password, call.given)
  return { participants: { [actor.uid]: { success: true, data: message } } }
}

/** Whoever adds others names them by their UIDs alone. */
function plainLists({ password: _, participants, ...lists }: MembersAdd): GuestLists {
  const wrong = participants?.findIndex((guest) => typeof guest !== 'string') ?? -1
  if (wrong >= 0) throw badRequest({ [`participants.${wrong}`]: ['must be of type string'] })
  return participants ? { ...lists, participants: participants as string[] } : lists
}

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
  async run(call) {
    const { db, found, query, actor } = call
    const slice = sliceOf(query)
    const allowed = actor ? await scopesShownTo(db, found, actor) : [...memberScopes]
    const scopes = allowed.filter((scope) => !query.scopes || query.scopes.includes(scope))
    const visible = actor && (await seenBy(db, actor))
    const { total, rows } = await selectMembers(call, found, { ...query, scopes, visible }, slice)
    const data = await shownMembers(call, rows, actor)
    const meta = { pagination: paginationOf(total, data.length, slice) }
    const users = (listed: typeof rows) => listed.map(({ user }) => user)
    const first = async (limit: number) =>
      users((await selectMembers(call, found, { ...query, scopes }, { limit, offset: 0 })).rows)
    const newest = await newestChange(db, { page: users(rows), total, first, visible })
    return withCursor({ data, meta }, newest)
  },
})

const getMember = operation({
  id: 'getMember',
  route: 'GET /groups/{guid}/members/{uid}',
  summary: 'Get a member',
  description:
    'For whoever may list the members, and as the list shows them: who is not in it for the acting user is no member. ' +
    'Everyone is shown themselves.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'getMember',
  reply: one(Member),
  errors: [groupNotFound, userNotFound, notAMember, groupNotJoined, bannedFromGroup],
  async find({ db, params }) {
    const group = await requireGroup(db, params.guid)
    const user = await findUser(db, params.uid)
    if (!user) throw userNotFound({ uid: params.uid })
    return { group, user }
  },
  async run(call) {
    const { db, actor } = call
    const { group, user } = call.found
    if (actor) await authorise(db, actor, 'listGroupMembers')
    const scopes = actor ? await scopesShownTo(db, group, actor) : memberScopes
    const row = await findMember(db, group, user.uid)
    // Members who are deactivated are listed; anybody else who is, is nobody.
    if (!row && user.deactivated_at !== null) throw userNotFound({ uid: user.uid })
    if (!row || !(user.uid === actor?.uid || scopes.includes(row.scope))) {
      throw notAMember({ uid: user.uid, guid: group.guid })
    }
    const [data] = await shownMembers(call, [{ user, row }], actor)
    return { data: data as Member }
  },
})

/** Members as the acting user may see them. */
async function shownMembers(
  view: View,
  members: { user: UserRow; row: GroupMemberRow }[],
  actor: Actor | undefined,
): Promise<Member[]> {
  const uids = members.map(({ user }) => user.uid)
  const blocks = actor ? await blocksBetween.ask(view.db, actor.uid, uids) : new Map()
  const sees = await sightOf(view.db, actor, () => uids)
  const how = { actorUid: actor?.uid, withTags: false, withPrivate: !actor }
  return members.map(({ user, row }) => ({
    ...toUser(view, user, { ...how, blocks: blocks.get(user.uid), veiled: !sees(user.uid) }),
    scope: row.scope,
    joinedAt: row.joined_at,
  }))
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
    const reach = await reachOf(call.db, call.actor, group, acting, 'kickMembers')
    requireReach(reach, target.scope)
    groupRules.requireMayRemove(reach.acting, on, guid)
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
  rate: 'core',
  body: GroupJoin,
  reply: one(Group),
  errors: joiningErrors,
  find: ({ db, params }) => requireGroup(db, params.guid),
  prepare: (call) => prepareToJoin(call, call.found, acting(call.actor), call.body.password),
  async run(call) {
    const { group, member } = await join(call, call.found, acting(call.actor), call.body.password, call.given)
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

export const operations = [addMembers, listMembers, getMember, changeMemberScope, kickMember, joinGroup, leaveGroup]
