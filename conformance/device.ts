import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { data, NotKept, type Server } from './check.ts'

// biome-ignore lint/suspicious/noExplicitAny: the other side may send anything
type Frame = any

/** A device of a user, connected over a WebSocket. */
export interface Device {
  /** Everything it was sent, in order. */
  frames: Frame[]
  send(frame: object): void
  /** Waits for a frame like this; answers it. */
  hears(what: string, is: (frame: Frame) => boolean): Promise<Frame>
  /** The code that the connection is closed with. */
  closed(): Promise<number>
  cut(): void
}

const patienceMilliseconds = 15_000

/** Opens a connection, which has not logged in yet. */
export async function openDevice(server: Server): Promise<Device> {
  const socket = server.connection.socket(`${server.url}/realtime`)
  const frames: Frame[] = []
  const news = new EventTarget()
  const tell = () => news.dispatchEvent(new Event('news'))
  let code: number | undefined
  server.afterwards(async () => socket.terminate())
  socket.on('message', (text) => {
    frames.push(JSON.parse(String(text)))
    tell()
  })
  socket.on('close', (closedWith) => {
    code = closedWith
    tell()
  })
  await once(socket, 'open')
  socket.on('error', () => {})

  /** Waits for something that can be seen whenever there is news. */
  async function seen<T>(what: string, look: () => T | undefined): Promise<T> {
    const late = new AbortController()
    const tooLate = pause(patienceMilliseconds, undefined, { signal: late.signal }).catch(() => {})
    let isLate = false
    void tooLate.then(() => {
      isLate = true
      tell()
    })
    try {
      for (;;) {
        const found = look()
        if (found !== undefined) return found
        if (isLate || code !== undefined) throw new NotKept(`${what}; was sent ${JSON.stringify(frames)}`)
        await once(news, 'news')
      }
    } finally {
      late.abort()
    }
  }

  return {
    frames,
    send: (frame) => socket.send(JSON.stringify(frame)),
    hears: (what, is) => seen(what, () => frames.find(is)),
    closed: () => seen('a connection that is closed', () => code),
    cut: () => socket.terminate(),
  }
}

export async function tokenOf(server: Server, uid: string): Promise<string> {
  return data(await server.api.post(`/users/${uid}/auth_tokens`)).authToken
}

/** A device that has logged in, and what it was answered. */
export async function logIn(
  server: Server,
  authToken: string,
  more: object = {},
): Promise<{ device: Device; welcome: Frame }> {
  const device = await openDevice(server)
  device.send({ type: 'auth', body: { authToken, deviceId: 'conformance', platform: 'web', ...more } })
  const { body } = await device.hears('an answer to `auth`', ({ type }) => type === 'auth')
  return { device, welcome: body }
}
