import { pageOfRows, paginationOf, sliceOf, userPageOf, withCursor } from '../../common/page.ts'
import { quotaReached } from '../../common/refusals.ts'
import { Done, done, one } from '../../common/reply.ts'
import { ApiError, badRequest } from '../../kit/errors.ts'
import { type Actor, operation, Unprepared } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { policyOf, refuseUnless, roleRules } from '../rbac/index.ts'
import { userNotFound } from '../users/errors.ts'
import { requireActiveUser, systemUid, type UserRow } from '../users/index.ts'
import { activeIn, authoriseGuests, decideGuests, handOver, holdScene, receiveGuests, type Scene } from './acts.ts'
import { voidConversation } from './conversation.ts'
import { createWithMembers, preparePassword } from './create.ts'
import {
  bannedFromGroup,
  groupExists,
  groupNotFound,
  groupNotJoined,
  noAdminScope,
  noClearance,
  noModeratorScope,
  noSelfAction,
  notAMember,
  notForClients,
  noVacancy,
  passwordMissing,
} from './errors.ts'
import { groupDeleted, groupUpdated } from './events.ts'
import { forgetPermissions } from './gates.ts'
import { clearDeletedGroup } from './jobs.ts'
import { selectGroups } from './list.ts'
import { findMember, placeIn, type SeenGroup, uidsOfFew } from './membership.ts'
import { onlineMembersCount } from './online.ts'
import { hashPassword } from './passwords.ts'
import { reachOf } from './reach.ts'
import { type Acting, requireAdmin, requireMayRead, requireMayTransfer, requireModerator } from './rules.ts'
import {
  CreatedGroup,
  Group,
  GroupCreate,
  GroupListQuery,
  GroupUpdate,
  guidsPerCallMax,
  OnlineCounts,
  OnlineCountsQuery,
  OwnerTransfer,
} from './schemas.ts'
import { changedColumns, changeGroup, removeGroup, requireGroup, toGroup, unlistGroup } from './store.ts'
import type { GroupRow } from './tables.ts'
import { toldGroup } from './tell.ts'

const createGroup = operation({
  id: 'createGroup',
  route: 'POST /groups',
  summary: 'Create a group',
  description:
    'Whoever acts owns the group and is its first admin; without an acting user that is `owner`, or nobody. `members` ' +
    'adds and bans up to 25 users at once, and the answer then tells what became of each; the group is created whatever ' +
    'that is.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'createGroup',
  rate: 'core',
  body: GroupCreate,
  reply: one(CreatedGroup),
  errors: [groupExists, passwordMissing, userNotFound, quotaReached],
  async prepare(call) {
    await authoriseCreation(call)
    return preparePassword(call, call.actor, call.body)
  },
  async run(call) {
    await authoriseCreation(call)
    return { data: await createWithMembers(call, call.actor, call.body, call.given) }
  },
})

async function authoriseCreation(call: { db: TenantDb; actor: Actor | undefined; body: GroupCreate }): Promise<void> {
  const { db, actor, body } = call
  if (!actor) return
  refuseUnless(roleRules.mayCreateGroup(await policyOf(db, actor), body.type ?? 'public'))
  await authoriseGuests(db, actor, body.members ?? {})
}

const listGroups = operation({
  id: 'listGroups',
  route: 'GET /groups',
  summary: 'List groups',
  description:
    'Newest first unless sorted otherwise. All filters combine. Whoever acts sees public and password groups, and the ' +
    'private ones they are in.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'listGroups',
  query: GroupListQuery,
  mayTakeLong: true,
  reply: userPageOf(Group),
  async run({ db, query, actor }) {
    const viewer = actor && { uid: actor.uid, types: roleRules.listedGroupTypes(await policyOf(db, actor)) }
    const slice = sliceOf(query)
    const { limit } = slice
    const { total, rows } = await selectGroups(db, query, viewer, { ...slice, limit: limit + 1 })
    const page = pageOfRows(rows, limit, query, ({ group }) => group.changed_at)
    const data = page.map((each) => shown(each, actor, query.withTags ?? false))
    return withCursor({ data, meta: { pagination: paginationOf(total, data.length, slice) } })
  },
})

/** A group as the acting user may see it. */
function shown({ group, member }: SeenGroup, actor: Actor | undefined, withTags: boolean): Group {
  return toGroup(group, { withTags, ...(actor && { member }) })
}

const getGroup = operation({
  id: 'getGroup',
  route: 'GET /groups/{guid}',
  summary: 'Get a group',
  description: 'A private group is shown to its members alone, no group to whom it has banned.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'getGroup',
  mayTakeLong: true,
  reply: one(Group),
  errors: [groupNotFound, groupNotJoined, bannedFromGroup],
  find: ({ db, params }) => requireGroup(db, params.guid),
  async run(call) {
    const { db, found, actor } = call
    if (actor) refuseUnless(roleRules.mayReadGroup(await policyOf(db, actor), found.type))
    const place = actor && (await placeIn(db, found, actor.uid))
    if (place) requireMayRead(place.standing, found.type, found.guid)
    const record = toGroup(found, place ? { member: place.member } : {})
    return { data: { ...record, onlineMembersCount: await onlineMembersCount(call, found) } }
  },
})

const countOnlineMembers = operation({
  id: 'countOnlineMembers',
  route: 'GET /groups/online-counts',
  summary: 'Count the connected members of groups',
  doors: ['client'],
  may: 'getGroup',
  query: OnlineCountsQuery,
  mayTakeLong: true,
  reply: one(OnlineCounts),
  async run(call) {
    const { db, actor } = call
    const { guids = [] } = call.query
    if (guids.length > guidsPerCallMax) {
      throw badRequest({ guids: [`must not have more than ${guidsPerCallMax} entries`] })
    }
    const viewer = actor && { uid: actor.uid, types: roleRules.readableGroupTypes(await policyOf(db, actor)) }
    const wanted = guids.length === 0 ? [] : (await selectGroups(db, { guids }, viewer)).rows
    const counts: [string, number][] = []
    for (const { group } of wanted) counts.push([group.guid, await onlineMembersCount(call, group)])
    return { data: Object.fromEntries(counts) }
  },
})

const updateGroup = operation({
  id: 'updateGroup',
  route: 'PUT /groups/{guid}',
  summary: 'Change a group',
  description:
    'What is not sent stays as it is; `metadata` and `tags` are replaced whole. Whoever acts must be a moderator or an ' +
    'admin. `owner` counts only without an acting user, and clients change neither type nor password.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'updateGroup',
  body: GroupUpdate,
  reply: one(Group),
  errors: [
    groupNotFound,
    userNotFound,
    passwordMissing,
    groupNotJoined,
    noModeratorScope,
    bannedFromGroup,
    notForClients,
    noVacancy,
    quotaReached,
  ],
  find: ({ db, params }) => requireGroup(db, params.guid),
  async prepare(call) {
    const { db, actor, caller, body, found } = call
    const password = newPassword(found, body)
    if (password === undefined) return undefined
    if (caller.kind === 'client') refuseLock(found, body)
    await newOwner(db, actor, body)
    if (actor) await requireMayEdit(db, actor, found, (await placeIn(db, found, actor.uid)).standing)
    return hashPassword(call, password)
  },
  async run(call) {
    const { db, actor, caller, body, found, given: passwordHash } = call
    if (caller.kind === 'client') refuseLock(found, body)
    const owner = await newOwner(db, actor, body)
    const scene = await holdScene(db, found.guid, actor, owner ? [owner.uid] : [])
    await requireMayEdit(db, actor, scene.group, scene.acting)
    if (newPassword(scene.group, body) !== undefined && passwordHash === undefined) throw new Unprepared()
    const password = passwordAfter(scene.group, body, passwordHash)
    const columns = changedColumns(body, password)
    const owned = owner ? await giveTo(call, scene, activeIn(scene.users, owner.uid)) : scene.group
    if (Object.keys(columns).length === 0 && owned === scene.group) return { data: answered(scene.group, scene) }
    const changed = await changeGroup(call, owned, columns, actor?.uid ?? systemUid)
    await call.emit(groupUpdated, { group: await toldGroup(call, changed) })
    return { data: answered(changed, scene) }
  },
})

async function requireMayEdit(
  db: TenantDb,
  actor: Actor | undefined,
  group: GroupRow,
  standing: Acting,
): Promise<void> {
  const { acting } = await reachOf(db, actor, group, standing, 'editGroup')
  requireModerator(acting, group.guid)
}

/** Makes a user the owner: a member is promoted, anyone else comes in first. */
async function giveTo(work: Work, scene: Scene, user: UserRow): Promise<GroupRow> {
  const { group } = scene
  if (group.owner_id === user.id) return group
  const member = await findMember(work.db, group, user.uid)
  if (member) return handOver(work, group, member)
  const lists = { admins: [user.uid] }
  const guests = await decideGuests(work.db, scene, lists)
  for (const { outcome } of guests) if (outcome instanceof ApiError) throw outcome
  const received = await receiveGuests(work, scene, lists, guests)
  return handOver(work, received.group, await findMember(work.db, group, user.uid))
}

/** The password that a group is given, blanks and all; one without a lock is given none. */
function newPassword(group: GroupRow, { type = group.type, password }: GroupUpdate): string | undefined {
  return type === 'password' && password ? password : undefined
}

/** The owner that a server names. */
async function newOwner(db: TenantDb, actor: Actor | undefined, { owner }: GroupUpdate): Promise<UserRow | undefined> {
  return actor || owner === undefined ? undefined : requireActiveUser(db, owner)
}

/** What opens a group is for its app to change. */
function refuseLock(group: GroupRow, { type, password }: GroupUpdate): void {
  if ((type !== undefined && type !== group.type) || password !== undefined) throw notForClients()
}

/** The hash to store: a password group has one, and no other group does. Nothing, if it stays as it is. */
function passwordAfter(group: GroupRow, { type = group.type }: GroupUpdate, hash: string | undefined) {
  if (type !== 'password') return group.password === null ? undefined : null
  if (hash === undefined && group.password === null) throw passwordMissing()
  return hash
}

function answered(group: GroupRow, { by, member }: Scene): Group {
  return toGroup(group, by ? { member } : {})
}

const deleteGroup = operation({
  id: 'deleteGroup',
  route: 'DELETE /groups/{guid}',
  summary: 'Delete a group',
  description:
    'With all that is in it: memberships, bans, permissions, messages. Whoever acts must be an admin. The GUID is free ' +
    'again at once.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'deleteGroup',
  reply: Done,
  errors: [groupNotFound, groupNotJoined, noAdminScope, bannedFromGroup],
  find: ({ db, params }) => requireGroup(db, params.guid),
  async run(call) {
    const { db, actor, found } = call
    const { group, acting } = await holdScene(db, found.guid, actor, [])
    requireAdmin((await reachOf(db, actor, group, acting, 'deleteGroup')).acting, group.guid)
    // What its members were shown in it nobody can tell later, where that was ruled; then they are not named either.
    const isRuled = await forgetPermissions.ask(db, group.guid)
    const members = isRuled ? undefined : await uidsOfFew(db, group)
    await removeGroup(db, group)
    await call.emit(groupDeleted, {
      ...{ group: await toldGroup(call, group), id: group.id },
      ...(members && { members }),
    })
    const voidUpTo = await voidConversation(db, group)
    await call.later(
      clearDeletedGroup,
      { id: group.id, guid: group.guid, ...(voidUpTo !== undefined && { voidUpTo }) },
      { key: group.id },
    )
    await unlistGroup(db, group)
    return done(`The group ${group.guid} is deleted.`)
  },
})

const transferOwnership = operation({
  id: 'transferOwnership',
  route: 'PUT /groups/{guid}/owner',
  summary: 'Hand a group over',
  description:
    'The owner gives the group to another member, who becomes an admin if they are not; the old owner stays one.',
  doors: ['client'],
  may: 'patchOwner',
  body: OwnerTransfer,
  reply: one(Group),
  errors: [groupNotFound, userNotFound, groupNotJoined, bannedFromGroup, noClearance, noSelfAction, notAMember],
  find: ({ db, params }) => requireGroup(db, params.guid),
  async run(call) {
    const { db, actor, found } = call
    const uid = call.body.uid.toLowerCase()
    const scene = await holdScene(db, found.guid, actor, [uid])
    requireMayTransfer(scene.acting, uid === actor?.uid, found.guid)
    activeIn(scene.users, uid)
    const member = await findMember(db, scene.group, uid)
    if (!member) throw notAMember({ uid, guid: found.guid })
    return { data: answered(await handOver(call, scene.group, member), scene) }
  },
})

export const operations = [
  createGroup,
  listGroups,
  countOnlineMembers,
  getGroup,
  updateGroup,
  deleteGroup,
  transferOwnership,
]
