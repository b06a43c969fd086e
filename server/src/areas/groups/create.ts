import { readMetadata } from '../../common/metadata.ts'
import type { Limits } from '../../kit/limits.ts'
import { type Actor, type Caller, Unprepared } from '../../kit/operation.ts'
import type { Static } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { userNotFound } from '../users/errors.ts'
import { holdUsers, requireActiveUser, type UserRow } from '../users/index.ts'
import { activeIn, admitted, decideGuests, receiveGuests, requireFewGroups, type Scene } from './acts.ts'
import { enterConversation, takeOverConversation } from './conversation.ts'
import { groupExists, passwordMissing } from './errors.ts'
import { groupCreated } from './events.ts'
import { findMember, groupCounts, writeMembers } from './membership.ts'
import { countPassword, hashPassword } from './passwords.ts'
import { type CreatedGroup, type GroupCreate, uidsIn } from './schemas.ts'
import { addGroup, findGroup, toGroup } from './store.ts'
import type { GroupMemberRow, GroupRow } from './tables.ts'
import { toldGroup, toUserCard } from './tell.ts'

/** Hashes the password of a group to be, unless it cannot be made anyway; nothing for a group without one. */
export async function preparePassword(
  call: Pick<Work, 'db' | 'tools'> & { caller: Caller; limits: Limits },
  actor: Actor | undefined,
  group: GroupCreate,
): Promise<string | undefined> {
  if (group.type !== 'password') return undefined
  const { db } = call
  const owner = await ownerFor(db, actor, group)
  const password = requirePassword(group)
  if (await findGroup(db, group.guid)) throw groupExists({ guid: group.guid })
  if (owner) requireFewGroups((await groupCounts(db, [owner])).get(owner.id))
  await countPassword(call)
  return hashPassword(call, password)
}

/** Makes a group with its owner, and takes in and shuts out whom `members` names. */
export async function createWithMembers(
  work: Work,
  actor: Actor | undefined,
  body: GroupCreate,
  passwordHash?: string | undefined,
): Promise<Static<typeof CreatedGroup>> {
  const { db } = work
  const { members: lists, password: _, owner: __, ...profile } = withoutEmpty(body)
  const owner = await ownerFor(db, actor, body)
  if (profile.type === 'password') requirePassword(body)
  if (profile.type === 'password' && passwordHash === undefined) throw new Unprepared()
  const group = await addGroup(work, profile, { passwordHash: passwordHash ?? null, owner })
  await takeOverConversation(work, group.guid)
  const uids = [...uidsIn(lists ?? {}), ...(owner ? [owner.uid] : [])]
  const users = uids.length === 0 ? new Map<string, UserRow>() : await holdUsers(db, uids)
  if (owner) await found(work, group, owner, users)
  const member = owner && (await findMember(db, group, owner.uid))
  const scene: Scene = { group, users, actor, by: actor && owner, acting: actor ? 'owner' : 'server', member }
  const guests = await decideGuests(db, scene, lists ?? {})
  const people = [...(owner ? [owner] : []), ...admitted(guests).map(({ user }) => user)]
  await work.emit(groupCreated, {
    group: await toldGroup(work, group, seenBy(group, owner, member)),
    members: Object.fromEntries(people.map((user) => [user.uid, toUserCard(work, user)])),
  })
  const received = await receiveGuests(work, scene, lists ?? {}, guests)
  return {
    ...seenBy(received.group, scene.by, member),
    ...(lists && { members: received.admissions }),
  }
}

/** Lists without anybody and data without anything were as good as not sent. */
function withoutEmpty({ members, metadata, ...body }: GroupCreate): GroupCreate {
  const isFilled = (value: object | undefined) => value !== undefined && Object.keys(value).length > 0
  return {
    ...body,
    ...(members && isFilled(members) && { members }),
    ...(metadata !== undefined && isFilled(readMetadata(metadata)) && { metadata }),
  }
}

/** The owner is the first member; nobody is told, since nobody else is there. */
async function found(work: Work, group: GroupRow, owner: UserRow, users: Map<string, UserRow>): Promise<void> {
  // Somebody else of that UID may have come while the group was being written.
  if (activeIn(users, owner.uid).id !== owner.id) throw userNotFound({ uid: owner.uid })
  requireFewGroups((await groupCounts(work.db, [owner])).get(owner.id))
  await writeMembers(work, group, [{ user: owner, scope: 'admin' }])
  await enterConversation(work, group, [owner])
}

function seenBy(group: GroupRow, user: UserRow | undefined, member: GroupMemberRow | undefined) {
  return toGroup(group, user ? { member } : {})
}

async function ownerFor(db: TenantDb, actor: Actor | undefined, { owner }: GroupCreate): Promise<UserRow | undefined> {
  const uid = actor?.uid ?? owner
  return uid === undefined ? undefined : requireActiveUser(db, uid)
}

function requirePassword({ password }: GroupCreate): string {
  if (!password) throw passwordMissing()
  return password
}
