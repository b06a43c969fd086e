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
  says,
  success,
} from '../check.ts'

const apiKeyForm = /^[0-9a-f]{40}$/
const unknownKey = '0'.repeat(40)

/** A key of the suite's own, gone after the check. */
export async function makeKey(server: Server, scope?: 'fullAccess' | 'authOnly') {
  const key = data(await server.api.post('/apikeys', { name: server.fresh('key'), ...(scope && { scope }) }))
  server.afterwards(() => server.api.delete(`/apikeys/${key.apiKey}`))
  return key
}

const keysMax = 25

const pathOfOwnKey = async (server: Server) => `/apikeys/${(await makeKey(server)).apiKey}`

export const apiKeys: CheckedArea = {
  name: 'api-keys',
  title: 'API keys',
  contract: '04',
  checks: [
    check(
      '2 Key record',
      'a key has 40 hexadecimal characters, a name, a scope and its creation time',
      async (server) => {
        const key = await makeKey(server, 'fullAccess')
        holds(apiKeyForm.test(key.apiKey), '`apiKey` is 40 lowercase hexadecimal characters')
        equal(key.scope, 'fullAccess', '`scope`')
        holds(typeof key.name === 'string', '`name` is a string')
        holds(isSeconds(key.createdAt), '`createdAt` is in UNIX seconds')
        equal('createdBy' in key, false, 'whether `createdBy` is shown')
      },
    ),
    check('3 Create', 'without a scope the key is an authOnly one', async (server) => {
      equal((await makeKey(server)).scope, 'authOnly', '`scope`')
    }),
    check('3 Create', 'a name that is taken is refused: 400 ERR_BAD_REQUEST, details.name', async (server) => {
      const { name } = await makeKey(server)
      const answer = await server.api.post('/apikeys', { name })
      failure(answer, 400, 'ERR_BAD_REQUEST', 'name')
      says(answer.body.error, 'already exists')
    }),
    ...refusals('3 Create', [
      {
        expects: 'a missing name',
        method: 'POST',
        path: '/apikeys',
        body: {},
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'name',
      },
      {
        expects: 'a blank name',
        method: 'POST',
        path: '/apikeys',
        body: { name: '  ' },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'name',
      },
      {
        expects: 'a name of 101 characters',
        method: 'POST',
        path: '/apikeys',
        body: { name: 'x'.repeat(101) },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'name',
      },
      {
        expects: 'an unknown scope',
        method: 'POST',
        path: '/apikeys',
        body: { name: 'conf-x', scope: 'half' },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'scope',
      },
      {
        expects: 'a blank scope',
        method: 'POST',
        path: '/apikeys',
        body: { name: 'conf-x', scope: '' },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'scope',
      },
    ]),
    check('3 Create', 'a new key opens the door that its scope says', async (server) => {
      const { apiKey } = await makeKey(server, 'fullAccess')
      data(await server.connection.caller(server.url, { apikey: apiKey }).get('/apikeys?perPage=1'))
      const narrow = await makeKey(server, 'authOnly')
      const answer = await server.connection.caller(server.url, { apikey: narrow.apiKey }).get('/apikeys')
      failure(answer, 403, 'AUTH_ERR_NO_ACCESS')
    }),
    check('4 List', 'newest keys come first, in full', async (server) => {
      const key = await makeKey(server)
      const list = data(await server.api.get('/apikeys'))
      holds(
        list.some(({ apiKey }: { apiKey: string }) => apiKey === key.apiKey),
        'the new key is listed in full',
      )
      const times = list.map(({ createdAt }: { createdAt: number }) => createdAt)
      equal(
        times,
        times.toSorted((a: number, b: number) => b - a),
        'the order of `createdAt`',
      )
    }),
    check('4 List', 'searchKey finds a part of the name in any letter case', async (server) => {
      const key = await makeKey(server)
      const part = key.name.slice(2, -1).toUpperCase()
      const list = data(await server.api.get(`/apikeys?searchKey=${part}`))
      equal(
        list.map(({ apiKey }: { apiKey: string }) => apiKey),
        [key.apiKey],
        'the keys found',
      )
    }),
    check('4 List', 'searchKey takes % and _ literally', async ({ api }) => {
      equal(data(await api.get('/apikeys?searchKey=%25')), [], 'keys with a percent sign in the name')
    }),
    check('4 List', 'scope keeps only keys of that scope; an unknown scope keeps none', async (server) => {
      await makeKey(server, 'authOnly')
      const list = data(await server.api.get('/apikeys?scope=authOnly'))
      holds(list.length > 0 && list.every(({ scope }: { scope: string }) => scope === 'authOnly'), 'only authOnly keys')
      equal(data(await server.api.get('/apikeys?scope=half')), [], 'keys of an unknown scope')
    }),
    check('5 Get', 'a key can be read, also by itself', async ({ api, apiKey }) => {
      equal(data(await api.get(`/apikeys/${apiKey}`)).apiKey, apiKey, '`apiKey`')
    }),
    check('5 Update', 'a name alone or a scope alone is enough, the key stays, updatedAt appears', async (server) => {
      const key = await makeKey(server)
      equal('updatedAt' in key, false, 'whether a new key has `updatedAt`')
      const name = server.fresh('renamed')
      const renamed = data(await server.api.put(`/apikeys/${key.apiKey}`, { name }))
      equal([renamed.apiKey, renamed.name, renamed.scope], [key.apiKey, name, 'authOnly'], 'the renamed key')
      holds(isSeconds(renamed.updatedAt), '`updatedAt` is in UNIX seconds')
      const wider = data(await server.api.put(`/apikeys/${key.apiKey}`, { scope: 'fullAccess' }))
      equal([wider.name, wider.scope], [name, 'fullAccess'], 'the re-scoped key')
    }),
    check('5 Update', 'an empty body changes nothing', async (server) => {
      const key = await makeKey(server)
      equal(data(await server.api.put(`/apikeys/${key.apiKey}`, {})), key, 'the key')
    }),
    ...refusals('5 Update', [
      {
        expects: 'a blank name',
        method: 'PUT',
        path: pathOfOwnKey,
        body: { name: ' ' },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'name',
      },
      {
        expects: 'a blank scope',
        method: 'PUT',
        path: pathOfOwnKey,
        body: { scope: '' },
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: 'scope',
      },
      { expects: 'reading an unknown key', path: `/apikeys/${unknownKey}`, status: 404, code: 'ERR_APIKEY_NOT_FOUND' },
      {
        expects: 'changing an unknown key',
        method: 'PUT',
        path: `/apikeys/${unknownKey}`,
        body: { name: 'x' },
        status: 404,
        code: 'ERR_APIKEY_NOT_FOUND',
      },
      {
        expects: 'deleting an unknown key',
        method: 'DELETE',
        path: `/apikeys/${unknownKey}`,
        status: 404,
        code: 'ERR_APIKEY_NOT_FOUND',
      },
      {
        expects: 'a key changing itself',
        method: 'PUT',
        path: async ({ apiKey }) => `/apikeys/${apiKey}`,
        body: { name: 'x' },
        status: 403,
        code: 'ERR_APIKEY_NO_SELF_ACTION',
      },
      {
        expects: 'a key deleting itself',
        method: 'DELETE',
        path: async ({ apiKey }) => `/apikeys/${apiKey}`,
        status: 403,
        code: 'ERR_APIKEY_NO_SELF_ACTION',
      },
    ]),
    check('5 Delete', 'a deleted key is refused at once, and a second delete answers 404', async (server) => {
      const { apiKey } = await makeKey(server, 'fullAccess')
      done(await server.api.delete(`/apikeys/${apiKey}`))
      const answer = await server.connection.caller(server.url, { apikey: apiKey }).get('/apikeys')
      failure(answer, 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
      failure(await server.api.delete(`/apikeys/${apiKey}`), 404, 'ERR_APIKEY_NOT_FOUND')
    }),
    check('7 Errors', 'more than 25 keys: 402 ERR_PLAN_QUOTA_RESTRICTION', async (server) => {
      const { total } = success(await server.api.get('/apikeys?perPage=1')).meta.pagination
      for (let there = total; there < keysMax; there += 1) await makeKey(server)
      const answer = await server.api.post('/apikeys', { name: server.fresh('key') })
      server.afterwards(() => server.api.delete(`/apikeys/${answer.body?.data?.apiKey}`))
      failure(answer, 402, 'ERR_PLAN_QUOTA_RESTRICTION')
    }),
  ],
}
