import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { dump, nothingChanges } from './support/dump.ts'
import { assertFails, assertSucceeds, type House, house } from './support/house.ts'
import type { Answer } from './support/http.ts'

const keptSeconds = 24 * 3600

for (const database of databases) {
  describe(`idempotency on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const newApp = () => h.app(randomUUID())
    const once = (key: string) => ({ 'Idempotency-Key': key })
    const assertRefused = (answer: Answer) => {
      assertFails(answer, 400, 'ERR_BAD_REQUEST')
      assert.ok(answer.body.error.details['Idempotency-Key']?.length > 0, answer.text)
    }

    it('does a write once and answers it the same each time', async () => {
      const app = await newApp()
      const first = await app.post('/apikeys', { name: 'one' }, once('a'))
      assertSucceeds(first)
      const assertUnchanged = await nothingChanges(h)
      for (let n = 0; n < 3; n += 1) {
        const again = await app.post('/apikeys', { name: 'one' }, once('a'))
        assert.deepEqual([again.status, again.text], [200, first.text])
      }
      await assertUnchanged('repeated requests')
      assert.equal(assertSucceeds(await app.get('/apikeys')).meta.pagination.total, 3)
    })

    it('without a key does it again', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/apikeys', { name: 'one' }))
      assertFails(await app.post('/apikeys', { name: 'one' }), 400, 'ERR_BAD_REQUEST')
    })

    it('takes a blank key for none', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/apikeys', { name: 'one' }, once(' ')))
      assertSucceeds(await app.post('/apikeys', { name: 'two' }, once(' ')))
    })

    it('does a write once under 20 at the same time', async () => {
      const app = await newApp()
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => app.post('/apikeys', { name: 'together' }, once('b'))),
      )
      for (const answer of answers) assertSucceeds(answer)
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
      assert.equal(assertSucceeds(await app.get('/apikeys')).meta.pagination.total, 3)
    })

    it('covers updates and deletions too', async () => {
      const app = await newApp()
      const { apiKey } = assertSucceeds(await app.post('/apikeys', { name: 'short' })).data
      const renamed = await app.put(`/apikeys/${apiKey}`, { name: 'renamed' }, once('c'))
      assert.equal((await app.put(`/apikeys/${apiKey}`, { name: 'renamed' }, once('c'))).text, renamed.text)
      const deleted = await app.delete(`/apikeys/${apiKey}`, undefined, once('d'))
      assertSucceeds(deleted)
      assert.equal((await app.delete(`/apikeys/${apiKey}`, undefined, once('d'))).text, deleted.text)
    })

    it('refuses the key for another body, path or method, and changes nothing', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/apikeys', { name: 'one' }, once('e')))
      const assertUnchanged = await nothingChanges(h)
      assertRefused(await app.post('/apikeys', { name: 'two' }, once('e')))
      assertRefused(await app.put(`/apikeys/${app.authKey}`, { name: 'one' }, once('e')))
      assertRefused(await app.delete(`/apikeys/${app.authKey}`, { name: 'one' }, once('e')))
      assertRefused(await app.post('/apikeys?x=1', { name: 'one' }, once('e')))
      await assertUnchanged('other requests under the same key')
    })

    it('does not remember a write that failed', async () => {
      const app = await newApp()
      assertFails(await app.post('/apikeys', { name: 'Auth Key' }, once('f')), 400, 'ERR_BAD_REQUEST')
      assertSucceeds(await app.delete(`/apikeys/${app.authKey}`))
      const created = assertSucceeds(await app.post('/apikeys', { name: 'Auth Key' }, once('f')))
      assert.equal(created.data.name, 'Auth Key')
    })

    it('remembers for 24 hours and then forgets', async () => {
      const app = await newApp()
      const first = await app.post('/apikeys', { name: 'kept' }, once('g'))
      try {
        h.clock.setOffset(keptSeconds - 60)
        assert.equal((await app.post('/apikeys', { name: 'kept' }, once('g'))).text, first.text)
        assertRefused(await app.post('/apikeys', { name: 'other' }, once('g')))
        h.clock.setOffset(keptSeconds + 60)
        const later = assertSucceeds(await app.post('/apikeys', { name: 'other' }, once('g')))
        assert.equal(later.data.name, 'other')
      } finally {
        h.clock.setOffset(0)
      }
    })

    it('keeps the keys of apps apart', async () => {
      const [app, other] = [await newApp(), await newApp()]
      const one = assertSucceeds(await app.post('/apikeys', { name: 'mine' }, once('h')))
      const two = assertSucceeds(await other.post('/apikeys', { name: 'mine' }, once('h')))
      assert.notEqual(one.data.apiKey, two.data.apiKey)
      assertSucceeds(await other.post('/apikeys', { name: 'theirs' }, once('i')))
      assertSucceeds(await app.post('/apikeys', { name: 'mine too' }, once('i')))
    })

    it('answers a stored reply only to a caller who may make the request', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/apikeys', { name: 'guarded' }, once('j')))
      const body = { name: 'guarded' }
      assertFails(await app.withKey(app.authKey).post('/apikeys', body, once('j')), 403, 'AUTH_ERR_NO_ACCESS')
      assertFails(await app.withKey('wrong').post('/apikeys', body, once('j')), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
    })

    it('works at the management door', async () => {
      const first = await h.management.post('/apps', { name: 'once' }, once('k'))
      assertSucceeds(first)
      const assertUnchanged = await nothingChanges(h)
      assert.equal((await h.management.post('/apps', { name: 'once' }, once('k'))).text, first.text)
      assertRefused(await h.management.post('/apps', { name: 'twice' }, once('k')))
      await assertUnchanged('a repeated creation')
    })

    it('takes keys of up to 255 characters', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/apikeys', { name: 'long' }, once('x'.repeat(255))))
      const assertUnchanged = await nothingChanges(h)
      assertRefused(await app.post('/apikeys', { name: 'too long' }, once('x'.repeat(256))))
      await assertUnchanged('a key that is too long')
    })

    it('has no meaning for reads', async () => {
      const app = await newApp()
      assert.equal(assertSucceeds(await app.get('/apikeys', once('l'))).meta.pagination.total, 2)
      assertSucceeds(await app.post('/apikeys', { name: 'new' }, once('l')))
      assert.equal(assertSucceeds(await app.get('/apikeys', once('l'))).meta.pagination.total, 3)
    })

    it('keeps stored replies unreadable: no API key stands in the database as plain text', async () => {
      const app = await newApp()
      const { apiKey } = assertSucceeds(await app.post('/apikeys', { name: 'secret' }, once('m'))).data
      const contents = await dump(h)
      assert.ok(contents.idempotent_replies?.some((row) => row.includes(app.id)))
      assert.ok(!JSON.stringify(contents).includes(apiKey))
    })
  })
}
