import { paginationOf, sliceOf, userPageOf, withCursor } from '../../common/page.ts'
import { Done, done, one } from '../../common/reply.ts'
import { operation } from '../../kit/operation.ts'
import { Type } from '../../kit/schema.ts'
import type { View, Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { permissionDenied } from '../rbac/errors.ts'
import { policyOf, refuseUnless, roleRules } from '../rbac/index.ts'
import { roleNotFound } from '../roles/errors.ts'
import { invalidUid, userExists, userNotFound } from './errors.ts'
import { userCreated, userDeactivated, userDeleted, userReactivated, userUpdated } from './events.ts'
import { forgetLater } from './forget.ts'
import { blocksBetween, issueFirstToken, uidsOfFriends } from './gates.ts'
import { selectUsers } from './list.ts'
import { newestChange } from './newest.ts'
import {
  CreatedUser,
  Deactivated,
  isUid,
  ProfileUpdate,
  Reactivated,
  User,
  UserCreate,
  UserDelete,
  UserListQuery,
  UsersDeactivate,
  UsersReactivate,
  UserUpdate,
} from './schemas.ts'
import {
  addUser,
  changeUser,
  deactivate,
  findUser,
  holdUsers,
  isAmong,
  keepingPrivate,
  lockActiveUser,
  reactivate,
  removeUser,
  requireActiveUser,
  toUser,
} from './store.ts'
import type { UserRow } from './tables.ts'
import type { ViewerOfUsers } from './wanted.ts'

const createUser = operation({
  id: 'createUser',
  route: 'POST /users',
  summary: 'Create a user',
  description: 'The UID is stored in lower case and stays taken until the user is deleted for good.',
  keys: ['fullAccess', 'authOnly'],
  rate: 'core',
  body: UserCreate,
  reply: one(CreatedUser),
  errors: [invalidUid, userExists, roleNotFound],
  async run(call) {
    const { withAuthToken, ...profile } = call.body
    if (!isUid(profile.uid)) throw invalidUid(profile.uid)
    const row = await addUser(call, profile)
    await call.emit(userCreated, { user: toUser(call, row) })
    const authToken = withAuthToken ? { authToken: await issueFirstToken.ask(call, row) } : {}
    return { data: { ...toUser(call, row, { withPrivate: true }), ...authToken } }
  },
})

const listUsers = operation({
  id: 'listUsers',
  route: 'GET /users',
  summary: 'List users',
  description: 'Newest first. All filters combine. The acting user is not among them.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'listUsers',
  query: UserListQuery,
  mayTakeLong: true,
  reply: userPageOf(User),
  async run(call) {
    const { db, query, actor } = call
    const viewer = actor && { uid: actor.uid, ...roleRules.listedUsers(await policyOf(db, actor)) }
    const slice = sliceOf(query)
    const { total, rows } = await selectUsers(call, query, viewer, slice)
    const data = await shown(call, rows, viewer, query.withTags ?? false)
    const first = async (limit: number) => (await selectUsers(call, query, viewer, { limit, offset: 0 })).rows
    const isRestricted = viewer !== undefined && (viewer.friendsOnly || viewer.roles.length > 0)
    const newest = await newestChange(db, { page: rows, total, first, isRestricted })
    return withCursor({ data, meta: { pagination: paginationOf(total, data.length, slice) } }, newest)
  },
})

/** Rows as the viewer may see them. */
async function shown(view: View, rows: UserRow[], viewer: Pick<ViewerOfUsers, 'uid'> | undefined, withTags: boolean) {
  if (!viewer) return rows.map((row) => toUser(view, row, { withTags, withPrivate: true }))
  const uids = rows.map(({ uid }) => uid)
  const blocks = await blocksBetween.ask(view.db, viewer.uid, uids)
  return rows.map((row) => toUser(view, row, { actorUid: viewer.uid, blocks: blocks.get(row.uid), withTags }))
}

const countOnlineUsers = operation({
  id: 'countOnlineUsers',
  route: 'GET /users/online-count',
  summary: 'Count the connected users',
  description: 'Those of the list of users who are `available`; whom the list does not show is not counted.',
  doors: ['client'],
  may: 'listUsers',
  mayTakeLong: true,
  reply: one(Type.Object({ count: Type.Integer({ examples: [12] }) })),
  async run(call) {
    const { db, actor } = call
    const viewer = actor && { uid: actor.uid, ...roleRules.listedUsers(await policyOf(db, actor)) }
    const { total } = await selectUsers(call, { status: 'available' }, viewer, { limit: 0, offset: 0 })
    return { data: { count: total } }
  },
})

const getUser = operation({
  id: 'getUser',
  route: 'GET /users/{uid}',
  summary: 'Get a user',
  description: 'Users may always read about themselves.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  reply: one(User),
  errors: [userNotFound, permissionDenied],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run(call) {
    const { db, found, actor } = call
    // Not by `may`: what is restricted for others, users still read about themselves.
    if (actor && actor.uid !== found.uid) {
      const friend = await isAmong(db, found.uid, uidsOfFriends.ask(db, actor.uid))
      refuseUnless(roleRules.maySeeUser(await policyOf(db, actor), { friend, role: found.role }))
    }
    const [data] = await shown(call, [found], actor, true)
    return { data: data as User }
  },
})

const updateUser = operation({
  id: 'updateUser',
  route: 'PUT /users/{uid}',
  summary: 'Change a user',
  description: 'What is not sent stays as it is. `metadata` and `tags` are replaced whole.',
  body: UserUpdate,
  reply: one(User),
  errors: [userNotFound, roleNotFound],
  find: ({ db, params }) => requireActiveUser(db, params.uid),
  async run(call) {
    const row = await change(call, call.found, call.body)
    return { data: toUser(call, row, { withPrivate: true }) }
  },
})

async function change(work: Work, row: UserRow, body: Parameters<typeof changeUser>[2]): Promise<UserRow> {
  const changed = await changeUser(work, row, body)
  const isOtherRole = changed.role !== row.role || changed.role_id !== row.role_id
  const told = { user: toUser(work, changed), ...(isOtherRole && { oldRole: row.role }) }
  if (changed !== row) await work.emit(userUpdated, told)
  return changed
}

const deleteUser = operation({
  id: 'deleteUser',
  changesCallers: true,
  route: 'DELETE /users/{uid}',
  summary: 'Deactivate a user, or delete one for good',
  description:
    'Without `permanent`, the user is deactivated and can be reactivated with everything. With it, the user and all that is theirs is removed, and the UID is free again.',
  rate: 'core',
  body: UserDelete,
  reply: Type.Union([one(Deactivated), Done]),
  errors: [userNotFound],
  find: async ({ db, params }) => {
    const row = await findUser(db, params.uid)
    if (!row) throw userNotFound({ uid: params.uid })
    return row
  },
  async run(call) {
    const { found, body } = call
    if (!body.permanent) return { data: await deactivateAll(call, [found.uid]) }
    const { uid, id } = await removeUser(call.db, found)
    await call.emit(userDeleted, { uid, id })
    await forgetLater(call, { uid, id })
    return done(`The user ${uid} is deleted.`)
  },
})

const deactivateUsers = operation({
  id: 'deactivateUsers',
  changesCallers: true,
  route: 'DELETE /users',
  summary: 'Deactivate several users',
  description: 'Their access is suspended; everything they have is kept.',
  rate: 'core',
  body: UsersDeactivate,
  reply: one(Deactivated),
  run: async (call) => ({ data: await deactivateAll(call, call.body.uidsToDeactivate) }),
})

async function deactivateAll(work: Work, uids: string[]) {
  const [found, notFound] = await lookUp(work.db, uids)
  const active = found.filter((row) => row.deactivated_at === null)
  await deactivate(work, active)
  for (const { uid } of active) await work.emit(userDeactivated, { uid, at: work.now })
  return {
    ...listed('deactivatedUids', uidsOf(active)),
    ...listed('alreadyDeactivatedUids', uidsOf(found.filter((row) => row.deactivated_at !== null))),
    ...listed('notFound', notFound),
  }
}

const reactivateUsers = operation({
  id: 'reactivateUsers',
  changesCallers: true,
  route: 'PUT /users',
  summary: 'Reactivate several users',
  body: UsersReactivate,
  reply: one(Reactivated),
  async run(call) {
    const [found, notFound] = await lookUp(call.db, call.body.uidsToActivate)
    const inactive = found.filter((row) => row.deactivated_at !== null)
    await reactivate(call, inactive)
    for (const { uid } of inactive) await call.emit(userReactivated, { uid, at: call.now })
    return {
      data: {
        ...listed('reactivatedUids', uidsOf(inactive)),
        ...listed('nonDeactivatedUids', uidsOf(found.filter((row) => row.deactivated_at === null))),
        ...listed('notFound', notFound),
      },
    }
  },
})

/** The users of a bulk body, held while they are changed, and the UIDs that belong to nobody, as they were sent. */
async function lookUp(db: TenantDb, uids: string[]): Promise<[UserRow[], string[]]> {
  const known = await holdUsers(db, uids)
  return [[...known.values()], [...new Set(uids)].filter((uid) => !known.has(uid.toLowerCase()))]
}

const uidsOf = (rows: UserRow[]) => rows.map(({ uid }) => uid)

/** A result without entries is left out. */
function listed<Name extends string>(name: Name, uids: string[]) {
  return (uids.length === 0 ? {} : { [name]: uids }) as { [Key in Name]?: string[] }
}

const getMe = operation({
  id: 'getMe',
  route: 'GET /me',
  summary: 'Get the own profile',
  doors: ['client'],
  may: 'getMyDetails',
  reply: one(User),
  run: async (call) => ({ data: toUser(call, await requireActiveUser(call.db, call.actor?.uid ?? '')) }),
})

const updateMe = operation({
  id: 'updateMe',
  route: 'PUT /me',
  summary: 'Change the own profile',
  description: 'Everything but the role. What stands under `@private` in the metadata is not touched.',
  doors: ['client'],
  may: 'editProfile',
  body: ProfileUpdate,
  reply: one(User),
  async run(call) {
    // Held, or what a server puts under `@private` meanwhile would be overwritten.
    const row = await lockActiveUser(call.db, call.actor?.uid ?? '')
    return { data: toUser(call, await change(call, row, keepingPrivate(row, call.body))) }
  },
})

export const operations = [
  createUser,
  listUsers,
  countOnlineUsers,
  getUser,
  updateUser,
  deleteUser,
  deactivateUsers,
  reactivateUsers,
  getMe,
  updateMe,
]
