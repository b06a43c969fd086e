import { messageTypes, older, onMessages, onReplies } from './common.ts'
import { allOrFriends, allowOrDeny, anyWords, permission, someOf, someRoles, type ValuesOf } from './permissions.ts'

const receiverTypes = someOf(['user', 'group'])
const allCategories = someOf(['message', 'custom', 'interactive'])
const groupTypes = someOf(['public', 'password', 'private'])
const openGroupTypes = someOf(['public', 'password'])
const scopes = someOf(['admin', 'moderator', 'participant'])

/** Everything that a role can be allowed or denied. */
export const rolePermissions = {
  listUsers: permission(allowOrDeny, 'List users', 'Whether the list of users can be read'),
  'listUsers.mode': permission(allOrFriends, 'Listed users', 'Whom the list of users shows'),
  'listUsers.allowedRoles': permission(
    someRoles,
    'Roles of listed users',
    'The list of users shows only users of these roles',
  ),
  getUserDetails: permission(
    allowOrDeny,
    'Read users',
    'Whether records of others can be read; the own one always can',
  ),
  'getUserDetails.mode': permission(
    allOrFriends,
    'Users whose details can be read',
    'Whose record can be read, besides one’s own',
  ),
  'getUserDetails.allowedRoles': permission(
    someRoles,
    'Roles of users whose details can be read',
    'Only records of users of these roles can be read, besides one’s own',
  ),
  blockUser: permission(allowOrDeny, 'Block users', 'Whether others can be blocked'),
  'blockUser.allowedRoles': permission(
    someRoles,
    'Roles of users to block',
    'Only users of these roles can be blocked',
  ),
  listBlockedUser: permission(allowOrDeny, 'List blocked users', 'Whether the own list of blocked users can be read'),
  'listBlockedUser.allowedRoles': permission(
    someRoles,
    'Roles of listed blocked users',
    'The list of blocked users shows only users of these roles',
  ),
  unblockedUser: permission(allowOrDeny, 'Unblock users', 'Whether own blocks can be taken back'),
  'unblockedUser.allowedRoles': permission(
    someRoles,
    'Roles of users to unblock',
    'Only blocks of users of these roles can be taken back',
  ),
  editProfile: permission(allowOrDeny, 'Edit the own profile', 'Whether the own profile can be changed'),
  listMessages: permission(allowOrDeny, 'List messages', 'Whether messages can be listed and searched'),
  'listMessages.mode': permission(
    allOrFriends,
    'People of listed direct messages',
    'Lists show direct messages with everyone, or with friends only; groups are not affected',
  ),
  'listMessages.allowedReceiverTypes': permission(
    receiverTypes,
    'Conversations of listed messages',
    'Lists of messages show only these kinds of conversation',
  ),
  'listMessages.allowedSenderRoles': permission(
    someRoles,
    'Roles of the senders of listed messages',
    'Lists show only messages by users of these roles, besides one’s own and those of the app',
  ),
  'listMessages.allowedMessageCategories': permission(
    allCategories,
    'Categories of listed messages',
    'Lists of messages show only these categories',
  ),
  'listMessages.allowedMessageTypes': permission(
    messageTypes,
    'Types of listed messages',
    'In the category message, lists show only these types',
  ),
  getMessageDetails: permission(allowOrDeny, 'Read a message', 'Whether a single message can be fetched'),
  'getMessageDetails.mode': permission(
    allOrFriends,
    'People of direct messages to read',
    'A single direct message can be fetched with everyone, or with friends only',
  ),
  sendMessage: permission(allowOrDeny, 'Send messages', 'Whether any message can be sent, replies included'),
  'sendMessage.mode': permission(
    allOrFriends,
    'Receivers of direct messages',
    'Whom direct messages and replies can be sent to',
  ),
  'sendMessage.allowedReceiverTypes': permission(
    receiverTypes,
    'Kinds of receiver',
    'Messages can be sent only to receivers of these kinds',
  ),
  'sendMessage.allowedReceiverRoles': permission(
    someRoles,
    'Roles of receivers',
    'Direct messages can be sent only to users of these roles',
  ),
  'sendMessage.allowedMessageCategories': permission(
    allCategories,
    'Categories of messages to send',
    'Only messages of these categories can be sent',
  ),
  ...onMessages,
  listThreadedMessages: permission(
    allowOrDeny,
    'List threads',
    'Whether the replies in a thread, and the threads there are, can be listed',
  ),
  sendThreadedMessage: permission(allowOrDeny, 'Reply in threads', 'Whether threads can be answered'),
  'sendThreadedMessage.allowedReceiverTypes': permission(
    receiverTypes,
    'Conversations to reply in',
    'Replies can be sent only in these kinds of conversation',
  ),
  'sendThreadedMessage.allowedReceiverRoles': permission(
    someRoles,
    'Roles of receivers of replies',
    'In direct conversations, replies can be sent only to users of these roles',
  ),
  ...onReplies,
  initiateCall: permission(allowOrDeny, 'Start calls', 'Whether calls can be started'),
  'initiateCall.allowedReceiverTypes': permission(
    receiverTypes,
    'Kinds of the called',
    'Only these kinds of receiver can be called',
  ),
  'initiateCall.allowedReceiverRoles': permission(
    someRoles,
    'Roles of the called',
    'Only users of these roles can be called directly',
  ),
  joinCall: permission(allowOrDeny, 'Join calls', 'Whether direct calls can be joined'),
  listConversations: permission(
    allowOrDeny,
    'List conversations',
    'Whether the list of conversations, and a single one, can be read',
  ),
  updateConversation: permission(
    allowOrDeny,
    'Change conversations',
    'Whether conversations can be tagged, pinned and unpinned for oneself',
  ),
  deleteConversation: permission(
    allowOrDeny,
    'Delete conversations',
    'Whether conversations can be removed from one’s list',
  ),
  listGroups: permission(allowOrDeny, 'List groups', 'Whether the list of groups can be read'),
  'listGroups.allowedGroupTypes': permission(
    groupTypes,
    'Types of listed groups',
    'The list of groups shows only these types',
  ),
  getGroupDetails: permission(allowOrDeny, 'Read a group', 'Whether a single group can be read'),
  'getGroupDetails.allowedGroupTypes': permission(
    groupTypes,
    'Types of groups to read',
    'Only groups of these types can be read',
  ),
  createGroup: permission(allowOrDeny, 'Create groups', 'Whether groups can be opened'),
  'createGroup.allowedGroupTypes': permission(
    groupTypes,
    'Types of groups to create',
    'Only groups of these types can be opened',
  ),
  joinGroup: permission(allowOrDeny, 'Join groups', 'Whether groups can be entered'),
  'joinGroup.allowedGroupTypes': permission(
    openGroupTypes,
    'Types of groups to join',
    'Only groups of these types can be entered',
  ),
  'sendMessage.allowedMimeTypes': permission(
    anyWords,
    'Files to send',
    'Only files of these MIME types can be attached, whatever sendMessage.mimeTypes says besides',
    older,
  ),
  'editMessage.denyForScopes': permission(
    scopes,
    'Scopes that cannot edit messages',
    'In a group, members of these scopes cannot change messages',
    older,
  ),
  'deleteMessage.denyForScopes': permission(
    scopes,
    'Scopes that cannot delete messages',
    'In a group, members of these scopes cannot remove messages',
    older,
  ),
  'initiateCall.mode': permission(allOrFriends, 'Receivers of calls', 'Who can be called directly', {
    ...older,
  }),
}

export type RolePermissionId = keyof typeof rolePermissions
export type RoleValues = ValuesOf<typeof rolePermissions>

/** The permissions that are an act of their own, to be allowed or denied. */
export type RoleSwitch = Exclude<
  { [Id in RolePermissionId]: RoleValues[Id] extends 'allow' | 'deny' ? Id : never }[RolePermissionId],
  `${string}.${string}`
>
