import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { areas } from '../server/src/areas/index.ts'
import { documentedPath } from '../server/src/http/openapi.ts'
import type { Area } from '../server/src/kit/area.ts'
import type { Operation } from '../server/src/kit/operation.ts'
import { databases } from './support/databases.ts'
import { nothingChanges } from './support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import type { Answer, Sending } from './support/http.ts'
import {
  paramsOf,
  pathWithRecords,
  plausibleBodies,
  type Stage,
  wordFilters,
  wrongBodies,
  wrongQueries,
} from './support/samples.ts'

/** What holds for every operation there is or will be; an area writes nothing to be covered here. */

const perPageMax = 1000
const strangerKey = 'f'.repeat(40)

interface Refusal {
  what: string
  status: number
  code: string
  /** The field that `details` must name. */
  field?: string
  sending?: Sending
  search?: string
  path?: string
}

for (const database of databases) {
  describe(`every operation on ${database}`, () => {
    let h: House
    let other: AppClient

    before(async () => {
      h = await house({ database })
      other = await h.app('other')
    })
    after(() => h.close())

    for (const area of areas) {
      for (const operation of area.operations) describe(`${operation.id}`, () => testsOf(area, operation))
    }

    function testsOf(area: Area, operation: Operation): void {
      const template = documentedPath(area, operation)
      let stage: Stage
      let authToken: string

      before(async () => {
        stage = { house: h, app: await h.app(`of ${operation.id}`) }
        authToken = assertSucceeds(
          await stage.app.post('/users', { uid: 'client', name: 'Client', withAuthToken: true }),
        ).data.authToken
      })

      function credentials(): Record<string, string> {
        const { key, secret } = h.management
        if (operation.door === 'management') return { key, secret }
        if (!operation.doors.includes('server')) return { authToken }
        return { apikey: stage.app.apiKey, ...(operation.onBehalfOf === 'required' && { onBehalfOf: 'client' }) }
      }

      /** Sends the request as it should be, except for what is given. */
      function send(path: string, sending: Sending = {}): Promise<Answer> {
        const host = operation.door === 'management' ? 'apimgmt.localhost' : stage.app.host
        return h.client.send(host, path, { method: operation.method, headers: credentials(), ...sending })
      }

      const recordPath = () => pathWithRecords(operation, template, stage)

      /** Each of these is refused as the contract says and leaves every table as it was. */
      async function assertRefused(refusals: Refusal[]): Promise<void> {
        const path = await recordPath()
        const assertUnchanged = await nothingChanges(h)
        for (const { what, status, code, field, sending, search = '', path: elsewhere } of refusals) {
          const body = operation.hasBody ? { body: plausibleBodies(operation)[0]?.() } : {}
          const answer = await send(`${elsewhere ?? path}${search}`, { ...body, ...sending })
          assertFails(answer, status, code)
          if (field !== undefined) assertNames(answer, field, what)
          await assertUnchanged(what)
        }
      }

      it('refuses callers without the right credentials', async () => {
        await assertRefused(
          operation.door === 'management' ? managementStrangers(h, stage.app) : serverStrangers(h, stage.app, other),
        )
      })

      if (operation.door === 'server' && !operation.keys.includes('authOnly')) {
        it('refuses a key whose scope does not cover it', async () => {
          await assertRefused([
            {
              what: 'a narrow key',
              status: 403,
              code: 'AUTH_ERR_NO_ACCESS',
              sending: { headers: { apikey: stage.app.authKey } },
            },
          ])
        })
      }

      if (operation.door === 'server' && operation.doors.includes('client')) {
        it('opens to an auth token', async () => {
          const make = await acceptedBody()
          const path = await recordPath()
          const uid = ownerIn(path) ?? (path.includes('/calls/') ? 'nora' : 'client')
          const own = assertSucceeds(await stage.app.post(`/users/${uid}/auth_tokens`)).data.authToken
          assertSucceeds(await send(path, { headers: { authToken: own }, ...(make && { body: make() }) }))
        })
      } else if (operation.door === 'server') {
        it('is closed to auth tokens', async () => {
          await assertRefused([
            {
              what: 'an auth token',
              status: 403,
              code: 'AUTH_ERR_NO_ACCESS',
              sending: { headers: { authToken } },
            },
          ])
        })
      }

      it('refuses input that does not fit, naming the field', async () => {
        await assertRefused([
          ...wrongQueries(operation).map(({ field, search }) => ({
            what: `the query ${search}`,
            search,
            field,
            ...badRequest,
          })),
          ...wrongBodies(operation).map(({ field, body }) => ({
            what: `the body ${JSON.stringify(body).slice(0, 200)}`,
            sending: { body },
            field,
            ...badRequest,
          })),
          ...(operation.method === 'GET' ? [] : unreadableBodies(operation)),
        ])
      })

      if (paramsOf(operation).length > 0) {
        it('refuses a path that names nothing, or nothing readable', async () => {
          const unknown = template.replaceAll(/\{\w+\}/g, 'unknown')
          const make = await acceptedBody()
          const assertUnchanged = await nothingChanges(h)
          const answer = await send(unknown, make && { body: make() })
          assert.equal(answer.status, 404, answer.text)
          const declared = operation.errors.filter(({ status }) => status === 404).map(({ code }) => code)
          assert.ok(declared.includes(answer.body.error.code), answer.text)
          await assertUnchanged('an unknown record')
          const [name = ''] = paramsOf(operation)
          await assertRefused([
            { what: 'a NUL in the path', path: template.replaceAll(/\{\w+\}/g, '%00'), field: name, ...badRequest },
          ])
        })
      }

      /** A body that the operation takes; some need one of several optional properties. */
      async function acceptedBody(): Promise<(() => Record<string, unknown>) | undefined> {
        if (!operation.hasBody) return undefined
        for (const make of plausibleBodies(operation)) {
          if ((await send(await recordPath(), { body: make() })).status === 200) return make
        }
        throw new Error(`No plausible body of ${operation.id} is accepted.`)
      }

      it('accepts what it declares, and ignores query parameters and body fields it does not know', async () => {
        const make = await acceptedBody()
        const unknown = { unknownField: { any: ['thing'] } }
        const sending = make ? { body: { ...make(), ...unknown } } : operation.method === 'GET' ? {} : { body: unknown }
        assertSucceeds(await send(`${await recordPath()}?unknownParameter=1&unknownParameter[]=2`, sending))
      })

      it(`treats onBehalfOf as ${operation.onBehalfOf}`, async () => {
        const make = await acceptedBody()
        const acting = async (onBehalfOf: string | undefined) => ({
          headers: {
            ...withoutActor(credentials()),
            ...(onBehalfOf !== undefined && { onBehalfOf }),
          },
          ...(make && { body: make() }),
        })
        if (operation.onBehalfOf === 'unsupported') {
          assertSucceeds(await send(await recordPath(), await acting('nobody-at-all')))
          return
        }
        await assertRefused([
          { what: 'an unknown user', status: 404, code: 'ERR_UID_NOT_FOUND', sending: await acting('nobody-at-all') },
        ])
        const absent = await send(await recordPath(), await acting(undefined))
        const blank = await send(await recordPath(), await acting('  '))
        if (operation.onBehalfOf === 'optional') assertSucceeds(absent)
        else assertNames(absent, 'onBehalfOf', 'no acting user')
        // Whoever means to act as someone must not end up acting as the app.
        assertNames(blank, 'onBehalfOf', 'a blank acting user')
      })

      if ('perPage' in ((operation.query as { properties?: object }).properties ?? {})) {
        it('pages: caps perPage, and is empty past the end', async () => {
          const path = await recordPath()
          const capped = assertSucceeds(await send(`${path}?perPage=5000`))
          assert.equal(capped.meta.pagination.per_page, perPageMax)
          for (const page of [100_000, Number.MAX_SAFE_INTEGER]) {
            const past = assertSucceeds(await send(`${path}?page=${page}&perPage=1000`))
            assert.deepEqual(past.data, [])
            assert.equal(past.meta.pagination.count, 0)
            assert.equal(past.meta.pagination.current_page, page)
            assert.equal(past.meta.pagination.total, capped.meta.pagination.total)
          }
          const [first] = assertSucceeds(await send(path)).data
          if (first) assert.equal(assertSucceeds(await send(`${path}?perPage=1`)).meta.pagination.count, 1)
        })

        for (const filter of wordFilters(operation)) {
          it(`finds nothing for an unknown ${filter}`, async () => {
            const { data, meta } = assertSucceeds(await send(`${await recordPath()}?${filter}=unheard-of`))
            assert.deepEqual([data, meta.pagination.total, meta.pagination.total_pages], [[], 0, 1])
          })
        }
      }
    }
  })
}

const badRequest = { status: 400, code: 'ERR_BAD_REQUEST' }

/** Where a path names a user, it is for that one's token, unless it is about what is said to him. */
function ownerIn(path: string): string | undefined {
  return /\/users\/(?!online-count)([^/]+)(?!.*\/(?:conversation|messages))/.exec(path)?.[1]
}

function withoutActor({ onBehalfOf: _, ...headers }: Record<string, string>): Record<string, string> {
  return headers
}

function serverStrangers({ management }: House, app: AppClient, other: AppClient): Refusal[] {
  const { key, secret } = management
  const none = { status: 401, code: 'AUTH_ERR_EMPTY_APIKEY' }
  const unknown = { status: 401, code: 'AUTH_ERR_APIKEY_NOT_FOUND' }
  const basic = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`
  return [
    { what: 'no key', sending: { headers: {} }, ...none },
    { what: 'a blank key', sending: { headers: { apikey: '   ' } }, ...none },
    { what: 'a management pair', sending: { headers: { key, secret } }, ...none },
    { what: 'a management pair as HTTP Basic', sending: { headers: { authorization: basic } }, ...none },
    {
      what: 'the key in the query',
      search: `?apikey=${app.apiKey}&apiKey=${app.apiKey}`,
      sending: { headers: {} },
      ...none,
    },
    { what: 'a wrong key', sending: { headers: { apikey: strangerKey } }, ...unknown },
    { what: 'a key in upper case', sending: { headers: { apikey: app.apiKey.toUpperCase() } }, ...unknown },
    { what: 'the beginning of a key', sending: { headers: { apikey: app.apiKey.slice(0, -1) } }, ...unknown },
    { what: "another app's key", sending: { headers: { apikey: other.apiKey } }, ...unknown },
    { what: 'a management key as API key', sending: { headers: { apikey: key } }, ...unknown },
  ]
}

function managementStrangers({ management }: House, app: AppClient): Refusal[] {
  const { key, secret } = management
  const none = { status: 401, code: 'AUTH_ERR_EMPTY_AUTH_HEADER' }
  const unknown = { status: 401, code: 'AUTH_ERR_APIKEY_NOT_FOUND' }
  return [
    { what: 'no pair', sending: { headers: {} }, ...none },
    { what: 'a key without secret', sending: { headers: { key } }, ...none },
    { what: 'a secret without key', sending: { headers: { secret } }, ...none },
    { what: 'a blank pair', sending: { headers: { key: ' ', secret: ' ' } }, ...none },
    { what: "an app's key", sending: { headers: { apikey: app.apiKey } }, ...none },
    { what: 'empty HTTP Basic', sending: { headers: { authorization: 'Basic ' } }, ...none },
    { what: "an app's key as pair", sending: { headers: { key: app.apiKey, secret: app.apiKey } }, ...unknown },
    { what: 'an unknown key', sending: { headers: { key: strangerKey, secret } }, ...unknown },
    { what: 'a wrong secret', sending: { headers: { key, secret: strangerKey } }, ...unknown },
    { what: 'the pair the wrong way round', sending: { headers: { key: secret, secret: key } }, ...unknown },
  ]
}

function unreadableBodies({ bodyBytesMax }: Operation): Refusal[] {
  const padding = ' '.repeat(bodyBytesMax - 1)
  return [
    {
      what: 'a body that is too large',
      status: 413,
      code: 'ERR_BAD_REQUEST',
      sending: { raw: `{}${padding}` },
      field: 'body',
    },
    ...['{', '{"name": }', 'name=x', '[]', '"text"', '3', 'null', 'true'].map((raw) => ({
      what: `the body ${raw}`,
      sending: { raw },
      field: 'body',
      ...badRequest,
    })),
  ]
}

function assertNames({ body, text }: Answer, field: string, what: string): void {
  const named = Object.keys(body.error.details ?? {}).some((path) => path === field || path.startsWith(`${field}.`))
  assert.ok(named, `${what}: details should name ${field}: ${text}`)
  for (const sentences of Object.values(body.error.details)) assert.ok(Array.isArray(sentences), text)
}
