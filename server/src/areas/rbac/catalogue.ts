import { allOrFriends, allowOrDeny, anyWords, someOf, someRoles, type ValuesOf } from './permissions.ts'

const messageTypes = someOf(['text', 'image', 'audio', 'video', 'file'])
const groupTypes = someOf(['public', 'private', 'password'])
const scopes = someOf(['admin', 'moderator', 'participant'])

/** Everything that a role can be allowed or denied. */
export const rolePermissions = {
  listUsers: { kind: allowOrDeny, title: 'List users', description: 'Whether the list of users can be read' },
  'listUsers.mode': { kind: allOrFriends, title: 'Listed users', description: 'Whom the list of users shows' },
  'listUsers.allowedRoles': {
    kind: someRoles,
    title: 'Roles of listed users',
    description: 'The list of users shows only users of these roles',
  },
  'getUserDetails.mode': {
    kind: allOrFriends,
    title: 'Users whose details can be read',
    description: 'Whose record can be read, besides one’s own',
  },
  'getUserDetails.allowedRoles': {
    kind: someRoles,
    title: 'Roles of users whose details can be read',
    description: 'Only records of users of these roles can be read, besides one’s own',
  },
  sendMessage: { kind: allowOrDeny, title: 'Send messages', description: 'Whether any message can be sent' },
  'sendMessage.mode': {
    kind: allOrFriends,
    title: 'Receivers of direct messages',
    description: 'Whom direct messages can be sent to',
  },
  'sendMessage.allowedReceiverTypes': {
    kind: someOf(['user', 'group']),
    title: 'Kinds of receiver',
    description: 'Messages can be sent only to receivers of these kinds',
  },
  'sendMessage.allowedReceiverRoles': {
    kind: someRoles,
    title: 'Roles of receivers',
    description: 'Direct messages can be sent only to users of these roles',
  },
  'sendMessage.allowedMessageCategories': {
    kind: someOf(['message', 'custom', 'interactive']),
    title: 'Categories of messages to send',
    description: 'Only messages of these categories can be sent',
  },
  'sendMessage.allowedMessageTypes': {
    kind: messageTypes,
    title: 'Types of messages to send',
    description: 'In the category message, only these types can be sent',
  },
  'sendMessage.allowedCustomTypes': {
    kind: anyWords,
    title: 'Types of custom messages to send',
    description: 'In the category custom, only these types can be sent',
  },
  'sendMessage.allowedMimeTypes': {
    kind: anyWords,
    title: 'Files to send',
    description: 'Only files of these MIME types can be attached; type/* stands for a whole type',
  },
  editMessage: { kind: allowOrDeny, title: 'Edit messages', description: 'Whether messages can be changed' },
  'editMessage.denyForScopes': {
    kind: scopes,
    title: 'Scopes that cannot edit messages',
    description: 'In a group, members of these scopes cannot change messages',
  },
  deleteMessage: { kind: allowOrDeny, title: 'Delete messages', description: 'Whether messages can be removed' },
  'deleteMessage.denyForScopes': {
    kind: scopes,
    title: 'Scopes that cannot delete messages',
    description: 'In a group, members of these scopes cannot remove messages',
  },
  initiateCall: { kind: allowOrDeny, title: 'Start calls', description: 'Whether calls can be started' },
  'initiateCall.mode': { kind: allOrFriends, title: 'Receivers of calls', description: 'Who can be called directly' },
  'initiateCall.allowedReceiverRoles': {
    kind: someRoles,
    title: 'Roles of the called',
    description: 'Only users of these roles can be called directly',
  },
  createGroup: { kind: allowOrDeny, title: 'Create groups', description: 'Whether groups can be opened' },
  'createGroup.allowedGroupTypes': {
    kind: groupTypes,
    title: 'Types of groups to create',
    description: 'Only groups of these types can be opened',
  },
  listGroups: { kind: allowOrDeny, title: 'List groups', description: 'Whether the list of groups can be read' },
  'listGroups.allowedGroupTypes': {
    kind: groupTypes,
    title: 'Types of listed groups',
    description: 'The list of groups shows only these types',
  },
  joinGroup: { kind: allowOrDeny, title: 'Join groups', description: 'Whether groups can be entered' },
  'joinGroup.allowedGroupTypes': {
    kind: groupTypes,
    title: 'Types of groups to join',
    description: 'Only groups of these types can be entered',
  },
  'listMessages.allowedMessageCategories': {
    kind: someOf(['message', 'custom']),
    title: 'Categories of listed messages',
    description: 'Lists of messages show only these categories',
  },
  'listMessages.allowedMessageTypes': {
    kind: messageTypes,
    title: 'Types of listed messages',
    description: 'In the category message, lists show only these types',
  },
}

export type RolePermissionId = keyof typeof rolePermissions
export type RoleValues = ValuesOf<typeof rolePermissions>
