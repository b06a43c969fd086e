import { area } from '../../kit/area.ts'
import { audit } from './audit.ts'
import { apiKeyCreated, apiKeyDeleted, apiKeyUpdated } from './events.ts'
import { operations } from './operations.ts'
import { migrations } from './tables.ts'

export { addKey, findKey, keysOf, removeKey, toApiKey } from './store.ts'
export type { ApiKeyRow } from './tables.ts'

export const apiKeys = area({
  name: 'api-keys',
  about: 'Credentials of server-side callers: create, rotate, revoke.',
  operations,
  events: [apiKeyCreated, apiKeyUpdated, apiKeyDeleted],
  migrations,
  tables: ['api_keys'],
  audit,
})
