import { defineEvent } from '../../kit/event.ts'
import { OneOf, type Static, Type } from '../../kit/schema.ts'
import { groupChannel } from '../timeline/events.ts'
import { Message } from '../timeline/schemas.ts'
import { userChannel } from '../users/events.ts'
import { User } from '../users/schemas.ts'
import { Group, memberScopes } from './schemas.ts'

const withGroup = Type.Object({ group: Group })
const toMembers = ({ group }: { group: Group }) => [groupChannel(group.guid)]
const groupAlone = ({ group }: { group: Group }) => ({ group })

export const groupCreated = defineEvent({
  name: 'group.created',
  payload: Type.Object({ group: Group, members: Type.Record(Type.String(), User) }),
  audience: ({ members }) => Object.keys(members).map(userChannel),
  joins: ({ group, members }) => Object.keys(members).map((uid) => ({ channel: groupChannel(group.guid), uid })),
  // Who the others are can be listed; what the record says of its owner is not so of them.
  frame: ({ group: { hasJoined: _, scope: __, joinedAt: ___, ...group } }) => ({
    type: 'group',
    body: { action: 'created', group },
  }),
  webhook: { trigger: 'group_created', body: ({ group, members }) => ({ group, members }) },
})

export const groupUpdated = defineEvent({
  name: 'group.updated',
  payload: withGroup,
  audience: toMembers,
  webhook: { trigger: 'group_updated', body: groupAlone },
})

/** The record is the last one; areas that hold something of the group's remove it when they read this. */
export const groupDeleted = defineEvent({
  name: 'group.deleted',
  payload: Type.Object({
    group: Group,
    id: Type.String({ description: 'Names this group and no later one' }),
    members: Type.Optional(
      Type.Array(Type.String(), { description: 'UIDs of the members, where they are few and all were shown the same' }),
    ),
  }),
  audience: toMembers,
  leaves: ({ group, members }) => {
    const channel = groupChannel(group.guid)
    return members?.map((uid) => ({ channel, uid })) ?? [{ channel }]
  },
  frame: ({ group }) => ({ type: 'group', body: { action: 'deleted', group } }),
  webhook: { trigger: 'group_deleted', body: groupAlone },
})

export const ownerTransferred = defineEvent({
  name: 'group.ownerTransferred',
  changesSightOf: ({ group, oldOwner }) => [userChannel(group.owner), userChannel(oldOwner)],
  payload: Type.Object({ group: Group, oldOwner: Type.String() }),
  audience: toMembers,
  frame: ({ group, oldOwner }) => ({ type: 'group', body: { action: 'ownerChanged', group, oldOwner } }),
  webhook: {
    trigger: 'group_owner_transferred',
    body: ({ group, oldOwner }) => ({ group: { ...group, oldOwner } }),
  },
})

// Who is in a group is heard by the action message, which has an event of its own; these only tell who hears the group
// from now on.
const alone = { group: Group, user: User, message: Message }
const Alone = Type.Object(alone)
const Done = Type.Object({ ...alone, by: User })

const toNobody = () => []
const passage = ({ group, user }: { group: Group; user: User }) => [
  { channel: groupChannel(group.guid), uid: user.uid },
]
const aloneBody = ({ group, user }: Static<typeof Alone>) => ({ members: { [user.uid]: user }, group })
const doneBody = ({ group, user, by }: Static<typeof Done>) => ({ members: { [user.uid]: user }, group, by })

export const memberJoined = defineEvent({
  name: 'group.memberJoined',
  payload: Alone,
  audience: toNobody,
  joins: passage,
  webhook: { trigger: 'group_member_joined', body: aloneBody },
})

export const memberLeft = defineEvent({
  name: 'group.memberLeft',
  payload: Alone,
  audience: toNobody,
  leaves: passage,
  webhook: { trigger: 'group_member_left', body: aloneBody },
})

export const memberAdded = defineEvent({
  name: 'group.memberAdded',
  payload: Type.Object({ ...Done.properties, scope: OneOf(memberScopes) }),
  audience: toNobody,
  joins: passage,
  webhook: { trigger: 'group_member_added', body: doneBody },
})

export const memberKicked = defineEvent({
  name: 'group.memberKicked',
  payload: Done,
  audience: toNobody,
  leaves: passage,
  webhook: { trigger: 'group_member_kicked', body: doneBody },
})

export const memberBanned = defineEvent({
  name: 'group.memberBanned',
  payload: Type.Object({
    ...Done.properties,
    outsider: Type.Optional(Type.Literal(true, { description: 'They were no member' })),
  }),
  audience: toNobody,
  // Whoever left has heard the group until then; who was never in it has not.
  leaves: (banned) => (banned.outsider ? [] : passage(banned)),
  webhook: { trigger: 'group_member_banned', body: doneBody },
})

export const memberUnbanned = defineEvent({
  name: 'group.memberUnbanned',
  payload: Done,
  audience: toNobody,
  webhook: { trigger: 'group_member_unbanned', body: doneBody },
})

export const memberScopeChanged = defineEvent({
  name: 'group.memberScopeChanged',
  payload: Type.Object({ ...Done.properties, scope: OneOf(memberScopes), oldScope: OneOf(memberScopes) }),
  audience: toNobody,
  changesSightOf: ({ user }) => [userChannel(user.uid)],
  webhook: {
    trigger: 'group_member_scope_changed',
    body: ({ group, user, by, scope, oldScope }) => ({
      members: { [user.uid]: { ...user, scope, oldScope } },
      group,
      by,
    }),
  },
})

/** A user who was deleted for good is no member any more. No webhook tells of it: nobody left, and nobody was removed. */
export const memberForgotten = defineEvent({
  name: 'group.memberForgotten',
  payload: Type.Object({ guid: Type.String(), uid: Type.String(), group: Group }),
  audience: ({ guid }) => [groupChannel(guid)],
  leaves: ({ guid, uid }) => [{ channel: groupChannel(guid), uid }],
})

export const groupEvents = [
  groupCreated,
  groupUpdated,
  groupDeleted,
  ownerTransferred,
  memberJoined,
  memberLeft,
  memberAdded,
  memberKicked,
  memberBanned,
  memberUnbanned,
  memberScopeChanged,
  memberForgotten,
]
