import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { areas } from '../server/src/areas/index.ts'
import type { TSchema } from '../server/src/kit/schema.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import { form, formType } from './support/uploads.ts'

/** JSON that means harm is refused before anything is made of it, wherever it comes in, and costs next to nothing. */

const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const fields = (count: number, value: string) =>
  Array.from({ length: count }, (_, n) => `"${n.toString(36)}":${value}`).join(',')

const withBody = areas.flatMap(({ mount, operations }) =>
  operations
    .filter(({ hasBody, keys }) => hasBody && (mount === 'management' || keys.includes('fullAccess')))
    .map((operation) => ({ mount, operation })),
)

describe('JSON in a request', () => {
  let h: House
  let app: AppClient
  before(async () => {
    h = await house({ database: 'sqlite' })
    app = await h.app('a')
    for (const uid of ['ada', 'max']) assertSucceeds(await app.post('/users', { uid, name: uid }))
  })
  after(() => h.close())

  const message = (data: string, rest = '') =>
    `{"receiver":"max","receiverType":"user","category":"message","type":"text","data":${data}${rest}}`
  const send = (raw: string) => app.send('/messages', { method: 'POST', raw, headers: { onBehalfOf: 'ada' } })

  for (const { mount, operation } of withBody) {
    it(`that is nested without end is refused by ${operation.id}`, async () => {
      const path = operation.path.replaceAll(/\{\w+\}/g, 'x')
      const caller = { v3: app, management: h.management, emulator: emulator() }[mount]
      const { properties = {} } = operation.body as TSchema & { properties?: Record<string, unknown> }
      for (const name of [...Object.keys(properties), 'unknown']) {
        for (const nested of [arrays(65), arrays(4_000), objects(1_500)]) {
          const raw = `{${JSON.stringify(name)}:${nested}}`
          assertFails(
            await caller.send(path, { method: operation.method, raw, headers: { onBehalfOf: 'ada' } }),
            400,
            'ERR_BAD_REQUEST',
          )
        }
      }
    })
  }

  const emulator = () => ({
    send: (path: string, sending: object) =>
      h.client.send(app.host, `/_emulator${path}`, { ...sending, headers: { apikey: app.apiKey } }),
  })

  it('may be nested as deeply as anybody needs', async () => {
    assertSucceeds(await send(message(`{"text":"x","metadata":{"a":${arrays(60)}}}`)))
    assertSucceeds(await send(message(`{"text":"${'[{'.repeat(200)}\\\\\\"${'[{'.repeat(200)}"}`)))
  })

  it('is held to the same in the fields of a form, and in data that is sent as text', async () => {
    const sent = { receiver: 'max', receiverType: 'user', category: 'message', type: 'file', data: arrays(5_000) }
    const raw = form(...Object.entries(sent).map(([field, content]) => ({ field, content })))
    const headers = { onBehalfOf: 'ada', 'content-type': formType }
    assertFails(await app.send('/messages', { method: 'POST', raw, headers }), 400, 'ERR_BAD_REQUEST')
    const user = { uid: 'new', name: 'New', metadata: `{"a":${arrays(2_000)}}` }
    assertFails(await app.post('/users', user), 400, 'ERR_BAD_REQUEST')
  })

  it('with a number that there is not is refused, not changed', async () => {
    for (const number of ['1e999', '-1e999', '9'.repeat(5_000)]) {
      const raw = `{"uid":"new","name":"New","metadata":{"list":[1,${number}]}}`
      const answer = await app.send('/users', { method: 'POST', raw })
      assertFails(answer, 400, 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(answer.body.error.details), ['metadata.list.1'])
    }
  })

  it('with names that JavaScript knows is data like any other', async () => {
    const metadata = '{"__proto__":{"admin":true},"constructor":{"prototype":1},"toString":2}'
    const raw = `{"uid":"eve","name":"Eve","__proto__":{"role":"x"},"constructor":1,"metadata":${metadata}}`
    const { data } = assertSucceeds(await app.send('/users', { method: 'POST', raw }))
    assert.equal(JSON.stringify(data.metadata), metadata)
    assert.equal(Object.keys(Object.prototype).length, 0)
  })

  it('with the same name twice means the last', async () => {
    const raw = `{"uid":"one","uid":"two",${'"name":"x",'.repeat(500)}"name":"Two"}`
    const { data } = assertSucceeds(await app.send('/users', { method: 'POST', raw }))
    assert.deepEqual([data.uid, data.name], ['two', 'Two'])
  })

  it('with faults without number is answered with a few of them', async () => {
    const answer = await send(message('{"text":"x"}', `,${fields(5_000, '"\\u0000"')}`))
    assertFails(answer, 400, 'ERR_BAD_REQUEST')
    assert.ok(answer.text.length < 20_000, `the answer has ${answer.text.length} characters`)
    const long = await send(`{"${'k'.repeat(200_000)}":"\\u0000"}`)
    assertFails(long, 400, 'ERR_BAD_REQUEST')
    assert.ok(long.text.length < 5_000, `the answer has ${long.text.length} characters`)
  })

  const costly: Record<string, string> = {
    'nested objects': message(`{"text":"x","metadata":${objects(40_000)}}`),
    'as many names as fit': message('{"text":"x"}', `,${fields(30_000, '1')}`),
    'as many names as are taken': message('{"text":"x"}', `,${fields(16_000, '1')}`),
    'a list of tags without end': message('{"text":"x"}', `,"tags":[${'"a",'.repeat(16_000)}"b"]`),
    'empty objects': message(`{"text":"x","metadata":{"a":[${'{},'.repeat(80_000)}1]}}`),
    'a number without end': message(`{"text":"x","metadata":{"n":${'9'.repeat(250_000)}}}`),
    'escapes without end': message(`{"text":"x","metadata":{"n":"${'\\\\\\"'.repeat(60_000)}"}}`),
  }
  // About as many characters as any of these has, read and written once.
  const plain = `{${fields(30_000, '1')}}`
  for (const [name, raw] of Object.entries(costly)) {
    it(`costs next to nothing: ${name}`, async () => {
      await send(raw)
      const taken = await leastCpu(async () => assert.ok((await send(raw)).status < 500))
      const floor = await leastCpu(async () => JSON.stringify(JSON.parse(plain)))
      assert.ok(taken < floor * 4, `takes ${taken} ms of CPU, here and in the server; reading alone takes ${floor} ms`)
    })
  }
})

/** The least of several: caches that others have emptied, and what they left to collect, cost time too. */
async function leastCpu(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let n = 0; n < 5; n += 1) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}
