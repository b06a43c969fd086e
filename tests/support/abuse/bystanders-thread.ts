import { parentPort, workerData } from 'node:worker_threads'
import { httpsClient } from '../http.ts'
import { heldUpMilliseconds } from '../processes.ts'

/** What the users of the other app do, in a thread of their own; see `bystanders.ts`. */

export interface Watch {
  pid: number
  port: number
  ca: string
  host: string
  users: { uid: string; authToken: string }[]
  perSecond: number
}

export interface Sample {
  what: string
  /** When it was asked, in milliseconds of the clock. */
  at: number
  /**
   * How long it took, but for the time in which the server, or whoever asked, could have gone on and the machine did
   * something else: a busy machine tells the same as a quiet one.
   */
  milliseconds: number
  /** 0 where nothing came back. */
  status: number
}

const { pid, port, ca, host, users, perSecond } = workerData as Watch
const client = httpsClient(port, ca)
let samples: Sample[] = []

type Act = (other: string) => [what: string, path: string, body?: object]

const acts: Act[] = [
  (other) => ['send', '/messages', { receiver: other, receiverType: 'user', data: { text: 'Are you there?' } }],
  (other) => ['list messages', `/users/${other}/messages?limit=30&affix=prepend`],
  () => ['list conversations', '/conversations'],
  (other) => ['get a user', `/users/${other}`],
]

async function act(n: number): Promise<void> {
  const round = Math.floor(n / acts.length)
  const { authToken = '' } = users[round % users.length] ?? {}
  const other = users[(round + 1 + (n % 7)) % users.length]?.uid ?? ''
  const [what, path, body] = (acts[n % acts.length] as Act)(other)
  const at = Date.now()
  const before = { now: performance.now(), server: heldUpMilliseconds(pid), own: heldUpMilliseconds() }
  const status = await client
    .send(host, `/v3${path}`, { method: body ? 'POST' : 'GET', headers: { authToken }, ...(body && { body }) })
    .then((answer) => answer.status)
    .catch(() => 0)
  const heldUp = Math.max(heldUpMilliseconds(pid) - before.server, heldUpMilliseconds() - before.own)
  samples.push({ what, at, milliseconds: performance.now() - before.now - heldUp, status })
}

// They do not wait for each other: a server that stalls is asked on.
let asked = 0
setInterval(() => void act(asked++), 1000 / perSecond)

parentPort?.on('message', () => {
  parentPort?.postMessage(samples)
  samples = []
})
