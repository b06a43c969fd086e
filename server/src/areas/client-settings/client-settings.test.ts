import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, clientOf } from '../../../../tests/support/talk.ts'

const path = '/me/settings'
const replies = 'core.conversations.updateOnReplies'

for (const database of databases) {
  describe(`settings for clients on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database, environment: { PARLEY_FILE_MEGABYTES_MAX: '7', PARLEY_FILES_MAX: '3' } })
    })
    after(() => h.close())

    const settingsOf = ({ id }: AppClient) => `/apps/${id}/settings`

    it('are those of the app, with the limits of the install', async () => {
      const app = await appWith(h, 'ada')
      const inForce = assertSucceeds(await h.management.get(settingsOf(app))).data
      const ada = await clientOf(h, app, 'ada')
      const { data } = assertSucceeds(await ada.get(path))
      assert.deepEqual(data, {
        settings: {
          ...inForce,
          'file.size.max': 7_000_000,
          'file.count.max': 3,
          'parley.messages.pinned.max': 100,
          'parley.messages.saved.max': 100,
          'parley.conversations.pinned.max': 5,
        },
        restrictedFeatures: [],
      })
      assert.deepEqual(assertSucceeds(await app.get(path, as('ada'))).data, data)
    })

    it('are as somebody has just set them', async () => {
      const app = await appWith(h, 'ada')
      const ada = await clientOf(h, app, 'ada')
      const read = async () => assertSucceeds(await ada.get(path)).data.settings[replies]
      assert.equal(await read(), true)
      assertSucceeds(await h.management.post(settingsOf(app), { settings: { [replies]: false } }))
      assert.equal(await read(), false)
      assertSucceeds(await h.management.delete(settingsOf(app)))
      assert.equal(await read(), true)
    })

    it("name what the user's role may not use, and can be switched off themselves", async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/roles', { role: 'guest', name: 'Guest' }))
      assertSucceeds(await app.put('/users/lin', { role: 'guest' }))
      const restrict = async (...featuresToRestrict: string[]) =>
        assertSucceeds(await app.post('/roles/guest/restrictedfeatures', { featuresToRestrict }))
      await restrict('createGroup', 'addMember')
      const restricted = async (uid: string) => assertSucceeds(await app.get(path, as(uid))).data.restrictedFeatures
      assert.deepEqual(await restricted('lin'), ['u.addMember', 'u.createGroup'])
      assert.deepEqual(await restricted('ada'), [])
      await restrict('listSettings')
      assertFails(await app.get(path, as('lin')), 403, 'ERR_PERMISSION_DENIED')
      assertFails(await (await clientOf(h, app, 'lin')).get(path), 403, 'ERR_PERMISSION_DENIED')
    })
  })
}
