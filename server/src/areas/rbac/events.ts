import { appChannel } from '../../kit/channel.ts'
import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'
import { PermissionValues } from './schemas.ts'

export const rolePermissionsChanged = defineEvent({
  name: 'role.permissionsChanged',
  payload: Type.Object({ role: Type.String({ description: 'The role' }), permissions: PermissionValues }),
  audience: () => [],
  changesSightOf: () => [appChannel],
})
