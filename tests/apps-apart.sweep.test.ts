import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { documentedPath } from '../server/src/http/openapi.ts'
import type { Area } from '../server/src/kit/area.ts'
import type { Operation } from '../server/src/kit/operation.ts'
import { databases } from './support/databases.ts'
import type { Dump } from './support/dump.ts'
import { type AppClient, type House, house } from './support/house.ts'
import type { Sending } from './support/http.ts'
import { filledPath, pathWithRecords } from './support/samples.ts'
import {
  answersOf,
  bodiesOf,
  copiedAreas,
  copyRecords,
  emptyTables,
  type Model,
  modelApp,
  sendAs,
  tenantRows,
} from './support/twin.ts'

/** Two apps that hold the very same records, by the same names, ids and secrets, never see or change each other. */

const isReading = ({ method }: Operation) => method === 'GET'

for (const database of databases) {
  describe(`two apps with the same records on ${database}`, () => {
    let h: House
    let model: Model

    before(async () => {
      h = await house({ database, way: database === 'sqlite' ? 'http' : 'dispatch' })
      model = await modelApp(h)
    })
    after(() => h.close())

    it('have something in every table', async () => {
      assert.deepEqual(await emptyTables(h, model.appId), [])
    })

    it('do not see what the other holds', async () => {
      const [app, twin] = [await h.app('first'), await h.app('second')]
      await copyRecords(h, model.appId, app.id)
      const alone = await answersOf(h, app, model)
      await copyRecords(h, app.id, twin.id)
      assert.deepEqual(await answersOf(h, app, model), alone)
    })

    const witness = { rows: {} as Dump, answers: {} as Dump }
    it('are joined by a third, which nobody touches from here on', async () => {
      const app = await h.app('witness')
      await copyRecords(h, model.appId, app.id)
      Object.assign(witness, { rows: await tenantRows(h, app.id), answers: await answersOf(h, app, model) })
    })

    for (const area of copiedAreas) {
      const reading = area.operations.filter(isReading)
      if (reading.length > 0) it(`stay apart when ${area.name} of one are read`, () => assertStayApart(area, reading))
      for (const operation of area.operations.filter((each) => !isReading(each))) {
        it(`stay apart when one is sent ${operation.id}`, () => assertStayApart(area, [operation]))
      }
    }

    it('have left the third as it was, by all that was done', async () => {
      const app = await h.app('witness')
      assert.deepEqual(await tenantRows(h, app.id), witness.rows)
      assert.deepEqual(await answersOf(h, app, model), witness.answers)
    })

    /** What it answers in other areas is looked at once, by the witness. */
    async function assertStayApart(area: Area, operations: Operation[]): Promise<void> {
      const ids = operations.map(({ id }) => id).join()
      const [app, twin] = [await h.app(`first of ${ids}`), await h.app(`second of ${ids}`)]
      await copyRecords(h, model.appId, app.id)
      const requests = []
      for (const operation of operations) requests.push({ operation, sendings: await requestsTo(app, area, operation) })
      await h.settle()
      await copyRecords(h, app.id, twin.id)

      const rows = await tenantRows(h, twin.id)
      const answers = await answersOf(h, twin, model, area)
      for (const { operation, sendings } of requests) {
        const statuses: number[] = []
        for (const { path, body } of sendings) {
          statuses.push((await sendAs(h, operation, app, model.authToken, path, body)).status)
        }
        assert.ok(statuses.includes(200), `nothing was accepted by ${operation.id}`)
      }
      await h.settle()
      assert.deepEqual(await tenantRows(h, twin.id), rows, 'it changed the other app')
      assert.deepEqual(await answersOf(h, twin, model, area), answers, 'the other app answers otherwise')
    }

    /** Each body goes to new records, which nothing was done with, and to those that have to do with many others. */
    async function requestsTo(app: AppClient, area: Area, operation: Operation) {
      const template = documentedPath(area, operation)
      const shared = filledPath(template, { ...model.records, appId: app.id })
      const requests: { path: string; body: Sending }[] = []
      for (const body of bodiesOf(operation)) {
        const isManagement = operation.door === 'management'
        const fresh = isManagement ? shared : await pathWithRecords(operation, template, { house: h, app })
        requests.push({ path: fresh, body }, { path: shared, body })
      }
      return requests
    }
  })
}
