import { type MemberScope, memberScopes } from '../groups/schemas.ts'
import { commonPermissions, permissionKit } from '../rbac/index.ts'

export { type MemberScope, memberScopes } from '../groups/schemas.ts'

const { allowOrDeny, permission, someOf } = permissionKit
const { categories, messageTypes, older, onMessages, onReplies } = commonPermissions

const scopes = someOf(memberScopes)

/** Everything that the members of a scope can be allowed or denied in their group. */
const entries = {
  editGroup: permission(
    allowOrDeny,
    'Edit the group',
    'Whether the group’s record can be changed; its owner always can',
  ),
  deleteGroup: permission(allowOrDeny, 'Delete the group', 'Whether the group can be deleted; its owner always can'),
  leaveGroup: permission(allowOrDeny, 'Leave the group', 'Whether members can leave by themselves'),
  listMembers: permission(allowOrDeny, 'List members', 'Whether the list of members, and a single one, can be read'),
  'listMembers.allowedScopes': permission(
    scopes,
    'Scopes of listed members',
    'The list shows only members of these scopes',
  ),
  addMembers: permission(allowOrDeny, 'Add members', 'Whether members can be added'),
  'addMembers.allowedScopes': permission(
    scopes,
    'Scopes of added members',
    'Only these scopes can be given to who is added',
  ),
  kickMembers: permission(allowOrDeny, 'Kick members', 'Whether members can be kicked'),
  'kickMembers.allowedScopes': permission(scopes, 'Scopes of the kicked', 'Only members of these scopes can be kicked'),
  listBannedUsers: permission(allowOrDeny, 'List banned users', 'Whether the list of banned users can be read'),
  ban: permission(allowOrDeny, 'Ban users', 'Whether users can be banned'),
  'ban.allowedScopes': permission(
    scopes,
    'Scopes of the banned',
    'Only members of these scopes can be banned; who is not in the group counts as a participant',
  ),
  unban: permission(allowOrDeny, 'Lift bans', 'Whether bans can be lifted'),
  'listMessages.allowedMessageCategories': permission(
    categories,
    'Categories of listed messages',
    'Lists show only these categories of the group’s messages',
  ),
  'listMessages.allowedMessageTypes': permission(
    messageTypes,
    'Types of listed messages',
    'In the category message, lists show only these types of the group’s messages',
  ),
  'listMessages.historyBeforeJoin': permission(
    allowOrDeny,
    'Messages from before one joined',
    'Whether members see what was said before they came',
  ),
  sendMessage: permission(allowOrDeny, 'Send messages', 'Whether messages can be sent to the group, replies included'),
  'sendMessage.allowedMessageCategories': permission(
    categories,
    'Categories of messages to send',
    'Only messages of these categories can be sent',
  ),
  ...onMessages,
  listThreadedMessages: permission(allowOrDeny, 'List threads', 'Whether the group’s threads can be listed'),
  sendThreadedMessage: permission(allowOrDeny, 'Reply in threads', 'Whether threads can be answered'),
  ...onReplies,
  initiateCall: permission(allowOrDeny, 'Start calls', 'Whether the group can be called'),
  joinCall: permission(allowOrDeny, 'Join calls', 'Whether calls of the group can be joined'),
  'listReactions.allowedScopes': permission(
    scopes,
    'Scopes of listed reactions',
    'Lists show only reactions by members of these scopes',
    older,
  ),
  'initiateCall.allowedScopes': permission(
    scopes,
    'Scopes of the called',
    'A call to the group rings only for members of these scopes',
    older,
  ),
  'initiateCall.allowedType': permission(
    someOf(['audio', 'video']),
    'Types of calls',
    'The group can be called only with these types of call',
    older,
  ),
}

type Entries = typeof entries
export type ScopePermissionId = keyof Entries
export type ScopeValues = permissionKit.ValuesOf<Entries>

/** The permissions that are an act of their own, to be allowed or denied. */
export type ScopeSwitch = Exclude<
  { [Id in ScopePermissionId]: ScopeValues[Id] extends 'allow' | 'deny' ? Id : never }[ScopePermissionId],
  `${string}.${string}`
>

type Word = 'allow' | 'deny'

/** An act that needs a scope anyway: what is published as its default, and what the group's clearance makes of it. */
interface Cleared {
  published: Record<MemberScope, Word>
  unset: Record<MemberScope, Word>
}

const each = (admin: Word, moderator: Word, participant: Word) => ({ admin, moderator, participant })
const moderated: Cleared = { published: each('allow', 'allow', 'deny'), unset: each('allow', 'allow', 'deny') }

const cleared: Partial<Record<ScopePermissionId, Cleared>> = {
  editGroup: { published: each('allow', 'deny', 'deny'), unset: each('allow', 'allow', 'deny') },
  deleteGroup: { published: each('deny', 'deny', 'deny'), unset: each('allow', 'deny', 'deny') },
  addMembers: { published: each('allow', 'deny', 'deny'), unset: each('allow', 'deny', 'deny') },
  kickMembers: moderated,
  ban: moderated,
  unban: moderated,
  listBannedUsers: moderated,
}

function catalogueFor(scope: MemberScope): Entries {
  const withDefaults = Object.entries(entries).map(([id, entry]) => {
    const act = cleared[id as ScopePermissionId]
    if (!act) return [id, entry]
    return [id, { ...entry, kind: { ...entry.kind, defaultValue: act.published[scope], unset: act.unset[scope] } }]
  })
  return Object.fromEntries(withDefaults)
}

/** The catalogue of each scope: the same permissions, some with another default. */
export const scopeCatalogues: Readonly<Record<MemberScope, Entries>> = {
  admin: catalogueFor('admin'),
  moderator: catalogueFor('moderator'),
  participant: catalogueFor('participant'),
}
