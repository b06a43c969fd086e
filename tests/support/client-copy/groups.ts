import { type Groups, type Json, without } from './state.ts'

/** What becomes of groups in a copy, and of who is in them. */

/** The whole record; what it says of the viewer's own side stays as it was. */
export function putGroup({ groups }: Groups, told: Json): void {
  const { hasJoined, scope, joinedAt } = groups[told.guid] ?? {}
  const own = hasJoined === undefined ? {} : { hasJoined, scope, joinedAt }
  groups[told.guid] = { ...without(told, 'onlineMembersCount', 'hasJoined', 'scope', 'joinedAt'), ...own }
}

/** The record in short, as it stands in messages: it leaves out what nothing but an update changes. */
function putCard({ groups }: Groups, card: Json): void {
  if (groups[card.guid]) Object.assign(groups[card.guid], without(card, 'onlineMembersCount'))
}

export function dropGroup({ groups, members, bans }: Groups, guid: string): void {
  delete groups[guid]
  delete members[guid]
  delete bans[guid]
}

interface Deed {
  action: string
  group: Json
  uid: string
  at: number
  scope?: string | undefined
}

export const comings = ['joined', 'added']
export const goings = ['left', 'kicked', 'banned']

/** Somebody came in, went, or was shut out. Where the bans may not be seen, there are none in the copy. */
export function noteMember(copy: Groups, { action, group, uid, at, scope = 'participant' }: Deed): void {
  putCard(copy, group)
  const { [group.guid]: members = {} } = copy.members
  const { [group.guid]: bans = {} } = copy.bans
  const member = members[uid]
  if (comings.includes(action)) members[uid] = { scope, joinedAt: at }
  if (goings.includes(action)) delete members[uid]
  if (action === 'scopeChanged' && member) member.scope = scope
  if (action === 'banned') bans[uid] = { ...member, bannedAt: at }
  if (action === 'unbanned') delete bans[uid]
}

/** Whoever owns a group is an admin of it. */
export function putOwner(copy: Groups, { group }: Json): void {
  putGroup(copy, group)
  const owner = copy.members[group.guid]?.[group.owner]
  if (owner) owner.scope = 'admin'
}
