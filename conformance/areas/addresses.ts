import { type Check, type CheckedArea, check, data, equal, failure, holds, NotSeen, type Server } from '../check.ts'
import type { Answer } from '../client.ts'
import { makeUser } from '../people.ts'

/** By which names an app is reached, which headers count, and what a page of another origin may see. */

interface Names {
  appId: string
  /** The chat address under the name that clients of end users have for it. */
  client: string
  /** The chat address under the name of its region alone. */
  region: string
}

/** The other names of the server's chat address; it must be one that names an app. */
function namesOf({ url }: Server): Names {
  const at = new URL(url)
  const [, appId, region] = /^([a-z0-9]+)\.api-([^.]+)\./.exec(at.hostname) ?? []
  if (appId === undefined || region === undefined) throw new NotSeen('the address does not name an app')
  const named = (from: string, to: string) => {
    const other = new URL(url)
    other.hostname = at.hostname.replace(from, to)
    return other.href
  }
  return {
    appId,
    client: named(`${appId}.api-`, `${appId}.apiclient-`),
    region: named(`${appId}.api-`, 'api-'),
  }
}

async function loggedIn(server: Server): Promise<{ uid: string; authToken: string }> {
  const { uid } = await makeUser(server)
  const { authToken } = data(await server.api.post(`/users/${uid}/auth_tokens`))
  return { uid, authToken }
}

const names: Check[] = [
  check(
    '1 Base addresses',
    'clients of end users have a host of their own, and need no appid there',
    async (server) => {
      const { client, appId } = namesOf(server)
      const { uid, authToken } = await loggedIn(server)
      for (const headers of [{}, { appid: appId }]) {
        equal(data(await server.connection.caller(client, { authToken, ...headers }).get('/me')).uid, uid, '`uid`')
      }
    },
  ),
  check('1 Base addresses', 'that host takes an API key too, and asks for one', async (server) => {
    const { client } = namesOf(server)
    data(await server.connection.caller(client, { apikey: server.apiKey }).get('/users?perPage=1'))
    failure(await server.connection.caller(client, {}).get('/users'), 401, 'AUTH_ERR_EMPTY_APIKEY')
    const scoped = await server.connection.caller(client, { apikey: server.authKey }).get('/apikeys')
    failure(scoped, 403, 'AUTH_ERR_NO_ACCESS')
  }),
  check('1 Base addresses', 'on the host of a region the header appid names the app', async (server) => {
    const { region, appId } = namesOf(server)
    const { uid, authToken } = await loggedIn(server)
    equal(data(await server.connection.caller(region, { authToken, appid: appId }).get('/me')).uid, uid, '`uid`')
    data(await server.connection.caller(region, { apikey: server.apiKey, appId }).get('/users?perPage=1'))
  }),
  check('1 Base addresses', 'an appid there that names no app: 401 AUTH_ERR_INVALID_APPID', async (server) => {
    const { region, appId } = namesOf(server)
    for (const appid of ['0', `${appId}, ${appId}`, 'not an id']) {
      const answer = await server.connection.caller(region, { apikey: server.apiKey, appid }).get('/users')
      failure(answer, 401, 'AUTH_ERR_INVALID_APPID')
    }
  }),
  check('1 Base addresses', 'the host names the app, whatever the header appid says', async (server) => {
    const { client } = namesOf(server)
    for (const base of [server.url, client]) {
      data(await server.connection.caller(base, { apikey: server.apiKey, appid: '0' }).get('/users?perPage=1'))
    }
  }),
]

const headers: Check[] = [
  check('2 Headers', 'authToken and appid may be in any letter case', async (server) => {
    const { uid, authToken } = await loggedIn(server)
    for (const name of ['authToken', 'authtoken', 'AUTHTOKEN']) {
      equal(data(await server.connection.caller(server.url, { [name]: authToken }).get('/me')).uid, uid, '`uid`')
    }
  }),
  check('2 Headers', 'what else clients send is ignored, a bearer beside the token included', async (server) => {
    const { uid, authToken } = await loggedIn(server)
    const besides = {
      ...{ dnt: '1', origin: 'https://shop.example', referer: 'https://shop.example/', sdk: 'web@4' },
      ...{ resource: 'WEB-4_0', Authorization: 'Bearer of-something-else' },
    }
    equal(data(await server.connection.caller(server.url, { authToken, ...besides }).get('/me')).uid, uid, '`uid`')
  }),
]

const allowed = ['apikey', 'onbehalfof', 'content-type', 'accept', 'appid', 'key', 'secret', 'authtoken']

function openToPages({ headers: told }: Answer): void {
  equal(told['access-control-allow-origin'], '*', 'the header access-control-allow-origin')
  const methods = String(told['access-control-allow-methods']).split(/, */)
  for (const method of ['OPTIONS', 'HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    holds(methods.includes(method), `access-control-allow-methods names ${method}`)
  }
  const names = String(told['access-control-allow-headers']).toLowerCase().split(/, */)
  for (const name of allowed) holds(names.includes(name), `access-control-allow-headers names ${name}`)
}

const pages: Check[] = [
  check(
    '2 Browsers',
    'pages of any origin may read every answer, failures included',
    async ({ api, connection, url }) => {
      openToPages(await api.get('/users?perPage=1'))
      openToPages(await api.post('/users', {}))
      openToPages(await api.get('/no-such-thing'))
      openToPages(await connection.caller(url, {}).get('/users'))
      openToPages(await api.post('/users', { uid: 'x', name: 'x'.repeat(20_000) }))
    },
  ),
  check('2 Browsers', 'OPTIONS is answered without credentials', async ({ connection, url }) => {
    const asked = { origin: 'https://shop.example', 'access-control-request-method': 'PUT' }
    for (const sending of [{}, { headers: asked }]) {
      const answer = await connection.send('OPTIONS', `${url}/users`, sending)
      holds(answer.status === 200 || answer.status === 204, 'status 200 or 204')
      openToPages(answer)
    }
  }),
]

const sources: Check[] = [
  check('5 Error body', '`source` says chat-api at the chat address and calls-api for calls', async (server) => {
    const sourceOf = ({ body }: Answer) => body?.error?.source
    equal(sourceOf(await server.api.get('/users/no-such-user')), 'chat-api', '`source` of a failure about users')
    equal(sourceOf(await server.api.post('/users', {})), 'chat-api', '`source` of a failed validation')
    equal(sourceOf(await server.calls.get('/calls/no-such-call')), 'calls-api', '`source` of a failure about calls')
  }),
  check(
    '5 Error body',
    '`devMessage` is there whatever has failed, and not empty',
    async ({ api, connection, url }) => {
      const failures = [
        await api.post('/users', {}),
        await api.get('/users/no-such-user'),
        await api.get('/no-such-thing'),
        await connection.caller(url, {}).get('/users'),
      ]
      for (const { body } of failures) holds(Boolean(body?.error?.devMessage?.length), '`error.devMessage` has text')
    },
  ),
]

export const addresses: CheckedArea = {
  name: 'addresses',
  title: 'Addresses and headers',
  contract: '00',
  checks: [...names, ...headers, ...pages, ...sources],
}
