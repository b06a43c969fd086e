import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { areas } from '../server/src/areas/index.ts'
import { documentedPath } from '../server/src/http/openapi.ts'
import type { Area } from '../server/src/kit/area.ts'
import type { Operation } from '../server/src/kit/operation.ts'
import { databases } from './support/databases.ts'
import { dump } from './support/dump.ts'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import type { Answer, Sending } from './support/http.ts'
import { randomFrom, seedFrom } from './support/random.ts'
import { pathWithRecords, plausibleBodies } from './support/samples.ts'
import { gist, twinsOf } from './support/twins.ts'

/**
 * However a request is written, it does what its strict twin does: it is answered alike, and leaves the same rows and
 * events. Each operation has two apps that begin alike; one is sent the strict twins, the other the lenient ones.
 */

const seedVariable = 'TWINS_SEED'
// Each run looks at others; a clock would say how many on a quiet machine only.
const operationsTried = 12

const writes = areas
  .flatMap((area) => area.operations.map((operation) => ({ area, operation })))
  .filter(({ operation }) => operation.method !== 'GET' && operation.door === 'server')

for (const database of databases) {
  describe(`requests written leniently on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    it('do what their strict twins do, or are refused alike', async (test) => {
      const seed = seedFrom(seedVariable)
      test.diagnostic(`${seedVariable}=${seed}`)
      const random = randomFrom(seed)
      const inAnyOrder = writes.map((each) => ({ ...each, at: random.next() })).toSorted((a, b) => a.at - b.at)
      const tried: { id: string; strict: AppClient; lenient: AppClient }[] = []
      const outcomes = { done: 0, refused: 0 }
      for (const { area, operation } of inAnyOrder.slice(0, operationsTried)) {
        const [strict, lenient] = [await h.app(`1 ${operation.id}`), await h.app(`2 ${operation.id}`)]
        for (const app of [strict, lenient]) {
          assertSucceeds(await app.post('/users', { uid: 'client', name: 'Client' }))
        }
        for (const make of plausibleBodies(operation).slice(0, 2)) {
          for (const twins of twinsOf(operation, JSON.parse(JSON.stringify(make())))) {
            const expected = await ask(area, operation, strict, twins.strict)
            const answer = await ask(area, operation, lenient, twins.lenient)
            const sent = JSON.stringify(twins.lenient)
            assert.deepEqual(gistOf(answer), gistOf(expected), `${operation.id}, ${twins.way}: ${sent} ${answer.text}`)
            outcomes[answer.status === 200 ? 'done' : 'refused'] += 1
          }
        }
        tried.push({ id: operation.id, strict, lenient })
      }
      test.diagnostic(`${tried.length} of ${writes.length} operations; ${JSON.stringify(outcomes)}`)
      assert.ok(outcomes.done > outcomes.refused / 4, 'too few requests were valid for this to mean much')
      await h.settle()
      const left = Object.entries(await dump(h))
      for (const { id, strict, lenient } of tried) {
        assert.deepEqual(rowsOf(left, lenient), rowsOf(left, strict), `what ${id} has left`)
      }
    })

    async function ask(area: Area, operation: Operation, app: AppClient, sending: Sending): Promise<Answer> {
      const path = await pathWithRecords(operation, documentedPath(area, operation), { house: h, app })
      const isClients = !operation.doors.includes('server')
      const credentials: Record<string, string> = isClients
        ? { authToken: await tokenOf(app) }
        : { apikey: app.apiKey, ...(operation.onBehalfOf === 'required' && { onBehalfOf: 'client' }) }
      const headers = { ...credentials, ...sending.headers }
      return h.client.send(app.host, path, { method: operation.method, ...sending, headers })
    }
  })
}

async function tokenOf(app: AppClient): Promise<string> {
  return assertSucceeds(await app.post('/users/client/auth_tokens')).data.authToken
}

function gistOf({ status, body }: Answer): unknown {
  // Which fields a refusal names is the same; how it says so may tell of the value.
  return [status, gist(body.error ? [body.error.code, Object.keys(body.error.details ?? {})] : body)]
}

/** Counts by spans of time: how many rows they take depends on when things happened. */
const byTime = ['tallies']

/** Told by a job for as many at once as it came to. */
const inBatches = '"messages.cleared"'

/** What is left in an app, table by table. */
function rowsOf(tables: [string, string[]][], { id }: AppClient): Record<string, string[]> {
  const ofApp = tables.map(([table, rows]) => {
    const own = rows
      .filter((row) => row.includes(id) && !row.includes(inBatches))
      .map((row) => JSON.stringify(gist(JSON.parse(row))))
    return [table, own.toSorted()] as const
  })
  return Object.fromEntries(ofApp.filter(([table, rows]) => rows.length > 0 && !byTime.includes(table)))
}
