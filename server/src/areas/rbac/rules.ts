import type { FeatureKey } from '../restricted-features/index.ts'
import type { RoleSettings } from '../roles/schemas.ts'
import { type RoleSwitch, type RoleValues, rolePermissions } from './catalogue.ts'
import { type ContentToJudge, familiesOf, isMimeTypeIn, maySay } from './content.ts'
import { isIn } from './permissions.ts'

/**
 * What a role allows, decided from data alone. Three layers have a say, and each may deny: the role's settings, its
 * restricted features and its permissions. Lists are narrowed by their rules; acts are refused.
 */
export interface Policy {
  role: string
  settings: Required<RoleSettings>
  restricted: ReadonlySet<string>
  values: RoleValues
  /** Some group of the app has set something for a scope, so that scopes have to be asked at all. */
  hasScopeRules: boolean
}

/** Another user, as the acting one stands to them. */
export interface Other {
  friend: boolean
  role: string
}

/** What an operation can be switched off by: a feature, or a permission where no feature names the act. */
export type RoleAct = FeatureKey | RoleSwitch

/** Features and the permissions that switch the same act; the two catalogues name some acts differently. */
const switches: Partial<Record<FeatureKey, RoleSwitch[]>> = {
  getUser: ['getUserDetails'],
  unblockUser: ['unblockedUser'],
  getBlockedUsers: ['listBlockedUser'],
  createMessage: ['sendMessage'],
  createMessageThread: ['sendMessage', 'sendThreadedMessage'],
  updateMessage: ['editMessage'],
  getMessage: ['getMessageDetails'],
  getUserMessages: ['listMessages'],
  getGroupMessages: ['listMessages'],
  listThreadedMessages: ['listMessages', 'listThreadedMessages'],
  getConversation: ['listConversations'],
  deleteConversationForUser: ['deleteConversation'],
  getGroup: ['getGroupDetails'],
  createCall: ['initiateCall'],
}

function switchesOf(act: RoleAct): RoleSwitch[] {
  return switches[act as FeatureKey] ?? (Object.hasOwn(rolePermissions, act) ? [act as RoleSwitch] : [])
}

/** Whether the role may act so at all; whom and what for is for the rules below. */
export function mayUse({ restricted, values }: Policy, act: RoleAct): boolean {
  return !restricted.has(act) && switchesOf(act).every((id) => values[id] === 'allow')
}

/** Which users a list may hold; an empty list of roles means all. */
export function listedUsers({ settings, values }: Policy): { friendsOnly: boolean; roles: string[] } {
  return {
    friendsOnly: settings.listUsers === 'friendsOnly' || values['listUsers.mode'] === 'friends',
    roles: values['listUsers.allowedRoles'],
  }
}

/** Whom the role may see by UID, besides themselves; an empty list of roles means all. */
export function seenUsers(policy: Policy): 'everyone' | 'nobody' | { friendsOnly: boolean; roles: string[] } {
  if (!mayUse(policy, 'getUser')) return 'nobody'
  const { 'getUserDetails.mode': mode, 'getUserDetails.allowedRoles': roles } = policy.values
  return mode === 'all' && roles.length === 0 ? 'everyone' : { friendsOnly: mode === 'friends', roles }
}

/** Whether it depends on friendship whom the role may see. */
export function seesFriendsOnly(policy: Policy): boolean {
  const seen = seenUsers(policy)
  return typeof seen === 'object' && seen.friendsOnly
}

/** Everyone may see themselves. */
export function maySeeUser(policy: Policy, other: Other | 'self'): boolean {
  const seen = seenUsers(policy)
  if (other === 'self' || seen === 'everyone') return true
  return seen !== 'nobody' && (!seen.friendsOnly || other.friend) && isIn(seen.roles, other.role)
}

export function mayBlock({ values }: Policy, role: string): boolean {
  return values.blockUser === 'allow' && isIn(values['blockUser.allowedRoles'], role)
}

export function mayUnblock({ values }: Policy, role: string): boolean {
  return values.unblockedUser === 'allow' && isIn(values['unblockedUser.allowedRoles'], role)
}

/** The roles of whom the list of blocked users may hold; an empty list means all. */
export function listedBlockedRoles({ values }: Policy): string[] {
  return values['listBlockedUser.allowedRoles']
}

/** Whether direct messages go to friends alone, so that friendship must be looked up. */
export function writesToFriendsOnly({ settings, values }: Policy): boolean {
  return settings.sendMessagesTo === 'friendsOnly' || values['sendMessage.mode'] === 'friends'
}

export interface MessageToSend extends ContentToJudge {
  receiver: ({ type: 'user' } & Other) | { type: 'group' }
  isReply: boolean
}

export function maySendMessage(policy: Policy, { receiver, isReply, ...content }: MessageToSend): boolean {
  const { values } = policy
  const olderMimeTypes = values['sendMessage.allowedMimeTypes']
  return (
    maySay(values, content, isReply) &&
    mayWriteTo(policy, receiver, isReply) &&
    (olderMimeTypes.length === 0 || content.mimeTypes.every((mimeType) => isMimeTypeIn(olderMimeTypes, mimeType)))
  )
}

function mayWriteTo(policy: Policy, receiver: MessageToSend['receiver'], isReply: boolean): boolean {
  const { values } = policy
  return familiesOf(isReply).every(
    (family) =>
      isIn(values[`${family}.allowedReceiverTypes`], receiver.type) &&
      (receiver.type === 'group' ||
        ((!writesToFriendsOnly(policy) || receiver.friend) &&
          isIn(values[`${family}.allowedReceiverRoles`], receiver.role))),
  )
}

/** A message that is to be changed; `scope` is the acting member's where it is in a group. */
export interface MessageToChange {
  isReply: boolean
  scope: string | undefined
}

export function mayEditMessage({ values }: Policy, { isReply, scope }: MessageToChange): boolean {
  return (
    values.editMessage === 'allow' &&
    (!isReply || values.editThreadedMessage === 'allow') &&
    !isDeniedFor(values['editMessage.denyForScopes'], scope)
  )
}

export function mayDeleteMessage({ values }: Policy, { isReply, scope }: MessageToChange): boolean {
  return (
    values.deleteMessage === 'allow' &&
    (!isReply || values.deleteThreadedMessage === 'allow') &&
    !isDeniedFor(values['deleteMessage.denyForScopes'], scope)
  )
}

function isDeniedFor(scopes: string[], scope: string | undefined): boolean {
  return scope !== undefined && scopes.includes(scope)
}

/** Which messages a list may hold; an empty list of anything means all of it. */
export interface ListedMessages {
  friendsOnly: boolean
  receiverTypes: string[]
  senderRoles: string[]
  categories: string[]
  types: string[]
}

/** Nothing, where no message may be listed at all. */
export function listedMessages(policy: Policy): ListedMessages | 'none' {
  const { values } = policy
  if (values.listMessages === 'deny') return 'none'
  return {
    friendsOnly: values['listMessages.mode'] === 'friends',
    receiverTypes: values['listMessages.allowedReceiverTypes'],
    senderRoles: values['listMessages.allowedSenderRoles'],
    categories: values['listMessages.allowedMessageCategories'],
    types: values['listMessages.allowedMessageTypes'],
  }
}

/** Whether no message is kept from anybody of the role. */
export function areAllMessagesListed(listed: ListedMessages | 'none'): boolean {
  if (listed === 'none') return false
  const { friendsOnly, receiverTypes, senderRoles, categories, types } = listed
  return !friendsOnly && [receiverTypes, senderRoles, categories, types].every(({ length }) => length === 0)
}

/** A message, as its reader stands to whoever wrote it. */
export interface MessageToList {
  receiverType: string
  category: string
  type: string
  /** Empty, where it is not known any more. */
  senderRole: string
  /** Written by the reader or by the app itself. */
  isOwn: boolean
  /** Between the reader and a friend, the app, or nobody else. */
  isWithFriend: boolean
}

/** Whether a list may hold a message; the same as conditions is in the area of messages. */
export function isMessageListed(listed: ListedMessages | 'none', message: MessageToList): boolean {
  if (listed === 'none') return false
  return (
    isIn(listed.receiverTypes, message.receiverType) &&
    isIn(listed.categories, message.category) &&
    (message.category !== 'message' || isIn(listed.types, message.type)) &&
    (message.isOwn || isIn(listed.senderRoles, message.senderRole)) &&
    (!listed.friendsOnly || message.receiverType === 'group' || message.isWithFriend)
  )
}

/** Whether single messages with others are for friends alone, so that friendship must be looked up. */
export function readsOfFriendsOnly({ values }: Policy): boolean {
  return values['getMessageDetails.mode'] === 'friends'
}

export function mayCall({ values }: Policy, receiver: Other | 'group'): boolean {
  const type = receiver === 'group' ? 'group' : 'user'
  if (values.initiateCall === 'deny' || !isIn(values['initiateCall.allowedReceiverTypes'], type)) return false
  if (receiver === 'group') return true
  return (
    (values['initiateCall.mode'] === 'all' || receiver.friend) &&
    isIn(values['initiateCall.allowedReceiverRoles'], receiver.role)
  )
}

export function mayReadGroup({ values }: Policy, type: string): boolean {
  return values.getGroupDetails === 'allow' && isIn(values['getGroupDetails.allowedGroupTypes'], type)
}

/** Which groups may be read one by one; an empty list means all types. */
export function readableGroupTypes({ values }: Policy): string[] {
  return values['getGroupDetails.allowedGroupTypes']
}

export function mayCreateGroup({ values }: Policy, type: string): boolean {
  return values.createGroup === 'allow' && isIn(values['createGroup.allowedGroupTypes'], type)
}

export function mayJoinGroup({ values }: Policy, type: string): boolean {
  return values.joinGroup === 'allow' && isIn(values['joinGroup.allowedGroupTypes'], type)
}

/** Which groups a list may hold; an empty list means all types. */
export function listedGroupTypes({ values }: Policy): string[] {
  return values['listGroups.allowedGroupTypes']
}
