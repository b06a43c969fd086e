import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { connect, type Device, type Frame, reconnect, untilTold } from './support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import { appWith, as, say, sayIn } from './support/talk.ts'
import { until } from './support/until.ts'

/** What a device is told: what concerns its user, once and in order, from the moment that it is there. */

const texts = (frames: Frame[]) => frames.filter(({ type }) => type === 'message').map(({ body }) => body.data.text)

for (const database of databases) {
  describe(`devices on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database, livePatience: { graceMilliseconds: 300 } })
      app = await appWith(h, 'ada', 'lin', 'max', 'kim')
      assertSucceeds(await app.post('/groups', { guid: 'boats', name: 'Boats', type: 'public' }, as('ada')))
    })
    after(() => h.close())

    async function told(...devices: Device[]): Promise<void> {
      await untilTold(h)
      for (const device of devices) await device.reached()
    }

    it('are welcomed with the user, a connection id and a position', async () => {
      const ada = await connect(h, app, 'ada')
      const { status, user, resource, position } = ada.welcome
      assert.deepEqual([status, user.uid, user.status], ['OK', 'ada', 'online'])
      assert.match(resource, /^[\w-]{16}$/)
      assert.match(position, /^\d+\.[0-9a-f]{8}$/)
      await ada.close()
    })

    it('hear what is said to them, and nobody else does', async () => {
      const devices = await Promise.all(['ada', 'lin', 'max'].map((uid) => connect(h, app, uid)))
      const [ada, lin, max] = devices as [Device, Device, Device]
      await say(app, 'ada', 'lin', 'One')
      await sayIn(app, 'boats', 'ada', 'Two')
      await told(...devices)
      assert.deepEqual([texts(ada.frames), texts(lin.frames), texts(max.frames)], [['One', 'Two'], ['One'], []])
      for (const device of devices) await device.close()
    })

    it('resume where they were cut off', async () => {
      const lin = await connect(h, app, 'lin')
      await say(app, 'ada', 'lin', 'Three')
      await told(lin)
      lin.cut()
      await say(app, 'ada', 'lin', 'Four')
      await say(app, 'ada', 'lin', 'Five')
      const back = await reconnect(h, app, lin)
      await told(back)
      assert.equal(back.welcome.resumed, true)
      assert.equal(back.welcome.resource, lin.welcome.resource)
      assert.deepEqual(texts(back.frames), ['Four', 'Five'])
      await back.close()
    })

    it('hear who comes and goes, as lists say it', async () => {
      const max = await connect(h, app, 'max', { auth: { presence: { mode: 'ALL_USERS' } } })
      const changes = () => max.frames.filter(({ type }) => type === 'presence').map(({ body }) => body)
      const kim = await connect(h, app, 'kim')
      const of = (action: string) => changes().some((body) => body.action === action && body.user.uid === 'kim')
      await until('kim is online', () => of('online'))
      assert.equal((await app.get('/users/kim')).body.data.status, 'available')
      await kim.close()
      assert.equal((await app.get('/users/kim')).body.data.status, 'available', 'they may be back in a moment')
      await until('kim is offline', () => of('offline'))
      assert.equal((await app.get('/users/kim')).body.data.status, 'offline')
      await max.close()
    })
  })
}
