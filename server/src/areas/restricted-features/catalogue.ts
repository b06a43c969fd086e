/** What an end user can do, by the key that switches it off: title, path of the act, and what it is. */
const catalogue = {
  addMember: ['Add Member', '/v3/groups/{{guid}}/members', 'Add other users to a group'],
  ban: ['Ban User', '/v3/groups/{{guid}}/bannedusers/{{uid}}', 'Ban a user from a group'],
  blockUser: ['Block User', '/v3/users/{{uid}}/blockedusers', 'Block another user'],
  changeScope: [
    'Change Scope',
    '/v3/groups/{{guid}}/members/{{uid}}',
    'Make a member an admin, a moderator or a participant',
  ],
  createCall: ['Initiate Call', '/v3/calls', 'Call a user or a group'],
  createGroup: ['Create Group', '/v3/groups', 'Open a new group'],
  createMessage: ['Send Message', '/v3/messages', 'Send a message to a user or a group'],
  createMessageThread: ['Reply to a Message', '/v3/messages/{{id}}/thread', 'Answer a message in its thread'],
  deleteCall: ['Delete Call', '/v3/calls/{{sessionId}}', 'Remove a call from the history'],
  deleteConversationForUser: [
    'Delete Conversation',
    '/v3/users/{{uid}}/conversation',
    "Remove a conversation from one's own list",
  ],
  deleteGroup: ['Delete Group', '/v3/groups/{{guid}}', 'Remove a group for all its members'],
  deleteGroupMessages: ['Delete Group Messages', '/v3/groups/{{guid}}/messages', 'Remove the messages of a group'],
  deleteMessage: ['Delete Message', '/v3/messages/{{id}}', 'Remove a message'],
  getBlockedUsers: [
    'Fetch Blocked Users',
    '/v3/users/{{uid}}/blockedusers',
    'See whom one has blocked, and who blocks',
  ],
  getCall: ['Get Call', '/v3/calls/{{sessionId}}', 'See a single call'],
  getConversation: ['Get Conversation', '/v3/users/{{uid}}/conversation', 'See a single conversation'],
  getGroup: ['Get Group', '/v3/groups/{{guid}}', 'See a single group'],
  getGroupMessages: ['List Group Messages', '/v3/groups/{{guid}}/messages', 'Read the messages of a group'],
  getMember: ['Get Member', '/v3/groups/{{guid}}/members/{{uid}}', 'See a single member of a group'],
  getMessage: ['Get Message', '/v3/messages/{{id}}', 'Read a single message'],
  getMyDetails: ['Get My Details', '/v3/me', "See one's own record"],
  getUser: ['Get User', '/v3/users/{{uid}}', 'See a single user'],
  getUserMessages: ['List User Messages', '/v3/users/{{uid}}/messages', 'Read the messages with another user'],
  joinGroup: ['Join Group', '/v3/groups/{{guid}}/members', 'Enter a group oneself'],
  kickMember: ['Kick Member', '/v3/groups/{{guid}}/members/{{uid}}', 'Remove a member from a group'],
  leaveGroup: ['Leave Group', '/v3/groups/{{guid}}/members', 'Leave a group oneself'],
  listBannedUsers: ['List Banned Users', '/v3/groups/{{guid}}/bannedusers', 'See who is banned from a group'],
  listCalls: ['List Calls', '/v3/calls', 'See the history of calls'],
  listConversations: ['List Conversations', '/v3/conversations', "See one's own conversations"],
  listGroupMembers: ['List Group Members', '/v3/groups/{{guid}}/members', 'See who is in a group'],
  listGroups: ['List Groups', '/v3/groups', 'See which groups there are'],
  listMessages: ['List Messages', '/v3/messages', 'Read messages across conversations'],
  listSettings: ['List Settings', '/v3/me/settings', "See the app's settings"],
  listThreadedMessages: ['List Threaded Messages', '/v3/messages/{{id}}/thread', 'Read the answers to a message'],
  listUsers: ['List Users', '/v3/users', 'See which users there are'],
  logout: ['Logout', '/v3/me', "End one's own session"],
  massMemberOperate: ['Group Mass Operation', '/v3/groups/{{guid}}/members', 'Change many members of a group at once'],
  patchOwner: ['Patch Owner', '/v3/groups/{{guid}}', 'Hand a group over to another owner'],
  unban: ['unban User', '/v3/groups/{{guid}}/bannedusers/{{uid}}', 'Let a banned user back into a group'],
  unblockUser: ['Unblock User', '/v3/users/{{uid}}/blockedusers', 'Take back a block'],
  updateAuthToken: ['Updates AuthToken', '/v3/me', "Change what is kept with one's own session"],
  updateCall: ['Update Call', '/v3/calls/{{sessionId}}', 'Change the state of a call'],
  updateGroup: ['Edit Group', '/v3/groups/{{guid}}', "Change a group's name, picture or rules"],
  updateMessage: ['Edit Message', '/v3/messages/{{id}}', 'Change a message that was sent'],
} as const

export type FeatureKey = keyof typeof catalogue

export interface Feature {
  title: string
  path: string
  description: string
}

export const features = new Map<string, Feature>(
  Object.entries(catalogue).map(([key, [title, path, description]]) => [key, { title, path, description }]),
)

const prefix = 'u.'

/** The key as the catalogue has it; requests may write it with its prefix or without. */
export function plainKey(key: string): string {
  return key.startsWith(prefix) ? key.slice(prefix.length) : key
}

/** The key as it is answered. */
export function prefixedKey(key: string): string {
  return `${prefix}${plainKey(key)}`
}
