import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createAdmin, createManagement, ParleyError } from '../../sdk/src/admin/index.ts'
import * as api from '../../sdk/src/api.ts'
import { appGroups, managementGroups } from '../../sdk/src/generated/groups.ts'
import { call } from '../../sdk/src/http/call.ts'
import type { List } from '../../sdk/src/http/list.ts'
import { usualRuntime } from '../../sdk/src/runtime/runtime.ts'
import { areas } from '../../server/src/areas/index.ts'
import { documentedAreas } from '../../server/src/http/openapi.ts'
import type { Operation } from '../../server/src/kit/operation.ts'
import { assertSucceeds, type House, house } from '../support/house.ts'
import type { Made, Stage } from '../support/sample.ts'
import { clientOfPath, filledPath, plausibleBodies, recordsFor } from '../support/samples.ts'
import { fetchInto } from './house-fetch.ts'

/** Every operation that the server has can be called through the SDK, under the name that the groups give it. */

const descriptors = new Map<string, unknown>(Object.entries(api))
const declared = documentedAreas(areas).flatMap(({ operations }) => operations)

/** The names of a descriptor in the groups: `users.list`. */
function placeOf(groups: Record<string, Record<string, unknown>>, descriptor: unknown): [string, string] | undefined {
  for (const [group, methods] of Object.entries(groups)) {
    for (const [method, each] of Object.entries(methods)) if (each === descriptor) return [group, method]
  }
  return undefined
}

type Method = (input: object) => Promise<unknown> | List<unknown>

describe('every operation through the SDK', () => {
  let h: House
  before(async () => {
    h = await house({ database: 'sqlite' })
  })
  after(() => h.close())

  it('is one that the server has, and none is missing', () => {
    assert.deepEqual([...descriptors.keys()].toSorted(), declared.map(({ id }) => id).toSorted())
  })

  for (const operation of declared) {
    it(operation.id, async () => {
      const app = await h.app(`of ${operation.id}`)
      assertSucceeds(await app.post('/users', { uid: 'client', name: 'Client' }))
      const stage = { house: h, app }
      for (const make of operation.hasBody ? plausibleBodies(operation) : [() => ({})]) {
        const records = await recordsFor(operation, stage)
        try {
          assert.notEqual(await run(operation, stage, records, { ...records, ...make() }), undefined)
          return
        } catch (error) {
          // Some need one of several optional properties.
          if (!ParleyError.is(error) || error.kind !== 'refused') throw error
        }
      }
      assert.fail('no plausible input is accepted')
    })
  }

  async function run(operation: Operation, stage: Stage, records: Made, input: object): Promise<unknown> {
    const method = await methodFor(operation, stage, records)
    const answer = method(input)
    return Symbol.asyncIterator in answer ? answer.take(3) : answer
  }

  async function methodFor(operation: Operation, { app }: Stage, records: Made): Promise<Method> {
    const runtime = { ...usualRuntime, fetch: fetchInto(h) }
    const settings = { url: `https://${app.host}`, retries: 0, runtime }
    const descriptor = descriptors.get(operation.id)
    const find = (groups: Record<string, Record<string, unknown>>, methods: object) => {
      const [group, name] = placeOf(groups, descriptor) ?? assert.fail(`${operation.id} is in no group`)
      return (methods as Record<string, Record<string, Method>>)[group]?.[name] ?? assert.fail(`${group}.${name}`)
    }
    if (operation.door === 'management') {
      const { key, secret } = h.management
      return find(managementGroups, createManagement({ ...settings, url: 'https://apimgmt.localhost', key, secret }))
    }
    if (operation.doors.includes('server')) {
      const admin = createAdmin({ ...settings, apiKey: app.apiKey })
      // What `messages.send` sends has a form of its own; the operation is called as it is.
      if (operation.id === 'sendMessage') return (input) => admin.call(api.sendMessage, input)
      return find(appGroups, operation.onBehalfOf === 'required' ? admin.as('client') : admin)
    }
    const uid = clientOfPath(filledPath(operation.path, records))
    const { data } = assertSucceeds(await app.post(`/users/${uid}/auth_tokens`))
    const connection = {
      origin: settings.url,
      headers: { authToken: data.authToken },
      timeoutMs: 30_000,
      retries: 0,
      runtime,
    }
    return (input) => call(connection, descriptor as never, input as never)
  }
})
