import assert from 'node:assert/strict'
import { after, before, describe, it, mock } from 'node:test'
import { listQuery } from '../server/src/common/page.ts'
import { Done, done, one } from '../server/src/common/reply.ts'
import { area } from '../server/src/kit/area.ts'
import { defineError } from '../server/src/kit/errors.ts'
import { operation } from '../server/src/kit/operation.ts'
import { FilledText, OneOf, Type } from '../server/src/kit/schema.ts'
import { databases } from './support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, callerAt, type House, house } from './support/house.ts'
import type { Answer, Sending } from './support/http.ts'
import { sendPlain } from './support/plain-http.ts'

/** An operation that can be refused at every step of the pipeline, and says what it was given. */
const probeNotFound = defineError('ERR_PROBE_NOT_FOUND', 404, 'for this test', () => 'There is no such probe.')
const probeRefused = defineError('ERR_PROBE_REFUSED', 409, 'for this test', () => 'The probe refuses.')

const changeProbe = operation({
  id: 'changeProbe',
  route: 'PUT /probes/{name}',
  summary: 'For this test',
  onBehalfOf: 'optional',
  query: listQuery({}),
  body: Type.Object({ label: FilledText(20) }),
  reply: Done,
  errors: [probeNotFound, probeRefused],
  find: async ({ params }) => {
    if (params.name === 'none') throw probeNotFound()
  },
  run: async ({ body }) => {
    if (body.label === 'refuse') throw probeRefused()
    return done('Changed.')
  },
})

const echoQuery = operation({
  id: 'echoQuery',
  route: 'GET /echo',
  summary: 'For this test',
  query: Type.Object({
    flag: Type.Optional(Type.Boolean()),
    count: Type.Optional(Type.Integer()),
    words: Type.Optional(Type.Array(Type.String())),
    text: Type.Optional(Type.String()),
    kind: Type.Optional(OneOf(['a', 'b'])),
  }),
  reply: one(Type.Object({ query: Type.String(), actor: Type.Optional(Type.String()) })),
  run: async ({ query }) => ({ data: { query: JSON.stringify(query) } }),
})

const whoAmI = operation({
  id: 'whoAmI',
  route: 'GET /who-am-i',
  summary: 'For this test',
  onBehalfOf: 'required',
  reply: one(Type.Object({ uid: Type.String() })),
  run: async ({ actor }) => ({ data: { uid: actor?.uid ?? '' } }),
})

const oldWay = operation({
  id: 'oldWay',
  route: 'GET /old-way',
  summary: 'For this test',
  deprecated: { replacedBy: '/v3/new-way' },
  reply: Done,
  run: async () => done('Still works.'),
})

const undeclared = operation({
  id: 'undeclared',
  route: 'GET /undeclared',
  summary: 'Fails in a way it does not declare',
  reply: Done,
  run: async () => {
    throw probeRefused()
  },
})

const faulty = operation({
  id: 'faulty',
  route: 'GET /faulty',
  summary: 'Fails in a way nobody expects',
  reply: Done,
  run: async () => {
    throw new Error('a detail that is nobody’s business')
  },
})

const probes = area({
  name: 'probes',
  about: 'For this test.',
  operations: [changeProbe, echoQuery, whoAmI, oldWay, undeclared, faulty],
})

const finishedCall = { initiator: 'nora', receiver: 'milo', steps: [{ after: 3, do: 'cancel' }] }

for (const database of databases) {
  describe(`conventions on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database, areas: [probes] })
      app = await h.app('a')
    })
    after(() => h.close())

    const at = (host: string, path: string, sending: Sending = {}) =>
      h.client.send(host, path, { ...sending, headers: { apikey: app.apiKey, ...sending.headers } })

    describe('addresses', () => {
      it('serves every area on the chat host and on the calls host of the app', async () => {
        for (const host of [app.host, app.callsHost]) {
          assertSucceeds(await at(host, '/v3/apikeys'))
          assertSucceeds(await at(host, '/v3/calls'))
        }
      })

      it('reads host names in any letter case, with port and with a final dot', async () => {
        for (const host of [app.host.toUpperCase(), `${app.host}.`]) {
          const headers = { host: `${host}:${h.service.port}`, apikey: app.apiKey }
          assertSucceeds(await h.client.send(app.host, '/v3/apikeys', { headers }))
        }
      })

      it('refuses an unknown app and an app of another region, whatever the key', async () => {
        for (const host of [`${app.id}.api-eu.localhost`, `${app.id}.call-in.localhost`, '0000.api-us.localhost']) {
          assertFails(await at(host, '/v3/apikeys'), 401, 'AUTH_ERR_INVALID_APPID')
          assertFails(await at(host, '/v3/apikeys', { headers: { apikey: '' } }), 401, 'AUTH_ERR_INVALID_APPID')
        }
        // No certificate names these, so they come as a header alone.
        for (const host of [`${app.id}.api-xx.localhost`, 'a-b.api-us.localhost', 'two.labels.call-us.localhost']) {
          assertFails(await at('localhost', '/v3/apikeys', { headers: { host } }), 401, 'AUTH_ERR_INVALID_APPID')
        }
      })

      it('serves the only app on a bare host; with two, the header appid has to choose', async () => {
        const alone = await house({ database })
        const only = await alone.app('only')
        const bare = (headers: Record<string, string>) => alone.client.send('localhost', '/v3/apikeys', { headers })
        assertSucceeds(await bare({ apikey: only.apiKey }))
        const second = await alone.app('second')
        assertFails(await bare({ apikey: only.apiKey }), 401, 'AUTH_ERR_EMPTY_APPID')
        assertFails(await bare({ apikey: only.apiKey, appid: ' ' }), 401, 'AUTH_ERR_EMPTY_APPID')
        assertSucceeds(await bare({ apikey: only.apiKey, appid: only.id }))
        assertSucceeds(await bare({ apikey: second.apiKey, appid: second.id.toUpperCase() }))
        assertFails(await bare({ apikey: only.apiKey, appid: second.id }), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
        assertFails(await bare({ apikey: only.apiKey, appid: 'unknown' }), 401, 'AUTH_ERR_INVALID_APPID')
        assertSucceeds(await alone.management.delete(`/apps/${second.id}`))
        assertSucceeds(await bare({ apikey: only.apiKey }))
        await alone.close()
      })

      it('serves no app on a bare host while there is none', async () => {
        const empty = await house({ database })
        assertFails(await empty.client.send('localhost', '/v3/calls', {}), 401, 'AUTH_ERR_EMPTY_APPID')
        await empty.close()
      })

      it('lets the host name win over the header appid', async () => {
        const other = await h.app('b')
        assertSucceeds(await at(app.host, '/v3/apikeys', { headers: { appid: other.id } }))
        assertSucceeds(await at(app.host, '/v3/apikeys', { headers: { appid: 'unknown' } }))
      })

      it('answers management on its host, with and without /v3, and under /mgmt of any host', async () => {
        const { key, secret } = h.management
        const manage = (host: string, path: string) => h.client.send(host, path, { headers: { key, secret } })
        for (const path of ['/apps', '/v3/apps', '/v3.0/apps', `/apps/${app.id}`, `/v3/apps/${app.id}`, '/mgmt/apps']) {
          assertSucceeds(await manage('apimgmt.localhost', path))
        }
        for (const host of [app.host, app.callsHost, 'localhost']) {
          assertSucceeds(await manage(host, '/mgmt/apps'))
          assertSucceeds(await manage(host, `/mgmt/v3/apps/${app.id}`))
        }
        assertFails(await manage('apimgmt.localhost', '/apikeys'), 404, 'ERR_API_NOT_FOUND')
        assertFails(await manage('apimgmt.localhost', '/v3/calls'), 404, 'ERR_API_NOT_FOUND')
      })

      it('does not serve management on the hosts of apps without /mgmt', async () => {
        assertFails(await at(app.host, '/v3/apps'), 404, 'ERR_API_NOT_FOUND')
        assertFails(await at(app.host, '/mgmt/apps'), 401, 'AUTH_ERR_EMPTY_AUTH_HEADER')
      })

      it('keeps the emulator shut unless it is switched on', async () => {
        const production = await house({ database, environment: { PARLEY_EMULATOR: 'false' } })
        const { host, apiKey } = await production.app('a')
        const headers = { apikey: apiKey }
        assertFails(await production.client.send(host, '/_emulator/clock', { headers }), 404, 'ERR_API_NOT_FOUND')
        assertFails(await production.client.send(host, '/v3/clock', { headers }), 404, 'ERR_API_NOT_FOUND')
        await production.close()
      })
    })

    describe('headers', () => {
      it('are read in any letter case', async () => {
        for (const name of ['apikey', 'apiKey', 'APIKEY', 'ApiKey']) {
          assertSucceeds(await h.client.send(app.host, '/v3/apikeys', { headers: { [name]: app.apiKey } }))
        }
        const { key, secret } = h.management
        assertSucceeds(await h.client.send('apimgmt.localhost', '/apps', { headers: { KEY: key, Secret: secret } }))
        await app.play(finishedCall)
        for (const name of ['onbehalfof', 'ONBEHALFOF', 'OnBehalfOf']) {
          assert.equal(assertSucceeds(await app.get('/who-am-i', { [name]: 'nora' })).data.uid, 'nora')
        }
      })

      it('may not say that a body is compressed', async () => {
        const refused = await app.post('/users', { uid: 'zip', name: 'Zip' }, { 'content-encoding': 'gzip' })
        assertFails(refused, 400, 'ERR_BAD_REQUEST')
        assert.deepEqual(Object.keys(refused.body.error.details), ['content-encoding'])
        assertFails(await app.get('/users/zip'), 404, 'ERR_UID_NOT_FOUND')
        assertSucceeds(await app.post('/users', { uid: 'zip', name: 'Zip' }, { 'content-encoding': 'identity' }))
      })

      it('may say anything about types: Accept is ignored, and a body is JSON whatever its Content-Type', async () => {
        assertSucceeds(await app.get('/apikeys', { Accept: 'text/html' }))
        const raw = '{"label":"x"}'
        assertSucceeds(await app.send('/probes/x', { method: 'PUT', raw, headers: { 'content-type': 'text/plain' } }))
      })
    })

    describe('the check order', () => {
      it('lets the earlier of two faults answer', async () => {
        mock.timers.enable({ apis: ['Date'], now: Date.now() })
        const limited = await house({ database, areas: [probes], environment: { PARLEY_LIMIT_STANDARD: '400' } })
        try {
          await assertOrder(limited)
        } finally {
          await limited.close()
          mock.timers.reset()
        }
      })

      it('holds at the management door: credentials, path, body, record, then fields', async () => {
        const { key, secret } = h.management
        const manage = (method: string, path: string, sending: Sending = {}) =>
          h.client.send('apimgmt.localhost', path, { method, headers: { key, secret }, ...sending })
        assertFails(await manage('POST', '/nothing', { headers: {}, raw: '{' }), 401, 'AUTH_ERR_EMPTY_AUTH_HEADER')
        assertFails(await manage('POST', '/nothing', { raw: '{' }), 404, 'ERR_API_NOT_FOUND')
        assertFails(await manage('DELETE', '/apps/unknown', { raw: '{' }), 400, 'ERR_BAD_REQUEST')
        assertFails(await manage('DELETE', '/apps/unknown?page=0', {}), 404, 'ERR_APP_NOT_FOUND')
      })
    })

    describe('the acting user', () => {
      before(() => app.play(finishedCall))

      it('is found in any letter case', async () => {
        assert.equal(assertSucceeds(await app.get('/who-am-i', { onBehalfOf: 'NORA' })).data.uid, 'nora')
      })

      it('is required where an operation says so', async () => {
        for (const headers of [{}, { onBehalfOf: '  ' }]) {
          const answer = await app.get('/who-am-i', headers)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(Array.isArray(answer.body.error.details.onBehalfOf))
        }
        assertFails(await app.get('/who-am-i', { onBehalfOf: 'nobody' }), 404, 'ERR_UID_NOT_FOUND')
      })

      it('is unknown when of another app, or deactivated', async () => {
        const other = await h.app('c')
        await other.play({ ...finishedCall, initiator: 'zoe' })
        assertFails(await app.get('/who-am-i', { onBehalfOf: 'zoe' }), 404, 'ERR_UID_NOT_FOUND')
        assertSucceeds(await other.get('/who-am-i', { onBehalfOf: 'zoe' }))
        await h.service.house.database.write(({ query }) =>
          query
            .updateTable('users')
            .set({ deactivated_at: 1 })
            .where('users.app_id', '=', other.id)
            .where('users.uid', '=', 'zoe')
            .execute(),
        )
        assertFails(await other.get('/who-am-i', { onBehalfOf: 'zoe' }), 404, 'ERR_UID_NOT_FOUND')
      })
    })

    describe('success bodies', () => {
      it('come with HTTP 200, for creation too', async () => {
        assert.equal((await app.post('/apikeys', { name: 'created' })).status, 200)
        assert.equal((await h.management.post('/apps', { name: 'created' })).status, 200)
      })

      it('are JSON and leave out what has no value', async () => {
        const { sessionId } = await app.play(finishedCall)
        const { key, secret } = h.management
        const manage = callerAt(h.client, 'apimgmt.localhost', '', { key, secret })
        const answers = [
          await app.get('/apikeys'),
          await app.get(`/apikeys/${app.apiKey}`),
          await app.get('/calls'),
          await app.get(`/calls/${sessionId}`),
          await app.get(`/calls/${sessionId}/transcriptions`),
          await app.get(`/calls/${sessionId}/explain`),
          await manage.get('/apps'),
          await manage.get(`/apps/${app.id}`),
          await app.get('/nothing'),
          await app.get('/apikeys?page=0'),
        ]
        for (const { headers, body, text } of answers) {
          assert.equal(headers['content-type'], 'application/json; charset=utf-8')
          assert.equal(headers['content-length'], String(Buffer.byteLength(text)))
          assertNoNull(body)
        }
      })

      it('ignore what callers invent: unknown query parameters and body fields', async () => {
        assertSucceeds(await app.get('/apikeys?invented=1&scope[]=&page='))
        const { data } = assertSucceeds(await app.post('/apikeys', { name: 'inventive', invented: { a: 1 } }))
        assert.equal(data.invented, undefined)
      })
    })

    describe('error bodies', () => {
      it('hold one error with code, message, devMessage and source, and no data', async () => {
        const answer = await app.get('/apikeys/unknown')
        assert.deepEqual(Object.keys(answer.body), ['error'])
        assert.deepEqual(Object.keys(answer.body.error), ['code', 'message', 'devMessage', 'source'])
      })

      it('say which part answered', async () => {
        const { key, secret } = h.management
        const pair = { headers: { key, secret } }
        const sourceOf = async (answer: Promise<Answer>) => (await answer).body.error.source
        assert.equal(await sourceOf(app.get('/apikeys/unknown')), 'chat-api')
        assert.equal(await sourceOf(app.get('/calls/unknown')), 'calls-api')
        assert.equal(await sourceOf(at(app.callsHost, '/v3/calls/unknown')), 'calls-api')
        assert.equal(await sourceOf(at(app.callsHost, '/v3/nothing')), 'calls-api')
        assert.equal(await sourceOf(at(app.host, '/nothing')), 'chat-api')
        assert.equal(await sourceOf(h.client.send('apimgmt.localhost', '/apps/unknown', pair)), 'mgmt-api')
        assert.equal(await sourceOf(h.client.send('apimgmt.localhost', '/apps')), 'mgmt-api')
        assert.equal(await sourceOf(h.client.send(app.host, '/mgmt/apps')), 'mgmt-api')
      })

      it('name every field at fault, with a list of sentences each', async () => {
        const answer = await app.post('/apikeys', { name: '', scope: 'odd' })
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        const { details, devMessage } = answer.body.error
        assert.deepEqual(Object.keys(details).toSorted(), ['name', 'scope'])
        for (const sentences of Object.values(details) as unknown[][]) {
          assert.ok(sentences.length > 0 && sentences.every((sentence) => typeof sentence === 'string'))
        }
        for (const field of ['name', 'scope']) assert.match(devMessage, new RegExp(field))
        const query = await app.get('/apikeys?page=0&perPage=x')
        assert.deepEqual(Object.keys(query.body.error.details).toSorted(), ['page', 'perPage'])
      })

      it('name items of a list by their dotted index', async () => {
        const raw = { initiator: 'nora', receiver: 'milo', tags: ['fine', ' '], steps: [] }
        const answer = await at(app.host, '/_emulator/calls/script', { method: 'POST', body: raw })
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.deepEqual(Object.keys(answer.body.error.details), ['tags.1'])
      })

      it('carry the key of the request in no case', async () => {
        const secret = '1234567890'.repeat(4)
        for (const path of [`/apikeys/${secret}`, `/nothing/${secret}`]) {
          assert.ok(!(await app.get(path)).text.includes(secret))
        }
        assert.ok(!(await app.withKey(secret).get('/apikeys')).text.includes(secret))
        assert.ok(!(await app.get('/calls/unknown')).text.includes(app.apiKey))
      })

      it('tell nothing of a fault of ours but where the log has more', async () => {
        const answer = await app.get('/faulty')
        assertFails(answer, 500, 'ERR_EXCEPTION')
        assert.ok(!answer.text.includes('business'))
        assert.match(answer.body.error.devMessage, new RegExp(String(answer.headers['x-request-id'])))
        assert.equal(answer.body.error.details, undefined)
      })

      it('are declared: an error an operation does not declare is a fault in tests', async () => {
        assertFails(await app.get('/undeclared'), 500, 'ERR_EXCEPTION')
        assertFails(await app.put('/probes/x', { label: 'refuse' }), 409, 'ERR_PROBE_REFUSED')
      })
    })

    describe('pages', () => {
      it('of an empty list say one page of none', async () => {
        const empty = await h.app('empty')
        assert.deepEqual(assertSucceeds(await empty.get('/calls')), {
          data: [],
          meta: { pagination: { total: 0, count: 0, per_page: 100, current_page: 1, total_pages: 1 } },
        })
      })

      it('count the records, the page and the pages', async () => {
        const busy = await h.app('busy')
        for (let n = 0; n < 5; n += 1) await busy.play(finishedCall)
        const pagination = async (query: string) => assertSucceeds(await busy.get(`/calls${query}`)).meta.pagination
        const expected = (count: number, per_page: number, current_page: number, total_pages: number) => ({
          total: 5,
          count,
          per_page,
          current_page,
          total_pages,
        })
        assert.deepEqual(await pagination(''), expected(5, 100, 1, 1))
        assert.deepEqual(await pagination('?perPage=2'), expected(2, 2, 1, 3))
        assert.deepEqual(await pagination('?perPage=2&page=3'), expected(1, 2, 3, 3))
        assert.deepEqual(await pagination('?perPage=5'), expected(5, 5, 1, 1))
        assert.deepEqual(await pagination('?perPage=2&page=9'), expected(0, 2, 9, 3))
        assert.deepEqual(await pagination('?perPage=1001'), expected(5, 1000, 1, 1))
      })
    })

    describe('query values', () => {
      const read = async (search: string) => JSON.parse(assertSucceeds(await app.get(`/echo${search}`)).data.query)

      it('take booleans in every spelling', async () => {
        for (const yes of ['true', 'True', 'TRUE', '1']) assert.deepEqual(await read(`?flag=${yes}`), { flag: true })
        for (const no of ['false', 'False', 'FALSE', '0']) assert.deepEqual(await read(`?flag=${no}`), { flag: false })
      })

      it('take a boolean that is none for not sent; only the list of calls refuses it', async () => {
        for (const odd of ['yes', '2', 'truee', 'null']) {
          assert.deepEqual(await read(`?flag=${odd}`), {})
          const answer = await app.get(`/calls?hasRecording=${odd}`)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(Array.isArray(answer.body.error.details.hasRecording))
        }
      })

      it('take the last of a value that is sent several times', async () => {
        assert.deepEqual(await read('?count=1&count=2&flag=true&flag=false&text=a&text=b&text='), {
          count: 2,
          flag: false,
          text: 'b',
        })
      })

      it('take lists with commas, by repetition and with brackets', async () => {
        for (const search of ['?words=a,b', '?words=a&words=b', '?words[]=a&words[]=b', '?words%5B%5D=a,b']) {
          assert.deepEqual(await read(search), { words: ['a', 'b'] })
        }
        assert.deepEqual(await read('?words[0]=a,b&words%5B1%5D=c'), { words: ['a,b', 'c'] })
      })

      it('take whole numbers only', async () => {
        assert.deepEqual(await read('?count=-3'), { count: -3 })
        assert.deepEqual(await read('?count=007'), { count: 7 })
        for (const odd of ['1.0', '1e2', 'x', '0x1', '9007199254740993', 'Infinity']) {
          const answer = await app.get(`/echo?count=${odd}`)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(Array.isArray(answer.body.error.details.count))
        }
      })

      it('take a blank value for none, and words as they are', async () => {
        assert.deepEqual(await read('?flag=&count=%20&words=&text=&kind='), {})
        assert.deepEqual(await read('?text=a%20b%2Bc+d&kind=unknown'), { text: 'a b+c d', kind: 'unknown' })
      })

      it('refuse text that no database can hold', async () => {
        assertFails(await app.get('/echo?text=%00'), 400, 'ERR_BAD_REQUEST')
      })

      it('make an unknown word match nothing', async () => {
        await app.play(finishedCall)
        for (const filter of ['type=unknown', 'status=Ended', 'mode=', 'mode=x']) {
          const { data } = assertSucceeds(await app.get(`/calls?${filter}`))
          assert.equal(data.length > 0, filter === 'mode=', filter)
        }
      })
    })

    describe('versions and paths', () => {
      it('serve v3, with v3.0 as its alias', async () => {
        assertSucceeds(await at(app.host, '/v3/apikeys'))
        assertSucceeds(await at(app.host, '/v3.0/apikeys'))
        assertSucceeds(await at(app.callsHost, '/v3.0/calls'))
      })

      it('refuse every other version', async () => {
        for (const version of ['v1', 'v2', 'v4', 'v30', 'v3.1', 'v3.0.0']) {
          assertFails(await at(app.host, `/${version}/apikeys`), 400, 'ERR_INVALID_API_VERSION')
        }
      })

      it('answer 404 for unknown paths and for methods a path does not have', async () => {
        for (const path of [
          '/',
          '/v3',
          '/v3/',
          '/v3/nothing',
          '/apikeys',
          '/V3/apikeys',
          '/v3/apikeys/a/b',
          '/v',
          '/version',
        ]) {
          assertFails(await at(app.host, path), 404, 'ERR_API_NOT_FOUND')
        }
        for (const [method, path] of [
          ['DELETE', '/v3/apikeys'],
          ['PATCH', '/v3/apikeys'],
          ['DELETE', '/v3/calls'],
          ['PATCH', '/v3/calls/x'],
        ] as const) {
          assertFails(await at(app.host, path, { method }), 404, 'ERR_API_NOT_FOUND')
        }
      })

      it('do not mind a trailing slash', async () => {
        assertSucceeds(await at(app.host, '/v3/apikeys/'))
        assertSucceeds(await at(app.host, '/v3/calls/?page=1'))
      })

      it('survive paths that are broken or endless', async () => {
        for (const path of [
          '/v3/calls/%zz',
          '/v3/calls/%c3%28',
          '/v3/%',
          `/v3/calls/${'x'.repeat(6_000)}`,
          '//v3//calls',
          '/v3/../v3/calls',
        ]) {
          const answer = await at(app.host, path)
          assert.ok(answer.status === 404 || answer.status === 400, `${path.slice(0, 30)}: ${answer.text}`)
          assert.equal(typeof answer.body.error.code, 'string')
        }
      })

      it('mark deprecated operations and name what replaces them', async () => {
        const answer = await app.get('/old-way')
        assertSucceeds(answer)
        assert.equal(answer.headers.deprecation, 'true')
        assert.equal(answer.headers.link, '</v3/new-way>; rel="successor-version"')
        const current = await app.get('/apikeys')
        assert.deepEqual([current.headers.deprecation, current.headers.link], [undefined, undefined])
        const { body } = await h.client.send(app.host, '/openapi.json')
        assert.equal(body.paths['/v3/old-way'].get.deprecated, true)
        assert.equal(body.paths['/v3/apikeys'].get.deprecated, undefined)
      })
    })
  })
}

function assertNoNull(value: unknown, path = ''): void {
  assert.notEqual(value, null, `${path} is null`)
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) assertNoNull(member, `${path}.${name}`)
}

interface Request {
  plain: boolean
  app: 'a' | 'spent' | 'unknown'
  key: 'full' | 'auth' | 'wrong' | 'none'
  version: string
  resource: string
  name: string
  search: string
  label: string
  raw?: string
  onBehalfOf?: string
}

const faultless: Request = {
  plain: false,
  app: 'a',
  key: 'full',
  version: 'v3',
  resource: 'probes',
  name: 'x',
  search: '',
  label: 'fine',
}

/** The steps of the contract, in order; a step that can fail in several ways has several lines. */
const faults: { step: number; status: number; code: string; fault: Partial<Request> }[] = [
  { step: 1, status: 403, code: 'ERR_BAD_REQUEST', fault: { plain: true } },
  { step: 2, status: 401, code: 'AUTH_ERR_INVALID_APPID', fault: { app: 'unknown' } },
  { step: 3, status: 401, code: 'AUTH_ERR_EMPTY_APIKEY', fault: { key: 'none' } },
  { step: 4, status: 401, code: 'AUTH_ERR_APIKEY_NOT_FOUND', fault: { key: 'wrong' } },
  { step: 5, status: 429, code: 'ERR_TOO_MANY_REQUESTS', fault: { app: 'spent' } },
  { step: 6, status: 400, code: 'ERR_INVALID_API_VERSION', fault: { version: 'v4' } },
  { step: 6, status: 404, code: 'ERR_API_NOT_FOUND', fault: { resource: 'nothings' } },
  { step: 7, status: 403, code: 'AUTH_ERR_NO_ACCESS', fault: { key: 'auth' } },
  { step: 8, status: 413, code: 'ERR_BAD_REQUEST', fault: { raw: ' '.repeat(10_241) } },
  { step: 8, status: 400, code: 'ERR_BAD_REQUEST', fault: { raw: '{' } },
  { step: 9, status: 404, code: 'ERR_UID_NOT_FOUND', fault: { onBehalfOf: 'nobody' } },
  { step: 10, status: 404, code: 'ERR_PROBE_NOT_FOUND', fault: { name: 'none' } },
  { step: 11, status: 400, code: 'ERR_BAD_REQUEST', fault: { search: '?page=0' } },
  { step: 13, status: 409, code: 'ERR_PROBE_REFUSED', fault: { label: 'refuse' } },
]

const spentRequests = 400

async function assertOrder(h: House): Promise<void> {
  const apps = { a: await h.app('a'), spent: await h.app('spent') }
  await Promise.all(Array.from({ length: spentRequests }, () => apps.spent.get('/nothing')))

  const send = (request: Request): Promise<Answer> => {
    const { plain, app, key, version, resource, name, search, label, raw, onBehalfOf } = request
    const { host, apiKey, authKey } = app === 'unknown' ? { ...apps.a, host: '0000.api-us.localhost' } : apps[app]
    const apikey = { full: apiKey, auth: authKey, wrong: 'wrong', none: '' }[key]
    const sending: Sending = {
      method: 'PUT',
      headers: { apikey, ...(onBehalfOf && { onBehalfOf }) },
      ...(raw === undefined ? { body: { label } } : { raw }),
    }
    const path = `/${version}/${resource}/${name}${search}`
    return plain ? sendPlain(h.service.port, host, path, sending) : h.client.send(host, path, sending)
  }

  assertSucceeds(await send(faultless))
  for (const earlier of faults) {
    assertFails(await send({ ...faultless, ...earlier.fault }), earlier.status, earlier.code)
    for (const later of faults.filter(({ step }) => step > earlier.step)) {
      assertFails(await send({ ...faultless, ...later.fault, ...earlier.fault }), earlier.status, earlier.code)
    }
  }
}
