import {
  type Check,
  type CheckedArea,
  check,
  data,
  equal,
  errorForm,
  failure,
  holds,
  isSeconds,
  NotSeen,
  refusals,
  success,
} from '../check.ts'
import type { Answer } from '../client.ts'
import { makeKey } from './api-keys.ts'

const bodyBytesMax = 10_240

/** Operations of the chat address that an authOnly key must be refused. */
const closedToAuthKeys: [string, string][] = [
  ['GET', '/apikeys'],
  ['POST', '/apikeys'],
  ['GET', '/calls'],
]

const addresses: Check[] = [
  check('1 Base addresses', 'an unknown app in the host name: 401 AUTH_ERR_INVALID_APPID', async (server) => {
    const url = new URL(server.url)
    const [label = '', ...rest] = url.hostname.split('.')
    if (!/^(api|call)-/.test(rest[0] ?? '')) throw new NotSeen('the address does not name an app')
    url.hostname = [`x${label.slice(1, -1)}x`, ...rest].join('.')
    const answer = await server.connection.send('GET', `${url.href}/apikeys`, { headers: { apikey: server.apiKey } })
    failure(answer, 401, 'AUTH_ERR_INVALID_APPID')
  }),
  check('1 Base addresses', 'the chat address serves calls too', async ({ api }) => {
    data(await api.get('/calls?perPage=1'))
  }),
  check('1 Base addresses', 'plain HTTP is never served nor redirected', async ({ connection, url, apiKey }) => {
    const plain = new URL(`${url}/apikeys`)
    if (plain.protocol !== 'https:') throw new NotSeen('the server is tested over plain HTTP')
    const port = plain.port || '443'
    plain.protocol = 'http:'
    plain.port = port
    const answer = await connection.send('GET', plain.href, { headers: { apikey: apiKey } }).catch(() => undefined)
    holds(answer === undefined || answer.status >= 400, 'a refusal, or no answer at all')
  }),
]

const authentication: Check[] = [
  check('2 Headers', 'the name of the header may be in any letter case', async ({ connection, url, apiKey }) => {
    for (const name of ['apikey', 'apiKey', 'APIKEY', 'ApiKey']) {
      data(await connection.caller(url, { [name]: apiKey }).get('/apikeys?perPage=1'))
    }
  }),
  check('3 Authentication', 'no key, or a blank one: 401 AUTH_ERR_EMPTY_APIKEY', async ({ connection, url }) => {
    failure(await connection.caller(url, {}).get('/apikeys'), 401, 'AUTH_ERR_EMPTY_APIKEY')
    failure(await connection.caller(url, { apikey: ' ' }).get('/apikeys'), 401, 'AUTH_ERR_EMPTY_APIKEY')
  }),
  check('3 Authentication', 'a key that is none: 401 AUTH_ERR_APIKEY_NOT_FOUND', async ({ connection, url }) => {
    const answer = await connection.caller(url, { apikey: '0'.repeat(40) }).get('/apikeys')
    failure(answer, 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
  }),
  ...closedToAuthKeys.map(([method, path]) =>
    check('3 Authentication', `an authOnly key may not ${method} ${path}: 403 AUTH_ERR_NO_ACCESS`, async ({ auth }) => {
      failure(await auth.send(method, path), 403, 'AUTH_ERR_NO_ACCESS')
    }),
  ),
  check('3 Check order', 'the key is asked for before the path is known', async ({ connection, url }) => {
    failure(await connection.caller(url, {}).get('/no-such-thing'), 401, 'AUTH_ERR_EMPTY_APIKEY')
  }),
  check('3 Check order', 'the path is looked up before the scope', async ({ auth }) => {
    failure(await auth.get('/no-such-thing'), 404, 'ERR_API_NOT_FOUND')
  }),
  check('3 Check order', 'the scope is tested before the body is read', async ({ auth }) => {
    failure(await auth.send('POST', '/apikeys', { raw: '{' }), 403, 'AUTH_ERR_NO_ACCESS')
  }),
  check('3 Check order', 'what the path names is looked up before the body is validated', async ({ api }) => {
    failure(await api.put(`/apikeys/${'0'.repeat(40)}`, { name: '' }), 404, 'ERR_APIKEY_NOT_FOUND')
  }),
  check('3 onBehalfOf', 'an unknown user: 404 ERR_UID_NOT_FOUND', async ({ calls, fresh }) => {
    failure(await calls.get('/calls', { onBehalfOf: fresh('ghost') }), 404, 'ERR_UID_NOT_FOUND')
  }),
  check('3 onBehalfOf', 'where it is not supported it is ignored', async ({ api, fresh }) => {
    data(await api.get('/apikeys?perPage=1', { onBehalfOf: fresh('ghost') }))
    data(await api.get('/apikeys?perPage=1&onBehalfOf=ghost'))
  }),
]

const bodies: Check[] = [
  check('4 Success bodies', 'a creation answers 200 with the record under `data`', async (server) => {
    holds(isSeconds((await makeKey(server)).createdAt), '`createdAt` is an integer of ten digits')
  }),
  check('4 Success bodies', 'a property without a value is left out, never null', async (server) => {
    const key = await makeKey(server)
    holds(!Object.values(key).includes(null), 'no null')
  }),
  check('4 Success bodies', 'unknown properties of body and query are ignored', async (server) => {
    const answer = await server.api.post('/apikeys?surprise=1', { name: server.fresh('key'), surprise: { deep: 1 } })
    const key = data(answer)
    server.afterwards(() => server.api.delete(`/apikeys/${key.apiKey}`))
    equal('surprise' in key, false, 'whether the unknown property is echoed')
  }),
  check('4 Success bodies', 'DELETE may carry a JSON body', async (server) => {
    const { apiKey } = await makeKey(server)
    data(await server.api.delete(`/apikeys/${apiKey}`, { reason: 'rotation' }))
  }),
  check('4 Success bodies', 'an empty body with a JSON content type is no body', async (server) => {
    const { apiKey } = await makeKey(server)
    const headers = { 'content-type': 'application/json' }
    data(await server.api.send('DELETE', `/apikeys/${apiKey}`, { raw: '', headers }))
  }),
  check('5 Error body', 'every failure has code, message, devMessage and source, and no data', async ({ api }) => {
    errorForm((await api.get('/no-such-thing')).body)
    errorForm((await api.post('/apikeys', {})).body)
  }),
  check('5 Error body', 'every field at fault is named in `details`, with a list', async ({ api }) => {
    const answer = await api.post('/apikeys', { name: ' ', scope: 'half' })
    failure(answer, 400, 'ERR_BAD_REQUEST', 'name')
    failure(answer, 400, 'ERR_BAD_REQUEST', 'scope')
  }),
  check('5 Error body', 'a failure never repeats the key', async ({ connection, url }) => {
    const apikey = 'f00d'.repeat(10)
    const { text } = await connection.caller(url, { apikey }).get('/apikeys')
    holds(!text.includes(apikey), 'the key is not in the answer')
  }),
  ...refusals('6 Error codes', [
    { expects: 'a path that does not exist', path: '/no-such-thing', status: 404, code: 'ERR_API_NOT_FOUND' },
    {
      expects: 'a path without this method',
      method: 'DELETE',
      path: '/apikeys',
      status: 404,
      code: 'ERR_API_NOT_FOUND',
    },
  ]),
  check('6 Error codes', 'a body that is no JSON: 400 ERR_BAD_REQUEST', async ({ api }) => {
    failure(await api.send('POST', '/apikeys', { raw: '{"name": ' }), 400, 'ERR_BAD_REQUEST')
    failure(await api.send('POST', '/apikeys', { raw: '[1]' }), 400, 'ERR_BAD_REQUEST')
  }),
]

const paginationNames = ['total', 'count', 'per_page', 'current_page', 'total_pages']

const pages: Check[] = [
  check('7 Pagination', 'a list tells total, count, per_page, current_page and total_pages', async (server) => {
    await makeKey(server)
    const { data: list, meta } = success(await server.api.get('/apikeys'))
    equal(Object.keys(meta.pagination).toSorted(), paginationNames.toSorted(), 'the names in `meta.pagination`')
    const { total, count, per_page, current_page, total_pages } = meta.pagination
    equal([count, per_page, current_page], [list.length, 100, 1], 'count, per_page and current_page')
    equal(total_pages, Math.max(1, Math.ceil(total / per_page)), '`total_pages`')
  }),
  check('7 Pagination', 'pages of one show every record once, in the order of the whole list', async (server) => {
    await makeKey(server)
    const whole = data(await server.api.get('/apikeys')).map(({ apiKey }: { apiKey: string }) => apiKey)
    const single: string[] = []
    for (const page of whole.keys()) {
      const [record] = data(await server.api.get(`/apikeys?perPage=1&page=${page + 1}`))
      single.push(record?.apiKey)
    }
    equal(single, whole, 'the keys, page by page')
  }),
  check('7 Pagination', 'perPage above 1000 is answered as 1000', async ({ api }) => {
    equal(success(await api.get('/apikeys?perPage=5000')).meta.pagination.per_page, 1000, '`per_page`')
  }),
  check('7 Pagination', 'a page past the end is empty and echoes its number', async ({ api }) => {
    const { data: list, meta } = success(await api.get('/apikeys?page=90000'))
    equal([list, meta.pagination.count, meta.pagination.current_page], [[], 0, 90_000], 'data, count, current_page')
  }),
  check('7 Pagination', 'an empty list has one page', async ({ api }) => {
    const { pagination } = success(await api.get('/apikeys?scope=none-such')).meta
    equal([pagination.total, pagination.total_pages], [0, 1], 'total and total_pages')
  }),
  ...['page', 'perPage'].flatMap((name) =>
    refusals(
      '7 Pagination',
      ['0', '-1', 'two', '1.5'].map((value) => ({
        expects: `${name}=${value}`,
        path: `/apikeys?${name}=${value}`,
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field: name,
      })),
    ),
  ),
  check('7 Query values', 'booleans may be true, True, TRUE, 1 and their opposites', async ({ calls }) => {
    const total = async (value: string) =>
      success(await calls.get(`/calls?hasRecording=${value}&status=ended&perPage=1`)).meta.pagination.total
    const [yes, no] = [await total('true'), await total('false')]
    for (const value of ['True', 'TRUE', '1']) equal(await total(value), yes, `total with ${value}`)
    for (const value of ['False', 'FALSE', '0']) equal(await total(value), no, `total with ${value}`)
  }),
  check('7 Query values', 'another word for a boolean in the list of calls: 400 ERR_BAD_REQUEST', async ({ calls }) => {
    failure(await calls.get('/calls?hasRecording=maybe'), 400, 'ERR_BAD_REQUEST', 'hasRecording')
  }),
]

const limits: Check[] = [
  check('8 Rate limits', 'every authenticated answer tells limit and remainder, under both names', async ({ api }) => {
    const { headers } = await api.get('/apikeys?perPage=1')
    for (const name of ['x-rate-limit', 'x-rate-limit-remaining', 'x-ratelimit-limit', 'x-ratelimit-remaining']) {
      holds(/^\d+$/.test(String(headers[name])), `the header ${name} holds a number`)
    }
    holds(isSeconds(Number(headers['x-ratelimit-reset'])), 'the header x-ratelimit-reset holds UNIX seconds')
  }),
  check('8 Rate limits', 'making a token is of the class of reading; making a user is of another', async (server) => {
    const limitOf = ({ headers }: Answer) => Number(headers['x-ratelimit-limit'])
    const uid = server.fresh('user')
    const made = await server.api.post('/users', { uid, name: 'Conformance' })
    server.afterwards(() => server.api.delete(`/users/${uid}`, { permanent: true }))
    const token = await server.api.post(`/users/${uid}/auth_tokens`)
    const read = await server.api.get('/users?perPage=1')
    for (const answer of [made, token, read]) data(answer)
    equal(limitOf(token), limitOf(read), 'the limit of making a token')
    holds(limitOf(made) < limitOf(read), 'a lower limit for making a user')
  }),
  check('9 Sizes', 'a body of more than 10 KB: 413 ERR_BAD_REQUEST', async ({ api, fresh }) => {
    const body = { name: fresh('key'), padding: 'x'.repeat(bodyBytesMax) }
    failure(await api.post('/apikeys', body), 413, 'ERR_BAD_REQUEST')
  }),
  check('9 Sizes', 'length counts UTF-16 units: 50 emoji fit into 100, 51 do not', async (server) => {
    const fits = data(await server.api.post('/apikeys', { name: '🎈'.repeat(50) }))
    server.afterwards(() => server.api.delete(`/apikeys/${fits.apiKey}`))
    failure(await server.api.post('/apikeys', { name: '🎈'.repeat(51) }), 400, 'ERR_BAD_REQUEST', 'name')
  }),
  check('10 Versioning', '/v3.0 means /v3', async ({ connection, url, apiKey }) => {
    if (!url.endsWith('/v3')) throw new NotSeen('the address does not end with /v3')
    data(await connection.caller(`${url}.0`, { apikey: apiKey }).get('/apikeys?perPage=1'))
  }),
  check('10 Versioning', 'any other version: 400 ERR_INVALID_API_VERSION', async ({ connection, url, apiKey }) => {
    if (!url.endsWith('/v3')) throw new NotSeen('the address does not end with /v3')
    const other = url.replace(/\/v3$/, '/v9')
    failure(await connection.caller(other, { apikey: apiKey }).get('/apikeys'), 400, 'ERR_INVALID_API_VERSION')
  }),
]

export const conventions: CheckedArea = {
  name: 'conventions',
  title: 'Conventions',
  contract: '00',
  checks: [...addresses, ...authentication, ...bodies, ...pages, ...limits],
}
