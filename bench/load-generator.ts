import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { type Load, type Outcome, serialNumber } from './load.ts'

/**
 * Sends load from a process of its own, over bare sockets: an HTTP client would need more CPU than the servers under
 * test. It knows just enough HTTP for them: every answer has a Content-Length, and a connection carries one request at a
 * time.
 *
 * Without a rate, each connection asks again as soon as it is answered. With one, requests fall due at fixed moments and
 * their latency counts from then, so that a server which stalls cannot hide it by being asked less.
 */

const drainMilliseconds = 5_000

interface Line {
  socket: Socket
  /** When the request that is under way was due; undefined while the line is free. */
  since: number | undefined
  /** Bytes of the answer that are still to come. */
  awaited: number
  head: Buffer
}

const nothing = Buffer.alloc(0)
const headEnd = Buffer.from('\r\n\r\n')

async function open(load: Load): Promise<Line> {
  const socket = load.secure
    ? connectSecurely({ host: '127.0.0.1', port: load.port, rejectUnauthorized: false })
    : connect(load.port, '127.0.0.1')
  socket.setNoDelay(true)
  await new Promise<void>((resolve, reject) => {
    socket.once(load.secure ? 'secureConnect' : 'connect', resolve)
    socket.once('error', reject)
  })
  return { socket, since: undefined, awaited: 0, head: nothing }
}

function textOf({ method, path, headers, body = '' }: Load['requests'][number]): string {
  const all = body === '' ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

// Begins where no earlier run can have got to, and has as many digits as its placeholder has characters.
let lastSerial = Date.now() * 100

function numbered(text: string): string {
  lastSerial += 1
  return text.replace(serialNumber, String(lastSerial))
}

/** Reads one more chunk of an answer; true when the answer is complete. */
function take(line: Line, chunk: Buffer, countStatus: (status: number) => void): boolean {
  if (line.awaited > 0) {
    line.awaited -= chunk.length
    return line.awaited <= 0
  }
  const bytes = line.head.length > 0 ? Buffer.concat([line.head, chunk]) : chunk
  const end = bytes.indexOf(headEnd)
  if (end < 0) {
    line.head = bytes
    return false
  }
  line.head = nothing
  const head = bytes.toString('latin1', 0, end)
  countStatus(Number(head.slice(9, 12)))
  const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  line.awaited = length - (bytes.length - end - headEnd.length)
  return line.awaited <= 0
}

async function prepare(load: Load) {
  const texts = load.requests.map(textOf)
  const distinct = texts.some((text) => text.includes(serialNumber))
  const lines: Line[] = []
  for (let n = 0; n < load.connections; n += 1) lines.push(await open(load))
  let next = 0

  return async function run(): Promise<Outcome> {
    const statuses: Record<number, number> = {}
    const latencies: number[] = []
    const waiting: number[] = []
    const free = [...lines]
    const startedAt = performance.now()
    const endsAt = startedAt + load.seconds * 1000
    let answeredAt = startedAt
    let failure: Error | undefined

    const ask = (line: Line, dueAt: number) => {
      line.since = dueAt
      const text = texts[next % texts.length] as string
      line.socket.write(distinct ? numbered(text) : text, 'latin1')
      next += 1
    }
    const countStatus = (status: number) => {
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    const answered = (line: Line) => {
      answeredAt = performance.now()
      latencies.push(answeredAt - (line.since ?? answeredAt))
      line.since = undefined
      line.awaited = 0
      if (load.rate === undefined) {
        if (answeredAt < endsAt) ask(line, answeredAt)
        return
      }
      const dueAt = waiting.shift()
      if (dueAt === undefined) free.push(line)
      else ask(line, dueAt)
    }
    for (const line of lines) {
      line.socket.on('data', (chunk) => take(line, chunk, countStatus) && answered(line))
      line.socket.on('error', (error) => {
        failure = error
      })
      line.socket.on('close', () => {
        failure ??= new Error('The server closed a connection.')
      })
    }

    if (load.rate === undefined) {
      for (const line of lines) ask(line, startedAt)
      await pause(load.seconds * 1000)
    } else {
      const gap = 1000 / load.rate
      let dueAt = startedAt
      while (performance.now() < endsAt) {
        for (const now = performance.now(); dueAt <= now; dueAt += gap) {
          const line = free.pop()
          if (line) ask(line, dueAt)
          else waiting.push(dueAt)
        }
        await pause(1)
      }
    }
    const patience = performance.now() + drainMilliseconds
    while (!failure && performance.now() < patience && lines.some(({ since }) => since !== undefined)) await pause(2)
    for (const { socket } of lines) {
      socket.removeAllListeners('close')
      socket.destroy()
    }
    if (failure) throw failure
    latencies.sort((a, b) => a - b)
    const percentile = (share: number) =>
      latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
    return {
      requests: latencies.length,
      seconds: (answeredAt - startedAt) / 1000,
      statuses,
      milliseconds: { p50: percentile(0.5), p99: percentile(0.99) },
    }
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

let prepared: Promise<() => Promise<Outcome>> | undefined

/** First a load, answered when its connections stand; then `go`, answered with what came of it. */
process.on('message', async (message: Load | 'go') => {
  try {
    if (message === 'go') {
      const run = await prepared
      process.send?.({ outcome: await run?.() })
    } else {
      prepared = prepare(message)
      await prepared
      process.send?.({ ready: true })
    }
  } catch (error) {
    process.send?.({ failure: (error as Error).message })
  }
})
