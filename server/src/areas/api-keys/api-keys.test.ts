import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump, nothingChanges } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'

const keysMax = 25
const keyForm = /^[0-9a-f]{40}$/
const unknownKey = '0'.repeat(40)

for (const database of databases) {
  describe(`API keys on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const newApp = () => h.app(randomUUID())
    const create = async (app: AppClient, name: string, scope?: string) =>
      assertSucceeds(await app.post('/apikeys', { name, ...(scope && { scope }) })).data
    const names = async (app: AppClient, query = '') =>
      assertSucceeds(await app.get(`/apikeys${query}`)).data.map(({ name }: { name: string }) => name)

    describe('a new app', () => {
      it('has a fullAccess and an authOnly key', async () => {
        const { data, meta } = assertSucceeds(await (await newApp()).get('/apikeys'))
        const shown = data.map(({ name, scope }: { name: string; scope: string }) => `${name}: ${scope}`).toSorted()
        assert.deepEqual(shown, ['Auth Key: authOnly', 'Rest API Key: fullAccess'])
        assert.equal(meta.pagination.total, 2)
      })
    })

    describe('create', () => {
      it('answers the record: a system-made key, its name, scope and time, and nothing else', async () => {
        const app = await newApp()
        const key = await create(app, 'nightly-sync', 'fullAccess')
        assert.deepEqual(Object.keys(key).toSorted(), ['apiKey', 'createdAt', 'name', 'scope'])
        assert.match(key.apiKey, keyForm)
        assert.equal(key.name, 'nightly-sync')
        assert.equal(key.scope, 'fullAccess')
        assert.ok(Math.abs(key.createdAt - h.clock.now()) <= 2)
      })

      it('makes an authOnly key unless a scope is given', async () => {
        assert.equal((await create(await newApp(), 'plain')).scope, 'authOnly')
      })

      it('ignores a key value that the caller sends', async () => {
        const app = await newApp()
        const answer = await app.post('/apikeys', { name: 'mine', apiKey: unknownKey, createdAt: 1 })
        assert.notEqual(assertSucceeds(answer).data.apiKey, unknownKey)
        assert.notEqual(answer.body.data.createdAt, 1)
      })

      it('gives a key that works at once, within its scope', async () => {
        const app = await newApp()
        const full = await create(app, 'full', 'fullAccess')
        const narrow = await create(app, 'narrow')
        assertSucceeds(await app.withKey(full.apiKey).get('/apikeys'))
        assertFails(await app.withKey(narrow.apiKey).get('/apikeys'), 403, 'AUTH_ERR_NO_ACCESS')
      })

      const refused = [
        ['no name', {}, 'name'],
        ['a blank name', { name: '  ' }, 'name'],
        ['an empty name', { name: '' }, 'name'],
        ['a name that is no text', { name: 7 }, 'name'],
        ['a blank scope', { name: 'x', scope: ' ' }, 'scope'],
        ['an empty scope', { name: 'x', scope: '' }, 'scope'],
        ['an unknown scope', { name: 'x', scope: 'readOnly' }, 'scope'],
        ['a scope in another letter case', { name: 'x', scope: 'FullAccess' }, 'scope'],
        ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name'],
        ['a name of 51 emoji, which count two each', { name: '🔑'.repeat(51) }, 'name'],
        ['a name of 99 characters and an emoji', { name: `${'x'.repeat(99)}🔑` }, 'name'],
      ] as const
      for (const [what, body, field] of refused) {
        it(`refuses ${what} and changes nothing`, async () => {
          const app = await newApp()
          const assertUnchanged = await nothingChanges(h)
          const answer = await app.post('/apikeys', body)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(answer.body.error.details[field]?.length > 0, answer.text)
          await assertUnchanged(what)
        })
      }

      it('takes names of 100 UTF-16 units', async () => {
        const app = await newApp()
        for (const name of ['x'.repeat(100), '🔑'.repeat(50), `${'x'.repeat(98)}🔑`]) {
          assert.equal((await create(app, name)).name, name)
        }
      })

      it('refuses a name that is taken, and only within the app', async () => {
        const [app, other] = [await newApp(), await newApp()]
        await create(app, 'sync')
        const assertUnchanged = await nothingChanges(h)
        const answer = await app.post('/apikeys', { name: 'sync' })
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.ok(answer.body.error.details.name)
        assert.match(answer.body.error.message, /already exists/)
        await assertUnchanged('a taken name')
        await create(other, 'sync')
      })

      it('stops at 25 keys, and goes on once one is deleted', async () => {
        const app = await newApp()
        for (let n = 2; n < keysMax; n += 1) await create(app, `key ${n}`)
        const assertUnchanged = await nothingChanges(h)
        assertFails(await app.post('/apikeys', { name: 'one more' }), 402, 'ERR_PLAN_QUOTA_RESTRICTION')
        await assertUnchanged('the 26th key')
        assertSucceeds(await app.delete(`/apikeys/${app.authKey}`))
        await create(app, 'one more')
      })

      it('keeps the limit exact under 50 creations at once', async () => {
        const app = await newApp()
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, n) => app.post('/apikeys', { name: `parallel ${n}` })),
        )
        const statuses = answers.map(({ status }) => status)
        assert.equal(statuses.filter((status) => status === 200).length, keysMax - 2)
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          assertFails(answer, 402, 'ERR_PLAN_QUOTA_RESTRICTION')
        }
        assert.equal(assertSucceeds(await app.get('/apikeys')).meta.pagination.total, keysMax)
      })

      it('keeps names unique under 20 creations at once', async () => {
        const app = await newApp()
        const answers = await Promise.all(Array.from({ length: 20 }, () => app.post('/apikeys', { name: 'the one' })))
        assert.equal(answers.filter(({ status }) => status === 200).length, 1)
        for (const answer of answers.filter(({ status }) => status !== 200)) assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.deepEqual(await names(app, '?searchKey=the%20one'), ['the one'])
      })
    })

    describe('list', () => {
      it('shows every key in full, newest first', async () => {
        const app = await newApp()
        for (const name of ['first', 'second', 'third']) {
          h.clock.setOffset(h.clock.offsetSeconds() + 10)
          await create(app, name)
        }
        h.clock.setOffset(0)
        const { data } = assertSucceeds(await app.get('/apikeys'))
        assert.deepEqual(
          data.slice(0, 3).map(({ name }: { name: string }) => name),
          ['third', 'second', 'first'],
        )
        for (const { apiKey } of data) assert.match(apiKey, keyForm)
      })

      it('filters by scope exactly; an unknown one matches nothing', async () => {
        const app = await newApp()
        await create(app, 'more', 'fullAccess')
        assert.deepEqual((await names(app, '?scope=fullAccess')).toSorted(), ['Rest API Key', 'more'])
        assert.deepEqual(await names(app, '?scope=authOnly'), ['Auth Key'])
        for (const scope of ['fullaccess', 'full', 'unknown']) assert.deepEqual(await names(app, `?scope=${scope}`), [])
      })

      it('searches part of the name in any letter case and any script, taking wildcards literally', async () => {
        const app = await newApp()
        for (const name of ['Nightly Sync', 'Größe', '100% sure', 'a_b', 'back\\slash']) await create(app, name)
        assert.deepEqual(await names(app, '?searchKey=LY%20sy'), ['Nightly Sync'])
        assert.deepEqual(await names(app, `?searchKey=${encodeURIComponent('RÖSSE'.replace('SS', 'ß'))}`), ['Größe'])
        assert.deepEqual(await names(app, '?searchKey=%25'), ['100% sure'])
        assert.deepEqual(await names(app, '?searchKey=_'), ['a_b'])
        assert.deepEqual(await names(app, '?searchKey=%5C'), ['back\\slash'])
        assert.deepEqual(await names(app, '?searchKey=nowhere'), [])
      })

      it('combines filters', async () => {
        const app = await newApp()
        await create(app, 'sync full', 'fullAccess')
        await create(app, 'sync narrow')
        assert.deepEqual(await names(app, '?searchKey=sync&scope=authOnly'), ['sync narrow'])
      })

      it('pages without gaps or repeats', async () => {
        const app = await newApp()
        for (let n = 0; n < 5; n += 1) await create(app, `key ${n}`)
        const pages = []
        for (const page of [1, 2, 3]) {
          const { data, meta } = assertSucceeds(await app.get(`/apikeys?perPage=3&page=${page}`))
          assert.deepEqual(meta.pagination, {
            total: 7,
            count: page === 3 ? 1 : 3,
            per_page: 3,
            current_page: page,
            total_pages: 3,
          })
          pages.push(...data)
        }
        assert.deepEqual(pages, assertSucceeds(await app.get('/apikeys')).data)
        assert.equal(new Set(pages.map(({ apiKey }) => apiKey)).size, 7)
      })
    })

    describe('get', () => {
      it('answers the record, also of the key in use', async () => {
        const app = await newApp()
        const key = await create(app, 'one')
        assert.deepEqual(assertSucceeds(await app.get(`/apikeys/${key.apiKey}`)), { data: key })
        assert.equal(assertSucceeds(await app.get(`/apikeys/${app.apiKey}`)).data.name, 'Rest API Key')
      })

      it('does not know other keys: unknown ones, and those of another app', async () => {
        const [app, other] = [await newApp(), await newApp()]
        for (const key of [unknownKey, 'x', other.apiKey, other.authKey]) {
          assertFails(await app.get(`/apikeys/${key}`), 404, 'ERR_APIKEY_NOT_FOUND')
        }
      })
    })

    describe('update', () => {
      it('renames, re-scopes or both, and dates the change; the key value stays', async () => {
        const app = await newApp()
        const { apiKey, createdAt } = await create(app, 'before')
        h.clock.setOffset(100)
        const renamed = assertSucceeds(await app.put(`/apikeys/${apiKey}`, { name: 'after' })).data
        assert.deepEqual(renamed, { apiKey, name: 'after', scope: 'authOnly', createdAt, updatedAt: renamed.updatedAt })
        assert.ok(renamed.updatedAt >= createdAt + 99)
        h.clock.setOffset(0)
        assert.equal(assertSucceeds(await app.put(`/apikeys/${apiKey}`, { scope: 'fullAccess' })).data.name, 'after')
        const both = assertSucceeds(await app.put(`/apikeys/${apiKey}`, { name: 'last', scope: 'authOnly' })).data
        assert.deepEqual([both.name, both.scope, both.apiKey], ['last', 'authOnly', apiKey])
        assert.deepEqual(assertSucceeds(await app.get(`/apikeys/${apiKey}`)).data, both)
      })

      it('takes effect on the next request', async () => {
        const app = await newApp()
        const { apiKey } = await create(app, 'growing')
        assertFails(await app.withKey(apiKey).get('/apikeys'), 403, 'AUTH_ERR_NO_ACCESS')
        assertSucceeds(await app.put(`/apikeys/${apiKey}`, { scope: 'fullAccess' }))
        assertSucceeds(await app.withKey(apiKey).get('/apikeys'))
        assertSucceeds(await app.put(`/apikeys/${apiKey}`, { scope: 'authOnly' }))
        assertFails(await app.withKey(apiKey).get('/apikeys'), 403, 'AUTH_ERR_NO_ACCESS')
      })

      it('with an empty body answers the key unchanged', async () => {
        const app = await newApp()
        const key = await create(app, 'same')
        const assertUnchanged = await nothingChanges(h)
        assert.deepEqual(assertSucceeds(await app.put(`/apikeys/${key.apiKey}`, {})).data, key)
        assert.deepEqual(assertSucceeds(await app.put(`/apikeys/${key.apiKey}`)).data, key)
        await assertUnchanged('an empty update')
      })

      it('may keep its own name', async () => {
        const app = await newApp()
        const { apiKey } = await create(app, 'mine')
        assertSucceeds(await app.put(`/apikeys/${apiKey}`, { name: 'mine' }))
      })

      const refused = [
        ['a blank name', { name: ' ' }, 'name'],
        ['a blank scope', { scope: ' ' }, 'scope'],
        ['an unknown scope', { scope: 'all' }, 'scope'],
        ['a name too long', { name: 'x'.repeat(101) }, 'name'],
        ['the name of another key', { name: 'Auth Key' }, 'name'],
      ] as const
      for (const [what, body, field] of refused) {
        it(`refuses ${what} and changes nothing`, async () => {
          const app = await newApp()
          const { apiKey } = await create(app, 'stays')
          const assertUnchanged = await nothingChanges(h)
          const answer = await app.put(`/apikeys/${apiKey}`, body)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(answer.body.error.details[field], answer.text)
          await assertUnchanged(what)
        })
      }

      it('refuses the key in use, and keys it does not know', async () => {
        const [app, other] = [await newApp(), await newApp()]
        const assertUnchanged = await nothingChanges(h)
        assertFails(await app.put(`/apikeys/${app.apiKey}`, { name: 'me' }), 403, 'ERR_APIKEY_NO_SELF_ACTION')
        assertFails(await app.put(`/apikeys/${app.apiKey}`, {}), 403, 'ERR_APIKEY_NO_SELF_ACTION')
        for (const key of [unknownKey, other.authKey]) {
          assertFails(await app.put(`/apikeys/${key}`, { name: 'x' }), 404, 'ERR_APIKEY_NOT_FOUND')
        }
        await assertUnchanged('refused updates')
      })

      it('lets one of many renamings to the same name win', async () => {
        const app = await newApp()
        const keys = await Promise.all(Array.from({ length: 10 }, (_, n) => create(app, `racer ${n}`)))
        const answers = await Promise.all(keys.map(({ apiKey }) => app.put(`/apikeys/${apiKey}`, { name: 'winner' })))
        assert.equal(answers.filter(({ status }) => status === 200).length, 1)
        assert.deepEqual(await names(app, '?searchKey=winner'), ['winner'])
      })
    })

    describe('delete', () => {
      it('revokes the key at once, and cannot be done twice', async () => {
        const app = await newApp()
        const { apiKey } = await create(app, 'short-lived', 'fullAccess')
        const bearer = app.withKey(apiKey)
        assertSucceeds(await bearer.get('/apikeys'))
        const { data } = assertSucceeds(await app.delete(`/apikeys/${apiKey}`))
        assert.deepEqual([data.success, typeof data.message], [true, 'string'])
        assertFails(await bearer.get('/apikeys'), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
        assertFails(await app.get(`/apikeys/${apiKey}`), 404, 'ERR_APIKEY_NOT_FOUND')
        assertFails(await app.delete(`/apikeys/${apiKey}`), 404, 'ERR_APIKEY_NOT_FOUND')
        assert.ok(!(await names(app)).includes('short-lived'))
      })

      it('frees the name', async () => {
        const app = await newApp()
        const { apiKey } = await create(app, 'again')
        assertSucceeds(await app.delete(`/apikeys/${apiKey}`))
        await create(app, 'again')
      })

      it('happens once under ten deletions at once', async () => {
        const app = await newApp()
        const { apiKey } = await create(app, 'contested')
        const answers = await Promise.all(Array.from({ length: 10 }, () => app.delete(`/apikeys/${apiKey}`)))
        assert.equal(answers.filter(({ status }) => status === 200).length, 1)
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          assertFails(answer, 404, 'ERR_APIKEY_NOT_FOUND')
        }
      })

      it('refuses the key in use, and keys of another app', async () => {
        const [app, other] = [await newApp(), await newApp()]
        const assertUnchanged = await nothingChanges(h)
        assertFails(await app.delete(`/apikeys/${app.apiKey}`), 403, 'ERR_APIKEY_NO_SELF_ACTION')
        for (const key of [unknownKey, other.apiKey]) {
          assertFails(await app.delete(`/apikeys/${key}`), 404, 'ERR_APIKEY_NOT_FOUND')
        }
        await assertUnchanged('refused deletions')
        assertSucceeds(await other.get('/apikeys'))
      })

      it('rotates: a new key deletes the old one', async () => {
        const app = await newApp()
        const { apiKey } = await create(app, 'successor', 'fullAccess')
        assertSucceeds(await app.withKey(apiKey).delete(`/apikeys/${app.apiKey}`))
        assertFails(await app.get('/apikeys'), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
        assertSucceeds(await app.withKey(apiKey).get('/apikeys'))
      })
    })

    it('never stands in the database as plain text', async () => {
      const app = await newApp()
      const { apiKey } = await create(app, 'secret')
      const contents = JSON.stringify(await dump(h))
      for (const key of [apiKey, app.apiKey, app.authKey]) assert.ok(!contents.includes(key))
    })
  })
}
