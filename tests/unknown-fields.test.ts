import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { assertFails, assertSucceeds, house } from './support/house.ts'

for (const database of databases) {
  describe(`fields that an operation does not declare, on ${database}`, () => {
    it('are left out: an update cannot reach other columns, let alone another app', async () => {
      const h = await house({ database })
      const [mine, theirs] = [await h.app('mine'), await h.app('theirs')]
      const { data: key } = assertSucceeds(await mine.post('/apikeys', { name: 'mover', scope: 'fullAccess' }))
      const smuggled = { app_id: theirs.id, created_at: 1, created_by: 'me', no_such_column: 1, constructor: 1 }
      const answer = await mine.put(`/apikeys/${key.apiKey}`, { name: 'moved', ...smuggled })

      assert.deepEqual(assertSucceeds(answer).data, { ...key, name: 'moved', updatedAt: answer.body.data.updatedAt })
      assertFails(await theirs.withKey(key.apiKey).get('/calls'), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
      assertSucceeds(await mine.withKey(key.apiKey).get('/calls'))
      await h.close()
    })

    it('are left out even where their name means something to the language', async () => {
      const h = await house({ database })
      const app = await h.app('a')
      const { data: key } = assertSucceeds(await app.post('/apikeys', { name: 'plain' }))
      const raw = '{"__proto__":{"scope":"fullAccess"},"name":"renamed"}'
      const headers = { 'content-type': 'application/json' }
      const answer = await app.send(`/apikeys/${key.apiKey}`, { method: 'PUT', raw, headers })
      assert.equal(assertSucceeds(answer).data.scope, 'authOnly')
      await h.close()
    })
  })
}
