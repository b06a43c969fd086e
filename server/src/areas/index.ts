import { apiKeys } from './api-keys/index.ts'
import { apps } from './apps/index.ts'
import { authTokens } from './auth-tokens/index.ts'
import { bannedUsers } from './banned-users/index.ts'
import { blockedUsers } from './blocked-users/index.ts'
import { calls } from './calls/index.ts'
import { clientSettings } from './client-settings/index.ts'
import { collaborators } from './collaborators/index.ts'
import { conversations } from './conversations/index.ts'
import { emulator } from './emulator/index.ts'
import { files } from './files/index.ts'
import { friends } from './friends/index.ts'
import { groups } from './groups/index.ts'
import { interactions } from './interactions/index.ts'
import { members } from './members/index.ts'
import { messages } from './messages/index.ts'
import { ownApp } from './own-app/index.ts'
import { pins } from './pins/index.ts'
import { rbac } from './rbac/index.ts'
import { reactions } from './reactions/index.ts'
import { restrictedFeatures } from './restricted-features/index.ts'
import { ringing } from './ringing/index.ts'
import { roles } from './roles/index.ts'
import { scopePermissions } from './scope-permissions/index.ts'
import { threads } from './threads/index.ts'
import { timeline } from './timeline/index.ts'
import { users } from './users/index.ts'

/** Every area of the product, in order: an area may import only areas above it. */
export const areas = [
  apiKeys,
  roles,
  apps,
  collaborators,
  ownApp,
  restrictedFeatures,
  rbac,
  users,
  authTokens,
  friends,
  blockedUsers,
  timeline,
  groups,
  scopePermissions,
  files,
  members,
  bannedUsers,
  messages,
  conversations,
  reactions,
  threads,
  pins,
  interactions,
  clientSettings,
  calls,
  ringing,
  emulator,
]
