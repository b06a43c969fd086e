import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { areas } from '../server/src/areas/index.ts'
import { Done, done } from '../server/src/common/reply.ts'
import { docsPage } from '../server/src/http/docs-page.ts'
import { errorsOf, openApiDocument } from '../server/src/http/openapi.ts'
import { area } from '../server/src/kit/area.ts'
import { defineError } from '../server/src/kit/errors.ts'
import { defineEvent } from '../server/src/kit/event.ts'
import { operation } from '../server/src/kit/operation.ts'
import { OneOf, Type } from '../server/src/kit/schema.ts'
import { assertFails, type House, house } from './support/house.ts'

const hostile = '</style></code><script>alert("x")</script> & \'more\''
const escapedHostile = '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;more&#39;'

const shady = operation({
  id: 'shadyOperation',
  route: 'POST /shady',
  summary: `Summary ${hostile}`,
  description: `Description ${hostile}`,
  query: Type.Object({ [`query${hostile}`]: Type.Optional(Type.String({ description: hostile })) }),
  body: Type.Object({ [`body${hostile}`]: OneOf([hostile], hostile) }),
  reply: Done,
  errors: [defineError(`ERR_SHADY${hostile}`, 400, hostile, () => hostile)],
  run: async () => done(hostile),
})

const shadyArea = area({
  name: `shady${hostile}`,
  about: hostile,
  operations: [shady],
  events: [
    defineEvent({
      name: `shady.event${hostile}`,
      payload: Type.Object({ text: Type.String({ description: hostile, examples: [hostile] }) }),
      audience: () => [{ kind: hostile, id: hostile }],
      webhook: { trigger: hostile, body: () => ({}) },
    }),
  ],
})

const inner = operation({
  id: 'innerOperation',
  route: 'POST /inner',
  summary: 'For the server itself',
  doors: ['system'],
  reply: Done,
  errors: [defineError('ERR_INNER', 409, 'something inside is wrong', () => 'Wrong.')],
  run: async () => done('Done.'),
})

const innerArea = area({ name: 'inner-area', about: 'What no request leads to.', operations: [inner] })

describe('the reference page', () => {
  let h: House
  let text: string
  let policy: unknown

  before(async () => {
    h = await house({ database: 'sqlite' })
    const answer = await h.client.send('localhost', '/docs')
    assert.equal(answer.status, 200)
    text = answer.text
    policy = answer.headers['content-security-policy']
  })
  after(() => h.close())

  it('tells every operation: its id, its summary and each of its error codes', () => {
    for (const each of areas.flatMap(({ operations }) => operations)) {
      const from = text.indexOf(`<section class="op" id="${each.id}">`)
      assert.ok(from > 0, `${each.id} has no section`)
      const section = text.slice(from, text.indexOf('</section>', from))
      assert.ok(section.includes(each.summary.replaceAll("'", '&#39;')), each.summary)
      assert.ok(section.includes('curl '), each.id)
      for (const { code } of errorsOf(each)) assert.ok(section.includes(code), `${each.id} does not tell ${code}`)
    }
  })

  it('has the whole catalogue of errors and every event', () => {
    const codes = areas.flatMap(({ operations }) => operations.flatMap(errorsOf)).map(({ code }) => code)
    for (const code of new Set(codes)) assert.ok(text.includes(`<tr id="${code}">`), code)
    for (const { name } of areas.flatMap(({ events }) => events)) assert.ok(text.includes(`id="event-${name}"`), name)
  })

  it('loads nothing from anywhere and runs nothing', () => {
    assert.doesNotMatch(text, /<(script|link|img|iframe|object|embed|form|base)\b|\ssrc=|\son\w+=|@import|url\(/i)
    assert.match(String(policy), /default-src 'none'/)
  })

  it('leads only to places that exist', () => {
    const targets = [...text.matchAll(/href="([^"]*)"/g)].map(([, target = '']) => target)
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => `#${id}`)
    assert.deepEqual(ids.length, new Set(ids).size, 'an id is used twice')
    const places = new Set([...ids, '/openapi.json'])
    assert.deepEqual(
      targets.filter((target) => !places.has(target)),
      [],
    )
  })

  it('shows declarations as text, whatever characters they have', () => {
    const page = [...docsPage([...areas, shadyArea], { region: 'us', domain: hostile, port: 443 })].join('')
    assert.ok(page.split(escapedHostile).length > 10)
    assert.doesNotMatch(page, /<script/i)
    assert.equal(page.split('</style>').length, 2)
  })

  it("tells nothing of what only the server's own parts may call, and no request leads there", async () => {
    const place = { region: 'us', domain: 'localhost', port: 443 }
    const all = [...areas, innerArea]
    assert.deepEqual([...docsPage(all, place)].join(''), [...docsPage(areas, place)].join(''))
    assert.deepEqual(openApiDocument(all, place), openApiDocument(areas, place))
    const there = await house({ database: 'sqlite', areas: [innerArea] })
    assertFails(await (await there.app('a')).post('/inner', {}), 404, 'ERR_API_NOT_FOUND')
    await there.close()
  })

  it('names the region, the domain and the port that the install is reached at, as the OpenAPI document does', async () => {
    const elsewhere = { PARLEY_REGION: 'eu', PARLEY_DOMAIN: 'chat.example.org', PARLEY_PUBLIC_PORT: '443' }
    const places = [
      { environment: {}, region: 'us', domain: (port: number) => `localhost:${port}` },
      { environment: elsewhere, region: 'eu', domain: () => 'chat.example.org' },
    ]
    for (const { environment, region, domain } of places) {
      const there = await house({ database: 'sqlite', environment })
      const shown = domain(there.service.port)
      const { text: page } = await there.client.send('localhost', '/docs')
      assert.ok(page.includes(`export DOMAIN=${shown} REGION=${region}\n`), shown)
      const { body } = await there.client.send('localhost', '/openapi.json')
      const servers = [...body.servers, ...body.paths['/v3/calls'].servers, ...body.paths['/apps'].servers]
      for (const { url, variables } of servers) {
        assert.equal(variables.domain.default, shown, url)
        assert.equal(variables.region?.default, url.includes('{region}') ? region : undefined, url)
      }
      await there.close()
    }
  })
})
