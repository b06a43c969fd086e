import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'
import { ApiKeyScope } from './schemas.ts'

// The key itself never enters the log.
const payload = Type.Object({ name: Type.String(), scope: ApiKeyScope })
const audience = () => []

export const apiKeyCreated = defineEvent({ name: 'apiKey.created', payload, audience })
export const apiKeyUpdated = defineEvent({ name: 'apiKey.updated', payload, audience })
export const apiKeyDeleted = defineEvent({ name: 'apiKey.deleted', payload, audience })
