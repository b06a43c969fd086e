import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../support/databases.ts'
import { connect, type Device, type Frame, untilAllHeard, untilTold } from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { appWith, as, say, sayIn } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** Who hears what changes while people are connected; it counts from its very place among what is said. */

const texts = (frames: Frame[]) => frames.filter(({ type }) => type === 'message').map(({ body }) => body.data.text)

for (const database of databases) {
  describe(`what is heard on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin', 'mia')
      for (const role of ['guest', 'host']) assertSucceeds(await app.post('/roles', { role, name: role }))
    })
    after(() => h.close())

    /** They enter where the node has got to, and hear nothing of what was done before. */
    async function devicesOf(...uids: string[]): Promise<Device[]> {
      await untilTold(h)
      return Promise.all(uids.map((uid) => connect(h, app, uid)))
    }

    async function newGroup(...participants: string[]): Promise<string> {
      const guid = `g-${randomUUID()}`
      const group = { guid, name: guid, type: 'public', members: { participants } }
      assertSucceeds(await app.post('/groups', group, as('ada')))
      return guid
    }

    /** What nobody keeps from a user, and what comes after all that was said before. */
    async function mark({ uid, frames }: Device): Promise<void> {
      const statusMessage = randomUUID()
      assertSucceeds(await app.put(`/users/${uid}`, { statusMessage }))
      const isMark = ({ type, body }: Frame) => type === 'user' && body.user.statusMessage === statusMessage
      await until(`${uid} hears of the mark`, () => frames.some(isMark))
    }

    it('is in the order of messages, whoever writes them at the same time', async () => {
      const guid = await newGroup('lin', 'mia')
      const all = (await devicesOf('ada', 'lin', 'mia')) as [Device, Device, Device]
      await Promise.all(
        Array.from({ length: 30 }, (_, n) => sayIn(app, guid, ['ada', 'lin', 'mia'][n % 3] ?? '', `${n}`)),
      )
      await untilAllHeard(app, all)
      for (const { frames } of all) {
        const ids = frames.filter(({ body }) => body.receiver === guid).map(({ body }) => Number(body.id))
        assert.equal(ids.length, 30)
        assert.deepEqual(
          ids,
          ids.toSorted((a, b) => a - b),
        )
      }
    })

    it('is what a role lets one list, from the moment that it is told so', async () => {
      const guid = await newGroup('lin')
      assertSucceeds(await app.put('/users/lin', { role: 'guest' }))
      const [lin] = (await devicesOf('lin')) as [Device]
      const permit = async (permissions: object) =>
        assertSucceeds(await app.put('/roles/guest/permissions', { permissions }))
      await sayIn(app, guid, 'ada', 'One')
      await permit({ listMessages: 'deny' })
      await sayIn(app, guid, 'ada', 'Two')
      await say(app, 'ada', 'lin', 'Three')
      await mark(lin)
      await permit({ listMessages: 'allow', 'listMessages.allowedSenderRoles': ['host'] })
      await sayIn(app, guid, 'ada', 'Four')
      assertSucceeds(await app.put('/users/ada', { role: 'host' }))
      await sayIn(app, guid, 'ada', 'Five')
      await mark(lin)
      assertSucceeds(await app.put('/users/ada', { role: 'default' }))
      await sayIn(app, guid, 'ada', 'Six')
      await mark(lin)
      assertSucceeds(await app.put('/users/lin', { role: 'default' }))
      await sayIn(app, guid, 'ada', 'Seven')
      await mark(lin)
      assert.deepEqual(texts(lin.frames), ['One', 'Five', 'Seven'])
    })

    it('is what a scope lets one list, from the moment that it is told so', async () => {
      const guid = await newGroup('lin', 'mia')
      assertSucceeds(await app.put(`/groups/${guid}/members/mia`, { scope: 'moderator' }))
      const [lin, mia] = (await devicesOf('lin', 'mia')) as [Device, Device]
      const permit = async (types: string[]) => {
        const permissions = { 'listMessages.allowedMessageTypes': types }
        assertSucceeds(await app.put(`/groups/${guid}/scopes/participant/permissions`, { permissions }))
      }
      await sayIn(app, guid, 'ada', 'One')
      await permit(['image'])
      await sayIn(app, guid, 'ada', 'Two')
      await mark(lin)
      assertSucceeds(await app.put(`/groups/${guid}/members/lin`, { scope: 'moderator' }))
      await sayIn(app, guid, 'ada', 'Three')
      await mark(lin)
      assertSucceeds(await app.put(`/groups/${guid}/members/lin`, { scope: 'participant' }))
      await sayIn(app, guid, 'ada', 'Four')
      await mark(lin)
      await permit([])
      await sayIn(app, guid, 'ada', 'Five')
      await untilAllHeard(app, [lin, mia])
      const heard = (device: Device) => texts(device.frames).filter((text) => /^[A-Z][a-z]+$/.test(text ?? ''))
      assert.deepEqual(heard(lin), ['One', 'Three', 'Five'])
      assert.deepEqual(heard(mia), ['One', 'Two', 'Three', 'Four', 'Five'])
    })

    it('is nothing of another app, whatever its people and groups are called', async () => {
      const guid = await newGroup('lin')
      const other = await appWith(h, 'ada', 'lin')
      assertSucceeds(await other.post('/groups', { guid, name: guid, members: { participants: ['lin'] } }, as('ada')))
      const [lin] = (await devicesOf('lin')) as [Device]
      const theirs = await connect(h, other, 'lin')
      await sayIn(app, guid, 'ada', 'Ours')
      await sayIn(other, guid, 'ada', 'Theirs')
      await untilAllHeard(app, [lin])
      await untilAllHeard(other, [theirs])
      assert.deepEqual([texts(lin.frames)[0], texts(theirs.frames)[0]], ['Ours', 'Theirs'])
      assert.deepEqual([lin.frames.length, theirs.frames.length], [3, 3])
    })
  })
}
