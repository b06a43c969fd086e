import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { clientOf } from '../../../../tests/support/talk.ts'

for (const database of databases) {
  describe(`the app of a key on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    it('is told by name, without keys, owner or plan', async () => {
      const [app, other] = [await h.app('Shop chat'), await h.app('Night shift')]
      const { data } = assertSucceeds(await app.get('/app'))
      const managed = assertSucceeds(await h.management.get(`/apps/${app.id}`)).data
      const { id, name, region, state, createdAt } = managed
      assert.deepEqual(data, { id, name, region, state, createdAt })
      assert.deepEqual([data.id, data.name, data.state], [app.id, 'Shop chat', 'active'])
      assert.equal(assertSucceeds(await other.get('/app')).data.id, other.id)
    })

    it('is told whoever the server says it acts for, and to nobody but servers with a full key', async () => {
      const app = await h.app('Back office')
      assertSucceeds(await app.post('/users', { uid: 'lin', name: 'Lin' }))
      for (const onBehalfOf of ['lin', 'nobody', ' ']) {
        assert.equal(assertSucceeds(await app.get('/app', { onBehalfOf })).data.id, app.id)
      }
      assertFails(await app.withKey(app.authKey).get('/app'), 403, 'AUTH_ERR_NO_ACCESS')
      assertFails(await (await clientOf(h, app, 'lin')).get('/app'), 403, 'AUTH_ERR_NO_ACCESS')
      assertFails(await app.withKey('0'.repeat(40)).get('/app'), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
    })
  })
}
