import { Agent, request as askSecurely } from 'node:https'
import { type ClientOptions, WebSocket } from 'ws'

/** Very many devices, in a process of their own: they come, count what they are told, are cut off and come back. */

/** Where they come to; without tokens nobody asks who they are. */
export interface Place {
  port: number
  secure: boolean
  headers: Record<string, string>
  tokens?: string[]
  count: number
}

/** Says something at a steady rate over requests, and hears it as a device. */
export interface Talk {
  rate: number
  seconds: number
  headers: Record<string, string>
  port: number
  /** To whom, in turn; they must be among the crowd. */
  receivers: string[]
}

export type Order =
  | { open: Place }
  | { heard: number }
  | { frame: true }
  | { cut: true }
  | { comeBack: number }
  | { talk: Talk }

export interface Report {
  /** How long it took. */
  seconds: number
  /** Devices that did not get exactly what they should have. */
  wrong?: number
  frame?: string
  milliseconds?: { p50: number; p99: number }
  failure?: string
}

interface Device {
  token: string | undefined
  socket: WebSocket
  messages: number
  /** The last frame that has a position. */
  last: Buffer | undefined
  welcome: string
  isThrough: () => void
}

const openingAtOnce = 250
const messageHead = '{"type":"message"'
const devices: Device[] = []
let place: Place | undefined
let told = 0
let awaited: { count: number; reached: () => void } | undefined
let onText: ((text: string) => void) | undefined

function hear(device: Device, data: Buffer): void {
  const head = data.toString('latin1', 0, messageHead.length)
  // Without a login, whatever comes is what was said.
  if (head === messageHead) {
    told += 1
    device.messages += 1
    device.last = data
    onText?.(data.toString('utf8'))
    if (awaited && told >= awaited.count) awaited.reached()
  } else if (head.startsWith('{"type":"auth"')) {
    device.welcome = data.toString('utf8')
    if (!device.welcome.includes('"resumed":true')) device.isThrough()
  } else if (head.startsWith('{"type":"caught_u')) device.isThrough()
  else if (data.includes('"position"')) device.last = data
}

const positionForm = /"position":"([^"]+)"/
const positionOf = ({ last, welcome }: Device) => positionForm.exec(last?.toString('utf8') ?? welcome)?.[1]
const resourceOf = ({ welcome }: Device) => /"resource":"([^"]+)"/.exec(welcome)?.[1]

/** Resolves once the device is in, and has been told what it had missed. */
function connect(device: Device, { port, secure, headers }: Place, back: object = {}): Promise<void> {
  const options: ClientOptions = {
    headers,
    rejectUnauthorized: false,
    perMessageDeflate: false,
    skipUTF8Validation: true,
  }
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${secure ? 'wss' : 'ws'}://127.0.0.1:${port}/v3/realtime`, options)
    device.socket = socket
    device.isThrough = resolve
    socket.on('error', reject)
    socket.on('close', (code, reason) => reject(new Error(`closed: ${code} ${reason}`)))
    socket.on('message', (data: Buffer) => hear(device, data))
    socket.on('open', () => {
      if (device.token === undefined) resolve()
      else socket.send(JSON.stringify({ type: 'auth', body: { authToken: device.token, ...back } }))
    })
  })
}

async function inLanes(work: (device: Device) => Promise<void>): Promise<void> {
  const waiting = [...devices]
  const lane = async () => {
    for (let device = waiting.pop(); device; device = waiting.pop()) await work(device)
  }
  await Promise.all(Array.from({ length: openingAtOnce }, lane))
}

async function open(at: Place): Promise<void> {
  place = at
  for (let n = 0; n < at.count; n += 1) {
    const device = { token: at.tokens?.[n], messages: 0, last: undefined, welcome: '', isThrough: () => {} }
    devices.push({ ...device, socket: undefined as never })
  }
  await inLanes((device) => connect(device, at))
}

/** Everybody comes back from where they were cut off; answers how many were not told exactly so much. */
async function comeBack(missed: number): Promise<number> {
  const at = place as Place
  for (const device of devices) device.messages = 0
  await inLanes((device) => connect(device, at, { position: positionOf(device), resource: resourceOf(device) }))
  return devices.filter(({ welcome, messages }) => !welcome.includes('"resumed":true') || messages !== missed).length
}

/** Resolves once so much was told since the last time. */
async function heard(count: number): Promise<void> {
  if (told < count)
    await new Promise<void>((reached) => {
      awaited = { count, reached }
    })
  awaited = undefined
  told -= count
}

const tickMilliseconds = 1

/** From the moment that a request was due to the frame. */
async function talk({ rate, seconds, headers, port, receivers }: Talk): Promise<{ p50: number; p99: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false })
  const taken: number[] = []
  const total = rate * seconds
  let sent = 0
  let refused = 0
  const begun = performance.now()
  const all = new Promise<void>((resolve, reject) => {
    onText = (text) => {
      const due = /due (\d+\.?\d*) /.exec(text)?.[1]
      if (due !== undefined) taken.push(performance.now() - Number(due))
      if (taken.length >= total) resolve()
    }
    const timer = setInterval(() => {
      // The first is due at once.
      const dueCount = Math.min(total, 1 + Math.floor(((performance.now() - begun) * rate) / 1000))
      for (; sent < dueCount; sent += 1)
        say(begun + (sent * 1000) / rate, receivers[sent % receivers.length] as string, reject)
      if (sent >= total) clearInterval(timer)
    }, tickMilliseconds)
  })

  function say(due: number, receiver: string, failed: (error: Error) => void): void {
    const body = JSON.stringify({ receiver, receiverType: 'user', data: { text: `due ${due} please make room` } })
    const length = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const asking = askSecurely(
      { agent, host: '127.0.0.1', port, method: 'POST', path: '/v3/messages', headers: { ...headers, ...length } },
      (response) => {
        response.resume()
        if (response.statusCode !== 200) refused += 1
        if (refused > 0) failed(new Error(`refused with ${response.statusCode}`))
      },
    )
    asking.on('error', failed)
    asking.end(body)
  }

  await all
  onText = undefined
  agent.destroy()
  told = 0
  const sorted = taken.toSorted((a, b) => a - b)
  const part = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  return { p50: part(0.5), p99: part(0.99) }
}

async function obey(order: Order): Promise<Omit<Report, 'seconds'>> {
  if ('open' in order) await open(order.open)
  else if ('heard' in order) await heard(order.heard)
  else if ('comeBack' in order) return { wrong: await comeBack(order.comeBack) }
  else if ('talk' in order) return { milliseconds: await talk(order.talk) }
  else if ('frame' in order) return { frame: devices[0]?.last?.toString('utf8') ?? '' }
  else {
    for (const { socket } of devices) socket.terminate()
    told = 0
  }
  return {}
}

process.on('message', async (order: Order) => {
  const begun = performance.now()
  try {
    const report = await obey(order)
    process.send?.({ ...report, seconds: (performance.now() - begun) / 1000 })
  } catch (error) {
    process.send?.({ seconds: 0, failure: String(error) })
  }
})
process.on('disconnect', () => process.exit())
