import { memberScopes } from '../groups/schemas.ts'
import { permissionKit } from '../rbac/index.ts'

export { type MemberScope, memberScopes } from '../groups/schemas.ts'

const { allowOrDeny, someOf } = permissionKit

const scopes = someOf(memberScopes)

/** Everything that the members of a scope can be allowed or denied in their group. */
export const scopeCatalogue = {
  sendMessage: { kind: allowOrDeny, title: 'Send messages', description: 'Whether messages can be sent to the group' },
  sendThreadedMessage: { kind: allowOrDeny, title: 'Reply in threads', description: 'Whether threads can be answered' },
  editMessage: { kind: allowOrDeny, title: 'Edit messages', description: 'Whether messages can be changed' },
  addReaction: { kind: allowOrDeny, title: 'React', description: 'Whether reactions can be added' },
  listReactions: { kind: allowOrDeny, title: 'List reactions', description: 'Whether reactions can be read' },
  'listReactions.allowedScopes': {
    kind: scopes,
    title: 'Scopes of listed reactions',
    description: 'Lists show only reactions by members of these scopes',
  },
  listMembers: { kind: allowOrDeny, title: 'List members', description: 'Whether the list of members can be read' },
  'listMembers.allowedScopes': {
    kind: scopes,
    title: 'Scopes of listed members',
    description: 'The list shows only members of these scopes',
  },
  initiateCall: { kind: allowOrDeny, title: 'Start calls', description: 'Whether the group can be called' },
  'initiateCall.allowedScopes': {
    kind: scopes,
    title: 'Scopes of the called',
    description: 'A call to the group rings only for members of these scopes',
  },
  'initiateCall.allowedType': {
    kind: someOf(['audio', 'video']),
    title: 'Types of calls',
    description: 'The group can be called only with these types of call',
  },
}

export type ScopeValues = permissionKit.ValuesOf<typeof scopeCatalogue>
export type ScopeSwitch =
  | 'sendMessage'
  | 'sendThreadedMessage'
  | 'editMessage'
  | 'addReaction'
  | 'listReactions'
  | 'listMembers'
  | 'initiateCall'
