import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../support/databases.ts'
import { connect, type Device, type Frame, reconnect, untilAllHeard, untilTold } from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { appWith, as, clientOf, sayIn } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** Whose role may not get a user is told no more of them live than over REST: a UID. */

const secrets = ['Countess', 'on the island', '555-1234', 'https://example.com/ada.png']
const secretsIn = (frames: Frame[]) => secrets.filter((secret) => JSON.stringify(frames).includes(secret))
const isTyping = ({ type }: Frame) => type === 'typing_indicator'
/** What was told of the group; typing stands in no order with the rest. */
const inBoats = (frames: Frame[]) =>
  frames.filter((frame) => !isTyping(frame) && JSON.stringify(frame).includes('boats'))
const typing = { type: 'typing_indicator', receiver: 'boats', receiverType: 'group', body: { action: 'started' } }

for (const database of databases) {
  describe(`users who must not be seen, live on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'fay', 'gus', 'sam')
      const [name, statusMessage, phone, avatar] = secrets
      assertSucceeds(await app.put('/users/ada', { name, statusMessage, metadata: { phone }, avatar }))
      assertSucceeds(await app.post('/roles', { role: 'guest', name: 'Guest' }))
      assertSucceeds(await app.put('/roles/guest/permissions', { permissions: { 'getUserDetails.mode': 'friends' } }))
      assertSucceeds(await app.put('/users/gus', { role: 'guest' }))
      const members = { participants: ['fay', 'gus', 'sam'] }
      assertSucceeds(await app.post('/groups', { guid: 'boats', name: 'Boats', members }, as('ada')))
      await untilTold(h)
    })
    after(() => h.close())

    /** Whatever a member can do of which others in the group are told. */
    async function act(device: Device): Promise<void> {
      const own = { customData: { uid: 'ada', name: 'their own words' } }
      const { id } = await sayIn(app, 'boats', 'ada', '', { category: 'custom', type: 'place', data: own })
      await sayIn(app, 'boats', 'fay', 'Ask <@uid:ada>')
      assertSucceeds(await app.post(`/messages/${id}/reactions/${encodeURIComponent('👍')}`, {}, as('ada')))
      const ada = await clientOf(h, app, 'ada')
      assertSucceeds(await ada.post('/groups/boats/conversation/read', {}))
      assertSucceeds(await app.put('/groups/boats/members/sam', { scope: 'moderator' }, as('ada')))
      device.send(typing)
    }

    it('are a UID to whose role may not get them, in whatever frame, and what anybody writes stays theirs', async () => {
      const [ada, gus, sam] = await Promise.all(['ada', 'gus', 'sam'].map((uid) => connect(h, app, uid)))
      if (!ada || !gus || !sam) return assert.fail()
      await act(ada)
      await untilAllHeard(app, [gus, sam])
      for (const { frames } of [gus, sam]) await until('typing is told', () => frames.some(isTyping))
      assert.deepEqual(secretsIn(gus.frames), [])
      assert.deepEqual(secretsIn(sam.frames), secrets)
      assert.deepEqual(
        inBoats(gus.frames).map(({ type, sender }) => [type, sender]),
        inBoats(sam.frames).map(({ type, sender }) => [type, sender]),
      )
      const said = gus.frames.find(({ body }) => body?.category === 'custom')
      assert.equal(said.body.data.customData.name, 'their own words')
      const gusAsks = await clientOf(h, app, 'gus')
      const { data } = assertSucceeds(await gusAsks.get(`/messages/${said.body.id}`))
      assert.deepEqual(said.body.data.entities.sender, data.data.entities.sender)
      await Promise.all([ada, gus, sam].map((device) => device.close()))
    })

    it('are so also in what was missed, and seen from the moment that they are friends', async () => {
      const gus = await connect(h, app, 'gus')
      await untilAllHeard(app, [gus])
      await gus.close()
      await sayIn(app, 'boats', 'ada', 'while they were away')
      const back = await reconnect(h, app, gus)
      await untilAllHeard(app, [back])
      assert.ok(back.frames.some(({ body }) => body?.data?.text === 'while they were away'))
      assert.deepEqual(secretsIn(back.frames), [])
      assertSucceeds(await app.post('/users/gus/friends', { accepted: ['ada'] }))
      await sayIn(app, 'boats', 'ada', 'hello, friend')
      await untilAllHeard(app, [back])
      const heard = back.frames.filter(({ body }) => body?.data?.text === 'hello, friend')
      assert.deepEqual([heard.length, secretsIn(heard)], [1, secrets])
      await back.close()
      assertSucceeds(await app.delete('/users/gus/friends', { friends: ['ada'] }))
    })
  })
}
