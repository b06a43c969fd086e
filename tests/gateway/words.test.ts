import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test'
import { databases } from '../support/databases.ts'
import { connect, type Device, type Frame, tokenOf, untilAllGone, untilAllHeard } from '../support/device.ts'
import { type AppClient, assertSucceeds, callerAt, type House, house } from '../support/house.ts'
import { appWith, as, say, sayIn } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** What devices say to each other: what is typed and what counts only now is handed on and kept nowhere; receipts are kept. */

const people = ['ada', 'lin', 'mia', 'bob', 'sam']
const toLin = { receiver: 'lin', receiverType: 'user' }
const toBoats = { receiver: 'boats', receiverType: 'group' }
const typing = (to: object, action: string, metadata?: unknown) => ({
  ...{ type: 'typing_indicator', ...to },
  body: { action, ...(metadata !== undefined && { metadata }) },
})
const transient = (to: object, data: unknown) => ({ type: 'transient_message', ...to, body: { data } })
const words = ({ frames }: Device) =>
  frames.filter(({ type }) => type === 'typing_indicator' || type === 'transient_message')
const actions = (device: Device) => words(device).map(({ body }) => body.action ?? body.data)

/** Time that passes for the gateway only when the test says so. */
function standingTime({ mock }: TestContext): (milliseconds: number) => void {
  // A whole number: with fractions, a second later is not always a second later.
  let at = Math.floor(performance.now())
  mock.method(performance, 'now', () => at)
  return (milliseconds) => {
    at += milliseconds
  }
}

for (const database of databases) {
  describe(`what devices say on ${database}`, () => {
    let h: House
    let app: AppClient
    const tokens: Record<string, string> = {}
    let devices: Device[] = []
    before(async () => {
      h = await house({ database })
      app = await appWith(h, ...people)
      const members = { participants: ['lin', 'mia', 'bob'] }
      assertSucceeds(await app.post('/groups', { guid: 'boats', name: 'Boats', members }, as('ada')))
      assertSucceeds(await app.post('/users/ada/blockedusers', { blockedUids: ['bob'] }))
      for (const uid of people) tokens[uid] = await tokenOf(app, uid)
    })
    after(() => h.close())
    beforeEach(async () => {
      await Promise.all(devices.map((device) => device.close()))
      devices = []
      await untilAllGone(h)
    })

    async function devicesOf(...uids: string[]): Promise<Device[]> {
      devices = await Promise.all(uids.map((uid) => connect(h, app, uid, { token: tokens[uid] ?? '' })))
      return devices
    }

    /** Something that is heard by all who may hear anything of the sender, after what was said before. */
    async function untilHeard(from: Device, to: object, ...hearers: Device[]): Promise<void> {
      from.send(transient(to, 'the end'))
      for (const device of hearers) await until('the end is heard', () => actions(device).includes('the end'))
    }

    it('that they type is told to whom it is said, with who it is and what they added', async () => {
      const [ada, other, lin, mia] = (await devicesOf('ada', 'ada', 'lin', 'mia')) as [Device, Device, Device, Device]
      ada.send(typing({ ...toLin, receiver: 'LIN' }, 'started', { in: 'thread' }))
      await untilHeard(ada, toLin, lin)
      const [told] = words(lin)
      assert.deepEqual(
        [told.type, told.sender, told.receiver, told.receiverType, told.body.action, told.body.metadata, told.position],
        ['typing_indicator', 'ada', 'lin', 'user', 'started', { in: 'thread' }, undefined],
      )
      assert.deepEqual([told.body.user.uid, told.body.user.status], ['ada', 'online'])
      ada.send(typing(toBoats, 'started'))
      await untilHeard(ada, toBoats, mia, other)
      assert.deepEqual(
        [actions(mia), actions(other)],
        [
          ['started', 'the end'],
          ['started', 'the end'],
        ],
      )
      assert.deepEqual(words(ada), [])
    })

    it('that they type is told once a second and conversation, and that they ceased once', async (t) => {
      const [ada, lin] = (await devicesOf('ada', 'lin')) as [Device, Device]
      const pass = standingTime(t)
      for (let n = 0; n < 5; n += 1) ada.send(typing(toLin, 'started', n))
      ada.send(typing(toBoats, 'started', 'there'))
      await until('the first words are told', () => words(lin).length === 2)
      pass(1_000)
      ada.send(typing(toLin, 'started', 'again'))
      for (let n = 0; n < 3; n += 1) ada.send(typing(toLin, 'ended'))
      await untilHeard(ada, toLin, lin)
      assert.deepEqual(
        words(lin).map(({ body }) => body.metadata ?? body.action ?? body.data),
        [0, 'there', 'again', 'ended', 'the end'],
      )
    })

    it('across a block, in groups of others and to nobody is passed over in silence', async () => {
      const [ada, bob, sam, lin] = (await devicesOf('ada', 'bob', 'sam', 'lin')) as [Device, Device, Device, Device]
      const toAda = { receiver: 'ada', receiverType: 'user' }
      const toBob = { receiver: 'bob', receiverType: 'user' }
      const silent = [
        [ada, toBob],
        [bob, toAda],
        [sam, toBoats],
        [sam, { receiver: 'nobody', receiverType: 'user' }],
        [sam, { receiver: 'nothing', receiverType: 'group' }],
      ] as const
      for (const [device, to] of silent) {
        assert.equal((await device.ask(typing(to, 'started'))).type, 'ack')
        assert.equal((await device.ask(transient(to, 'psst'))).type, 'ack')
      }
      await untilHeard(lin, toAda, ada)
      await untilHeard(lin, toBob, bob)
      await untilHeard(sam, toLin, lin)
      for (const device of [ada, bob, lin]) assert.deepEqual(actions(device), ['the end'])
    })

    it('takes the rules of messages: whoever may not write to somebody is not heard', async () => {
      assertSucceeds(await app.post('/roles', { role: 'mute', name: 'Mute' }))
      assertSucceeds(await app.put('/roles/mute/permissions', { permissions: { sendMessage: 'deny' } }))
      assertSucceeds(await app.put('/users/sam', { role: 'mute' }))
      const [sam, ada, lin] = (await devicesOf('sam', 'ada', 'lin')) as [Device, Device, Device]
      assert.equal((await sam.ask(typing(toLin, 'started'))).type, 'ack')
      assert.equal((await sam.ask(transient(toLin, 'psst'))).type, 'ack')
      await untilHeard(ada, toLin, lin)
      assert.deepEqual(actions(lin), ['the end'])
      assertSucceeds(await app.put('/users/sam', { role: 'default' }))
    })

    it('may be 5 KB, and is kept nowhere', async () => {
      const [ada, lin] = (await devicesOf('ada', 'lin')) as [Device, Device]
      const end = await h.service.house.database.logEnd()
      const largest = 'x'.repeat(5_118)
      for (const data of [largest, null, 0, '', [], { a: { b: [1] } }]) ada.send(transient(toLin, data))
      ada.send(typing(toLin, 'started', largest))
      for (const frame of [transient(toLin, `${largest}x`), typing(toLin, 'started', `${largest}x`)]) {
        const { type, body } = await ada.ask(frame)
        assert.deepEqual([type, body.code], ['error', 'ERR_BAD_REQUEST'])
      }
      await untilHeard(ada, toLin, lin)
      assert.deepEqual(
        words(lin).map(({ body }) => body.metadata ?? body.data),
        [largest, null, 0, '', [], { a: { b: [1] } }, largest, 'the end'],
      )
      assert.equal(await h.service.house.database.logEnd(), end)
      assert.equal(words(lin)[0].body.user.uid, 'ada')
    })

    it('that they type ends with their connection', async () => {
      const [ada, lin] = (await devicesOf('ada', 'lin')) as [Device, Device]
      ada.send(typing(toLin, 'started', { in: 'thread' }))
      await ada.reached()
      ada.cut()
      await until('it ends', () => actions(lin).length === 2)
      assert.deepEqual(actions(lin), ['started', 'ended'])
    })

    it('beyond what a user may say is refused, and the feature is named, until some time has passed', async (t) => {
      // Somebody who has said nothing yet.
      assertSucceeds(await app.post('/users', { uid: 'loud', name: 'Loud' }))
      tokens.loud = await tokenOf(app, 'loud')
      const [loud, other, lin] = (await devicesOf('loud', 'loud', 'lin')) as [Device, Device, Device]
      const pass = standingTime(t)
      // By all devices together; one alone would be held up before, for the number of its frames.
      const saying = [loud, other].flatMap((device) =>
        Array.from({ length: 30 }, (_, n) => device.ask(transient(toLin, n))),
      )
      for (const { type } of await Promise.all(saying)) assert.equal(type, 'ack')
      const throttled = ({ frames }: Device) =>
        frames.filter(({ type }) => type === 'throttled').map(({ body }) => body.feature)
      for (const frame of [transient(toLin, 'too much'), typing(toLin, 'started')]) {
        const { type, body } = await loud.ask(frame)
        assert.deepEqual([type, body.code], ['error', 'ERR_TOO_MANY_REQUESTS'])
      }
      assert.deepEqual(throttled(loud), ['transient_message', 'typing_indicator'])
      assert.deepEqual(throttled(other), [])

      pass(1_000)
      assert.equal((await loud.ask(typing(toLin, 'started'))).type, 'ack')
      await untilHeard(other, toLin, lin)
      assert.deepEqual(
        actions(lin).filter((action) => typeof action === 'string'),
        ['started', 'the end'],
      )
    })

    it('that they have read has the same effects as over HTTP, and no echo', async () => {
      const [ada, other, lin] = (await devicesOf('ada', 'ada', 'lin')) as [Device, Device, Device]
      const client = callerAt(h.client, app.host, '/v3', { authToken: tokens.ada ?? '' })
      const { resource } = ada.welcome
      const mark = {
        frame: async (messageId: string, action: string) => {
          const answer = await ada.ask({ type: 'receipts', ...toLin, body: { action, messageId } })
          assert.deepEqual(answer.body, { success: true })
        },
        request: async (messageId: string, action: string) => {
          assertSucceeds(await client.post(`/users/lin/conversation/${action}`, { messageId }, { resource }))
        },
      }
      for (const by of Object.values(mark)) {
        for (const action of ['delivered', 'read']) {
          const { id } = await say(app, 'lin', 'ada')
          await by(id, action)
        }
        const { unreadMessageCount } = assertSucceeds(await app.get('/users/lin/conversation', as('ada'))).data
        assert.equal(unreadMessageCount, '0')
      }
      await untilAllHeard(app, [ada, other, lin])
      const receipts = ({ frames }: Device) => frames.filter(({ type }) => type === 'receipts')
      const shape = ({ sender, receiver, receiverType, messageSender, body: { action, user, ...about } }: Frame) => ({
        ...{ sender, receiver, receiverType, messageSender, action, uid: user.uid, about: Object.keys(about) },
      })
      assert.deepEqual(receipts(ada), [])
      assert.deepEqual(receipts(other), receipts(lin))
      const shapes = receipts(lin).map(shape)
      assert.equal(shapes.length, 6)
      assert.deepEqual(shapes.slice(0, 3), shapes.slice(3))
    })

    it('that they have read what they may not read is refused as over HTTP', async () => {
      const [sam] = (await devicesOf('sam')) as [Device]
      const { id } = await sayIn(app, 'boats', 'ada')
      const wrong: [object, string, object][] = [
        [toBoats, '/groups/boats', { messageId: id }],
        [toLin, '/users/lin', { messageId: id }],
        [{ receiver: 'nobody', receiverType: 'user' }, '/users/nobody', {}],
        [{ receiver: 'nothing', receiverType: 'group' }, '/groups/nothing', {}],
      ]
      for (const [to, path, about] of wrong) {
        const over = await app.post(`${path}/conversation/read`, about, as('sam'))
        const { type, body } = await sam.ask({ type: 'receipts', ...to, body: { action: 'read', ...about } })
        assert.deepEqual([type, body.code], ['error', over.body.error?.code], path)
      }
    })
  })
}

describe('somebody who types', () => {
  it('has ceased to, where nothing more is heard of it', async () => {
    const h = await house({ database: 'sqlite', livePatience: { typingMilliseconds: 100 } })
    const app = await appWith(h, 'ada', 'lin')
    const [ada, lin] = [await connect(h, app, 'ada'), await connect(h, app, 'lin')]
    ada.send(typing(toLin, 'started', { in: 'thread' }))
    await until('it ends', () => actions(lin).length === 2)
    assert.deepEqual(
      words(lin).map(({ body }) => [body.action, body.user.uid, body.metadata]),
      [
        ['started', 'ada', { in: 'thread' }],
        ['ended', 'ada', { in: 'thread' }],
      ],
    )
    await h.close()
  })
})
