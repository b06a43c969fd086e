// Written by `npm run generate`; edit the declarations of the server instead.

import type { Cursor, CursorPage, ListOperation, Nothing, NumberedPage, Operation } from '../operation.ts'
import type {
  Admissions,
  ApiKey,
  App,
  AppSettings,
  Attachment,
  AuthToken,
  BannedUser,
  Call,
  CallExplanation,
  CallToken,
  ClientSettings,
  Collaborator,
  Conversation,
  CreatedGroup,
  CreatedUser,
  DeactivatedUsers,
  Done,
  FriendsAdded,
  Group,
  ListedCall,
  Member,
  Message,
  OwnApp,
  Permission,
  Reaction,
  ReactivatedUsers,
  Receipt,
  RestrictedFeature,
  Role,
  ScopeChanged,
  TeamOutcomes,
  Transcription,
  User,
} from './records.ts'

export interface CreateApiKeyInput {
  /** A label, unique in the app */
  name: string
  /** What the key may do */
  scope?: 'fullAccess' | 'authOnly'
}

/** Create an API key. An app has at most 25 keys. Without a `scope` the key is an `authOnly` one. */
export const createApiKey: Operation<CreateApiKeyInput, ApiKey, 'app'> = {
  method: 'POST',
  path: '/v3/apikeys',
}

export interface ListApiKeysInput {
  /** What the key may do */
  scope?: 'fullAccess' | 'authOnly'
  /** Part of the name, in any letter case */
  searchKey?: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/** List API keys. */
export const listApiKeys: ListOperation<ListApiKeysInput, NumberedPage<ApiKey>, 'app'> = {
  method: 'GET',
  path: '/v3/apikeys',
  pages: 'numbered',
}

export interface GetApiKeyInput {
  /** The key itself, 40 hexadecimal characters */
  apiKey: string
}

/** Get an API key. */
export const getApiKey: Operation<GetApiKeyInput, ApiKey, 'app'> = {
  method: 'GET',
  path: '/v3/apikeys/{apiKey}',
}

export interface UpdateApiKeyInput {
  /** The key itself, 40 hexadecimal characters */
  apiKey: string
  /** A label, unique in the app */
  name?: string
  /** What the key may do */
  scope?: 'fullAccess' | 'authOnly'
}

/** Rename or re-scope an API key. The key value never changes. A key cannot change itself. */
export const updateApiKey: Operation<UpdateApiKeyInput, ApiKey, 'app'> = {
  method: 'PUT',
  path: '/v3/apikeys/{apiKey}',
}

export interface DeleteApiKeyInput {
  /** The key itself, 40 hexadecimal characters */
  apiKey: string
}

/**
 * Delete an API key. The key stops working at once on this node and within a second on every other. A key cannot
 * delete itself.
 */
export const deleteApiKey: Operation<DeleteApiKeyInput, Done, 'app'> = {
  method: 'DELETE',
  path: '/v3/apikeys/{apiKey}',
}

export interface CreateRoleInput {
  /** The role's unique id */
  role: string
  /** Shown to people */
  name: string
  /** What the role is for */
  description?: string
  /** Data of your own; an object, or one as JSON text */
  metadata?: Record<string, unknown> | string
  /** What users of this role may do */
  settings?: {
    /** Whom users of this role see in lists of users */
    listUsers?: 'all' | 'friendsOnly'
    /** Whom users of this role may send direct messages to */
    sendMessagesTo?: 'all' | 'friendsOnly'
  }
}

/** Create a role. An app has at most 25 roles, `default` among them. Ids are stored in lower case. */
export const createRole: Operation<CreateRoleInput, Role, 'app'> = {
  method: 'POST',
  path: '/v3/roles',
}

export interface ListRolesInput {
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/** List roles. Newest first. */
export const listRoles: ListOperation<ListRolesInput, NumberedPage<Role>, 'app'> = {
  method: 'GET',
  path: '/v3/roles',
  pages: 'numbered',
}

export interface GetRoleInput {
  /** The role's unique id */
  role: string
}

/** Get a role. */
export const getRole: Operation<GetRoleInput, Role, 'app'> = {
  method: 'GET',
  path: '/v3/roles/{role}',
}

export interface UpdateRoleInput {
  /** The role's unique id */
  role: string
  /** Shown to people */
  name?: string
  /** What the role is for */
  description?: string
  /** Data of your own; an object, or one as JSON text */
  metadata?: Record<string, unknown> | string
  /** What users of this role may do */
  settings?: {
    /** Whom users of this role see in lists of users */
    listUsers?: 'all' | 'friendsOnly'
    /** Whom users of this role may send direct messages to */
    sendMessagesTo?: 'all' | 'friendsOnly'
  }
  /** What to remove; wins over a value in the same request */
  unset?: ('settings' | 'description' | 'metadata')[]
}

/** Change a role. What is not sent stays. `metadata` and `settings` are replaced whole. The id never changes. */
export const updateRole: Operation<UpdateRoleInput, Role, 'app'> = {
  method: 'PUT',
  path: '/v3/roles/{role}',
}

export interface DeleteRoleInput {
  /** The role's unique id */
  role: string
}

/**
 * Delete a role. Its users get the role `default`. Its permissions go with it, and it leaves the role lists of
 * other roles; a list that is emptied so matches nobody.
 */
export const deleteRole: Operation<DeleteRoleInput, Done, 'app'> = {
  method: 'DELETE',
  path: '/v3/roles/{role}',
}

export interface CreateAppInput {
  name: string
  /** The data-centre region; that of the install unless given */
  region?: 'us' | 'eu' | 'in'
  /** The API version; only 3 exists */
  version?: '3' | 3
  /** Send `false` to get a few sample users and a group; a new app is empty otherwise */
  skipSampleData?: boolean
}

/**
 * Create an app. The answer holds the two keys every app begins with: one `fullAccess`, one `authOnly`. Without
 * a `region`, it is in that of the install.
 */
export const createApp: Operation<CreateAppInput, App, 'management'> = {
  method: 'POST',
  path: '/apps',
}

export interface ListAppsInput {
  /** Part of the id or the name, in any letter case */
  searchKey?: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/** List apps. */
export const listApps: ListOperation<ListAppsInput, NumberedPage<App>, 'management'> = {
  method: 'GET',
  path: '/apps',
  pages: 'numbered',
}

export interface GetAppInput {
  /** Which app is meant */
  appId: string
}

/** Get an app. */
export const getApp: Operation<GetAppInput, App, 'management'> = {
  method: 'GET',
  path: '/apps/{appId}',
}

export interface DeleteAppInput {
  /** Which app is meant */
  appId: string
}

export type DeleteAppAnswer = {
  success: true
  /** When the app will be gone, in UNIX seconds */
  scheduledToDeleteAt: number
}

/**
 * Schedule the deletion of an app. The app stops answering at once and is deleted for good after 30 days. Asking
 * again answers the same date.
 */
export const deleteApp: Operation<DeleteAppInput, DeleteAppAnswer, 'management'> = {
  method: 'DELETE',
  path: '/apps/{appId}',
}

export interface ListAppSettingsInput {
  /** Which app is meant */
  appId: string
}

export type ListAppSettingsAnswer = {
  data: AppSettings
  meta: Record<string, unknown>
}

/** List the settings of an app. All of them, with the values in force. */
export const listAppSettings: Operation<ListAppSettingsInput, ListAppSettingsAnswer, 'management'> = {
  method: 'GET',
  path: '/apps/{appId}/settings',
}

export interface SetAppSettingsInput {
  /** Which app is meant */
  appId: string
  /** New values by key; what is not named stays as it is */
  settings: Record<string, unknown>
}

export type SetAppSettingsAnswer = Record<
  string,
  | Done
  | {
      success: false
      error: {
        code: string
        message: string
        devMessage: string
        source: 'mgmt-api'
        details?: Record<string, unknown>
      }
    }
>

/**
 * Set settings of an app. The answer tells for each key what became of it. A new value goes for what is written
 * from then on, within half a second on every node; what was written stays as it is.
 */
export const setAppSettings: Operation<SetAppSettingsInput, SetAppSettingsAnswer, 'management'> = {
  method: 'POST',
  path: '/apps/{appId}/settings',
}

export interface ResetAppSettingsInput {
  /** Which app is meant */
  appId: string
  /** Keys that return to their defaults; all of them if left out */
  settings?: string[]
}

/** Return settings of an app to their defaults. Those named in `settings`, or all. */
export const resetAppSettings: Operation<ResetAppSettingsInput, Done, 'management'> = {
  method: 'DELETE',
  path: '/apps/{appId}/settings',
}

export interface ChangeCollaboratorsInput {
  /** Which app is meant */
  appId: string
  /** E-mail addresses of admins to be */
  admins?: string[]
  /** E-mail addresses of developers to be */
  developers?: string[]
  /** E-mail addresses of moderators to be */
  moderators?: string[]
  /** E-mail addresses of those who are to go */
  collaboratorsToRemove?: string[]
}

/**
 * Add and remove collaborators. Adds each address with the role of its list, or moves it there, and removes
 * those in `collaboratorsToRemove`, who make room first. An app has at most 25 collaborators; its owner is not
 * one of them. The answer tells for each address, in lower case, what became of it: `ERR_ALREADY_AN_OWNER`,
 * `ERR_SELF_ACTION_DENIED`, `ERR_NOT_A_COLLABORATOR`, `ERR_PLAN_QUOTA_RESTRICTION`, or `ERR_BAD_REQUEST` for
 * what is no address and in every list but the first that names it. An address without an account gets a new
 * `inviteUrl` whenever it is added; earlier ones stop working.
 */
export const changeCollaborators: Operation<ChangeCollaboratorsInput, TeamOutcomes, 'management'> = {
  method: 'POST',
  path: '/apps/{appId}/collaborators',
}

export interface ListCollaboratorsInput {
  /** Which app is meant */
  appId: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/** List collaborators. Newest first, those who are invited included; the owner is not among them. */
export const listCollaborators: ListOperation<ListCollaboratorsInput, NumberedPage<Collaborator>, 'management'> = {
  method: 'GET',
  path: '/apps/{appId}/collaborators',
  pages: 'numbered',
}

/**
 * Get the app of the API key. Which app a key opens; good for trying whether it does. Keys, owner and plan are
 * for the management door.
 */
export const getOwnApp: Operation<Nothing, OwnApp, 'app'> = {
  method: 'GET',
  path: '/v3/app',
}

export interface RestrictFeaturesInput {
  /** Which role is meant */
  role: string
  /** Keys of features, with or without the prefix `u.` */
  featuresToRestrict: string[]
}

export type RestrictFeaturesAnswer = Record<
  string,
  | Done
  | {
      success: false
      error: {
        code: string
        message: string
        devMessage: string
        source: 'chat-api'
        details?: Record<string, unknown>
      }
    }
>

/**
 * Restrict features for a role. Users of the role can no longer do these things; a key that acts for nobody
 * still can.
 *
 * @deprecated Replaced by `/v3/roles/{role}/permissions`
 */
export const restrictFeatures: Operation<RestrictFeaturesInput, RestrictFeaturesAnswer, 'app'> = {
  method: 'POST',
  path: '/v3/roles/{role}/restrictedfeatures',
}

export interface ListRestrictedFeaturesInput {
  /** Which role is meant */
  role: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/**
 * List the features restricted for a role. In the order of their keys.
 *
 * @deprecated Replaced by `/v3/roles/{role}/permissions`
 */
export const listRestrictedFeatures: ListOperation<
  ListRestrictedFeaturesInput,
  NumberedPage<RestrictedFeature>,
  'app'
> = {
  method: 'GET',
  path: '/v3/roles/{role}/restrictedfeatures',
  pages: 'numbered',
}

export interface AllowFeaturesInput {
  /** Which role is meant */
  role: string
  /** Keys of the features to allow again */
  featuresToAllow?: string[]
  /** `true` allows all; wins over the list */
  allowAll?: boolean
}

/**
 * Allow features again. Send `featuresToAllow`, or `allowAll: true`. A feature that is not restricted is passed
 * over.
 *
 * @deprecated Replaced by `/v3/roles/{role}/permissions`
 */
export const allowFeatures: Operation<AllowFeaturesInput, Done, 'app'> = {
  method: 'DELETE',
  path: '/v3/roles/{role}/restrictedfeatures',
}

export interface ListRolePermissionsInput {
  /** Which role is meant */
  role: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/** List a role's permissions. Always the whole catalogue, with the value that holds for the role. */
export const listRolePermissions: ListOperation<ListRolePermissionsInput, NumberedPage<Permission>, 'app'> = {
  method: 'GET',
  path: '/v3/roles/{role}/permissions',
  pages: 'numbered',
}

export interface SetRolePermissionsInput {
  /** Which role is meant */
  role: string
  /** Permission id to its new value; an empty list restricts nothing */
  permissions: Record<string, unknown>
}

export type SetRolePermissionsAnswer = Record<
  string,
  | Done
  | {
      success: false
      error: {
        code: string
        message: string
        devMessage: string
        source: 'chat-api'
        details?: Record<string, unknown>
      }
    }
  | Record<string, string | string[]>
>

/** Set a role's permissions. Only what is sent changes. They act at once, and only where a user is acting. */
export const setRolePermissions: Operation<SetRolePermissionsInput, SetRolePermissionsAnswer, 'app'> = {
  method: 'PUT',
  path: '/v3/roles/{role}/permissions',
}

export interface UnsetRolePermissionInput {
  /** Which role is meant */
  role: string
  /** Which permission is meant */
  permission: string
}

export type UnsetRolePermissionAnswer = {
  /** Every permission and what holds now */
  permissions: Record<string, string | string[]>
}

/** Return one of a role's permissions to its default. */
export const unsetRolePermission: Operation<UnsetRolePermissionInput, UnsetRolePermissionAnswer, 'app'> = {
  method: 'DELETE',
  path: '/v3/roles/{role}/permissions/{permission}',
}

export interface CreateUserInput {
  /** The unique id: 1 to 100 of a-z, 0-9, - and _; upper case is stored as lower case */
  uid: string
  /** The name to show */
  name: string
  /** Address of an image */
  avatar?: string
  /** Address of a profile page */
  link?: string
  /** What the user says about the moment */
  statusMessage?: string
  /** Data of your own; an object, or one as JSON text */
  metadata?: Record<string, unknown> | string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
  /** Id of an existing role; `default` unless said otherwise */
  role?: string
  /** Answer a fresh auth token with the user */
  withAuthToken?: boolean
}

/** Create a user. The UID is stored in lower case and stays taken until the user is deleted for good. */
export const createUser: Operation<CreateUserInput, CreatedUser, 'app'> = {
  method: 'POST',
  path: '/v3/users',
}

export interface ListUsersInput {
  /** Part of the name or UID, in any script and letter case */
  searchKey?: string
  /** Where to look; in both unless given */
  searchIn?: ('name' | 'uid')[]
  /** `available` or `offline`; `online` means `available` */
  status?: string
  /** Taken and changes nothing: how many there are is always in `meta.pagination.total` */
  count?: boolean
  /** Users of this role */
  role?: string
  /** Users of any of these roles */
  roles?: string[]
  /** Show tags */
  withTags?: boolean
  /** Users with any of these tags */
  tags?: string[]
  /** Deactivated users alone */
  onlyDeactivated?: boolean
  /** Deactivated users too */
  withDeactivated?: boolean
  /** These users, at most 25 */
  uids?: string[]
  /** Friends of the acting user alone */
  friendsOnly?: boolean
  /** Leave out whom the acting user blocked, or was blocked by */
  hideBlockedUsers?: boolean
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/** List users. Newest first. All filters combine. The acting user is not among them. */
export const listUsers: ListOperation<ListUsersInput, NumberedPage<User>, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/users',
  pages: 'numbered',
}

export type CountOnlineUsersAnswer = {
  count: number
}

/**
 * Count the connected users. Those of the list of users who are `available`; whom the list does not show is not
 * counted.
 */
export const countOnlineUsers: Operation<Nothing, CountOnlineUsersAnswer, 'client'> = {
  method: 'GET',
  path: '/v3/users/online-count',
}

export interface GetUserInput {
  /** The unique id; it never changes */
  uid: string
}

/** Get a user. Users may always read about themselves. */
export const getUser: Operation<GetUserInput, User, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/users/{uid}',
}

export interface UpdateUserInput {
  /** The unique id; it never changes */
  uid: string
  /** The name to show */
  name?: string
  /** Address of an image */
  avatar?: string
  /** Address of a profile page */
  link?: string
  /** What the user says about the moment */
  statusMessage?: string
  /** Data of your own; an object, or one as JSON text */
  metadata?: Record<string, unknown> | string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
  /** Id of an existing role; `default` unless said otherwise */
  role?: string
  /** Properties to remove; wins over a value sent beside it */
  unset?: ('avatar' | 'link' | 'metadata')[]
}

/** Change a user. What is not sent stays as it is. `metadata` and `tags` are replaced whole. */
export const updateUser: Operation<UpdateUserInput, User, 'app'> = {
  method: 'PUT',
  path: '/v3/users/{uid}',
}

export interface DeleteUserInput {
  /** The unique id; it never changes */
  uid: string
  /** Remove the user for good, with everything of theirs */
  permanent?: boolean
}

/**
 * Deactivate a user, or delete one for good. Without `permanent`, the user is deactivated and can be reactivated
 * with everything. With it, the user and all that is theirs is removed, and the UID is free again.
 */
export const deleteUser: Operation<DeleteUserInput, DeactivatedUsers | Done, 'app'> = {
  method: 'DELETE',
  path: '/v3/users/{uid}',
}

export interface DeactivateUsersInput {
  /** Whom to deactivate */
  uidsToDeactivate: string[]
}

/** Deactivate several users. Their access is suspended; everything they have is kept. */
export const deactivateUsers: Operation<DeactivateUsersInput, DeactivatedUsers, 'app'> = {
  method: 'DELETE',
  path: '/v3/users',
}

export interface ReactivateUsersInput {
  /** Whom to let in again */
  uidsToActivate: string[]
}

/** Reactivate several users. */
export const reactivateUsers: Operation<ReactivateUsersInput, ReactivatedUsers, 'app'> = {
  method: 'PUT',
  path: '/v3/users',
}

/** Get the own profile. */
export const getMe: Operation<Nothing, User, 'client'> = {
  method: 'GET',
  path: '/v3/me',
}

export interface UpdateMeInput {
  /** The name to show */
  name?: string
  /** Address of an image */
  avatar?: string
  /** Address of a profile page */
  link?: string
  /** What the user says about the moment */
  statusMessage?: string
  /** Data of your own; an object, or one as JSON text */
  metadata?: Record<string, unknown> | string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
  /** Properties to remove; wins over a value sent beside it */
  unset?: ('avatar' | 'link' | 'metadata')[]
}

/** Change the own profile. Everything but the role. What stands under `@private` in the metadata is not touched. */
export const updateMe: Operation<UpdateMeInput, User, 'client'> = {
  method: 'PUT',
  path: '/v3/me',
}

export interface CreateAuthTokenInput {
  /** Whose token it is */
  uid: string
  /** Issue a new token even if the user has one; otherwise the newest is answered */
  force?: boolean
}

/**
 * Create an auth token. Answers the newest token the user has, unless `force` asks for a new one. Tokens do not
 * expire; a user has at most 100, and one more ends the oldest.
 */
export const createAuthToken: Operation<CreateAuthTokenInput, AuthToken, 'app'> = {
  method: 'POST',
  path: '/v3/users/{uid}/auth_tokens',
}

export interface ListAuthTokensInput {
  /** Whose token it is */
  uid: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/** List a user's auth tokens. Newest first. */
export const listAuthTokens: ListOperation<ListAuthTokensInput, NumberedPage<AuthToken>, 'app'> = {
  method: 'GET',
  path: '/v3/users/{uid}/auth_tokens',
  pages: 'numbered',
}

export interface FlushAuthTokensInput {
  /** Whose token it is */
  uid: string
}

/** Delete all of a user's auth tokens. Logs the user out of every device. */
export const flushAuthTokens: Operation<FlushAuthTokensInput, Done, 'app'> = {
  method: 'DELETE',
  path: '/v3/users/{uid}/auth_tokens',
}

export interface GetAuthTokenInput {
  /** Whose token it is */
  uid: string
  /** The token itself */
  authToken: string
}

/** Get an auth token. */
export const getAuthToken: Operation<GetAuthTokenInput, AuthToken, 'app'> = {
  method: 'GET',
  path: '/v3/users/{uid}/auth_tokens/{authToken}',
}

export interface UpdateAuthTokenInput {
  /** Whose token it is */
  uid: string
  /** The token itself */
  authToken: string
  /** The platform of the device */
  platform?: string
  /** The software on the device */
  userAgent?: string
  /** Data of your own; an object, or one as JSON text */
  appInfo?: Record<string, unknown> | string
}

/** Note what device a token is on. What is not sent stays as it is; without any of it nothing changes. */
export const updateAuthToken: Operation<UpdateAuthTokenInput, AuthToken, 'app'> = {
  method: 'PUT',
  path: '/v3/users/{uid}/auth_tokens/{authToken}',
}

export interface DeleteAuthTokenInput {
  /** Whose token it is */
  uid: string
  /** The token itself */
  authToken: string
}

/** Delete an auth token. The token stops working at once on this node and within a second on every other. */
export const deleteAuthToken: Operation<DeleteAuthTokenInput, Done, 'app'> = {
  method: 'DELETE',
  path: '/v3/users/{uid}/auth_tokens/{authToken}',
}

export interface AddFriendsInput {
  /** The unique id; it never changes */
  uid: string
  /** Whom to befriend, at most 25 users */
  accepted: unknown[]
  /** Their conversations are listed for both, although nothing has been said in them */
  addToConversations?: boolean
}

/**
 * Add friends. Makes the users friends of each other, at once and in both directions; nobody is asked. The
 * answer tells for each UID what became of it: `ERR_ALREADY_FRIEND`, `ERR_CANNOT_FORM_SELF_RELATION`,
 * `ERR_UID_NOT_FOUND`, or `ERR_FAILED_TO_ADD_FRIEND` where one of the two has 1,000 friends. With
 * `addToConversations`, their conversations are in the lists of both a moment later.
 */
export const addFriends: Operation<AddFriendsInput, FriendsAdded, 'app'> = {
  method: 'POST',
  path: '/v3/users/{uid}/friends',
}

export interface ListFriendsInput {
  /** The unique id; it never changes */
  uid: string
  /** Part of the name or UID, in any script and letter case */
  searchKey?: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/**
 * List friends. Newest users first. Deactivated friends are left out until they are reactivated. Blocks and
 * conversation ids are those of the user in the path.
 */
export const listFriends: ListOperation<ListFriendsInput, NumberedPage<User>, 'app'> = {
  method: 'GET',
  path: '/v3/users/{uid}/friends',
  pages: 'numbered',
}

export interface RemoveFriendsInput {
  /** The unique id; it never changes */
  uid: string
  /** Whom to unfriend, at most 25 users */
  friends: unknown[]
}

/**
 * Remove friends. Ends friendships in both directions. UIDs that are no friends are passed over, unless none of
 * them is one.
 */
export const removeFriends: Operation<RemoveFriendsInput, Done, 'app'> = {
  method: 'DELETE',
  path: '/v3/users/{uid}/friends',
}

export interface BlockUsersInput {
  /** The unique id; it never changes */
  uid: string
  /** Whom to block */
  blockedUids: string[]
}

export type BlockUsersAnswer = Record<
  string,
  | Done
  | {
      success: false
      error: {
        code: string
        message: string
        devMessage: string
        source: 'chat-api'
        details?: Record<string, unknown>
      }
    }
>

/**
 * Block users. The user in the path blocks the others: no direct message and no call passes between them, in
 * either direction. The answer tells for each UID what became of it: blocking twice is a success and keeps the
 * first time, and `ERR_PLAN_QUOTA_RESTRICTION` stands where 1,000 are blocked already.
 */
export const blockUsers: Operation<BlockUsersInput, BlockUsersAnswer, 'app' | 'client'> = {
  method: 'POST',
  path: '/v3/users/{uid}/blockedusers',
}

export interface ListBlockedUsersInput {
  /** The unique id; it never changes */
  uid: string
  /** Part of the name or UID, in any script and letter case */
  searchKey?: string
  /** Whose block counts: `blockedByMe` unless said otherwise, and `both` for a client */
  direction?: 'blockedByMe' | 'hasBlockedMe' | 'both'
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/**
 * List blocked users. Oldest block first. Deactivated users are left out until they are reactivated; their
 * blocks are kept. Blocks and conversation ids are those of the user in the path.
 */
export const listBlockedUsers: ListOperation<ListBlockedUsersInput, NumberedPage<User>, 'app' | 'client'> = {
  method: 'GET',
  path: '/v3/users/{uid}/blockedusers',
  pages: 'numbered',
}

export interface UnblockUsersInput {
  /** The unique id; it never changes */
  uid: string
  /** Whom to unblock */
  blockedUids: string[]
}

export type UnblockUsersAnswer = Record<
  string,
  | Done
  | {
      success: false
      error: {
        code: string
        message: string
        devMessage: string
        source: 'chat-api'
        details?: Record<string, unknown>
      }
    }
>

/**
 * Unblock users. Unblocking somebody who is not blocked is a success. The answer tells for each UID what became
 * of it.
 */
export const unblockUsers: Operation<UnblockUsersInput, UnblockUsersAnswer, 'app' | 'client'> = {
  method: 'DELETE',
  path: '/v3/users/{uid}/blockedusers',
}

export interface CreateGroupInput {
  /** The unique id: 1 to 100 of a-z, 0-9, - and _; upper case is stored as lower case */
  guid: string
  /** The name to show */
  name: string
  /** Who may join; `public` unless said otherwise */
  type?: 'public' | 'password' | 'private'
  /** Of a password group; it is never answered */
  password?: string
  /** Address of an image */
  icon?: string
  description?: string
  /** Data of your own; an object, or one as JSON text */
  metadata?: Record<string, unknown> | string
  /** UID of the owner; whoever acts is the owner of a new group */
  owner?: string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
  members?: {
    /** UIDs of admins to be */
    admins?: string[]
    /** UIDs of moderators to be */
    moderators?: string[]
    /** UIDs of participants to be */
    participants?: string[]
    /** UIDs to ban, members or not */
    usersToBan?: string[]
  }
}

/**
 * Create a group. Whoever acts owns the group and is its first admin; without an acting user that is `owner`, or
 * nobody. `members` adds and bans up to 25 users at once, and the answer then tells what became of each; the
 * group is created whatever that is.
 */
export const createGroup: Operation<CreateGroupInput, CreatedGroup, 'app' | 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/groups',
}

export interface ListGroupsInput {
  /** Part of the name or GUID, in any script and letter case */
  searchKey?: string
  /** Where to look; in both unless given */
  searchIn?: ('name' | 'guid')[]
  /** What to sort by; newest first if absent */
  sortBy?: 'createdAt' | 'name' | 'guid'
  /** `asc` unless said otherwise, beside `sortBy` */
  sortOrder?: 'asc' | 'desc'
  /** Whether to read on after `updatedAt`, or back before it */
  affix?: 'append' | 'prepend'
  /** The cursor: groups that changed after, or before, this moment, in UNIX seconds */
  updatedAt?: number
  /** Show tags */
  withTags?: boolean
  /** Groups with any of these tags */
  tags?: string[]
  /** Groups of this type; `protected` means `password` */
  type?: 'public' | 'password' | 'protected' | 'private'
  /** Groups of any of these types */
  types?: string[]
  /** Only groups of the acting user */
  hasJoined?: boolean
  /** This group alone */
  guid?: string
  /** These groups */
  guids?: string[]
  /** Created then or later, in UNIX seconds */
  'createdAt[from]'?: number
  /** Created then or earlier, in UNIX seconds */
  'createdAt[to]'?: number
  /** Changed since its creation, then or later, in UNIX seconds */
  'updatedAt[from]'?: number
  /** Changed since its creation, then or earlier, in UNIX seconds */
  'updatedAt[to]'?: number
  /** With more members than this */
  'membersCount[gt]'?: number
  /** With this many members or more */
  'membersCount[gte]'?: number
  /** With fewer members than this */
  'membersCount[lt]'?: number
  /** With this many members or fewer */
  'membersCount[lte]'?: number
  /** With exactly this many members */
  'membersCount[eq]'?: number
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/**
 * List groups. Newest first unless sorted otherwise. All filters combine. Whoever acts sees public and password
 * groups, and the private ones they are in.
 */
export const listGroups: ListOperation<ListGroupsInput, NumberedPage<Group>, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/groups',
  pages: 'numbered',
}

export interface CountOnlineMembersInput {
  /** Which groups, 25 at most; those that the acting user may not see are left out */
  guids?: string[]
}

/** Count the connected members of groups. */
export const countOnlineMembers: Operation<CountOnlineMembersInput, Record<string, number>, 'client'> = {
  method: 'GET',
  path: '/v3/groups/online-counts',
}

export interface GetGroupInput {
  /** The unique id; it never changes */
  guid: string
}

/** Get a group. A private group is shown to its members alone, no group to whom it has banned. */
export const getGroup: Operation<GetGroupInput, Group, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/groups/{guid}',
}

export interface UpdateGroupInput {
  /** The unique id; it never changes */
  guid: string
  /** The name to show */
  name?: string
  /** Who may join; `public` unless said otherwise */
  type?: 'public' | 'password' | 'private'
  /** Of a password group; it is never answered */
  password?: string
  /** Address of an image */
  icon?: string
  description?: string
  /** Data of your own; an object, or one as JSON text */
  metadata?: Record<string, unknown> | string
  /** UID of the owner; whoever acts is the owner of a new group */
  owner?: string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
  /** Properties to remove; wins over a value sent beside it */
  unset?: ('icon' | 'description' | 'metadata')[]
}

/**
 * Change a group. What is not sent stays as it is; `metadata` and `tags` are replaced whole. Whoever acts must
 * be a moderator or an admin. `owner` counts only without an acting user, and clients change neither type nor
 * password.
 */
export const updateGroup: Operation<UpdateGroupInput, Group, 'app' | 'actor' | 'client'> = {
  method: 'PUT',
  path: '/v3/groups/{guid}',
}

export interface DeleteGroupInput {
  /** The unique id; it never changes */
  guid: string
}

/**
 * Delete a group. With all that is in it: memberships, bans, permissions, messages. Whoever acts must be an
 * admin. The GUID is free again at once.
 */
export const deleteGroup: Operation<DeleteGroupInput, Done, 'app' | 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/groups/{guid}',
}

export interface TransferOwnershipInput {
  /** The unique id; it never changes */
  guid: string
  /** UID of the member who is the owner from now on */
  uid: string
}

/**
 * Hand a group over. The owner gives the group to another member, who becomes an admin if they are not; the old
 * owner stays one.
 */
export const transferOwnership: Operation<TransferOwnershipInput, Group, 'client'> = {
  method: 'PUT',
  path: '/v3/groups/{guid}/owner',
}

export interface ListScopePermissionsInput {
  /** Which guid is meant */
  guid: string
  /** Which scope is meant */
  scope: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/**
 * List a scope's permissions in a group. Always the whole catalogue, with the value that holds for members of
 * the scope.
 */
export const listScopePermissions: ListOperation<ListScopePermissionsInput, NumberedPage<Permission>, 'app'> = {
  method: 'GET',
  path: '/v3/groups/{guid}/scopes/{scope}/permissions',
  pages: 'numbered',
}

export interface SetScopePermissionsInput {
  /** Which guid is meant */
  guid: string
  /** Which scope is meant */
  scope: string
  /** Permission id to its new value; an empty list restricts nothing */
  permissions: Record<string, unknown>
}

export type SetScopePermissionsAnswer = Record<
  string,
  | Done
  | {
      success: false
      error: {
        code: string
        message: string
        devMessage: string
        source: 'chat-api'
        details?: Record<string, unknown>
      }
    }
  | Record<string, string | string[]>
>

/**
 * Set a scope's permissions in a group. Only what is sent changes. The role of the acting member must allow an
 * act as well.
 */
export const setScopePermissions: Operation<SetScopePermissionsInput, SetScopePermissionsAnswer, 'app'> = {
  method: 'PUT',
  path: '/v3/groups/{guid}/scopes/{scope}/permissions',
}

export interface UnsetScopePermissionInput {
  /** Which guid is meant */
  guid: string
  /** Which scope is meant */
  scope: string
  /** Which permission is meant */
  permission: string
}

export type UnsetScopePermissionAnswer = {
  /** Every permission and what holds now */
  permissions: Record<string, string | string[]>
}

/** Return one of a scope's permissions to its default. */
export const unsetScopePermission: Operation<UnsetScopePermissionInput, UnsetScopePermissionAnswer, 'app'> = {
  method: 'DELETE',
  path: '/v3/groups/{guid}/scopes/{scope}/permissions/{permission}',
}

export interface RequestUploadsInput {
  /** UID or GUID that the files are for */
  receiverId: string
  receiverType: 'user' | 'group'
  /** The message whose thread they are for */
  parentMessageId?: number
  /** Your own name for the whole; not kept */
  batchId?: string
  /** The files to upload */
  files: {
    /** Your own name for the file; the answer goes by it */
    fileId: string
    /** File name */
    name: string
    /** What the file is */
    mimeType: string
    /** Bytes */
    size: number
  }[]
}

export type RequestUploadsAnswer = Record<
  string,
  | {
      /** Send the bytes there with PUT */
      uploadUrl: string
      /** Headers to send along */
      headers: Record<string, string>
      /** Until when the upload must have begun, in UNIX seconds */
      expiresAt: number
      attachment: Attachment
    }
  | {
      error: {
        code: string
        message: string
      }
    }
>

/**
 * Ask for places to upload files to. Send the bytes of each file with `PUT` to its `uploadUrl` within 15
 * minutes, then send a media message with the `attachment`. Files that no message has after 24 hours are
 * removed. The answer tells for each `fileId` its place, or why there is none: `ERR_FILE_SIZE_EXCEEDED`,
 * `ERR_TOO_MANY_REQUESTS`, `ERR_BAD_REQUEST`.
 */
export const requestUploads: Operation<RequestUploadsInput, RequestUploadsAnswer, 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/files',
}

export interface AddMembersInput {
  /** The unique id; it never changes */
  guid: string
  /** UIDs of admins to be */
  admins?: string[]
  /** UIDs of moderators to be */
  moderators?: string[]
  /** UIDs of participants to be; a client that names nobody but its own user joins */
  participants?: (
    | string
    | {
        uid: string
        scope?: 'participant'
      }
  )[]
  /** UIDs to ban, members or not */
  usersToBan?: string[]
  /** Of a password group that the acting user joins */
  password?: string
}

/**
 * Add members, and ban users. Up to 25 users; one whom several lists name is used once, by the first of them.
 * The answer tells for each UID what became of it: `ERR_UID_NOT_FOUND`, `ERR_ALREADY_JOINED`,
 * `ERR_BANNED_GROUPMEMBER`, `ERR_ALREADY_BANNED`, `ERR_NO_VACANCY`, or `ERR_PLAN_QUOTA_RESTRICTION` where a user
 * is in 2,000 groups. Whoever acts must be an admin; but a client that names nobody but its own user, as a
 * participant, joins the group: then all is as it is there, and a refusal is one of the request.
 */
export const addMembers: Operation<AddMembersInput, Admissions, 'app' | 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/groups/{guid}/members',
}

export interface ListMembersInput {
  /** The unique id; it never changes */
  guid: string
  /** `online` means `available` */
  status?: 'available' | 'offline' | 'online'
  /** Members of any of these scopes */
  scopes?: ('admin' | 'moderator' | 'participant')[]
  /** Part of the name or UID, in any script and letter case */
  searchKey?: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/**
 * List members. The latest to join first; deactivated users are among them. Everyone may ask about public and
 * password groups, members alone about private ones; whoever is banned about none.
 */
export const listMembers: ListOperation<ListMembersInput, NumberedPage<Member>, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/groups/{guid}/members',
  pages: 'numbered',
}

export interface GetMemberInput {
  /** The unique id; it never changes */
  guid: string
  /** The unique id; it never changes */
  uid: string
}

/**
 * Get a member. For whoever may list the members, and as the list shows them: who is not in it for the acting
 * user is no member. Everyone is shown themselves.
 */
export const getMember: Operation<GetMemberInput, Member, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/groups/{guid}/members/{uid}',
}

export interface ChangeMemberScopeInput {
  /** The unique id; it never changes */
  guid: string
  /** The unique id; it never changes */
  uid: string
  /** The new scope; `participant` if absent */
  scope?: 'admin' | 'moderator' | 'participant'
}

/**
 * Change a member's scope. An owner may change anyone but themselves, admins whoever is no admin, and moderators
 * may make participants moderators. The owner is always an admin.
 */
export const changeMemberScope: Operation<ChangeMemberScopeInput, ScopeChanged, 'app' | 'actor' | 'client'> = {
  method: 'PUT',
  path: '/v3/groups/{guid}/members/{uid}',
}

export interface KickMemberInput {
  /** The unique id; it never changes */
  guid: string
  /** The unique id; it never changes */
  uid: string
}

/**
 * Kick a member. They may join or be added again. Admins kick anyone but the owner, moderators kick
 * participants. An owner whom a server kicks is followed by the oldest admin, else moderator, else participant.
 */
export const kickMember: Operation<KickMemberInput, Done, 'app' | 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/groups/{guid}/members/{uid}',
}

export interface JoinGroupInput {
  /** The unique id; it never changes */
  guid: string
  /** Of a password group that the acting user joins */
  password?: string
}

/**
 * Join a group. Public groups are open to all, password groups to who knows the password, private ones to
 * nobody.
 */
export const joinGroup: Operation<JoinGroupInput, Group, 'client'> = {
  method: 'POST',
  path: '/v3/groups/{guid}/join',
}

export interface LeaveGroupInput {
  /** The unique id; it never changes */
  guid: string
}

/** Leave a group. An owner hands the group over first. */
export const leaveGroup: Operation<LeaveGroupInput, Done, 'client'> = {
  method: 'POST',
  path: '/v3/groups/{guid}/leave',
}

export interface BanUserInput {
  /** Which guid is meant */
  guid: string
  /** The unique id; it never changes */
  uid: string
}

/**
 * Ban a member. The member leaves the group and cannot come back before the ban is lifted. Admins ban anyone but
 * the owner, moderators ban participants. Whoever is not in the group is banned with `usersToBan` of
 * `addMembers`.
 */
export const banUser: Operation<BanUserInput, Done, 'app' | 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/groups/{guid}/bannedusers/{uid}',
}

export interface UnbanUserInput {
  /** Which guid is meant */
  guid: string
  /** The unique id; it never changes */
  uid: string
}

/** Lift a ban. The user is not in the group again, but may join or be added. */
export const unbanUser: Operation<UnbanUserInput, Done, 'app' | 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/groups/{guid}/bannedusers/{uid}',
}

export interface ListBannedUsersInput {
  /** Which guid is meant */
  guid: string
  /** Part of the name or UID, in any script and letter case */
  searchKey?: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/** List banned users. Newest ban first. Whoever acts must be a moderator or an admin of the group. */
export const listBannedUsers: ListOperation<
  ListBannedUsersInput,
  NumberedPage<BannedUser>,
  'app' | 'actor' | 'client'
> = {
  method: 'GET',
  path: '/v3/groups/{guid}/bannedusers',
  pages: 'numbered',
}

export interface BanMemberInput {
  /** Which guid is meant */
  guid: string
  /** The unique id; it never changes */
  uid: string
}

/**
 * Ban a member. The member leaves the group and cannot come back before the ban is lifted. Admins ban anyone but
 * the owner, moderators ban participants. Whoever is not in the group is banned with `usersToBan` of
 * `addMembers`.
 *
 * @deprecated Replaced by `/v3/groups/{guid}/bannedusers/{uid}`
 */
export const banMember: Operation<BanMemberInput, Done, 'app' | 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/groups/{guid}/banned_members/{uid}',
}

export interface UnbanMemberInput {
  /** Which guid is meant */
  guid: string
  /** The unique id; it never changes */
  uid: string
}

/**
 * Lift a ban. The user is not in the group again, but may join or be added.
 *
 * @deprecated Replaced by `/v3/groups/{guid}/bannedusers/{uid}`
 */
export const unbanMember: Operation<UnbanMemberInput, Done, 'app' | 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/groups/{guid}/banned_members/{uid}',
}

export interface ListBannedMembersInput {
  /** Which guid is meant */
  guid: string
  /** Part of the name or UID, in any script and letter case */
  searchKey?: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/**
 * List banned users. Newest ban first. Whoever acts must be a moderator or an admin of the group.
 *
 * @deprecated Replaced by `/v3/groups/{guid}/bannedusers`
 */
export const listBannedMembers: ListOperation<
  ListBannedMembersInput,
  NumberedPage<BannedUser>,
  'app' | 'actor' | 'client'
> = {
  method: 'GET',
  path: '/v3/groups/{guid}/banned_members',
  pages: 'numbered',
}

export interface SendMessageInput {
  /** UID or GUID */
  receiver?: string
  /** `user` or `group` */
  receiverType?: string
  multipleReceivers?: {
    uids?: string[]
    guids?: string[]
  }
  /** `message`, `custom` or `interactive` */
  category?: string
  /** `text`, `image`, `audio`, `video`, `file`, or a name of your own for `custom` */
  type?: string
  /** The content */
  data?: {
    text?: unknown
    metadata?: unknown
    subType?: unknown
    conversationText?: unknown
    updateConversation?: unknown
    sendNotification?: unknown
    [name: string]: unknown
  }
  /** In a form: the same as `metadata` in `data`, which wins where both are sent */
  metadata?: unknown
  /** An id of your own; the same one again is answered with the first message */
  muid?: string
  /** A message of the same conversation */
  quotedMessageId?: number | string
  /** The message whose thread this belongs to */
  parentId?: number | string
  /** The same, where `parentId` is absent */
  parentMessageId?: number | string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
  /** Sent along as a form, and attached to the message */
  files?: readonly Blob[]
}

export type SendMessageAnswer =
  | Message
  | {
      uids?: Record<
        string,
        | {
            success: true
            data: Message
          }
        | {
            success: false
            error: {
              code: string
              message: string
            }
          }
      >
      guids?: Record<
        string,
        | {
            success: true
            data: Message
          }
        | {
            success: false
            error: {
              code: string
              message: string
            }
          }
      >
    }

/**
 * Send a message. To a user, a group, or up to 100 receivers at once, which are then answered one by one.
 * Without an acting user the app itself speaks, and asks nobody.
 */
export const sendMessage: Operation<SendMessageInput, SendMessageAnswer, 'app' | 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/messages',
  takesFiles: true,
}

export interface SendMessageToUserInput {
  /** Which uid is meant */
  uid: string
  /** UID or GUID */
  receiver?: string
  /** `user` or `group` */
  receiverType?: string
  multipleReceivers?: {
    uids?: string[]
    guids?: string[]
  }
  /** `message`, `custom` or `interactive` */
  category?: string
  /** `text`, `image`, `audio`, `video`, `file`, or a name of your own for `custom` */
  type?: string
  /** The content */
  data?: {
    text?: unknown
    metadata?: unknown
    subType?: unknown
    conversationText?: unknown
    updateConversation?: unknown
    sendNotification?: unknown
    [name: string]: unknown
  }
  /** In a form: the same as `metadata` in `data`, which wins where both are sent */
  metadata?: unknown
  /** An id of your own; the same one again is answered with the first message */
  muid?: string
  /** A message of the same conversation */
  quotedMessageId?: number | string
  /** The message whose thread this belongs to */
  parentId?: number | string
  /** The same, where `parentId` is absent */
  parentMessageId?: number | string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
  /** Sent along as a form, and attached to the message */
  files?: readonly Blob[]
}

/** Send a message to a user. As `POST /messages` does; whom the body names does not matter. */
export const sendMessageToUser: Operation<SendMessageToUserInput, Message, 'app' | 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/users/{uid}/messages',
  takesFiles: true,
}

export interface SendMessageToGroupInput {
  /** Which guid is meant */
  guid: string
  /** UID or GUID */
  receiver?: string
  /** `user` or `group` */
  receiverType?: string
  multipleReceivers?: {
    uids?: string[]
    guids?: string[]
  }
  /** `message`, `custom` or `interactive` */
  category?: string
  /** `text`, `image`, `audio`, `video`, `file`, or a name of your own for `custom` */
  type?: string
  /** The content */
  data?: {
    text?: unknown
    metadata?: unknown
    subType?: unknown
    conversationText?: unknown
    updateConversation?: unknown
    sendNotification?: unknown
    [name: string]: unknown
  }
  /** In a form: the same as `metadata` in `data`, which wins where both are sent */
  metadata?: unknown
  /** An id of your own; the same one again is answered with the first message */
  muid?: string
  /** A message of the same conversation */
  quotedMessageId?: number | string
  /** The message whose thread this belongs to */
  parentId?: number | string
  /** The same, where `parentId` is absent */
  parentMessageId?: number | string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
  /** Sent along as a form, and attached to the message */
  files?: readonly Blob[]
}

/** Send a message to a group. As `POST /messages` does; whom the body names does not matter. */
export const sendMessageToGroup: Operation<SendMessageToGroupInput, Message, 'app' | 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/groups/{guid}/messages',
  takesFiles: true,
}

export interface ListMessagesInput {
  /** Sent at this time or later */
  fromTimestamp?: number
  /** Sent at this time or earlier; only together with `fromTimestamp` */
  toTimestamp?: number
  /** Sent at this time or later */
  'sentAt[from]'?: number
  /** Sent at this time or earlier */
  'sentAt[to]'?: number
  /** Changed after sending, at this time or later */
  'updatedAt[from]'?: number
  /** Changed after sending, at this time or earlier */
  'updatedAt[to]'?: number
  /** Edited at this time or later */
  'editedAt[from]'?: number
  /** Edited at this time or earlier */
  'editedAt[to]'?: number
  /** Sent or changed after this time */
  updatedAt?: number
  /** Only what was changed after sending */
  onlyUpdates?: boolean
  category?: string
  /** Any of these categories */
  categories?: string[]
  type?: string
  /** Any of these types */
  types?: string[]
  /** All words must occur, in the text or in names of files or people; 16 different ones at most */
  searchKey?: string
  /** With, or without, files */
  hasAttachments?: boolean
  /** `image`, `video`, `audio`, `file`; any of these */
  attachmentTypes?: string[]
  /** With, or without, mentions */
  hasMentions?: boolean
  /** Mentions any of these users */
  mentionedUids?: string[]
  /** Mentions the acting user */
  myMentionsOnly?: boolean
  /** With, or without, a web address in the text */
  hasLinks?: boolean
  /** Only with reactions */
  hasReactions?: boolean
  /** Sent by this user */
  sender?: string
  /** Sent by any of these users */
  senders?: string[]
  /** `user` or `group` */
  receiverType?: string
  /** Of one conversation */
  conversationId?: string
  /** With any of these tags */
  tags?: string[]
  /** Without deleted messages */
  hideDeleted?: boolean
  /** Only deleted messages */
  onlyDeleted?: boolean
  /** Without replies in threads */
  hideReplies?: boolean
  /** Without senders whom the acting user has blocked */
  hideMessagesFromBlockedUsers?: boolean
  /** Only what the acting user has not read */
  unread?: boolean
  /** Only what has not reached the acting user */
  undelivered?: boolean
  /** Only pinned messages */
  pinned?: boolean
  /** Only what the acting user has saved */
  saved?: boolean
  /** With the tags of each message */
  withTags?: boolean
  /** With the message that a reply belongs to */
  withParent?: boolean
  /** Without the messages that are quoted */
  hideQuotedMessages?: boolean
  /** Mentioned users tell about blocks between them and the acting user */
  mentionsWithBlockedInfo?: boolean
  /** Mentioned users have their tags */
  mentionsWithTagInfo?: boolean
  /** The same, in an older spelling */
  mentionswithTagInfo?: boolean
  /** With `unread`: how many there are of each user and group, instead of the messages */
  count?: boolean
  /** How many records, 1000 at most; 100 if absent. Also `perPage`, `per_page` */
  limit?: number
  /** Where to read on; from the start if absent */
  cursor?: Cursor
}

export type ListMessagesAnswer =
  | CursorPage<Message>
  | {
      entityType: 'user' | 'group'
      entityId: string
      count: number
    }[]
  | {
      users: Record<string, number>
      groups: Record<string, number>
    }
  | NumberedPage<Message>

/**
 * List messages. Of the whole app, or of all conversations of the acting user. Messages stand in the order of
 * their ids; `append` reads on from a message, `prepend` reads back from it.
 */
export const listMessages: ListOperation<ListMessagesInput, ListMessagesAnswer, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/messages',
  pages: 'cursors',
}

export interface GetMessageInput {
  /** Unique in the app; ids grow with time */
  id: string
}

/** Get a message. */
export const getMessage: Operation<GetMessageInput, Message, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/messages/{id}',
}

export interface UpdateMessageInput {
  /** Unique in the app; ids grow with time */
  id: string
  /** What is given replaces what was there */
  data?: {
    text?: unknown
    metadata?: unknown
    subType?: unknown
    conversationText?: unknown
    updateConversation?: unknown
    sendNotification?: unknown
    [name: string]: unknown
  }
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
}

/**
 * Edit a message. What is given in `data` replaces what was there; `tags` replace all tags. The answer is the
 * action message that tells of the edit, with the edited message inside.
 */
export const updateMessage: Operation<UpdateMessageInput, Message, 'app' | 'actor' | 'client'> = {
  method: 'PUT',
  path: '/v3/messages/{id}',
}

export interface DeleteMessageInput {
  /** Unique in the app; ids grow with time */
  id: string
  /** Remove it for good */
  permanent?: boolean
}

/**
 * Delete a message. The message stays in the history without its content. With `permanent` nothing is left of it
 * and its thread; only servers may ask for that, and the answer shows it for the last time.
 */
export const deleteMessage: Operation<DeleteMessageInput, Message, 'app' | 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/messages/{id}',
}

export interface ListUserMessagesInput {
  /** Which uid is meant */
  uid: string
  /** Sent at this time or later */
  fromTimestamp?: number
  /** Sent at this time or earlier; only together with `fromTimestamp` */
  toTimestamp?: number
  /** Sent at this time or later */
  'sentAt[from]'?: number
  /** Sent at this time or earlier */
  'sentAt[to]'?: number
  /** Changed after sending, at this time or later */
  'updatedAt[from]'?: number
  /** Changed after sending, at this time or earlier */
  'updatedAt[to]'?: number
  /** Edited at this time or later */
  'editedAt[from]'?: number
  /** Edited at this time or earlier */
  'editedAt[to]'?: number
  /** Sent or changed after this time */
  updatedAt?: number
  /** Only what was changed after sending */
  onlyUpdates?: boolean
  category?: string
  /** Any of these categories */
  categories?: string[]
  type?: string
  /** Any of these types */
  types?: string[]
  /** All words must occur, in the text or in names of files or people; 16 different ones at most */
  searchKey?: string
  /** With, or without, files */
  hasAttachments?: boolean
  /** `image`, `video`, `audio`, `file`; any of these */
  attachmentTypes?: string[]
  /** With, or without, mentions */
  hasMentions?: boolean
  /** Mentions any of these users */
  mentionedUids?: string[]
  /** Mentions the acting user */
  myMentionsOnly?: boolean
  /** With, or without, a web address in the text */
  hasLinks?: boolean
  /** Only with reactions */
  hasReactions?: boolean
  /** Sent by this user */
  sender?: string
  /** Sent by any of these users */
  senders?: string[]
  /** `user` or `group` */
  receiverType?: string
  /** Of one conversation */
  conversationId?: string
  /** With any of these tags */
  tags?: string[]
  /** Without deleted messages */
  hideDeleted?: boolean
  /** Only deleted messages */
  onlyDeleted?: boolean
  /** Without replies in threads */
  hideReplies?: boolean
  /** Without senders whom the acting user has blocked */
  hideMessagesFromBlockedUsers?: boolean
  /** Only what the acting user has not read */
  unread?: boolean
  /** Only what has not reached the acting user */
  undelivered?: boolean
  /** Only pinned messages */
  pinned?: boolean
  /** Only what the acting user has saved */
  saved?: boolean
  /** With the tags of each message */
  withTags?: boolean
  /** With the message that a reply belongs to */
  withParent?: boolean
  /** Without the messages that are quoted */
  hideQuotedMessages?: boolean
  /** Mentioned users tell about blocks between them and the acting user */
  mentionsWithBlockedInfo?: boolean
  /** Mentioned users have their tags */
  mentionsWithTagInfo?: boolean
  /** The same, in an older spelling */
  mentionswithTagInfo?: boolean
  /** With `unread`: how many there are of each user and group, instead of the messages */
  count?: boolean
  /** How many records, 1000 at most; 100 if absent. Also `perPage`, `per_page` */
  limit?: number
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
  /** Where to read on; from the start if absent */
  cursor?: Cursor
}

export type ListUserMessagesAnswer =
  | CursorPage<Message>
  | {
      entityType: 'user' | 'group'
      entityId: string
      count: number
    }[]
  | {
      users: Record<string, number>
      groups: Record<string, number>
    }
  | NumberedPage<Message>

/**
 * List messages with a user. With an acting user, what the two have said to each other. Without one, every
 * direct message that the user has sent or received, page by page.
 */
export const listUserMessages: ListOperation<
  ListUserMessagesInput,
  ListUserMessagesAnswer,
  'app' | 'actor' | 'client'
> = {
  method: 'GET',
  path: '/v3/users/{uid}/messages',
  pages: 'numbered',
}

export interface ListGroupMessagesInput {
  /** Which guid is meant */
  guid: string
  /** Sent at this time or later */
  fromTimestamp?: number
  /** Sent at this time or earlier; only together with `fromTimestamp` */
  toTimestamp?: number
  /** Sent at this time or later */
  'sentAt[from]'?: number
  /** Sent at this time or earlier */
  'sentAt[to]'?: number
  /** Changed after sending, at this time or later */
  'updatedAt[from]'?: number
  /** Changed after sending, at this time or earlier */
  'updatedAt[to]'?: number
  /** Edited at this time or later */
  'editedAt[from]'?: number
  /** Edited at this time or earlier */
  'editedAt[to]'?: number
  /** Sent or changed after this time */
  updatedAt?: number
  /** Only what was changed after sending */
  onlyUpdates?: boolean
  category?: string
  /** Any of these categories */
  categories?: string[]
  type?: string
  /** Any of these types */
  types?: string[]
  /** All words must occur, in the text or in names of files or people; 16 different ones at most */
  searchKey?: string
  /** With, or without, files */
  hasAttachments?: boolean
  /** `image`, `video`, `audio`, `file`; any of these */
  attachmentTypes?: string[]
  /** With, or without, mentions */
  hasMentions?: boolean
  /** Mentions any of these users */
  mentionedUids?: string[]
  /** Mentions the acting user */
  myMentionsOnly?: boolean
  /** With, or without, a web address in the text */
  hasLinks?: boolean
  /** Only with reactions */
  hasReactions?: boolean
  /** Sent by this user */
  sender?: string
  /** Sent by any of these users */
  senders?: string[]
  /** `user` or `group` */
  receiverType?: string
  /** Of one conversation */
  conversationId?: string
  /** With any of these tags */
  tags?: string[]
  /** Without deleted messages */
  hideDeleted?: boolean
  /** Only deleted messages */
  onlyDeleted?: boolean
  /** Without replies in threads */
  hideReplies?: boolean
  /** Without senders whom the acting user has blocked */
  hideMessagesFromBlockedUsers?: boolean
  /** Only what the acting user has not read */
  unread?: boolean
  /** Only what has not reached the acting user */
  undelivered?: boolean
  /** Only pinned messages */
  pinned?: boolean
  /** Only what the acting user has saved */
  saved?: boolean
  /** With the tags of each message */
  withTags?: boolean
  /** With the message that a reply belongs to */
  withParent?: boolean
  /** Without the messages that are quoted */
  hideQuotedMessages?: boolean
  /** Mentioned users tell about blocks between them and the acting user */
  mentionsWithBlockedInfo?: boolean
  /** Mentioned users have their tags */
  mentionsWithTagInfo?: boolean
  /** The same, in an older spelling */
  mentionswithTagInfo?: boolean
  /** With `unread`: how many there are of each user and group, instead of the messages */
  count?: boolean
  /** How many records, 1000 at most; 100 if absent. Also `perPage`, `per_page` */
  limit?: number
  /** Where to read on; from the start if absent */
  cursor?: Cursor
}

export type ListGroupMessagesAnswer =
  | CursorPage<Message>
  | {
      entityType: 'user' | 'group'
      entityId: string
      count: number
    }[]
  | {
      users: Record<string, number>
      groups: Record<string, number>
    }
  | NumberedPage<Message>

/** List messages of a group. */
export const listGroupMessages: ListOperation<
  ListGroupMessagesInput,
  ListGroupMessagesAnswer,
  'app' | 'actor' | 'client'
> = {
  method: 'GET',
  path: '/v3/groups/{guid}/messages',
  pages: 'cursors',
}

export interface ListReceiptsInput {
  /** Unique in the app; ids grow with time */
  id: string
  /** How many records, 1000 at most; 100 if absent. Also `perPage`, `per_page` */
  limit?: number
  /** Where to read on; from the start if absent */
  cursor?: Cursor
}

/**
 * List who has received and read a message. In the order of UIDs. `append` reads on from one, `prepend` reads
 * back from it.
 */
export const listReceipts: ListOperation<ListReceiptsInput, CursorPage<Receipt>, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/messages/{id}/receipts',
  pages: 'cursors',
}

export interface SendMessageAsBotInput {
  /** Which uid is meant */
  uid: string
  /** UID or GUID */
  receiver?: string
  /** `user` or `group` */
  receiverType?: string
  multipleReceivers?: {
    uids?: string[]
    guids?: string[]
  }
  /** `message`, `custom` or `interactive` */
  category?: string
  /** `text`, `image`, `audio`, `video`, `file`, or a name of your own for `custom` */
  type?: string
  /** The content */
  data?: {
    text?: unknown
    metadata?: unknown
    subType?: unknown
    conversationText?: unknown
    updateConversation?: unknown
    sendNotification?: unknown
    [name: string]: unknown
  }
  /** In a form: the same as `metadata` in `data`, which wins where both are sent */
  metadata?: unknown
  /** An id of your own; the same one again is answered with the first message */
  muid?: string
  /** A message of the same conversation */
  quotedMessageId?: number | string
  /** The message whose thread this belongs to */
  parentId?: number | string
  /** The same, where `parentId` is absent */
  parentMessageId?: number | string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
  /** Sent along as a form, and attached to the message */
  files?: readonly Blob[]
}

export type SendMessageAsBotAnswer =
  | Message
  | {
      uids?: Record<
        string,
        | {
            success: true
            data: Message
          }
        | {
            success: false
            error: {
              code: string
              message: string
            }
          }
      >
      guids?: Record<
        string,
        | {
            success: true
            data: Message
          }
        | {
            success: false
            error: {
              code: string
              message: string
            }
          }
      >
    }

/**
 * Send a message as a bot. The bot is a user with the role `bot`. It need not be a member of the groups it
 * answers in.
 */
export const sendMessageAsBot: Operation<SendMessageAsBotInput, SendMessageAsBotAnswer, 'app'> = {
  method: 'POST',
  path: '/v3/bots/{uid}/messages',
  takesFiles: true,
}

export interface ListConversationsInput {
  /** A part of the name of the other user or the group */
  searchKey?: string
  conversationType?: 'user' | 'group'
  /** Only with unread messages */
  unread?: boolean
  /** With any of these tags */
  tags?: string[]
  /** With tags */
  withTags?: boolean
  /** The other user has any of these tags */
  userTags?: string[]
  /** The group has any of these tags */
  groupTags?: string[]
  /** With the tags of the other user or the group */
  withUserAndGroupTags?: boolean
  /** Also with users whom the acting user has blocked */
  includeBlockedUsers?: boolean
  /** Tell about blocks */
  withBlockedInfo?: boolean
  /** Without agents */
  hideAgentic?: boolean
  /** Only with agents */
  onlyAgentic?: boolean
  /** `me`, `system`: only what is pinned by the acting user, or for everyone */
  pinnedBy?: string[]
  /** Active after, or before, this time */
  updatedAt?: number
  affix?: 'append' | 'prepend'
  /** 0 leaves `meta.cursor` out */
  useCursoredIndex?: number
  /** Without an acting user: each conversation once */
  unique?: boolean
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/**
 * List conversations. Of the acting user: what is pinned for everyone, then own pins, then the rest by their
 * last activity. Without an acting user, every side of every conversation, by UID.
 */
export const listConversations: ListOperation<
  ListConversationsInput,
  NumberedPage<Conversation>,
  'app' | 'actor' | 'client'
> = {
  method: 'GET',
  path: '/v3/conversations',
  pages: 'numbered',
}

export type ListPinnedConversationsAnswer = {
  conversationId: string
  conversationType: 'user' | 'group'
  pinnedBy: 'app_system'
  /** When it was pinned, in UNIX seconds */
  pinnedAt: number
}[]

/** List what is pinned for everyone. */
export const listPinnedConversations: Operation<Nothing, ListPinnedConversationsAnswer, 'app'> = {
  method: 'GET',
  path: '/v3/conversations/pinned',
}

export interface SetPinnedConversationsInput {
  pinnedConversations: {
    uid?: string
    guid?: string
  }[]
}

export type SetPinnedConversationsAnswer = {
  conversationId: string
  conversationType: 'user' | 'group'
  pinnedBy: 'app_system'
  /** When it was pinned, in UNIX seconds */
  pinnedAt: number
}[]

/** Set what is pinned for everyone. The whole list in its order; what it leaves out is unpinned. */
export const setPinnedConversations: Operation<SetPinnedConversationsInput, SetPinnedConversationsAnswer, 'app'> = {
  method: 'PUT',
  path: '/v3/conversations/pinned',
}

export interface GetConversationInput {
  /** Which conversation is meant */
  conversationId: string
}

/**
 * Get a conversation by its id.
 *
 * @deprecated Replaced by `/v3/users/{uid}/conversation`
 */
export const getConversation: Operation<GetConversationInput, Conversation, 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/conversations/{conversationId}',
}

export interface DeleteConversationInput {
  /** Which conversation is meant */
  conversationId: string
}

/**
 * Delete a conversation for everybody.
 *
 * @deprecated Replaced by `/v3/users/{uid}/conversation`
 */
export const deleteConversation: Operation<DeleteConversationInput, Done, 'actor'> = {
  method: 'DELETE',
  path: '/v3/conversations/{conversationId}',
}

export interface GetUserConversationInput {
  /** Whose side it is; in lists without an acting user */
  uid: string
}

/** Get the conversation with a user. */
export const getUserConversation: Operation<GetUserConversationInput, Conversation, 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/users/{uid}/conversation',
}

export interface GetGroupConversationInput {
  /** Which guid is meant */
  guid: string
}

/** Get the conversation of a group. */
export const getGroupConversation: Operation<GetGroupConversationInput, Conversation, 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/groups/{guid}/conversation',
}

export interface UpdateUserConversationInput {
  /** Whose side it is; in lists without an acting user */
  uid: string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags: string[]
}

/** Tag the conversation with a user. The tags are the acting user’s alone. */
export const updateUserConversation: Operation<UpdateUserConversationInput, Conversation, 'actor' | 'client'> = {
  method: 'PUT',
  path: '/v3/users/{uid}/conversation',
}

export interface UpdateGroupConversationInput {
  /** Which guid is meant */
  guid: string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags: string[]
}

/** Tag the conversation of a group. The tags are the acting user’s alone. */
export const updateGroupConversation: Operation<UpdateGroupConversationInput, Conversation, 'actor' | 'client'> = {
  method: 'PUT',
  path: '/v3/groups/{guid}/conversation',
}

export interface ResetUserConversationInput {
  /** Whose side it is; in lists without an acting user */
  uid: string
  /** Remove the messages for good, for both sides */
  deleteMessagesPermanently?: boolean
  /** Keep the conversation at its place in the list */
  preserveOrder?: boolean
  /** Ignored */
  conversationWith?: unknown
}

/**
 * Delete the conversation with a user for oneself. All messages so far are hidden from the acting user. The next
 * message brings the conversation back.
 */
export const resetUserConversation: Operation<ResetUserConversationInput, Done, 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/users/{uid}/conversation',
}

export interface ResetGroupConversationInput {
  /** Which guid is meant */
  guid: string
  /** Keep the conversation at its place in the list */
  preserveOrder?: boolean
}

/**
 * Delete the conversation of a group for oneself. All messages so far are hidden from the acting user. The next
 * message brings the conversation back.
 */
export const resetGroupConversation: Operation<ResetGroupConversationInput, Done, 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/groups/{guid}/conversation',
}

export interface MarkUserConversationDeliveredInput {
  /** Whose side it is; in lists without an acting user */
  uid: string
  /** The last of them */
  messageId?: number | string
}

export type MarkUserConversationDeliveredAnswer = {
  success: true
  message: string
  Message?: string
}

/** Mark messages with a user as delivered. Up to and including `messageId`, or all of them. */
export const markUserConversationDelivered: Operation<
  MarkUserConversationDeliveredInput,
  MarkUserConversationDeliveredAnswer,
  'actor' | 'client'
> = {
  method: 'POST',
  path: '/v3/users/{uid}/conversation/delivered',
}

export interface MarkGroupConversationDeliveredInput {
  /** Which guid is meant */
  guid: string
  /** The last of them */
  messageId?: number | string
}

export type MarkGroupConversationDeliveredAnswer = {
  success: true
  message: string
  Message?: string
}

/** Mark messages of a group as delivered. Up to and including `messageId`, or all of them. */
export const markGroupConversationDelivered: Operation<
  MarkGroupConversationDeliveredInput,
  MarkGroupConversationDeliveredAnswer,
  'actor' | 'client'
> = {
  method: 'POST',
  path: '/v3/groups/{guid}/conversation/delivered',
}

export interface MarkUserConversationReadInput {
  /** Whose side it is; in lists without an acting user */
  uid: string
  /** The last of them */
  messageId?: number | string
}

export type MarkUserConversationReadAnswer = {
  success: true
  message: string
  Message?: string
}

/** Mark messages with a user as read. Up to and including `messageId`, or all of them. */
export const markUserConversationRead: Operation<
  MarkUserConversationReadInput,
  MarkUserConversationReadAnswer,
  'actor' | 'client'
> = {
  method: 'POST',
  path: '/v3/users/{uid}/conversation/read',
}

export interface MarkGroupConversationReadInput {
  /** Which guid is meant */
  guid: string
  /** The last of them */
  messageId?: number | string
}

export type MarkGroupConversationReadAnswer = {
  success: true
  message: string
  Message?: string
}

/** Mark messages of a group as read. Up to and including `messageId`, or all of them. */
export const markGroupConversationRead: Operation<
  MarkGroupConversationReadInput,
  MarkGroupConversationReadAnswer,
  'actor' | 'client'
> = {
  method: 'POST',
  path: '/v3/groups/{guid}/conversation/read',
}

export interface MarkUserConversationUnreadInput {
  /** Whose side it is; in lists without an acting user */
  uid: string
  /** The last that stays read */
  messageId: number | string
}

/** Mark messages with a user as unread. Those after `messageId` are unread again. */
export const markUserConversationUnread: Operation<MarkUserConversationUnreadInput, Done, 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/users/{uid}/conversation/read',
}

export interface MarkGroupConversationUnreadInput {
  /** Which guid is meant */
  guid: string
  /** The last that stays read */
  messageId: number | string
}

/** Mark messages of a group as unread. Those after `messageId` are unread again. */
export const markGroupConversationUnread: Operation<MarkGroupConversationUnreadInput, Done, 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/groups/{guid}/conversation/read',
}

export interface PinUserConversationInput {
  /** Whose side it is; in lists without an acting user */
  uid: string
}

/** Pin the conversation with a user. */
export const pinUserConversation: Operation<PinUserConversationInput, Conversation, 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/users/{uid}/conversation/pin',
}

export interface PinGroupConversationInput {
  /** Which guid is meant */
  guid: string
}

/** Pin the conversation of a group. */
export const pinGroupConversation: Operation<PinGroupConversationInput, Conversation, 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/groups/{guid}/conversation/pin',
}

export interface UnpinUserConversationInput {
  /** Whose side it is; in lists without an acting user */
  uid: string
}

/** Unpin the conversation with a user. */
export const unpinUserConversation: Operation<UnpinUserConversationInput, Conversation, 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/users/{uid}/conversation/pin',
}

export interface UnpinGroupConversationInput {
  /** Which guid is meant */
  guid: string
}

/** Unpin the conversation of a group. */
export const unpinGroupConversation: Operation<UnpinGroupConversationInput, Conversation, 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/groups/{guid}/conversation/pin',
}

export interface ListReactionsInput {
  /** Unique in the app; ids grow with time */
  id: string
  /** How many records, 1000 at most; 100 if absent. Also `perPage`, `per_page` */
  limit?: number
  /** Where to read on; from the start if absent */
  cursor?: Cursor
}

/** List the reactions to a message. */
export const listReactions: ListOperation<ListReactionsInput, CursorPage<Reaction>, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/messages/{id}/reactions',
  pages: 'cursors',
}

export interface ListReactionsOfKindInput {
  /** Unique in the app; ids grow with time */
  id: string
  /** Which reaction is meant */
  reaction: string
  /** How many records, 1000 at most; 100 if absent. Also `perPage`, `per_page` */
  limit?: number
  /** Where to read on; from the start if absent */
  cursor?: Cursor
}

/** List who has reacted in one way. */
export const listReactionsOfKind: ListOperation<
  ListReactionsOfKindInput,
  CursorPage<Reaction>,
  'app' | 'actor' | 'client'
> = {
  method: 'GET',
  path: '/v3/messages/{id}/reactions/{reaction}',
  pages: 'cursors',
}

export interface AddReactionInput {
  /** Unique in the app; ids grow with time */
  id: string
  /** Which reaction is meant */
  reaction: string
}

/** React to a message. */
export const addReaction: Operation<AddReactionInput, Message, 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/messages/{id}/reactions/{reaction}',
}

export interface AddReactionInBodyInput {
  /** Unique in the app; ids grow with time */
  id: string
  /** An emoji, or a name such as `:boat:` */
  reaction: string
}

/** React to a message, with the reaction in the body. */
export const addReactionInBody: Operation<AddReactionInBodyInput, Message, 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/messages/{id}/reactions',
}

export interface RemoveReactionInput {
  /** Unique in the app; ids grow with time */
  id: string
  /** Which reaction is meant */
  reaction: string
}

/** Take a reaction back. */
export const removeReaction: Operation<RemoveReactionInput, Message, 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/messages/{id}/reactions/{reaction}',
}

export interface SendReplyInput {
  /** Unique in the app; ids grow with time */
  id: string
  /** UID or GUID */
  receiver?: string
  /** `user` or `group` */
  receiverType?: string
  multipleReceivers?: {
    uids?: string[]
    guids?: string[]
  }
  /** `message`, `custom` or `interactive` */
  category?: string
  /** `text`, `image`, `audio`, `video`, `file`, or a name of your own for `custom` */
  type?: string
  /** The content */
  data?: {
    text?: unknown
    metadata?: unknown
    subType?: unknown
    conversationText?: unknown
    updateConversation?: unknown
    sendNotification?: unknown
    [name: string]: unknown
  }
  /** In a form: the same as `metadata` in `data`, which wins where both are sent */
  metadata?: unknown
  /** An id of your own; the same one again is answered with the first message */
  muid?: string
  /** A message of the same conversation */
  quotedMessageId?: number | string
  /** The message whose thread this belongs to */
  parentId?: number | string
  /** The same, where `parentId` is absent */
  parentMessageId?: number | string
  /** Replaces all earlier ones; the same tag twice counts once */
  tags?: string[]
  /** Sent along as a form, and attached to the message */
  files?: readonly Blob[]
}

/**
 * Reply in a thread. Without a receiver, the reply goes to the conversation of the message. Without an acting
 * user the app itself speaks, in groups and where it is one of the two.
 */
export const sendReply: Operation<SendReplyInput, Message, 'app' | 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/messages/{id}/thread',
  takesFiles: true,
}

export interface ListRepliesInput {
  /** Unique in the app; ids grow with time */
  id: string
  /** Sent at this time or later */
  fromTimestamp?: number
  /** Sent at this time or earlier; only together with `fromTimestamp` */
  toTimestamp?: number
  /** Sent at this time or later */
  'sentAt[from]'?: number
  /** Sent at this time or earlier */
  'sentAt[to]'?: number
  /** Changed after sending, at this time or later */
  'updatedAt[from]'?: number
  /** Changed after sending, at this time or earlier */
  'updatedAt[to]'?: number
  /** Edited at this time or later */
  'editedAt[from]'?: number
  /** Edited at this time or earlier */
  'editedAt[to]'?: number
  /** Sent or changed after this time */
  updatedAt?: number
  /** Only what was changed after sending */
  onlyUpdates?: boolean
  category?: string
  /** Any of these categories */
  categories?: string[]
  type?: string
  /** Any of these types */
  types?: string[]
  /** All words must occur, in the text or in names of files or people; 16 different ones at most */
  searchKey?: string
  /** With, or without, files */
  hasAttachments?: boolean
  /** `image`, `video`, `audio`, `file`; any of these */
  attachmentTypes?: string[]
  /** With, or without, mentions */
  hasMentions?: boolean
  /** Mentions any of these users */
  mentionedUids?: string[]
  /** Mentions the acting user */
  myMentionsOnly?: boolean
  /** With, or without, a web address in the text */
  hasLinks?: boolean
  /** Only with reactions */
  hasReactions?: boolean
  /** Sent by this user */
  sender?: string
  /** Sent by any of these users */
  senders?: string[]
  /** `user` or `group` */
  receiverType?: string
  /** Of one conversation */
  conversationId?: string
  /** With any of these tags */
  tags?: string[]
  /** Without deleted messages */
  hideDeleted?: boolean
  /** Only deleted messages */
  onlyDeleted?: boolean
  /** Without replies in threads */
  hideReplies?: boolean
  /** Without senders whom the acting user has blocked */
  hideMessagesFromBlockedUsers?: boolean
  /** Only what the acting user has not read */
  unread?: boolean
  /** Only what has not reached the acting user */
  undelivered?: boolean
  /** Only pinned messages */
  pinned?: boolean
  /** Only what the acting user has saved */
  saved?: boolean
  /** With the tags of each message */
  withTags?: boolean
  /** With the message that a reply belongs to */
  withParent?: boolean
  /** Without the messages that are quoted */
  hideQuotedMessages?: boolean
  /** Mentioned users tell about blocks between them and the acting user */
  mentionsWithBlockedInfo?: boolean
  /** Mentioned users have their tags */
  mentionsWithTagInfo?: boolean
  /** The same, in an older spelling */
  mentionswithTagInfo?: boolean
  /** With `unread`: how many there are of each user and group, instead of the messages */
  count?: boolean
  /** How many records, 1000 at most; 100 if absent. Also `perPage`, `per_page` */
  limit?: number
  /** Where to read on; from the start if absent */
  cursor?: Cursor
}

/** List the replies in a thread. */
export const listReplies: ListOperation<ListRepliesInput, CursorPage<Message>, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/messages/{id}/thread',
  pages: 'cursors',
}

export interface ListThreadsInput {
  /** How many records, 1000 at most; 100 if absent. Also `perPage`, `per_page` */
  limit?: number
  /** Only threads that the acting user follows */
  participatedByMe?: boolean
  /** With the number of replies that the acting user has not read */
  withUnreadReplyCount?: boolean
  /** With the number of unread replies that name the acting user */
  withMentionCount?: boolean
  /** Only in the conversation with this user */
  uid?: string
  /** Only in this group */
  guid?: string
  /** Where to read on; from the start if absent */
  cursor?: Cursor
}

/** List threads. Those with the newest activity first, each with its last reply. */
export const listThreads: ListOperation<ListThreadsInput, CursorPage<Message>, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/threads',
  pages: 'cursors',
}

export interface FollowThreadInput {
  /** Unique in the app; ids grow with time */
  id: string
}

export type FollowThreadAnswer = {
  success: true
}

/** Follow a thread. One also follows a thread by beginning it, by replying in it, and by being named in it. */
export const followThread: Operation<FollowThreadInput, FollowThreadAnswer, 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/messages/{id}/thread/subscription',
}

export interface UnfollowThreadInput {
  /** Unique in the app; ids grow with time */
  id: string
}

export type UnfollowThreadAnswer = {
  success: true
}

/** Stop following a thread. Until one replies or is named again. */
export const unfollowThread: Operation<UnfollowThreadInput, UnfollowThreadAnswer, 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/messages/{id}/thread/subscription',
}

export interface PinMessageInput {
  /** Unique in the app; ids grow with time */
  id: string
}

/** Pin a message in its conversation. */
export const pinMessage: Operation<PinMessageInput, Message, 'app' | 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/messages/{id}/pin',
}

export interface UnpinMessageInput {
  /** Unique in the app; ids grow with time */
  id: string
}

/** Unpin a message. */
export const unpinMessage: Operation<UnpinMessageInput, Message, 'app' | 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/messages/{id}/pin',
}

export interface SaveMessageInput {
  /** Unique in the app; ids grow with time */
  id: string
}

/** Save a message for oneself. */
export const saveMessage: Operation<SaveMessageInput, Message, 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/messages/{id}/save',
}

export interface UnsaveMessageInput {
  /** Unique in the app; ids grow with time */
  id: string
}

/** Drop a saved message. */
export const unsaveMessage: Operation<UnsaveMessageInput, Message, 'actor' | 'client'> = {
  method: 'DELETE',
  path: '/v3/messages/{id}/save',
}

export interface RecordInteractionsInput {
  /** Which id is meant */
  id: string
  /** Ids of elements */
  interactions: string[]
}

/** Record what a user did with an interactive message. */
export const recordInteractions: Operation<RecordInteractionsInput, Done, 'actor' | 'client'> = {
  method: 'PATCH',
  path: '/v3/messages/{id}/interacted',
}

export interface RecordInteractionsOrReadInput {
  /** Which id is meant */
  id: string
  /** Ids of elements */
  interactions?: string[]
}

/**
 * Record interactions, or that a message is read. With `interactions` as `PATCH /messages/{id}/interacted`.
 * Without them the conversation is read up to this message, of whatever kind it is.
 */
export const recordInteractionsOrRead: Operation<RecordInteractionsOrReadInput, Done, 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/messages/{id}/interactions',
}

/**
 * Get what a client has to know of the app. Switches, limits, and the features that the acting user's role may
 * not use.
 */
export const getMySettings: Operation<Nothing, ClientSettings, 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/me/settings',
}

export interface ListCallsInput {
  /** What the call was placed as */
  type?: 'audio' | 'video'
  /** `call` rings; `meet` and `presenter` are joined */
  mode?: 'call' | 'meet' | 'presenter'
  /** How far the call has come. `missed`, `busy` and `cancelled` are for users, and match nothing where none acts */
  status?: 'initiated' | 'ongoing' | 'ended' | 'unanswered' | 'rejected' | 'canceled' | 'missed' | 'busy' | 'cancelled'
  /** Whom the call is addressed to */
  receiverType?: 'user' | 'group'
  /** Exactly so many participant entries */
  participantsCount?: number
  hasRecording?: boolean
  hasTranscription?: boolean
  /** Calls this user placed, received or took part in */
  uid?: string
  /** Not started before this moment, in UNIX seconds */
  startedAt?: number
  /** Ended at this moment or before, in UNIX seconds */
  endedAt?: number
  /** Leave out `transcriptions` */
  hideTranscription?: boolean
  /** The same as `mode`; only where a user acts */
  category?: 'call' | 'meet' | 'presenter'
  /** Whether the acting user has placed the call; nothing where none acts */
  direction?: 'incoming' | 'outgoing'
  /** Calls in this group; only where a user acts */
  guid?: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/**
 * List calls. Newest first. All filters combine. Whoever acts sees only calls that they have a part in, and in
 * them the names of those whom they may see.
 */
export const listCalls: ListOperation<ListCallsInput, NumberedPage<ListedCall>, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/calls',
  pages: 'numbered',
}

export interface GetCallInput {
  /** Unique id of the call; treat it as opaque */
  sessionId: string
}

/** Get a call. */
export const getCall: Operation<GetCallInput, Call, 'app' | 'actor' | 'client'> = {
  method: 'GET',
  path: '/v3/calls/{sessionId}',
}

export interface ListCallTranscriptionsInput {
  /** Unique id of the call; treat it as opaque */
  sessionId: string
  /** Which page; the first is 1 */
  page?: number
  /** Records per page; more than 1000 are answered as 1000. Also `per_page` */
  perPage?: number
}

/**
 * List a call's transcripts. Newest first. Transcripts are made after a call, so an empty list right after it is
 * normal.
 */
export const listCallTranscriptions: ListOperation<
  ListCallTranscriptionsInput,
  NumberedPage<Transcription>,
  'app' | 'actor'
> = {
  method: 'GET',
  path: '/v3/calls/{sessionId}/transcriptions',
  pages: 'numbered',
}

export interface ExplainCallInput {
  /** Unique id of the call; treat it as opaque */
  sessionId: string
}

/** Explain a call. The facts in the call’s ledger, and how each number of its record follows from them. */
export const explainCall: Operation<ExplainCallInput, CallExplanation, 'app' | 'actor'> = {
  method: 'GET',
  path: '/v3/calls/{sessionId}/explain',
}

export interface CreateCallInput {
  /** UID or GUID */
  receiver: string
  receiverType: 'user' | 'group'
  type: 'audio' | 'video'
  /** Free data; it comes back as `data.metadata` of the call messages */
  metadata?: Record<string, unknown>
  /** For how many seconds it rings; 45 unless the install is set otherwise */
  timeout?: number
}

/**
 * Place a call. Rings a user, or the members of a group, until somebody accepts, everybody refuses, the caller
 * gives up or the time is over. The answer, and what everybody concerned is told live, is the call message in
 * their conversation; the session id is `data.entities.on.entity.sessionid`.
 */
export const createCall: Operation<CreateCallInput, Message, 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/calls',
}

export interface UpdateCallInput {
  /** Which session is meant */
  sessionId: string
  /** `ongoing` accepts or joins; `rejected` and `busy` refuse; `cancelled` takes back; `ended` hangs up */
  status: string
  /** Taken from clients that send it; the moment counts at which Parley hears of it */
  joinedAt?: number
}

/**
 * Accept, refuse, take back or end a call. Accepting is joining: minutes run from then on, and the device must
 * be heard of within the lease. Where two talk, `ended` ends the call for both; from a call of a group it takes
 * only the acting user.
 */
export const updateCall: Operation<UpdateCallInput, Message, 'actor' | 'client'> = {
  method: 'PUT',
  path: '/v3/calls/{sessionId}',
}

export interface CreateCallTokenInput {
  /** Which session is meant */
  sessionId: string
}

/**
 * Get a call token. For whoever was rung, the caller, and members of the group. A device joins the session of
 * the call with it.
 */
export const createCallToken: Operation<CreateCallTokenInput, CallToken, 'actor' | 'client'> = {
  method: 'POST',
  path: '/v3/calls/{sessionId}/token',
}

export interface PlayCallScriptInput {
  /** A user's unique id */
  initiator: string
  /** A user's unique id */
  receiver: string
  /** Whom the call is addressed to */
  receiverType?: 'user' | 'group'
  /** What the call was placed as */
  type?: 'audio' | 'video'
  /** `call` rings; `meet` and `presenter` are joined */
  mode?: 'call' | 'meet' | 'presenter'
  /** Members of the group who are rung */
  invited?: string[]
  /** When the call is placed, in UNIX seconds; so that the last step is now, if absent */
  startAt?: number
  tags?: string[]
  metaData?: Record<string, unknown>
  steps: {
    /** Seconds after the call was placed */
    after: number
    /** `vanish` is a device that is not heard of any more */
    do:
      | 'ring'
      | 'join'
      | 'cameraOn'
      | 'cameraOff'
      | 'leave'
      | 'vanish'
      | 'reject'
      | 'cancel'
      | 'end'
      | 'startRecording'
      | 'stopRecording'
      | 'transcribe'
    /** A user's unique id */
    uid?: string
    /** The device */
    deviceId?: string
    /** Joins with the camera on or off; the call’s type decides if absent */
    camera?: boolean
    /** Rejects because the user is in another call */
    busy?: boolean
    /** The recording; made up if absent */
    rid?: string
    /** Address of the recording or transcript; made up if absent */
    url?: string
  }[]
}

/**
 * Play a scripted call. Takes the steps of a call through the same rules as a real one and answers its record.
 * Users and groups that it names are created if they do not exist. Whoever has not left at the last step is not
 * heard of after it: once a lease has passed, the call ends with that moment.
 */
export const playCallScript: Operation<PlayCallScriptInput, Call, 'app'> = {
  method: 'POST',
  path: '/_emulator/calls/script',
}

export type ReadClockAnswer = {
  /** What the server takes for the present, in UNIX seconds */
  now: number
  /** How far it is ahead of real time */
  offsetSeconds: number
}

/** Read the clock. */
export const readClock: Operation<Nothing, ReadClockAnswer, 'app'> = {
  method: 'GET',
  path: '/_emulator/clock',
}

export interface SetClockInput {
  /** The new present, in UNIX seconds */
  now?: number
  /** Seconds to go forward */
  advance?: number
}

export type SetClockAnswer = {
  /** What the server takes for the present, in UNIX seconds */
  now: number
  /** How far it is ahead of real time */
  offsetSeconds: number
}

/**
 * Set or advance the clock. Whatever falls due by the new time has happened when this answers, unless it takes
 * longer than a few seconds. The clock is the whole install’s.
 */
export const setClock: Operation<SetClockInput, SetClockAnswer, 'app'> = {
  method: 'PUT',
  path: '/_emulator/clock',
}

export type ResetClockAnswer = {
  /** What the server takes for the present, in UNIX seconds */
  now: number
  /** How far it is ahead of real time */
  offsetSeconds: number
}

/** Return to real time. */
export const resetClock: Operation<Nothing, ResetClockAnswer, 'app'> = {
  method: 'DELETE',
  path: '/_emulator/clock',
}
