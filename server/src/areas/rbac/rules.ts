import type { FeatureKey } from '../restricted-features/index.ts'
import type { RoleSettings } from '../roles/schemas.ts'
import type { RolePermissionId, RoleValues } from './catalogue.ts'
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
}

/** Another user, as the acting one stands to them. */
export interface Other {
  friend: boolean
  role: string
}

type SwitchId = Extract<
  RolePermissionId,
  | 'listUsers'
  | 'sendMessage'
  | 'editMessage'
  | 'deleteMessage'
  | 'initiateCall'
  | 'createGroup'
  | 'listGroups'
  | 'joinGroup'
>

/** Features and the permission that switches the same act; the two catalogues name some acts differently. */
const switches: Partial<Record<FeatureKey, SwitchId>> = {
  listUsers: 'listUsers',
  createMessage: 'sendMessage',
  createMessageThread: 'sendMessage',
  updateMessage: 'editMessage',
  deleteMessage: 'deleteMessage',
  createCall: 'initiateCall',
  createGroup: 'createGroup',
  listGroups: 'listGroups',
  joinGroup: 'joinGroup',
}

/** Whether the role may use the feature at all; whom and what for is for the rules below. */
export function mayUse({ restricted, values }: Policy, feature: FeatureKey): boolean {
  const permission = switches[feature]
  return !restricted.has(feature) && (permission === undefined || values[permission] === 'allow')
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

/** Everyone may see themselves. */
export function maySeeUser(policy: Policy, other: Other | 'self'): boolean {
  const seen = seenUsers(policy)
  if (other === 'self' || seen === 'everyone') return true
  return seen !== 'nobody' && (!seen.friendsOnly || other.friend) && isIn(seen.roles, other.role)
}

/** Whether direct messages go to friends alone, so that friendship must be looked up. */
export function writesToFriendsOnly({ settings, values }: Policy): boolean {
  return settings.sendMessagesTo === 'friendsOnly' || values['sendMessage.mode'] === 'friends'
}

export interface MessageToSend {
  receiver: ({ type: 'user' } & Other) | { type: 'group' }
  category: string
  type: string
  /** MIME types of what is attached; each must pass. */
  mimeTypes: string[]
}

export function maySendMessage({ settings, values }: Policy, { receiver, category, type, mimeTypes }: MessageToSend) {
  return (
    values.sendMessage === 'allow' &&
    isIn(values['sendMessage.allowedReceiverTypes'], receiver.type) &&
    (receiver.type === 'group' || mayWriteTo(settings, values, receiver)) &&
    isIn(values['sendMessage.allowedMessageCategories'], category) &&
    (category !== 'message' || isIn(values['sendMessage.allowedMessageTypes'], type)) &&
    (category !== 'custom' || isIn(values['sendMessage.allowedCustomTypes'], type)) &&
    mimeTypes.every((mimeType) => isMimeTypeIn(values['sendMessage.allowedMimeTypes'], mimeType))
  )
}

function mayWriteTo(settings: Policy['settings'], values: RoleValues, { friend, role }: Other): boolean {
  const friendsOnly = settings.sendMessagesTo === 'friendsOnly' || values['sendMessage.mode'] === 'friends'
  return (!friendsOnly || friend) && isIn(values['sendMessage.allowedReceiverRoles'], role)
}

function isMimeTypeIn(allowed: string[], mimeType: string): boolean {
  // Parameters such as a character set say nothing about what kind of file it is.
  const [essence = ''] = mimeType.toLowerCase().split(';')
  const words = allowed.map((word) => word.trim().toLowerCase())
  const [main] = essence.trim().split('/')
  return isIn(words, essence.trim()) || words.includes(`${main}/*`)
}

/** `scope` is the acting member's scope when the message is in a group. */
export function mayEditMessage({ values }: Policy, scope: string | undefined): boolean {
  return values.editMessage === 'allow' && !isDeniedFor(values['editMessage.denyForScopes'], scope)
}

export function mayDeleteMessage({ values }: Policy, scope: string | undefined): boolean {
  return values.deleteMessage === 'allow' && !isDeniedFor(values['deleteMessage.denyForScopes'], scope)
}

function isDeniedFor(scopes: string[], scope: string | undefined): boolean {
  return scope !== undefined && scopes.includes(scope)
}

export function mayCall({ values }: Policy, receiver: Other | 'group'): boolean {
  if (values.initiateCall === 'deny') return false
  if (receiver === 'group') return true
  return (
    (values['initiateCall.mode'] === 'all' || receiver.friend) &&
    isIn(values['initiateCall.allowedReceiverRoles'], receiver.role)
  )
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

/** Whether a list of messages may hold this one. */
export function isMessageListed({ values }: Policy, { category, type }: { category: string; type: string }): boolean {
  return (
    isIn(values['listMessages.allowedMessageCategories'], category) &&
    (category !== 'message' || isIn(values['listMessages.allowedMessageTypes'], type))
  )
}
