import { type CheckedArea, check, equal, holds } from '../check.ts'
import { logIn, openDevice, tokenOf } from '../device.ts'
import { makeUser, makeUsers, say } from '../people.ts'

// biome-ignore lint/suspicious/noExplicitAny: the other side may send anything
type Frame = any

const isText = (text: string) => (frame: Frame) => frame.type === 'message' && frame.body?.data?.text === text
const texts = (frames: Frame[]) => frames.filter(({ type }) => type === 'message').map(({ body }) => body.data.text)

export const realtime: CheckedArea = {
  name: 'realtime',
  title: 'Real time',
  contract: '15',
  checks: [
    check('3 Connection', 'a device is welcomed with its user, a connection id and a position', async (server) => {
      const { uid, name } = await makeUser(server)
      const { welcome } = await logIn(server, await tokenOf(server, uid))
      const { status, user, resource, position } = welcome
      equal([status, user?.uid, user?.name, user?.status], ['OK', uid, name, 'online'], '`status` and `user`')
      holds(typeof resource === 'string' && resource !== '', '`resource` is a text')
      holds(typeof position === 'string' && position !== '', '`position` is a text')
    }),
    check('3 Connection', 'a token that is none: AUTH_ERR_AUTH_TOKEN_NOT_FOUND and close 4401', async (server) => {
      const device = await openDevice(server)
      device.send({ type: 'auth', body: { authToken: server.fresh('token') } })
      const { body } = await device.hears('an error', ({ type }) => type === 'error')
      equal(body.code, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND', '`code`')
      equal(await device.closed(), 4401, 'the close code')
    }),
    check('3 Connection', 'a ping is answered, and carries its `ref` back', async (server) => {
      const { uid } = await makeUser(server)
      const { device } = await logIn(server, await tokenOf(server, uid))
      device.send({ type: 'ping', ref: 'x' })
      await device.hears('a pong', ({ type, ref }) => type === 'pong' && ref === 'x')
    }),
    check('4 Frames', 'a frame of no known type is answered by an error', async (server) => {
      const { uid } = await makeUser(server)
      const { device } = await logIn(server, await tokenOf(server, uid))
      device.send({ type: 'dance', ref: 7 })
      const { body } = await device.hears('an error', ({ type, ref }) => type === 'error' && ref === 7)
      equal(body.code, 'ERR_BAD_REQUEST', '`code`')
    }),
    check('4 Resuming', 'a device that comes back is told what it missed, once and in order', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const token = await tokenOf(server, b)
      const { device, welcome } = await logIn(server, token)
      await say(server, a, b, { data: { text: 'One' } })
      const { position } = await device.hears('the message', isText('One'))
      holds(typeof position === 'string', '`position` in the frame of a message')
      device.cut()
      for (const text of ['Two', 'Three']) await say(server, a, b, { data: { text } })
      const { resource } = welcome
      const { device: back, welcome: again } = await logIn(server, token, { position, resource })
      equal(again.resumed, true, '`resumed`')
      await back.hears('`caught_up`', ({ type }) => type === 'caught_up')
      equal(texts(back.frames), ['Two', 'Three'], 'what was missed')
    }),
    check('5 Events', 'a message reaches all devices but the one that sent it', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const sending = await logIn(server, await tokenOf(server, a))
      const { device: other } = await logIn(server, await tokenOf(server, a))
      const { device: receiver } = await logIn(server, await tokenOf(server, b))
      const { resource } = sending.welcome
      const message = await say(server, a, b, { data: { text: 'One', resource } })
      await say(server, b, a, { data: { text: 'Two' } })
      for (const device of [sending.device, other, receiver]) await device.hears('the answer', isText('Two'))
      equal(texts(sending.device.frames), ['Two'], 'what the sending device is told')
      equal(texts(other.frames), ['One', 'Two'], 'what the other device is told')
      const { body, ...envelope } = receiver.frames.find(isText('One'))
      equal([body.id, body.sender, body.receiver], [message.id, a, b], 'the message in the frame')
      equal([envelope.sender, envelope.receiver, envelope.receiverType], [a, b, 'user'], 'its envelope')
    }),
    check('7 Typing', 'is told to the receiver, with what was added', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { device } = await logIn(server, await tokenOf(server, a))
      const { device: receiver } = await logIn(server, await tokenOf(server, b))
      const to = { receiver: b, receiverType: 'user' }
      device.send({ type: 'typing_indicator', ...to, body: { action: 'started', metadata: { x: 1 } } })
      const { sender, body } = await receiver.hears('`typing_indicator`', ({ type }) => type === 'typing_indicator')
      equal([sender, body.action, body.metadata, body.user?.uid], [a, 'started', { x: 1 }, a], 'who types, and what')
    }),
  ],
}
