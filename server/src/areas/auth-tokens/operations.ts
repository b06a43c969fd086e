import { pageOf, paginate } from '../../common/page.ts'
import { Done, done, one } from '../../common/reply.ts'
import { operation } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { userNotFound } from '../users/errors.ts'
import { requireActiveUser } from '../users/index.ts'
import { authTokenNotAccessible, authTokenNotFound } from './errors.ts'
import { authTokenDeleted, authTokensFlushed, authTokenUpdated } from './events.ts'
import { AuthToken, AuthTokenCreate, AuthTokenListQuery, AuthTokenUpdate } from './schemas.ts'
import {
  anyToken,
  changeToken,
  issueToken,
  removeToken,
  removeTokensOf,
  requireToken,
  toAuthToken,
  tokensOf,
} from './store.ts'

const ofUser = ({ db, params }: { db: TenantDb; params: { uid: string } }) => requireActiveUser(db, params.uid)
const oneTokenErrors = [userNotFound, authTokenNotFound, authTokenNotAccessible]

const createAuthToken = operation({
  id: 'createAuthToken',
  changesCallers: true,
  route: 'POST /users/{uid}/auth_tokens',
  summary: 'Create an auth token',
  description:
    'Answers the newest token the user has, unless `force` asks for a new one. Tokens do not expire; a user has at most 100, and one more ends the oldest.',
  keys: ['fullAccess', 'authOnly'],
  body: AuthTokenCreate,
  reply: one(AuthToken),
  errors: [userNotFound],
  find: ofUser,
  async run(call) {
    const row = await (call.body.force ? issueToken(call, call.found) : anyToken(call, call.found))
    return { data: toAuthToken(row, call.tools.secrets) }
  },
})

const listAuthTokens = operation({
  id: 'listAuthTokens',
  route: 'GET /users/{uid}/auth_tokens',
  summary: "List a user's auth tokens",
  description: 'Newest first.',
  query: AuthTokenListQuery,
  reply: pageOf(AuthToken),
  errors: [userNotFound],
  find: ofUser,
  run: ({ db, found, query, tools }) =>
    paginate(tokensOf(db, found), {}, query, (row) => toAuthToken(row, tools.secrets)),
})

const flushAuthTokens = operation({
  id: 'flushAuthTokens',
  changesCallers: true,
  route: 'DELETE /users/{uid}/auth_tokens',
  summary: "Delete all of a user's auth tokens",
  description: 'Logs the user out of every device.',
  reply: Done,
  errors: [userNotFound],
  find: ofUser,
  async run({ db, found, emit }) {
    await removeTokensOf(db, found.id)
    await emit(authTokensFlushed, { uid: found.uid })
    return done(`All auth tokens of ${found.uid} are deleted.`)
  },
})

const getAuthToken = operation({
  id: 'getAuthToken',
  route: 'GET /users/{uid}/auth_tokens/{authToken}',
  summary: 'Get an auth token',
  reply: one(AuthToken),
  errors: oneTokenErrors,
  find: async (call) => requireToken(call.db, call.tools.secrets, await ofUser(call), call.params.authToken),
  run: async ({ found, tools }) => ({ data: toAuthToken(found, tools.secrets) }),
})

const updateAuthToken = operation({
  id: 'updateAuthToken',
  route: 'PUT /users/{uid}/auth_tokens/{authToken}',
  summary: 'Note what device a token is on',
  description: 'What is not sent stays as it is; without any of it nothing changes.',
  body: AuthTokenUpdate,
  reply: one(AuthToken),
  errors: oneTokenErrors,
  find: async (call) => requireToken(call.db, call.tools.secrets, await ofUser(call), call.params.authToken),
  async run({ db, found, body, emit, tools }) {
    if (Object.keys(body).length === 0) return { data: toAuthToken(found, tools.secrets) }
    const row = await changeToken(db, found, body)
    await emit(authTokenUpdated, { uid: row.uid, fingerprint: row.fingerprint })
    return { data: toAuthToken(row, tools.secrets) }
  },
})

const deleteAuthToken = operation({
  id: 'deleteAuthToken',
  changesCallers: true,
  route: 'DELETE /users/{uid}/auth_tokens/{authToken}',
  summary: 'Delete an auth token',
  description: 'The token stops working at once on this node and within a second on every other.',
  reply: Done,
  errors: oneTokenErrors,
  find: async (call) => requireToken(call.db, call.tools.secrets, await ofUser(call), call.params.authToken),
  async run({ db, found, emit }) {
    await removeToken(db, found)
    await emit(authTokenDeleted, { uid: found.uid, fingerprint: found.fingerprint })
    return done('The auth token is deleted.')
  },
})

export const operations = [
  createAuthToken,
  listAuthTokens,
  flushAuthTokens,
  getAuthToken,
  updateAuthToken,
  deleteAuthToken,
]
