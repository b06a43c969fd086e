import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../support/databases.ts'
import { connect, type Device, tokenOf, untilAllGone, untilAllHeard, untilTold } from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { appWith, as, sayIn } from '../support/talk.ts'
import { acrossApps } from '../support/tripwire.ts'

/** What users hear is known for a moment after their last device has gone: it is read again only where it may have changed. */

for (const database of databases) {
  describe(`a user who was here a moment ago, on ${database}`, () => {
    let h: House
    let app: AppClient
    let token: string
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin')
      token = await tokenOf(app, 'lin')
      const members = { participants: ['lin'] }
      assertSucceeds(await app.post('/groups', { guid: 'old', name: 'Old', type: 'public', members }, as('ada')))
      assertSucceeds(await app.post('/groups', { guid: 'new', name: 'New', type: 'public' }, as('ada')))
    })
    after(() => h.close())

    const comeIn = () => connect(h, app, 'lin', { token })

    async function go(device: Device): Promise<void> {
      await device.close()
      await untilAllGone(h)
    }

    /** Without a word in the log: whoever knows of it has read it. */
    async function forgetMemberships(): Promise<void> {
      const { database: store } = h.service.house
      await acrossApps(() =>
        store.writeAlone(async ({ run }) => void (await run("DELETE FROM group_members WHERE uid = 'lin'", []))),
      )
    }

    async function heardIn(device: Device, ...guids: string[]): Promise<string[]> {
      const since = device.frames.length
      for (const guid of guids) await sayIn(app, guid, 'ada', guid)
      await untilAllHeard(app, [device])
      return device.frames.slice(since, -1).map(({ body }) => body.data.text)
    }

    it('goes on hearing the same, and nothing of it is read', async () => {
      await go(await comeIn())
      await forgetMemberships()
      const back = await comeIn()
      assert.deepEqual(await heardIn(back, 'old', 'new'), ['old'])
      await go(back)
    })

    it('is read anew after something has happened to them', async () => {
      assertSucceeds(await app.post('/groups/new/members', { participants: ['lin'] }, as('ada')))
      await untilTold(h)
      const back = await comeIn()
      assert.deepEqual(await heardIn(back, 'old', 'new'), ['new'])
      await go(back)
    })
  })
}
