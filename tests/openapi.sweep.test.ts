import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Compile } from 'typebox/compile'
import { staleFiles } from '../scripts/generate.ts'
import { areas } from '../server/src/areas/index.ts'
import { registryOf } from '../server/src/dispatch/registry.ts'
import type { Shape } from '../server/src/dispatch/shape.ts'
import { addressReader } from '../server/src/http/address.ts'
import { documentedPath } from '../server/src/http/openapi.ts'
import { sampleOf } from '../server/src/http/reference/sample.ts'
import { createRouter } from '../server/src/http/router.ts'
import { databases } from './support/databases.ts'
import { type AppClient, assertFails, type House, house } from './support/house.ts'
import type { Answer } from './support/http.ts'

const text = readFileSync(join(import.meta.dirname, '../docs/generated/openapi.json'), 'utf8')

interface PathItem {
  servers?: { url: string }[]
  [method: string]: unknown
}
interface WrittenOperation {
  operationId: string
  responses: Record<string, { content: Record<string, { examples: Record<string, { value: unknown }> }> }>
}
const paths = JSON.parse(text).paths as Record<string, PathItem>

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']
const declared = Object.entries(paths).flatMap(([path, item]) =>
  methods
    .filter((method) => item[method.toLowerCase()])
    .map((method) => ({ path, method, ...(item[method.toLowerCase()] as WrittenOperation) })),
)

const filled = (path: string) => path.replaceAll(/\{\w+\}/g, 'nothing')

/** Whether the document has an operation at this very path; a word of one path may be the parameter of another. */
const isWritten = (method: string, at: string) =>
  declared.some(
    ({ path, method: written }) =>
      written === method && new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`).test(at),
  )

describe('the OpenAPI document', () => {
  it('passes the recommended rules of a public linter without an error or a warning', async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
    assert.deepEqual(
      problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
      [],
    )
  })

  it('would be refused by the linter if it were wrong', async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const broken = text.replaceAll('"operationId": "listCalls"', '"operationId": "getCall"')
    const problems = await lintFromString({ source: broken, absoluteRef: 'openapi.json', config })
    assert.ok(problems.some(({ ruleId }) => ruleId === 'operation-operationId-unique'))
  })

  it('is, like the other generated files, what the declarations say now', () => {
    assert.deepEqual(staleFiles(), [])
  })

  it('names exactly the operations that the router leads to', () => {
    const route = createRouter(registryOf(areas).operations.values())
    const readAddress = addressReader('example.test')
    const routed = areas.flatMap((area) =>
      area.operations.map((operation) => {
        const host = area.mount === 'management' ? 'apimgmt.example.test' : 'app.api-us.example.test'
        const path = documentedPath(area, operation)
        const { mounted } = route(operation.method, filled(path), readAddress(host))
        return `${operation.method} ${path} ${mounted?.operation.id}`
      }),
    )
    const written = declared.map(({ method, path, operationId }) => `${method} ${path} ${operationId}`)
    assert.deepEqual(written.toSorted(), routed.toSorted())
  })

  it('tells every name of the chat host, and which paths are found elsewhere', () => {
    const urls = (servers: { url: string }[]) => servers.map(({ url }) => new URL(url.replaceAll(/[{}]/g, '')).host)
    const { servers } = JSON.parse(text)
    assert.deepEqual(urls(servers), ['appid.api-region.domain', 'appid.apiclient-region.domain', 'api-region.domain'])
    const elsewhere = Object.entries(paths).filter(([, item]) => item.servers)
    assert.deepEqual(
      new Set(elsewhere.flatMap(([, item]) => urls(item.servers ?? []))),
      new Set(['appid.call-region.domain', 'apimgmt.domain']),
    )
    for (const [path] of elsewhere) assert.match(path, /^\/(v3\/calls|apps|tenants)/)
  })

  it('gives every operation its errors, each with an example that has its code', () => {
    for (const { path, method, responses } of declared) {
      for (const status of ['400', '401', '403', '404', '429', '500']) {
        const examples = Object.entries(responses[status]?.content['application/json']?.examples ?? {})
        assert.ok(examples.length > 0, `${method} ${path} says nothing about ${status}`)
        for (const [code, { value }] of examples) assert.equal((value as { error: { code: string } }).error.code, code)
      }
    }
  })

  it('shows only samples that fit: of replies, of bodies and of events', () => {
    const operations = areas.flatMap((area) => area.operations)
    const shown = [
      ...operations.flatMap(({ id, reply, body }) => [
        { name: `${id} reply`, schema: reply },
        { name: id, schema: body },
      ]),
      ...areas.flatMap(({ events }) => events.map(({ name, payload }) => ({ name, schema: payload }))),
    ]
    for (const { name, schema } of shown) {
      assert.deepEqual([...Compile(schema).Errors(sampleOf(schema as Shape))], [], name)
    }
  })
})

for (const database of databases) {
  describe(`the OpenAPI document and the server on ${database}`, () => {
    it('agree about every path: what is written is answered, and nothing else', async () => {
      const h = await house({ database })
      try {
        const app = await h.app('a')
        for (const [path, item] of Object.entries(paths)) {
          const there = (method: string, at = filled(path)) => ask(h, app, item, method, at)
          for (const method of methods) {
            const answer = await there(method)
            if (isWritten(method, filled(path))) assertFound(answer, `${method} ${path}`)
            else assertFails(answer, 404, 'ERR_API_NOT_FOUND')
          }
          for (const neighbour of neighboursOf(filled(path))) {
            assertFails(await there('GET', neighbour), 404, 'ERR_API_NOT_FOUND')
          }
        }
      } finally {
        await h.close()
      }
    })
  })
}

function assertFound(answer: Answer, what: string): void {
  assert.notEqual(answer.body?.error?.code, 'ERR_API_NOT_FOUND', what)
  assert.ok(answer.body?.data !== undefined || answer.body?.error !== undefined, `${what}: ${answer.text}`)
  assert.notEqual(answer.status, 401, what)
  assert.notEqual(answer.status, 429, what)
  assert.notEqual(answer.status, 500, what)
}

function ask(h: House, app: AppClient, { servers }: PathItem, method: string, path: string): Promise<Answer> {
  const server = servers?.[0]
  const body = method === 'GET' || method === 'TRACE' ? {} : { body: {} }
  if (server?.url.includes('apimgmt')) return h.management.send(path, { method, ...body })
  const host = server?.url.includes('.call-') ? app.callsHost : app.host
  return h.client.send(host, path, { method, headers: { apikey: app.apiKey }, ...body })
}

/** Paths one slip away from a documented one, without those that are documented themselves. */
function neighboursOf(path: string): string[] {
  const near = [
    `${path}/more/of/it`,
    `${path}x`,
    path.slice(0, -1),
    path.toUpperCase(),
    path.replace('/v3/', '/v3/v3/'),
  ]
  const templates = Object.keys(paths).map((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+')}$`))
  return near.filter((each) => !templates.some((template) => template.test(each)))
}
