import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { connect, type Device, reconnect, untilTold } from './support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import { appWith, as, say, sayIn } from './support/talk.ts'

/** What happened to a user while their device was away: it is told no more than it would have been told had it stayed. */

for (const database of databases) {
  describe(`coming back on ${database}`, () => {
    let h: House
    let app: AppClient
    let lin: Device
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin')
      for (const guid of ['plain', 'ruled']) {
        const members = { participants: ['lin'] }
        assertSucceeds(await app.post('/groups', { guid, name: guid, type: 'public', members }, as('ada')))
      }
      const permissions = { 'listMessages.allowedMessageTypes': ['image'] }
      assertSucceeds(await app.put('/groups/ruled/scopes/participant/permissions', { permissions }))
      lin = await connect(h, app, 'lin')
    })
    after(async () => {
      lin?.cut()
      await h?.close()
    })

    /** What lin's device is told that was away meanwhile. */
    async function toldAfter(doing: () => Promise<unknown>): Promise<{ isResumed: boolean; text: string }> {
      await untilTold(h)
      await lin.reached()
      lin.cut()
      await doing()
      await untilTold(h)
      lin = await reconnect(h, app, lin)
      await lin.reached()
      const isStored = ({ type, position }: Device['frames'][number]) => type !== 'auth' && position !== undefined
      return { isResumed: lin.welcome.resumed, text: JSON.stringify(lin.frames.filter(isStored)) }
    }

    it('tells nothing of a message that was changed, saved and then deleted, but that it was', async () => {
      const { isResumed, text } = await toldAfter(async () => {
        const { id } = await say(app, 'ada', 'lin', 'Secret one')
        assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'Secret two' } }, as('ada')))
        assertSucceeds(await app.post(`/messages/${id}/save`, {}, as('lin')))
        assertSucceeds(await app.delete(`/messages/${id}`, undefined, as('ada')))
      })
      assert.equal(isResumed, true)
      assert.doesNotMatch(text, /Secret/)
      assert.match(text, /"action":"deleted"/)
    })

    it('tells what was said in a group before being removed from it', async () => {
      const { isResumed, text } = await toldAfter(async () => {
        await sayIn(app, 'plain', 'ada', 'Before')
        assertSucceeds(await app.delete('/groups/plain/members/lin'))
        await sayIn(app, 'plain', 'ada', 'Afterwards')
      })
      assert.equal(isResumed, true)
      assert.match(text, /Before/)
      assert.match(text, /"action":"kicked"/)
      assert.doesNotMatch(text, /Afterwards/)
    })

    it('tells nothing that a group kept from its members, also after they were removed from it', async () => {
      const { isResumed, text } = await toldAfter(async () => {
        await sayIn(app, 'ruled', 'ada', 'Kept back')
        assertSucceeds(await app.delete('/groups/ruled/members/lin'))
      })
      assert.equal(isResumed, false, 'what they were allowed to see there is not known any more')
      assert.doesNotMatch(text, /Kept back/)
    })

    it('tells nothing that a group keeps from its members to those who came and went meanwhile', async () => {
      const { text } = await toldAfter(async () => {
        assertSucceeds(await app.post('/groups/ruled/members', { participants: ['lin'] }))
        await sayIn(app, 'ruled', 'ada', 'Kept back')
        assertSucceeds(await app.delete('/groups/ruled/members/lin'))
      })
      assert.doesNotMatch(text, /Kept back/)
    })
  })
}
