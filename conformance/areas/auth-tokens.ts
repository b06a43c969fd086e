import {
  type CheckedArea,
  check,
  data,
  done,
  equal,
  failure,
  holds,
  isSeconds,
  refusals,
  type Server,
  success,
} from '../check.ts'
import { below, belowDeactivated, makeUser, makeUsers } from '../people.ts'

const tokensOf = (uid: string) => `/users/${uid}/auth_tokens`
const force = { force: true }
const unknownToken = 'nobody_1767225600a41be07c93d2586f10c7be2894d3f6'

/** A user with a token; answers both. */
async function withToken(server: Server) {
  const { uid } = await makeUser(server)
  const token = data(await server.api.post(tokensOf(uid), force))
  return { uid, token, path: `${tokensOf(uid)}/${token.authToken}` }
}

const clientWith = ({ connection, url }: Server, authToken: string) => connection.caller(url, { authToken })

const badDetails: [string, object, string][] = [
  ['a platform of 101 characters', { platform: 'x'.repeat(101) }, 'platform'],
  ['a user agent of 1,001 characters', { userAgent: 'x'.repeat(1_001) }, 'userAgent'],
  ['appInfo that is a list', { appInfo: [1] }, 'appInfo'],
  ['appInfo of more than 5 KB', { appInfo: { text: 'x'.repeat(5_200) } }, 'appInfo'],
]

export const authTokens: CheckedArea = {
  name: 'auth-tokens',
  title: 'Auth tokens',
  contract: '03',
  checks: [
    check('2 Token record', 'a token is <uid>_<ten digits><30 hexadecimal characters>', async (server) => {
      const { uid, token } = await withToken(server)
      holds(/^\d{10}[0-9a-f]{30}$/.test(token.authToken.slice(uid.length + 1)), 'digits and hexadecimal characters')
      holds(token.authToken.startsWith(`${uid}_`), 'the UID in front')
      equal(token.uid, uid, '`uid`')
      holds(isSeconds(token.createdAt), '`createdAt` is in UNIX seconds')
    }),
    check('3 Create', 'answers the newest token again, and a new one with force', async (server) => {
      const { uid } = await makeUser(server)
      const first = data(await server.api.post(tokensOf(uid)))
      equal(data(await server.api.post(tokensOf(uid), {})).authToken, first.authToken, 'the token of a plain call')
      const forced = data(await server.api.post(tokensOf(uid), force))
      holds(forced.authToken !== first.authToken, 'another token with force')
    }),
    check('3 Create', 'an authOnly key may create tokens', async (server) => {
      const { uid } = await makeUser(server)
      equal(data(await server.auth.post(tokensOf(uid))).uid, uid, '`uid`')
    }),
    check('3 Create', 'the 101st token ends the oldest', async (server) => {
      const { uid, token } = await withToken(server)
      for (let made = 1; made <= 100; made += 1) data(await server.api.post(tokensOf(uid), force))
      const { meta } = success(await server.api.get(`${tokensOf(uid)}?perPage=1`))
      equal(meta.pagination.total, 100, '`total`')
      failure(await server.api.get(`${tokensOf(uid)}/${token.authToken}`), 404, 'ERR_AUTH_TOKEN_NOT_FOUND')
    }),
    ...refusals('3 Create', [
      {
        expects: 'force that is no boolean',
        method: 'POST',
        path: below('/auth_tokens'),
        body: { force: 'perhaps' },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'force',
      },
      {
        expects: 'an unknown user',
        method: 'POST',
        path: tokensOf('conf-nobody'),
        status: 404,
        code: 'ERR_UID_NOT_FOUND',
      },
      {
        expects: 'a deactivated user',
        method: 'POST',
        path: belowDeactivated('/auth_tokens'),
        status: 404,
        code: 'ERR_UID_NOT_FOUND',
      },
    ]),
    check('4 List', 'shows every token in full, newest first, page by page', async (server) => {
      const { uid } = await makeUser(server)
      equal(data(await server.api.get(tokensOf(uid))), [], 'tokens of a new user')
      for (let made = 0; made < 3; made += 1) data(await server.api.post(tokensOf(uid), force))
      const { data: list, meta } = success(await server.api.get(tokensOf(uid)))
      equal([list.length, meta.pagination.total, meta.pagination.per_page], [3, 3, 100], 'count, total and per_page')
      equal(Object.keys(meta), ['pagination'], 'what `meta` has')
      const times = list.map(({ createdAt }: { createdAt: number }) => createdAt)
      equal(
        times,
        times.toSorted((a: number, b: number) => b - a),
        'the order of `createdAt`',
      )
      equal(data(await server.api.get(`${tokensOf(uid)}?perPage=1&page=2`))[0].authToken, list[1].authToken, 'page 2')
    }),
    check('4 List', 'a token made later stands before the earlier ones', async (server) => {
      const { uid } = await makeUser(server)
      const made: string[] = []
      while (made.length < 3) {
        if (made.length > 0) await server.nextSecond()
        made.unshift(data(await server.api.post(tokensOf(uid), force)).authToken)
      }
      const list = data(await server.api.get(tokensOf(uid)))
      equal(
        list.map(({ authToken }: { authToken: string }) => authToken),
        made,
        'the tokens, the last one made first',
      )
    }),
    check('5 Get', 'answers the token, with the UID in any letter case', async (server) => {
      const { uid, token } = await withToken(server)
      equal(data(await server.api.get(`${tokensOf(uid.toUpperCase())}/${token.authToken}`)), token, 'the token')
    }),
    check('6 Update', 'stores device details and shows them', async (server) => {
      const { path } = await withToken(server)
      const details = { platform: 'web', userAgent: 'Browser/1', appInfo: { version: '1.2' } }
      const { platform, userAgent, appInfo } = data(await server.api.put(path, details))
      equal({ platform, userAgent, appInfo }, details, 'the details')
      const kept = data(await server.api.put(path, { platform: 'ios' }))
      equal([kept.platform, kept.userAgent], ['ios', 'Browser/1'], 'platform and userAgent after a partial update')
    }),
    check('6 Update', 'without any property, or without a body, the token stays as it is', async (server) => {
      const { path } = await withToken(server)
      const token = data(await server.api.put(path, { platform: 'web' }))
      equal(data(await server.api.put(path, {})), token, 'the token after an empty body')
      equal(data(await server.api.send('PUT', path)), token, 'the token after none')
    }),
    ...refusals(
      '6 Update',
      badDetails.map(([expects, body, field]) => ({
        expects,
        method: 'PUT',
        path: async (server) => (await withToken(server)).path,
        body,
        field,
        status: 400,
        code: 'ERR_BAD_REQUEST',
      })),
    ),
    check('7 Delete', 'a deleted token is refused at the client door and unknown from then on', async (server) => {
      const { uid, token, path } = await withToken(server)
      data(await clientWith(server, token.authToken).get(`/users/${uid}`))
      done(await server.api.delete(path))
      const answer = await clientWith(server, token.authToken).get(`/users/${uid}`)
      failure(answer, 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      failure(await server.api.delete(path), 404, 'ERR_AUTH_TOKEN_NOT_FOUND')
    }),
    check('7 Flush', 'deletes all tokens; nothing to delete is a success', async (server) => {
      const { uid, token } = await withToken(server)
      done(await server.api.delete(tokensOf(uid)))
      done(await server.api.delete(tokensOf(uid)))
      equal(data(await server.api.get(tokensOf(uid))), [], 'the tokens')
      failure(await clientWith(server, token.authToken).get('/users'), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    }),
    check('8 Edge cases', 'a token of another user: 403 ERR_AUTHTOKEN_NOT_ACCESSIBLE', async (server) => {
      const { token } = await withToken(server)
      const [other = ''] = await makeUsers(server, 1)
      const path = `${tokensOf(other)}/${token.authToken}`
      failure(await server.api.get(path), 403, 'ERR_AUTHTOKEN_NOT_ACCESSIBLE')
      failure(await server.api.put(path, {}), 403, 'ERR_AUTHTOKEN_NOT_ACCESSIBLE')
      failure(await server.api.delete(path), 403, 'ERR_AUTHTOKEN_NOT_ACCESSIBLE')
    }),
    check('8 Edge cases', 'tokens of a deactivated user sleep and wake up with them', async (server) => {
      const { uid, token } = await withToken(server)
      const client = clientWith(server, token.authToken)
      data(await server.api.delete(`/users/${uid}`))
      failure(await client.get(`/users/${uid}`), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      data(await server.api.put('/users', { uidsToActivate: [uid] }))
      equal(data(await client.get(`/users/${uid}`)).uid, uid, '`uid` after reactivation')
    }),
    check('8 Edge cases', 'tokens of a deleted user are gone, also for the next user of that UID', async (server) => {
      const { uid, token } = await withToken(server)
      data(await server.api.delete(`/users/${uid}`, { permanent: true }))
      data(await server.api.post('/users', { uid, name: 'Another' }))
      failure(await clientWith(server, token.authToken).get('/users'), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      equal(data(await server.api.get(tokensOf(uid))), [], 'tokens of the next user')
    }),
    check(
      '8 Edge cases',
      'the client door opens nothing that is the back end’s: 403 AUTH_ERR_NO_ACCESS',
      async (server) => {
        const { uid, token } = await withToken(server)
        const client = clientWith(server, token.authToken)
        failure(await client.get('/apikeys'), 403, 'AUTH_ERR_NO_ACCESS')
        failure(await client.post('/users', { uid: 'x', name: 'x' }), 403, 'AUTH_ERR_NO_ACCESS')
        failure(await client.get(tokensOf(uid)), 403, 'AUTH_ERR_NO_ACCESS')
        failure(await client.delete(`/users/${uid}`), 403, 'AUTH_ERR_NO_ACCESS')
      },
    ),
    check('8 Edge cases', 'where apikey and authToken are both sent, apikey decides', async (server) => {
      const { token } = await withToken(server)
      data(await server.api.get('/apikeys?perPage=1', { authToken: token.authToken }))
      const { connection, url } = server
      const wrong = connection.caller(url, { apikey: '0'.repeat(40), authToken: token.authToken })
      failure(await wrong.get('/users'), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
    }),
    ...refusals(
      '9 Errors',
      (['GET', 'PUT', 'DELETE'] as const).flatMap((method) => [
        {
          expects: `${method} of an unknown token`,
          method,
          path: below(`/auth_tokens/${unknownToken}`),
          body: {},
          status: 404,
          code: 'ERR_AUTH_TOKEN_NOT_FOUND',
        },
        {
          expects: `${method} of a token of an unknown user`,
          method,
          path: `${tokensOf('conf-nobody')}/${unknownToken}`,
          body: {},
          status: 404,
          code: 'ERR_UID_NOT_FOUND',
        },
      ]),
    ),
    ...(['GET', 'DELETE'] as const).map((method) =>
      check('9 Errors', `an authOnly key may not ${method} tokens: 403 AUTH_ERR_NO_ACCESS`, async ({ auth }) => {
        failure(await auth.send(method, tokensOf('x')), 403, 'AUTH_ERR_NO_ACCESS')
      }),
    ),
  ],
}
