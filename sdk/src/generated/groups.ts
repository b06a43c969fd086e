// Written by `npm run generate`; edit the declarations of the server instead.

import * as operations from './operations.ts'

/** By area, what an API key can call. */
export const appGroups = {
  /** Credentials of server-side callers: create, rotate, revoke. */
  apiKeys: {
    create: operations.createApiKey,
    list: operations.listApiKeys,
    get: operations.getApiKey,
    update: operations.updateApiKey,
    delete: operations.deleteApiKey,
  },
  /** Labels on users that carry what they may do. Every user has exactly one. */
  roles: {
    create: operations.createRole,
    list: operations.listRoles,
    get: operations.getRole,
    update: operations.updateRole,
    delete: operations.deleteRole,
  },
  /** What an API key can tell of the app that it belongs to. */
  ownApp: { get: operations.getOwnApp },
  /** Switches whole features off for a role. Deprecated: role permissions do the same and more. */
  restrictedFeatures: {
    restrictFeatures: operations.restrictFeatures,
    list: operations.listRestrictedFeatures,
    allowFeatures: operations.allowFeatures,
  },
  /** What users of a role may do, across the app. */
  rbac: {
    listRolePermissions: operations.listRolePermissions,
    setRolePermissions: operations.setRolePermissions,
    unsetRolePermission: operations.unsetRolePermission,
  },
  /** The people of an app: who they are, and whether they may come in. */
  users: {
    create: operations.createUser,
    list: operations.listUsers,
    get: operations.getUser,
    update: operations.updateUser,
    delete: operations.deleteUser,
    deactivate: operations.deactivateUsers,
    reactivate: operations.reactivateUsers,
  },
  /** Credentials with which the clients of end users come in; never for server-side callers. */
  authTokens: {
    create: operations.createAuthToken,
    list: operations.listAuthTokens,
    flush: operations.flushAuthTokens,
    get: operations.getAuthToken,
    update: operations.updateAuthToken,
    delete: operations.deleteAuthToken,
  },
  /** Mutual relations that your back end decides on. */
  friends: { add: operations.addFriends, list: operations.listFriends, remove: operations.removeFriends },
  /** Who has shut out whom. */
  blockedUsers: {
    blockUsers: operations.blockUsers,
    list: operations.listBlockedUsers,
    unblockUsers: operations.unblockUsers,
  },
  /** Circles of users that talk and call together. */
  groups: {
    create: operations.createGroup,
    list: operations.listGroups,
    get: operations.getGroup,
    update: operations.updateGroup,
    delete: operations.deleteGroup,
  },
  /** What members of a scope (admin, moderator, participant) may do in their group. */
  scopePermissions: {
    list: operations.listScopePermissions,
    set: operations.setScopePermissions,
    unset: operations.unsetScopePermission,
  },
  /** Files that messages carry: uploads, signed addresses, small pictures. */
  files: { requestUploads: operations.requestUploads },
  /** Who is in a group, and as what. */
  members: {
    add: operations.addMembers,
    list: operations.listMembers,
    get: operations.getMember,
    changeScope: operations.changeMemberScope,
    kick: operations.kickMember,
  },
  /** Who is shut out of a group. */
  bannedUsers: {
    banUser: operations.banUser,
    unbanUser: operations.unbanUser,
    list: operations.listBannedUsers,
    banMember: operations.banMember,
    unbanMember: operations.unbanMember,
    listBannedMembers: operations.listBannedMembers,
  },
  /** What users and groups are told. */
  messages: {
    send: operations.sendMessage,
    sendToUser: operations.sendMessageToUser,
    sendToGroup: operations.sendMessageToGroup,
    list: operations.listMessages,
    get: operations.getMessage,
    update: operations.updateMessage,
    delete: operations.deleteMessage,
    listUserMessages: operations.listUserMessages,
    listGroupMessages: operations.listGroupMessages,
    listReceipts: operations.listReceipts,
    sendAsBot: operations.sendMessageAsBot,
  },
  /** What a user has open: with whom, what was said last, and what is not read yet. */
  conversations: {
    list: operations.listConversations,
    listPinnedConversations: operations.listPinnedConversations,
    setPinnedConversations: operations.setPinnedConversations,
    get: operations.getConversation,
    delete: operations.deleteConversation,
    getUserConversation: operations.getUserConversation,
    getGroupConversation: operations.getGroupConversation,
    updateUserConversation: operations.updateUserConversation,
    updateGroupConversation: operations.updateGroupConversation,
    resetUserConversation: operations.resetUserConversation,
    resetGroupConversation: operations.resetGroupConversation,
    markUserConversationDelivered: operations.markUserConversationDelivered,
    markGroupConversationDelivered: operations.markGroupConversationDelivered,
    markUserConversationRead: operations.markUserConversationRead,
    markGroupConversationRead: operations.markGroupConversationRead,
    markUserConversationUnread: operations.markUserConversationUnread,
    markGroupConversationUnread: operations.markGroupConversationUnread,
    pinUserConversation: operations.pinUserConversation,
    pinGroupConversation: operations.pinGroupConversation,
    unpinUserConversation: operations.unpinUserConversation,
    unpinGroupConversation: operations.unpinGroupConversation,
  },
  /** What people feel about a message, in one sign. */
  reactions: {
    list: operations.listReactions,
    listOfKind: operations.listReactionsOfKind,
    add: operations.addReaction,
    addInBody: operations.addReactionInBody,
    remove: operations.removeReaction,
  },
  /** Replies to a message, kept together. */
  threads: {
    sendReply: operations.sendReply,
    listReplies: operations.listReplies,
    list: operations.listThreads,
    follow: operations.followThread,
    unfollow: operations.unfollowThread,
  },
  /** Messages that a conversation keeps in view, and those a user keeps for themself. */
  pins: {
    pinMessage: operations.pinMessage,
    unpinMessage: operations.unpinMessage,
    saveMessage: operations.saveMessage,
    unsaveMessage: operations.unsaveMessage,
  },
  /** What people do with the buttons and fields of a message. */
  interactions: { record: operations.recordInteractions, recordOrRead: operations.recordInteractionsOrRead },
  /** What a client has to know of the app before it shows anything: switches, limits, and what is not allowed. */
  clientSettings: { getMySettings: operations.getMySettings },
  /** Call history: who called whom, who took part, how long, and how each number came about. */
  calls: {
    list: operations.listCalls,
    get: operations.getCall,
    listTranscriptions: operations.listCallTranscriptions,
    explain: operations.explainCall,
  },
  /** Placing, answering, refusing and ending calls. */
  ringing: {
    createCall: operations.createCall,
    updateCall: operations.updateCall,
    createCallToken: operations.createCallToken,
  },
  /** A door for tests and demos: scripted calls and a clock that can be moved. Off unless switched on. */
  emulator: {
    playCallScript: operations.playCallScript,
    readClock: operations.readClock,
    setClock: operations.setClock,
    resetClock: operations.resetClock,
  },
}

/** By area, what a management key can call. */
export const managementGroups = {
  /** The apps of an account, each a world of its own, and what they are set to. */
  apps: {
    create: operations.createApp,
    list: operations.listApps,
    get: operations.getApp,
    delete: operations.deleteApp,
    listSettings: operations.listAppSettings,
    setSettings: operations.setAppSettings,
    resetSettings: operations.resetAppSettings,
  },
  /** Who runs an app together with its owner. */
  collaborators: { change: operations.changeCollaborators, list: operations.listCollaborators },
}
