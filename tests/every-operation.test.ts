import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { areas } from '../server/src/areas/index.ts'
import { documentedPath } from '../server/src/http/openapi.ts'
import type { Area } from '../server/src/kit/area.ts'
import type { Operation } from '../server/src/kit/operation.ts'
import { databases } from './support/databases.ts'
import { ways } from './support/dispatched.ts'
import { nothingChanges } from './support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import type { Answer, Sending } from './support/http.ts'
import { isQuick } from './support/quick.ts'
import type { Stage } from './support/sample.ts'
import {
  clientOfPath,
  emptyQueries,
  paramsOf,
  pathWithRecords,
  plausibleBodies,
  wordFilters,
  wrongBodies,
  wrongQueries,
} from './support/samples.ts'

/**
 * What holds for every operation there is or will be, over HTTP and without; an area writes nothing to be covered here.
 */

// Between two edits a sample has to do: a mistake in one of the few parts that all operations share shows in any of them.
const sampled = isQuick ? 6 : 1
const tried = areas
  .flatMap((area) => area.operations.map((operation) => ({ area, operation })))
  .filter((_, n) => n % sampled === 0)

const perPageMax = 1000
const strangerKey = 'f'.repeat(40)

const contentTypes = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'what/ever']

/** Another one for each: all together they are sent with every one of them. */
function contentTypeFor({ id }: Operation): string {
  return contentTypes[id.length % contentTypes.length] as string
}

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

// How a request comes in makes no difference to what the database is asked, so the second one is reached in one way.
const entrances = databases.flatMap((database) =>
  ways.filter((way) => database === 'sqlite' || way === 'dispatch').map((way) => [database, way] as const),
)

// All that was made for operations before is read with every table that has to be as it was, so a house has some of them.
const operationsPerHouse = 40

const houses = entrances.flatMap(([database, way]) => {
  const parts = inParts(tried, database === 'sqlite' ? operationsPerHouse : tried.length)
  return parts.map((operations, n) => ({ database, way, operations, part: `${n + 1} of ${parts.length}` }))
})

for (const { database, way, operations, part } of houses) {
  describe(`every ${sampled === 1 ? '' : `${sampled}th `}operation on ${database} by ${way}, ${part}`, () => {
    let h: House
    let other: AppClient

    before(async () => {
      h = await house({ database, way })
      other = await h.app('other')
    })
    after(() => h.close())

    for (const { area, operation } of operations) describe(`${operation.id}`, () => testsOf(area, operation))

    function testsOf(area: Area, operation: Operation): void {
      const template = documentedPath(area, operation)
      let stage: Stage
      let authToken: string
      let acceptedBody: (() => Record<string, unknown>) | undefined
      let path: string
      let assertUnchanged: (after: string) => Promise<void>

      before(async () => {
        stage = { house: h, app: await h.app(`of ${operation.id}`) }
        authToken = assertSucceeds(
          await stage.app.post('/users', { uid: 'client', name: 'Client', withAuthToken: true }),
        ).data.authToken
        acceptedBody = await findAcceptedBody()
        path = await recordPath()
        if (database === 'sqlite') assertUnchanged = await nothingChanges(h)
      })

      function credentials(): Record<string, string> {
        const { key, secret } = h.management
        if (operation.door === 'management') return { key, secret }
        if (!operation.doors.includes('server')) return { authToken }
        return { apikey: stage.app.apiKey, ...(operation.onBehalfOf === 'required' && { onBehalfOf: 'client' }) }
      }

      /** Sends the request as it should be, except for what is given. */
      function send(to: string, sending: Sending = {}): Promise<Answer> {
        const host = operation.door === 'management' ? 'apimgmt.localhost' : stage.app.host
        return h.client.send(host, to, { method: operation.method, headers: credentials(), ...sending })
      }

      const recordPath = () => pathWithRecords(operation, template, stage)

      const sound = (): Sending => (acceptedBody ? { body: acceptedBody() } : {})

      /** A body that the operation takes; some need one of several optional properties. */
      async function findAcceptedBody(): Promise<(() => Record<string, unknown>) | undefined> {
        if (!operation.hasBody) return undefined
        for (const make of plausibleBodies(operation)) {
          if ((await send(await recordPath(), { body: make() })).status === 200) return make
        }
        throw new Error(`No plausible body of ${operation.id} is accepted.`)
      }

      /** Who acts, and nobody where none is given. */
      function acting(onBehalfOf?: string): Sending {
        const headers = { ...withoutActor(credentials()), ...(onBehalfOf !== undefined && { onBehalfOf }) }
        return { headers, ...sound() }
      }

      /** Each of these is refused as the contract says. */
      async function assertRefused(refusals: Refusal[]): Promise<void> {
        for (const { what, status, code, field, sending, search = '', path: elsewhere } of refusals) {
          const answer = await send(`${elsewhere ?? path}${search}`, { ...sound(), ...sending })
          assertFails(answer, status, code)
          if (field !== undefined) assertNames(answer, field, what)
        }
      }

      // What refuses is the same code on every database, and one of them will do.
      if (database === 'sqlite') refusals()

      function refusals(): void {
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

        if (operation.door === 'server' && !operation.doors.includes('client')) {
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
            ...wrongQueries(operation, area).map(({ field, search }) => ({
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
            ...(operation.method === 'GET' || way !== 'http' ? [] : unreadableBodies(operation)),
          ])
        })

        if (paramsOf(operation).length > 0) {
          it('refuses a path that names nothing, or nothing readable', async () => {
            const answer = await send(template.replaceAll(/\{\w+\}/g, 'unknown'), sound())
            assert.equal(answer.status, 404, answer.text)
            const declared = operation.errors.filter(({ status }) => status === 404).map(({ code }) => code)
            assert.ok(declared.includes(answer.body.error.code), answer.text)
            const [name = ''] = paramsOf(operation)
            await assertRefused([
              { what: 'a NUL in the path', path: template.replaceAll(/\{\w+\}/g, '%00'), field: name, ...badRequest },
            ])
          })
        }

        if (operation.onBehalfOf !== 'unsupported') {
          it('refuses to act for somebody unknown, or for a blank', async () => {
            await assertRefused([
              { what: 'an unknown user', status: 404, code: 'ERR_UID_NOT_FOUND', sending: acting('nobody-at-all') },
              // Whoever means to act as someone must not end up acting as the app.
              { what: 'a blank acting user', field: 'onBehalfOf', sending: acting('  '), ...badRequest },
            ])
          })
        }

        if (operation.onBehalfOf === 'required') {
          it('refuses to act for nobody', async () => {
            await assertRefused([{ what: 'no acting user', field: 'onBehalfOf', sending: acting(), ...badRequest }])
          })
        }

        // Looked at once for all of them: reading every table costs far more than the requests do.
        it('has left every table as it was by what it refused', () => assertUnchanged('what was refused'))
      }

      if (operation.door === 'server' && operation.doors.includes('client')) {
        it('opens to an auth token', async () => {
          const fresh = await recordPath()
          const own = assertSucceeds(await stage.app.post(`/users/${clientOfPath(fresh)}/auth_tokens`)).data.authToken
          assertSucceeds(await send(fresh, { headers: { authToken: own }, ...sound() }))
        })
      }

      it('accepts what it declares, and ignores query parameters and body fields it does not know', async () => {
        const unknown =
          operation.method === 'GET' ? {} : { body: { unknownField: { any: ['thing'] }, ...acceptedBody?.() } }
        assertSucceeds(await send(`${await recordPath()}?unknownParameter=1&unknownParameter[]=2`, unknown))
      })

      if (operation.method === 'GET') {
        it('ignores a body, and takes what is empty in a query for not sent', async () => {
          const search = emptyQueries(operation, area).join('&')
          for (const raw of ['{', '[1]']) assertSucceeds(await send(`${await recordPath()}?${search}`, { raw }))
        })
      } else if (way === 'http') {
        it('takes `[]` for an empty body, and JSON under any content type', async () => {
          const [none, array] = [
            await send(await recordPath(), { raw: '' }),
            await send(await recordPath(), { raw: '[]' }),
          ]
          assert.deepEqual([array.status, array.body.error?.code], [none.status, none.body.error?.code])
          const raw = JSON.stringify(acceptedBody?.() ?? {})
          const headers = { ...credentials(), 'content-type': contentTypeFor(operation) }
          assertSucceeds(await send(await recordPath(), { raw, headers }))
        })
      }

      if (operation.onBehalfOf !== 'required') {
        it(`${operation.onBehalfOf === 'optional' ? 'acts as the app' : 'does not mind who acts'}`, async () => {
          const actor = operation.onBehalfOf === 'optional' ? undefined : 'nobody-at-all'
          assertSucceeds(await send(await recordPath(), acting(actor)))
        })
      }

      if ('perPage' in ((operation.query as { properties?: object }).properties ?? {})) {
        it('pages: caps perPage, and is empty past the end', async () => {
          const capped = assertSucceeds(await send(`${path}?perPage=5000`))
          const asked = ['per_page=2', 'per_page=9&per_page=2', 'perPage=2&per_page=9', 'per_page=9&perPage[0]=2']
          for (const search of asked) {
            assert.equal(assertSucceeds(await send(`${path}?${search}`)).meta.pagination.per_page, 2, search)
          }
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
            const { data, meta } = assertSucceeds(await send(`${path}?${filter}=unheard-of`))
            assert.deepEqual([data, meta.pagination.total, meta.pagination.total_pages], [[], 0, 1])
          })
        }
      }
    }
  })
}

const badRequest = { status: 400, code: 'ERR_BAD_REQUEST' }

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
    ...['{', '{"name": }', 'name=x', '[{}]', '[null]', '"text"', '3', 'null', 'true'].map((raw) => ({
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

function inParts<T>(list: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, n) => list.slice(n * size, (n + 1) * size))
}
