import type { View, Work } from '../../kit/work.ts'
import { placeOfGroup, writeAction } from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import { systemRecord, systemUid, toUser, type UserRow } from '../users/index.ts'
import type { User } from '../users/schemas.ts'
import {
  memberAdded,
  memberBanned,
  memberJoined,
  memberKicked,
  memberLeft,
  memberScopeChanged,
  memberUnbanned,
} from './events.ts'
import { onlineMembersCount } from './online.ts'
import { type Group, type MemberScope, onlineCountedMax } from './schemas.ts'
import { toGroup, toGroupCard } from './store.ts'
import type { GroupRow } from './tables.ts'

/** Something was done in a group; who acts is the server if nobody. */
interface Deed {
  group: GroupRow
  by: UserRow | undefined
  on: UserRow
}

/** The user in short, as messages about them show; what is private or long stays out of the history. */
function toUserCard(view: View, row: UserRow): User {
  const { metadata: _metadata, tags: _tags, statusMessage: _said, ...card } = toUser(view, row)
  return card
}

async function cardOf(view: View, user: UserRow | undefined): Promise<User> {
  return user ? toUserCard(view, user) : systemRecord(view)
}

/** The record that events carry. How many are connected is not counted anew with each change of a large group. */
export async function toldGroup(view: View, row: GroupRow, record: Group = toGroup(row)): Promise<Group> {
  if (row.members_count > onlineCountedMax) return record
  return { ...record, onlineMembersCount: await onlineMembersCount(view, row) }
}

/** By these somebody comes in or goes out. */
const passages = ['joined', 'left', 'added', 'kicked', 'banned']

async function say(work: Work, action: string, { group, by, on }: Deed, extras?: object): Promise<Message> {
  return writeAction(work, placeOfGroup(group.guid), {
    type: 'groupMember',
    action,
    sender: by?.uid ?? systemUid,
    receiver: group.guid,
    by: { entity: await cardOf(work, by), entityType: 'user' },
    on: { entity: toUserCard(work, on), entityType: 'user' },
    for: { entity: toGroupCard(group), entityType: 'group' },
    ...(extras && { extras }),
    ...(passages.includes(action) && { concerns: on.uid }),
  })
}

const deeds = { kicked: memberKicked, unbanned: memberUnbanned }

/** Tells the group, and the log, what somebody did to a user; answers the message. */
export async function tellDeed(work: Work, action: keyof typeof deeds, deed: Deed): Promise<Message> {
  const message = await say(work, action, deed)
  await work.emit(deeds[action], { ...(await toldDeed(work, deed)), message })
  return message
}

/** The same for somebody who is shut out, member or not. */
export async function tellBan(work: Work, deed: Deed, isMember: boolean): Promise<void> {
  const message = await say(work, 'banned', deed)
  await work.emit(memberBanned, {
    ...(await toldDeed(work, deed)),
    message,
    ...(!isMember && { outsider: true as const }),
  })
}

async function toldDeed(work: Work, { group, by, on }: Deed) {
  return {
    group: await toldGroup(work, group, toGroupCard(group)),
    user: toUserCard(work, on),
    by: await cardOf(work, by),
  }
}

/** The same for somebody who came in, and as what: whoever keeps a list of members cannot know otherwise. */
export async function tellAdded(work: Work, deed: Deed, scope: MemberScope): Promise<Message> {
  const message = await say(work, 'added', deed, { scope: { new: scope } })
  await work.emit(memberAdded, { ...(await toldDeed(work, deed)), message, scope })
  return message
}

const moves = { joined: memberJoined, left: memberLeft }

/** The same for what users do by themselves. */
export async function tellMove(
  work: Work,
  action: keyof typeof moves,
  group: GroupRow,
  user: UserRow,
): Promise<Message> {
  const message = await say(work, action, { group, by: user, on: user })
  await work.emit(moves[action], {
    group: await toldGroup(work, group, toGroupCard(group)),
    user: toUserCard(work, user),
    message,
  })
  return message
}

export async function tellScope(work: Work, deed: Deed, scope: MemberScope, oldScope: MemberScope): Promise<void> {
  const message = await say(work, 'scopeChanged', deed, { scope: { new: scope, old: oldScope } })
  await work.emit(memberScopeChanged, { ...(await toldDeed(work, deed)), message, scope, oldScope })
}

export { toUserCard }
