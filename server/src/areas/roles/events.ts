import { appChannel } from '../../kit/channel.ts'
import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'
import { Role } from './schemas.ts'

const payload = Type.Object({ role: Role })
// Roles are the back end's business; no user follows them live, and webhooks have no trigger for them.
const audience = () => []

export const roleCreated = defineEvent({ name: 'role.created', payload, audience })
export const roleUpdated = defineEvent({ name: 'role.updated', payload, audience })
/** Whoever had the role has `default` from now on; `id` is the deleted row's, which no later role will have. */
export const roleDeleted = defineEvent({
  name: 'role.deleted',
  payload: Type.Object({ role: Role, id: Type.String({ description: 'Names this role and no later one' }) }),
  audience,
  changesSightOf: () => [appChannel],
})
