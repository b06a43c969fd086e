import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump, nothingChanges } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'

const rolesMax = 25

for (const database of databases) {
  describe(`roles on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const newApp = () => h.app(randomUUID())
    const create = async (app: AppClient, role: string, more: object = {}) =>
      assertSucceeds(await app.post('/roles', { role, name: role.toUpperCase(), ...more })).data
    const ids = async (app: AppClient, query = '') =>
      assertSucceeds(await app.get(`/roles${query}`)).data.map(({ role }: { role: string }) => role)
    const events = async (app: AppClient) =>
      ((await dump(h)).events ?? [])
        .map((row) => JSON.parse(row))
        .filter((row) => row.app_id === app.id && row.name.startsWith('role.'))
        .toSorted((a, b) => a.id - b.id)
        .map((row) => [row.name, JSON.parse(row.payload).role.role])

    it('begin with default, in every app', async () => {
      const app = await newApp()
      assert.deepEqual(await ids(app), ['default'])
      const { data } = assertSucceeds(await app.get('/roles/default'))
      assert.deepEqual(Object.keys(data).toSorted(), ['createdAt', 'name', 'role'])
      assert.equal(data.name, 'Default Role')
    })

    describe('create', () => {
      it('answers the record, with what was sent and nothing else', async () => {
        const app = await newApp()
        const sent = {
          role: 'tutor',
          name: 'Tutor',
          description: 'Leads study groups',
          metadata: { level: 3, nested: { list: [1, null] } },
          settings: { listUsers: 'all', sendMessagesTo: 'friendsOnly' },
        }
        const { createdAt, ...role } = assertSucceeds(await app.post('/roles', sent)).data
        assert.deepEqual(role, sent)
        assert.ok(Math.abs(createdAt - h.clock.now()) <= 2)
        assert.deepEqual(assertSucceeds(await app.get('/roles/tutor')).data, { ...sent, createdAt })
      })

      it('leaves out what was not sent', async () => {
        const role = await create(await newApp(), 'plain')
        assert.deepEqual(Object.keys(role).toSorted(), ['createdAt', 'name', 'role'])
      })

      it('stores ids in lower case, and finds them in any', async () => {
        const app = await newApp()
        assert.equal((await create(app, 'Lead-Tutor_2')).role, 'lead-tutor_2')
        assert.equal(assertSucceeds(await app.get('/roles/LEAD-TUTOR_2')).data.role, 'lead-tutor_2')
        assertFails(await app.post('/roles', { role: 'LEAD-tutor_2', name: 'Again' }), 400, 'ERR_BAD_REQUEST')
      })

      it('takes metadata as JSON text and answers it as an object', async () => {
        const role = await create(await newApp(), 'texty', { metadata: '{"level": 3}' })
        assert.deepEqual(role.metadata, { level: 3 })
      })

      it('drops settings it does not know', async () => {
        const role = await create(await newApp(), 'odd', { settings: { listUsers: 'all', fly: 'yes' } })
        assert.deepEqual(role.settings, { listUsers: 'all' })
      })

      it('takes names of any script up to 100 characters, and ids up to 100', async () => {
        const app = await newApp()
        for (const name of ['x'.repeat(100), '家庭教師', 'معلّم', '🎓'.repeat(50)]) {
          const { data } = assertSucceeds(
            await app.post('/roles', { role: `r-${name.length}-${name.codePointAt(0)}`, name }),
          )
          assert.equal(data.name, name)
        }
        assert.equal((await create(app, 'r'.repeat(100), { description: 'd'.repeat(255) })).role.length, 100)
      })

      const refused = [
        ['no role', { name: 'x' }, ['role']],
        ['no name', { role: 'x' }, ['name']],
        ['neither', {}, ['name', 'role']],
        ['both empty', { role: '', name: '' }, ['name', 'role']],
        ['a blank name', { role: 'x', name: '  ' }, ['name']],
        ['a name of 101 characters', { role: 'x', name: 'x'.repeat(101) }, ['name']],
        ['an id with a space', { role: 'a b', name: 'x' }, ['role']],
        ['an id with a dot', { role: 'a.b', name: 'x' }, ['role']],
        ['an id in another script', { role: '教師', name: 'x' }, ['role']],
        ['an id of 101 characters', { role: 'x'.repeat(101), name: 'x' }, ['role']],
        ['an id that is taken', { role: 'default', name: 'x' }, ['role']],
        ['a description of 256 characters', { role: 'x', name: 'x', description: 'd'.repeat(256) }, ['description']],
        ['metadata that is a list', { role: 'x', name: 'x', metadata: [] }, ['metadata']],
        ['metadata that is no JSON text', { role: 'x', name: 'x', metadata: '{' }, ['metadata']],
        ['settings that are no object', { role: 'x', name: 'x', settings: 'all' }, ['settings']],
        ['a wrong setting', { role: 'x', name: 'x', settings: { listUsers: 'friends' } }, ['settings.listUsers']],
        [
          'two wrong settings',
          { role: 'x', name: 'x', settings: { listUsers: 1, sendMessagesTo: 'none' } },
          ['settings.listUsers', 'settings.sendMessagesTo'],
        ],
      ] as const
      it('refuses what does not fit, names every field at fault and changes nothing', async () => {
        const app = await newApp()
        const assertUnchanged = await nothingChanges(h)
        for (const [what, body, fields] of refused) {
          const answer = await app.post('/roles', body)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(answer.body.error.details).toSorted(), fields, what)
        }
        await assertUnchanged('refusals')
      })

      it('says of an id that is taken that the role already exists', async () => {
        const { error } = (await (await newApp()).post('/roles', { role: 'Default', name: 'x' })).body
        assert.match(error.message, /already exists/)
      })

      it('stops at 25 roles, default among them, and goes on once one is deleted', async () => {
        const app = await newApp()
        const answers = await Promise.all(
          Array.from({ length: rolesMax + 5 }, (_, n) => app.post('/roles', { role: `r${n}`, name: `R${n}` })),
        )
        assert.equal(answers.filter(({ status }) => status === 200).length, rolesMax - 1)
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          assertFails(answer, 402, 'ERR_PLAN_QUOTA_RESTRICTION')
        }
        const first = (await ids(app)).find((role: string) => role !== 'default')
        assertSucceeds(await app.delete(`/roles/${first}`))
        await create(app, 'one-more')
      })

      it('keeps ids unique under 20 creations at once', async () => {
        const app = await newApp()
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => app.post('/roles', { role: 'one', name: 'One' })),
        )
        assert.equal(answers.filter(({ status }) => status === 200).length, 1)
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(answer.body.error.details.role)
        }
      })
    })

    describe('list', () => {
      it('shows the newest first, page by page', async () => {
        const app = await newApp()
        for (const role of ['a', 'b', 'c']) {
          h.clock.setOffset(h.clock.offsetSeconds() + 10)
          await create(app, role)
        }
        assert.deepEqual(await ids(app), ['c', 'b', 'a', 'default'])
        assert.deepEqual(await ids(app, '?perPage=3&page=2'), ['default'])
        const { meta } = assertSucceeds(await app.get('/roles?perPage=3&page=2'))
        assert.deepEqual(meta.pagination, { total: 4, count: 1, per_page: 3, current_page: 2, total_pages: 2 })
      })
    })

    describe('update', () => {
      it('changes what is sent, keeps the rest, and dates the change', async () => {
        const app = await newApp()
        const before = await create(app, 'tutor', {
          description: 'old',
          metadata: { a: 1, b: 2 },
          settings: { listUsers: 'all' },
        })
        h.clock.setOffset(h.clock.offsetSeconds() + 10)
        const { data } = assertSucceeds(await app.put('/roles/Tutor', { name: 'Lead', metadata: { c: 3 } }))
        const { updatedAt, ...rest } = data
        assert.deepEqual(rest, { ...before, name: 'Lead', metadata: { c: 3 } })
        assert.ok(updatedAt >= before.createdAt + 10)
        assert.deepEqual(assertSucceeds(await app.get('/roles/tutor')).data, data)
      })

      it('replaces settings whole', async () => {
        const app = await newApp()
        await create(app, 'tutor', { settings: { listUsers: 'friendsOnly', sendMessagesTo: 'all' } })
        const { data } = assertSucceeds(await app.put('/roles/tutor', { settings: { sendMessagesTo: 'friendsOnly' } }))
        assert.deepEqual(data.settings, { sendMessagesTo: 'friendsOnly' })
      })

      it('removes what unset names, also when a value comes along', async () => {
        const app = await newApp()
        const full = { description: 'd', metadata: { a: 1 }, settings: { listUsers: 'all' } }
        await create(app, 'tutor', full)
        const body = { unset: ['settings', 'description', 'metadata'], description: 'new' }
        const { data } = assertSucceeds(await app.put('/roles/tutor', body))
        assert.deepEqual(Object.keys(data).toSorted(), ['createdAt', 'name', 'role', 'updatedAt'])
      })

      it('removes a description by an empty one', async () => {
        const app = await newApp()
        await create(app, 'tutor', { description: 'd', metadata: { a: 1 } })
        const { data } = assertSucceeds(await app.put('/roles/tutor', { description: '' }))
        assert.deepEqual(['description' in data, data.metadata], [false, { a: 1 }])
      })

      it('changes default as well', async () => {
        const { data } = assertSucceeds(await (await newApp()).put('/roles/default', { name: 'Everyone' }))
        assert.deepEqual([data.role, data.name], ['default', 'Everyone'])
      })

      it('changes nothing when nothing is sent, and never the id', async () => {
        const app = await newApp()
        const before = await create(app, 'tutor')
        const assertUnchanged = await nothingChanges(h)
        for (const body of [{}, { role: 'other' }, { unset: [] }]) {
          assert.deepEqual(assertSucceeds(await app.put('/roles/tutor', body)).data, before)
        }
        await assertUnchanged('empty updates')
      })

      it('refuses what does not fit and changes nothing', async () => {
        const app = await newApp()
        await create(app, 'tutor')
        const assertUnchanged = await nothingChanges(h)
        const refused = [
          [{ name: '' }, 'name'],
          [{ name: ' ' }, 'name'],
          [{ unset: ['name'] }, 'unset.0'],
          [{ unset: 'settings' }, 'unset'],
          [{ settings: { sendMessagesTo: 'friends' } }, 'settings.sendMessagesTo'],
          [{ description: 'd'.repeat(256) }, 'description'],
        ] as const
        for (const [body, field] of refused) {
          const answer = await app.put('/roles/tutor', body)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(answer.body.error.details), [field])
        }
        assertFails(await app.put('/roles/nobody', { name: '' }), 404, 'ERR_ROLE_NOT_FOUND')
        await assertUnchanged('refusals')
      })
    })

    describe('delete', () => {
      it('removes the role; a second time there is none', async () => {
        const app = await newApp()
        await create(app, 'tutor')
        const { data } = assertSucceeds(await app.delete('/roles/TUTOR'))
        assert.equal(data.success, true)
        assert.equal(typeof data.message, 'string')
        assertFails(await app.get('/roles/tutor'), 404, 'ERR_ROLE_NOT_FOUND')
        assertFails(await app.delete('/roles/tutor'), 404, 'ERR_ROLE_NOT_FOUND')
      })

      it('succeeds once among 10 at once', async () => {
        const app = await newApp()
        await create(app, 'tutor')
        const answers = await Promise.all(Array.from({ length: 10 }, () => app.delete('/roles/tutor')))
        assert.equal(answers.filter(({ status }) => status === 200).length, 1)
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          assertFails(answer, 404, 'ERR_ROLE_NOT_FOUND')
        }
      })

      it('spares default, in any spelling', async () => {
        const app = await newApp()
        const assertUnchanged = await nothingChanges(h)
        for (const role of ['default', 'DEFAULT']) {
          assertFails(await app.delete(`/roles/${role}`), 403, 'ERR_ROLE_DELETE_DENIED')
        }
        await assertUnchanged('refusals')
      })

      it('gives the users of the role default, and dates the change', async () => {
        const app = await newApp()
        await create(app, 'tutor')
        await create(app, 'guest')
        for (const [uid, role] of [
          ['ana', 'tutor'],
          ['ben', 'tutor'],
          ['cem', 'guest'],
        ]) {
          assertSucceeds(await app.post('/users', { uid, name: uid, role }))
        }
        h.clock.setOffset(h.clock.offsetSeconds() + 10)
        assertSucceeds(await app.delete('/roles/tutor'))
        await h.settle()
        const roleOf = async (uid: string) => assertSucceeds(await app.get(`/users/${uid}`)).data
        for (const uid of ['ana', 'ben']) {
          const user = await roleOf(uid)
          assert.equal(user.role, 'default')
          assert.ok(user.updatedAt >= user.createdAt + 10)
        }
        assert.equal((await roleOf('cem')).role, 'guest')
      })
    })

    it('tell each change to the log, and nothing else', async () => {
      const app = await newApp()
      await create(app, 'tutor')
      assertSucceeds(await app.put('/roles/tutor', { name: 'Lead' }))
      assertSucceeds(await app.put('/roles/tutor', {}))
      assertSucceeds(await app.delete('/roles/tutor'))
      assert.deepEqual(await events(app), [
        ['role.created', 'tutor'],
        ['role.updated', 'tutor'],
        ['role.deleted', 'tutor'],
      ])
    })

    it('keep apps apart', async () => {
      const [a, b] = [await newApp(), await newApp()]
      await create(a, 'tutor')
      assertFails(await b.get('/roles/tutor'), 404, 'ERR_ROLE_NOT_FOUND')
      assertFails(await b.put('/roles/tutor', { name: 'x' }), 404, 'ERR_ROLE_NOT_FOUND')
      assertFails(await b.delete('/roles/tutor'), 404, 'ERR_ROLE_NOT_FOUND')
      await create(b, 'tutor', { name: 'Other' })
      assertSucceeds(await b.delete('/roles/tutor'))
      assert.equal(assertSucceeds(await a.get('/roles/tutor')).data.name, 'TUTOR')
    })
  })
}
