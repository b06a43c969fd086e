import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ClientOptions, WebSocket } from 'ws'
import { type AppClient, assertSucceeds, type House } from './house.ts'
import { until } from './until.ts'

/** A device of an end user, connected over a real WebSocket. */
export interface Device {
  uid: string
  /** Everything it was sent, in order. */
  frames: Frame[]
  /** What it was answered when it logged in. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into frames freely
  welcome: any
  send(frame: object): void
  /** The answer to a frame, by its ref. */
  ask(frame: object): Promise<Frame>
  /** Waits until everything is here that was sent before this. */
  reached(): Promise<void>
  /** The position of the last frame that has one. */
  position(): string
  closed: Promise<{ code: number; reason: string }>
  /** Goes without a word. */
  cut(): void
  close(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames freely
export type Frame = any

export interface Connecting {
  /** What the first frame says besides the token. */
  auth?: object
  token?: string
}

export function openSocket(h: House, host: string, path?: string, more?: ClientOptions): WebSocket {
  const { port, caFile } = h.service
  return socketAt({ port, ca: readFileSync(caFile, 'utf8') }, host, path, more)
}

export function socketAt(
  { port, ca }: { port: number; ca: string },
  host: string,
  path = '/v3/realtime',
  more: ClientOptions = {},
): WebSocket {
  // The types of the package leave out what it hands on to TLS.
  const options: ClientOptions & { servername: string } = {
    ca,
    servername: host,
    headers: { host: `${host}:${port}` },
    perMessageDeflate: false,
    ...more,
  }
  return new WebSocket(`wss://127.0.0.1:${port}${path}`, options)
}

export async function tokenOf(app: AppClient, uid: string): Promise<string> {
  return assertSucceeds(await app.post(`/users/${uid}/auth_tokens`)).data.authToken
}

/** A device of a user that has logged in. */
export async function connect(h: House, app: AppClient, uid: string, more: Connecting = {}): Promise<Device> {
  const authToken = more.token ?? (await tokenOf(app, uid))
  return logIn(openSocket(h, app.host), uid, { authToken, ...more.auth })
}

/** The same over a socket that is being opened. */
export async function logIn(socket: WebSocket, uid: string, auth: object): Promise<Device> {
  const device = attachDevice(socket, uid)
  await device.opened
  device.send({ type: 'auth', body: auth })
  await until(`${uid} is answered`, () => device.frames.length > 0 || device.isClosed())
  const [welcome] = device.frames
  assert.equal(welcome?.type, 'auth', JSON.stringify(welcome))
  device.welcome = welcome.body
  return device
}

/** The same from where another device of the user was cut off. */
export function reconnect(h: House, app: AppClient, device: Device, token?: string): Promise<Device> {
  const auth = { position: device.position(), resource: device.welcome.resource }
  return connect(h, app, device.uid, { auth, ...(token !== undefined && { token }) })
}

export function attachDevice(
  socket: WebSocket,
  uid = '',
): Device & { opened: Promise<void>; socket: WebSocket; isClosed(): boolean } {
  const frames: Frame[] = []
  const opened = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<{ code: number; reason: string }>()
  const answers = new Map<number, (frame: Frame) => void>()
  let refs = 0
  let isClosed = false
  opened.promise.catch(() => {})
  socket.on('open', opened.resolve)
  socket.on('error', opened.reject)
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data))
    answers.get(frame.ref)?.(frame)
    if (!answers.delete(frame.ref)) frames.push(frame)
  })
  socket.on('close', (code, reason) => {
    isClosed = true
    closed.resolve({ code, reason: String(reason) })
  })
  const device = {
    uid,
    frames,
    welcome: undefined as Frame,
    opened: opened.promise,
    socket,
    isClosed: () => isClosed,
    send: (frame: object) => socket.send(JSON.stringify(frame)),
    ask(frame: object) {
      refs += 1
      const ref = refs
      const answered = new Promise<Frame>((resolve) => answers.set(ref, resolve))
      device.send({ ...frame, ref })
      return answered
    },
    async reached() {
      await device.ask({ type: 'ping' })
    },
    position: () => frames.findLast(({ position }) => position !== undefined)?.position ?? device.welcome.position,
    closed: closed.promise,
    cut: () => socket.terminate(),
    async close() {
      socket.close()
      await closed.promise
    },
  }
  return device
}

/** Waits until the node has handed on all that is in the log. */
export async function untilTold(h: House): Promise<void> {
  const { database, reader } = h.service.house
  const end = await database.logEnd()
  await until('the log is told', () => (reader.position() ?? 0) >= end)
}

/**
 * Waits until devices have heard all that has happened: what comes last comes after everything else, also after what waited
 * for the node to find out who may see it.
 */
export async function untilAllHeard(app: AppClient, devices: Device[]): Promise<void> {
  const text = `The end ${randomUUID()}`
  for (const uid of new Set(devices.map((device) => device.uid))) {
    assertSucceeds(await app.post('/messages', { receiver: uid, receiverType: 'user', data: { text } }))
  }
  const isLast = ({ type, body }: Frame) => type === 'message' && body.data.text === text
  for (const { uid, frames } of devices) await until(`${uid} hears the last word`, () => frames.some(isLast))
}
