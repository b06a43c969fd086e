import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { assertSucceeds, house } from './support/house.ts'

for (const database of databases) {
  describe(`smoke on ${database}`, () => {
    it('plays and lists a call', async () => {
      const h = await house({ database })
      const app = await h.app('a')
      const call = await app.play({
        initiator: 'nora',
        receiver: 'milo',
        type: 'video',
        steps: [
          { after: 4, do: 'join', uid: 'milo', deviceId: 'd1' },
          { after: 64, do: 'leave', uid: 'milo', deviceId: 'd1' },
        ],
      })
      assert.equal(call.totalVideoMinutes, 1)
      const list = assertSucceeds(await app.get('/calls'))
      assert.equal(list.meta.pagination.total, 1)
      await h.close()
    })
  })
}
