import { defineEvent } from '../../kit/event.ts'
import { OneOf, Type } from '../../kit/schema.ts'
import { PermissionValues } from '../rbac/schemas.ts'
import { groupChannel } from '../timeline/events.ts'
import { memberScopes } from './catalogue.ts'

export const scopePermissionsChanged = defineEvent({
  name: 'group.permissionsChanged',
  payload: Type.Object({
    guid: Type.String({ description: 'The group' }),
    scope: OneOf(memberScopes, 'Whose permissions'),
    permissions: PermissionValues,
  }),
  audience: () => [],
  changesSightOf: ({ guid }) => [groupChannel(guid)],
})
