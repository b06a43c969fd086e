import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump, nothingChanges, rowsOfApp } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import { features } from './catalogue.ts'

for (const database of databases) {
  describe(`restricted features on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    async function newApp(): Promise<AppClient> {
      const app = await h.app(randomUUID())
      assertSucceeds(await app.post('/roles', { role: 'tutor', name: 'Tutor' }))
      return app
    }
    const path = '/roles/tutor/restrictedfeatures'
    const restrict = async (app: AppClient, ...featuresToRestrict: string[]) =>
      assertSucceeds(await app.post(path, { featuresToRestrict })).data
    const keys = async (app: AppClient, query = '') =>
      assertSucceeds(await app.get(`${path}${query}`)).data.map(({ key }: { key: string }) => key)
    const told = async (app: AppClient) =>
      ((await dump(h)).events ?? [])
        .map((row) => JSON.parse(row))
        .filter((row) => row.app_id === app.id && row.name.startsWith('role.features'))
        .toSorted((a, b) => a.id - b.id)
        .map((row) => [row.name, JSON.parse(row.payload).features])

    it('are marked as deprecated in every answer, and name what replaces them', async () => {
      const app = await newApp()
      const successor = (role: string) => `</v3/roles/${role}/permissions>; rel="successor-version"`
      const assertMarked = ({ headers }: Answer, role = 'tutor') =>
        assert.deepEqual([headers.deprecation, headers.link], ['true', successor(role)])
      assertMarked(await app.get(path))
      assertMarked(await app.post(path, { featuresToRestrict: ['ban'] }))
      assertMarked(await app.delete(path, { allowAll: true }))
      assertMarked(await app.post(path, {}))
      assertMarked(await app.withKey('wrong').get(path))
      assertMarked(await app.get('/roles/no%20one%3E/restrictedfeatures'), 'no%20one%3E')
      assert.equal((await app.get('/roles/tutor/permissions')).headers.deprecation, undefined)
      const { body } = await h.client.send(app.host, '/openapi.json')
      const document = body.paths['/v3/roles/{role}/restrictedfeatures']
      for (const method of ['get', 'post', 'delete']) {
        assert.equal(document[method].deprecated, true)
        assert.equal(document[method]['x-replaced-by'], '/v3/roles/{role}/permissions')
      }
    })

    describe('restrict', () => {
      it('answers for each feature under its prefixed key, whichever way it was sent', async () => {
        const app = await newApp()
        const data = await restrict(app, 'createGroup', 'u.ban', 'u.createGroup')
        assert.deepEqual(Object.keys(data), ['u.createGroup', 'u.ban'])
        for (const { success, message } of Object.values(data) as { success: boolean; message: string }[]) {
          assert.deepEqual([success, typeof message], [true, 'string'])
        }
        assert.deepEqual(await keys(app), ['u.ban', 'u.createGroup'])
      })

      it('keeps the date of what is restricted already', async () => {
        const app = await newApp()
        await restrict(app, 'ban')
        const [before] = assertSucceeds(await app.get(path)).data
        h.clock.setOffset(h.clock.offsetSeconds() + 10)
        assert.equal((await restrict(app, 'ban', 'unban'))['u.ban'].success, true)
        const [same, later] = assertSucceeds(await app.get(path)).data
        assert.deepEqual(same, before)
        assert.ok(later.createdAt >= before.createdAt + 10)
      })

      it('fails an unknown feature alone', async () => {
        const app = await newApp()
        const data = await restrict(app, 'flyGroup', 'ban', 'CreateGroup', 'constructor')
        assert.equal(data['u.ban'].success, true)
        for (const key of ['u.flyGroup', 'u.CreateGroup', 'u.constructor']) {
          const { success, error } = data[key]
          assert.deepEqual([success, error.code, error.source], [false, 'ERR_BAD_REQUEST', 'chat-api'])
        }
        assert.deepEqual(await keys(app), ['u.ban'])
      })

      it('refuses a call that names no feature, and changes nothing', async () => {
        const app = await newApp()
        const assertUnchanged = await nothingChanges(h)
        const wrong = [
          {},
          { featuresToRestrict: [] },
          { featuresToRestrict: 'ban' },
          { featuresToRestrict: ['flyGroup'] },
        ]
        for (const body of wrong) {
          const answer = await app.post(path, body)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(answer.body.error.details), ['featuresToRestrict'])
        }
        assertFails(await app.post('/roles/nobody/restrictedfeatures', {}), 404, 'ERR_ROLE_NOT_FOUND')
        await assertUnchanged('refusals')
      })
    })

    describe('list', () => {
      it('is empty at first', async () => {
        const { data, meta } = assertSucceeds(await (await newApp()).get(path))
        assert.deepEqual([data, meta.pagination.total], [[], 0])
      })

      it('holds all 44 features in the order of their keys, page by page', async () => {
        const app = await newApp()
        const all = [...features.keys()]
        assert.equal(all.length, 44)
        await restrict(app, ...all.toReversed())
        const sorted = all.map((key) => `u.${key}`).toSorted()
        assert.deepEqual(await keys(app), sorted)
        assert.deepEqual(await keys(app, '?perPage=20&page=3'), sorted.slice(40))
      })

      it('tells title, path and more of each', async () => {
        const app = await newApp()
        await restrict(app, 'deleteGroup', 'unban')
        const [group, unban] = assertSucceeds(await app.get(path)).data
        assert.deepEqual(Object.keys(group).toSorted(), ['createdAt', 'description', 'key', 'path', 'title'])
        assert.deepEqual([group.title, group.path], ['Delete Group', '/v3/groups/{{guid}}'])
        assert.equal(unban.title, 'unban User')
      })
    })

    describe('allow', () => {
      it('lifts what is named, with or without prefix, and passes over what is not restricted', async () => {
        const app = await newApp()
        await restrict(app, 'ban', 'unban', 'createGroup')
        const answer = await app.delete(path, { featuresToAllow: ['ban', 'u.unban', 'joinGroup'] })
        assert.deepEqual(Object.keys(assertSucceeds(answer).data), ['success', 'message'])
        assert.deepEqual(await keys(app), ['u.createGroup'])
      })

      it('lifts everything with allowAll, which wins over the list', async () => {
        const app = await newApp()
        await restrict(app, 'ban', 'unban')
        assertSucceeds(await app.delete(path, { allowAll: true, featuresToAllow: ['flyGroup'] }))
        assert.deepEqual(await keys(app), [])
      })

      it('refuses unknown features and calls that name none, and changes nothing', async () => {
        const app = await newApp()
        await restrict(app, 'ban')
        const assertUnchanged = await nothingChanges(h)
        const wrong = [{}, { allowAll: false }, { featuresToAllow: [] }, { featuresToAllow: ['ban', 'flyGroup'] }]
        for (const body of wrong) {
          const answer = await app.delete(path, body)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(answer.body.error.details), ['featuresToAllow'])
        }
        assertFails(await app.delete(path), 400, 'ERR_BAD_REQUEST')
        await assertUnchanged('refusals')
      })
    })

    it('end with their role: a later one of its name begins without', async () => {
      const app = await newApp()
      await restrict(app, 'ban')
      assertSucceeds(await app.delete('/roles/tutor'))
      assertFails(await app.get(path), 404, 'ERR_ROLE_NOT_FOUND')
      assertSucceeds(await app.post('/roles', { role: 'tutor', name: 'Tutor' }))
      assert.deepEqual(await keys(app), [])
      await restrict(app, 'unban')
      await h.settle()
      assert.deepEqual(await keys(app), ['u.unban'])
      assert.equal(rowsOfApp({ rows: (await dump(h)).restricted_features ?? [] }, app.id).length, 1)
    })

    it('end in a state that some order of 40 parallel calls gives', async () => {
      const app = await newApp()
      const [some, others] = [
        ['ban', 'unban', 'createGroup'],
        ['createGroup', 'unban', 'ban'],
      ]
      await Promise.all(
        Array.from({ length: 40 }, async (_, n) =>
          assertSucceeds(
            n % 2 === 0
              ? await app.post(path, { featuresToRestrict: some })
              : await app.delete(path, { featuresToAllow: others }),
          ),
        ),
      )
      assert.ok([0, 3].includes((await keys(app)).length))
    })

    it('tell the log what changed, and nothing when nothing did', async () => {
      const app = await newApp()
      await restrict(app, 'ban')
      await restrict(app, 'ban')
      assertSucceeds(await app.delete(path, { featuresToAllow: ['ban', 'unban'] }))
      assertSucceeds(await app.delete(path, { allowAll: true }))
      assert.deepEqual(await told(app), [
        ['role.featuresRestricted', ['ban']],
        ['role.featuresAllowed', ['ban']],
      ])
    })

    it('keep apps apart', async () => {
      const [a, b] = [await newApp(), await newApp()]
      await restrict(a, 'ban')
      assert.deepEqual(await keys(b), [])
      assertSucceeds(await b.delete(path, { allowAll: true }))
      assert.deepEqual(await keys(a), ['u.ban'])
    })
  })
}
