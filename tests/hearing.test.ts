import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { showsTo } from '../server/src/dispatch/hearing.ts'
import type { Actor } from '../server/src/kit/operation.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { databases } from './support/databases.ts'
import { type AppClient, type House, house } from './support/house.ts'
import { appWith } from './support/talk.ts'

for (const database of databases) {
  describe(`what a user may hear, on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada')
    })
    after(() => h.close())

    /** What the areas are told of a user. */
    async function actorsFor(uid: string): Promise<(Actor | undefined)[]> {
      const told: (Actor | undefined)[] = []
      const area = {
        hearing: {
          shows: async (_db: unknown, _uid: string, actor: Actor | undefined) => void told.push(actor),
        },
      }
      await showsTo([area, area] as never, tenantDb(h.service.house.database.reader, app.id), uid)
      return told
    }

    it('is asked of all areas with the user read once', async () => {
      const [first, second] = await actorsFor('ada')
      assert.equal(first?.uid, 'ada')
      assert.equal(first, second)
    })

    it('is asked of whoever is not there, too', async () => {
      assert.deepEqual(await actorsFor('ghost'), [undefined, undefined])
    })
  })
}
