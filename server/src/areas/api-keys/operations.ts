import { pageOf, paginate } from '../../common/page.ts'
import { quotaReached } from '../../common/refusals.ts'
import { Done, done, one } from '../../common/reply.ts'

import { operation } from '../../kit/operation.ts'
import { apiKeyNotFound, noSelfAction } from './errors.ts'
import { ApiKey, ApiKeyCreate, ApiKeyListQuery, ApiKeyUpdate } from './schemas.ts'
import { addKey, changeKey, keyFilters, keysOf, removeKey, requireKey, toApiKey, withValue } from './store.ts'

const createApiKey = operation({
  id: 'createApiKey',
  changesCallers: true,
  route: 'POST /apikeys',
  summary: 'Create an API key',
  description: 'An app has at most 25 keys. Without a `scope` the key is an `authOnly` one.',
  body: ApiKeyCreate,
  reply: one(ApiKey),
  errors: [quotaReached],
  async run(call) {
    const { name, scope = 'authOnly' } = call.body
    const row = await addKey(call, { name, scope, createdBy: 'api' })
    return { data: toApiKey(row, call.tools.secrets) }
  },
})

const listApiKeys = operation({
  id: 'listApiKeys',
  route: 'GET /apikeys',
  summary: 'List API keys',
  query: ApiKeyListQuery,
  reply: pageOf(ApiKey),
  run: ({ db, query, tools }) => paginate(keysOf(db), keyFilters, query, (row) => toApiKey(row, tools.secrets)),
})

const getApiKey = operation({
  id: 'getApiKey',
  route: 'GET /apikeys/{apiKey}',
  summary: 'Get an API key',
  reply: one(ApiKey),
  errors: [apiKeyNotFound],
  find: ({ db, params, tools }) => requireKey(db, tools.secrets, params.apiKey),
  run: async ({ found, params }) => ({ data: withValue(found, params.apiKey) }),
})

const updateApiKey = operation({
  id: 'updateApiKey',
  changesCallers: true,
  route: 'PUT /apikeys/{apiKey}',
  summary: 'Rename or re-scope an API key',
  description: 'The key value never changes. A key cannot change itself.',
  body: ApiKeyUpdate,
  reply: one(ApiKey),
  errors: [apiKeyNotFound, noSelfAction],
  find: ({ db, params, tools }) => requireKey(db, tools.secrets, params.apiKey),
  async run(call) {
    const { found, params, body, caller } = call
    refuseOwnKey(caller, found)
    const isChange = body.name !== undefined || body.scope !== undefined
    const row = isChange ? await changeKey(call, found, body) : found
    return { data: withValue(row, params.apiKey) }
  },
})

const deleteApiKey = operation({
  id: 'deleteApiKey',
  changesCallers: true,
  route: 'DELETE /apikeys/{apiKey}',
  summary: 'Delete an API key',
  description:
    'The key stops working at once on this node and within a second on every other. A key cannot delete itself.',
  reply: Done,
  errors: [apiKeyNotFound, noSelfAction],
  find: ({ db, params, tools }) => requireKey(db, tools.secrets, params.apiKey),
  async run(call) {
    const { found, caller } = call
    refuseOwnKey(caller, found)
    await removeKey(call, found)
    return done(`The API key "${found.name}" is deleted.`)
  },
})

function refuseOwnKey(caller: { kind: string; keyFingerprint?: string }, key: { fingerprint: string }): void {
  if (caller.keyFingerprint === key.fingerprint) throw noSelfAction()
}

export const operations = [createApiKey, listApiKeys, getApiKey, updateApiKey, deleteApiKey]
