import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { databases } from './support/databases.ts'
import { areasOfTalk } from './support/fuzz.ts'
import type { Campaign, Outcome } from './support/fuzz-worker.ts'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import { times } from './support/quick.ts'
import { type Random, randomFrom, seedFrom } from './support/random.ts'

/** Whatever is sent, the server answers in the contract's form, soon, and never with a fault of its own. */

const seedVariable = 'FUZZ_SEED'
const threads = 2
const validShareOfTalk = 0.25

const campaigns: Omit<Campaign, 'seed'>[] = [
  // Strict houses hold every reply against its schema, too.
  { database: 'sqlite', strict: true, requests: times(2_500, 50_000) },
  { database: 'sqlite', strict: false, requests: times(1_500, 45_000) },
  { database: 'postgres', strict: true, requests: times(1_000, 10_000) },
]

describe('fuzz', { concurrency: threads }, () => {
  for (const campaign of campaigns.filter(({ database }) => databases.includes(database))) {
    const { database, strict, requests } = campaign
    it(`answers ${requests} generated requests on ${database}${strict ? ', strictly' : ''}`, async (test) => {
      const seed = seedFrom(seedVariable)
      test.diagnostic(`${seedVariable}=${seed}`)
      const { statuses, areas, slowest, failures } = await inThread({ ...campaign, seed })
      const counts = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
      test.diagnostic(`${counts.join(', ')}; slowest ${Math.round(slowest)} ms`)
      const shares = [...areas].map(([name, { sent, valid }]) => [name, valid / sent] as const)
      test.diagnostic(shares.map(([name, share]) => `${name} ${Math.round(share * 100)} %`).join(', '))
      assert.deepEqual(failures, [])
      assert.ok((statuses.get(200) ?? 0) > requests / 10, 'too few requests were valid for this to mean much')
      const ofTalk = areasOfTalk.flatMap((name) => areas.get(name) ?? [])
      const total = (of: 'sent' | 'valid') => ofTalk.reduce((sum, each) => sum + each[of], 0)
      assert.ok(total('valid') > total('sent') * validShareOfTalk, 'too few of those about messages were valid')
    })
  }

  it('survives connections that do not speak HTTP, or only half of it', async (test) => {
    const seed = seedFrom(seedVariable)
    test.diagnostic(`${seedVariable}=${seed}`)
    const h = await house({ database: 'sqlite' })
    try {
      const app = await h.app('fuzz')
      const random = randomFrom(seed)
      for (let batch = 0; batch < rawBatches; batch += 1) {
        const left = await Promise.all(Array.from({ length: rawPerBatch }, () => sendRaw(h, app, random)))
        // Meanwhile those who stay are heard to the end.
        for (let n = 0; n < answersPerBatch; n += 1) assertSucceeds(await app.get('/calls'))
        for (const socket of left) socket.destroy()
      }
    } finally {
      await h.close()
    }
  })
})

function inThread(campaign: Campaign): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./support/fuzz-worker.ts', import.meta.url), { workerData: campaign })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`The campaign ended without an outcome (${code}).`)))
  })
}

const rawBatches = times(4, 25)
const rawPerBatch = 16
const answersPerBatch = 20

/** Opens a connection, sends something that is no request, and leaves in one way or another, or stays. */
async function sendRaw(h: House, app: AppClient, random: Random): Promise<Socket> {
  const secure = random.chance(0.6)
  const port = h.service.port
  const socket: Socket = secure
    ? connectSecurely({ host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false })
    : connect({ host: '127.0.0.1', port })
  socket.on('error', () => {})
  socket.on('data', () => {})
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const opened = new Promise((resolve) => socket.once(secure ? 'secureConnect' : 'connect', resolve))
  await Promise.race([opened, closed])
  for (const part of random.pick(rawTalks)(random, app)) {
    if (socket.writable) socket.write(part)
    if (random.chance(0.3)) await nextTurn()
  }
  const leave = random.pick([
    () => socket.end(),
    () => socket.destroy(),
    () => (secure ? socket.destroy() : socket.resetAndDestroy()),
    () => {},
  ])
  leave()
  return socket
}

const noise = (random: Random, bytes: number) => Buffer.from(Array.from({ length: bytes }, () => random.whole(0, 255)))

const rawTalks: ((random: Random, app: AppClient) => (string | Buffer)[])[] = [
  (random) => [noise(random, random.whole(1, 4_000))],
  // The first bytes of a TLS handshake, and then nonsense.
  (random) => [Buffer.from([0x16, 3, 1, 2, 0, 1, 0]), noise(random, 300)],
  (random) => [Buffer.from([0x16, 3, 3, 255, 255]), noise(random, 5)],
  () => ['GET /v3/calls HTTP/1.1\r\nHost: x'],
  () => ['GET /v3/calls HTTP/1.1\r\n\r\n'],
  () => ['GET /v3/calls HTTP/9.9\r\nHost: x\r\n\r\n'],
  () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  () => ['CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  () => ['GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'],
  () => ['GET / HTTP/1.1\r\nHost: x\r\nExpect: the unexpected\r\n\r\n'],
  () => [`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(70_000)}\r\n\r\n`],
  () => [`GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(5_000)}\r\n`],
  () => [`GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  () => ['GET / HTTP/1.1\r\nHost: x\r\nBad\0Name: 1\r\nX: a\0b\r\n\r\n'],
  (_, { host, apiKey }) => [
    `POST /v3/apikeys HTTP/1.1\r\nHost: ${host}\r\napikey: ${apiKey}\r\nContent-Length: 500\r\n\r\n{"name":`,
  ],
  (_, { host, apiKey }) => [
    `POST /v3/apikeys HTTP/1.1\r\nHost: ${host}\r\napikey: ${apiKey}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  (_, { host, apiKey }) => [
    `POST /v3/apikeys HTTP/1.1\r\nHost: ${host}\r\napikey: ${apiKey}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    'zz\r\n',
    '5\r\nab\r\n',
  ],
  (_, { host, apiKey }) => [
    `POST /_emulator/calls/script HTTP/1.1\r\nHost: ${host}\r\napikey: ${apiKey}\r\nContent-Length: -1\r\n\r\n{}`,
  ],
  (_, { host, apiKey }) => [`GET /v3/calls HTTP/1.1\r\nHost: ${host}\r\napikey: ${apiKey}\r\n\r\n`.repeat(50)],
  (random, { host, apiKey }) => [
    `POST /_emulator/calls/script HTTP/1.1\r\nHost: ${host}\r\napikey: ${apiKey}\r\nContent-Length: 3000000\r\n\r\n`,
    noise(random, 2_000),
    'x'.repeat(200_000),
  ],
]
