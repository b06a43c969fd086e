import { area } from '../../kit/area.ts'
import { issueFirstToken } from '../users/index.ts'
import { authTokenCreated, authTokenDeleted, authTokensFlushed, authTokenUpdated } from './events.ts'
import { removeTokensOfDeleted } from './followers.ts'
import { operations } from './operations.ts'
import { firstToken } from './store.ts'
import { migrations } from './tables.ts'

export { findTokenHolder, type TokenHolder } from './store.ts'

export const authTokens = area({
  name: 'auth-tokens',
  about: 'Credentials with which the clients of end users come in; never for server-side callers.',
  operations,
  events: [authTokenCreated, authTokenUpdated, authTokenDeleted, authTokensFlushed],
  migrations,
  tables: ['auth_tokens'],
  followers: [removeTokensOfDeleted],
  answers: [issueFirstToken.answeredBy(firstToken)],
})
