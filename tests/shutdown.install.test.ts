import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { type Device, logIn, socketAt } from './support/device.ts'
import { assertSucceeds } from './support/house.ts'
import { type Answer, type Client, httpsClient } from './support/http.ts'
import { type AppOnDisk, type Exit, type Install, install, type ServerProcess } from './support/server-process.ts'
import { until } from './support/until.ts'

const writersCount = 16
const devicesCount = 60
// 500 devices come back in a second.
const millisecondsPerReturn = 2
// Ten seconds, and what a busy machine adds.
const exitMillisecondsMax = 15_000
// Less than what a request under way is given.
const atOnceMilliseconds = 5_000

// Most of it is waiting, which both can do at once.
describe('shutdown', { concurrency: databases.length }, () => {
  for (const database of databases) {
    describe(`shutdown on ${database}`, { concurrency: 1 }, () => {
      let site: Install
      let app: AppOnDisk
      before(async () => {
        site = await install(database, { PARLEY_EMULATOR: 'true' })
        app = await site.createApp('shutdown')
      })
      after(() => site.remove())

      it('answers every request that was under way when it was told to stop, and keeps what it answered', async () => {
        const server = await site.start()
        const sent: Sent[] = []
        const writers = Array.from({ length: writersCount }, (_, writer) =>
          writeUntilRefused(server, app, writer, sent),
        )
        await until('the load is on', () => sent.filter(({ answer }) => answer).length > 2 * writersCount)
        const told = performance.now()
        server.signal('SIGTERM')
        await Promise.all(writers)
        assert.deepEqual(await exitOf(server, told, exitMillisecondsMax), { code: 0, signal: null })

        const underWay = sent.filter(({ beganAt }) => beganAt < told)
        assert.ok(underWay.length > writersCount, `only ${underWay.length} requests`)
        assert.deepEqual(
          underWay.filter(({ answer }) => answer === undefined),
          [],
        )
        // Later ones find the door closed, or closing before their connection was seen.
        const failures = sent.flatMap(({ failure }) => failure ?? [])
        assert.deepEqual(
          failures.filter((failure) => !['ECONNREFUSED', 'ECONNRESET'].includes(failure)),
          [],
        )
        const answered = sent.flatMap(({ answer }) => answer ?? [])
        assert.deepEqual(
          answered.filter(({ status }) => status !== 200).map(({ text }) => text),
          [],
        )
        const written = sent.filter(({ answer, isWrite }) => isWrite && answer).length
        const again = await site.start()
        // This test comes first, so there are no other calls.
        assert.equal((await app.at(again).get('/calls?perPage=1')).body.meta.pagination.total, written)
        await again.kill()
      })

      /** One that is answering a request, and is watched by somebody who is connected. */
      async function busyServer() {
        const server = await site.start()
        const watcher = httpsClient(server.port, certificateOf(site))
        assert.equal((await watcher.send('localhost', '/readyz')).status, 200)
        const slow = await beginSlowly(site, server, app)
        return { server, watcher, slow }
      }

      it('says that it is stopping while a request is still under way, and answers that request', async () => {
        const { server, watcher, slow } = await busyServer()
        const told = performance.now()
        server.signal('SIGTERM')
        const readiness = await untilNotReady(watcher)
        assert.equal(readiness.status, 503)
        assert.deepEqual(readiness.body, { status: 'not ready', reasons: ['stopping'] })
        assert.equal(readiness.headers.connection, 'close')
        assert.equal(await slow.finish(), 200)
        assert.deepEqual(await exitOf(server, told, exitMillisecondsMax), { code: 0, signal: null })
        watcher.close()
      })

      it('is not held up for ever by a request that never ends', async () => {
        const server = await site.start()
        const slow = await beginSlowly(site, server, app)
        const told = performance.now()
        server.signal('SIGTERM')
        assert.deepEqual(await exitOf(server, told, exitMillisecondsMax), { code: 0, signal: null })
        slow.abandon()
      })

      it('exits at once on a second signal', async () => {
        const { server, watcher, slow } = await busyServer()
        server.signal('SIGTERM')
        await untilNotReady(watcher)
        const told = performance.now()
        let hasExited = false
        void server.exited.then(() => {
          hasExited = true
        })
        await until('it exits', () => {
          if (!hasExited) server.signal('SIGINT')
          return hasExited
        })
        assert.deepEqual(await exitOf(server, told, atOnceMilliseconds), { code: 1, signal: null })
        slow.abandon()
        watcher.close()
      })

      it('takes a signal that comes twice at the same time, as from a terminal, for one', async () => {
        const { server, watcher, slow } = await busyServer()
        const told = performance.now()
        server.signal('SIGINT')
        server.signal('SIGTERM')
        await untilNotReady(watcher)
        assert.equal(await slow.finish(), 200)
        assert.deepEqual(await exitOf(server, told, exitMillisecondsMax), { code: 0, signal: null })
        watcher.close()
      })

      it('tells all devices when to come back, at moments of their own, and does not wait for one that is deaf', async () => {
        const server = await site.start()
        const made = await app.at(server).post('/users', { uid: 'ada', name: 'Ada', withAuthToken: true })
        const { authToken } = assertSucceeds(made).data
        const open = () => socketAt({ port: server.port, ca: certificateOf(site) }, app.host)
        const devices: Device[] = []
        for (let n = 0; n < devicesCount; n += 1) devices.push(await logIn(open(), 'ada', { authToken }))
        const deafSocket = open()
        const deaf = await logIn(deafSocket, 'ada', { authToken })
        deafSocket.pause()
        const told = performance.now()
        server.signal('SIGTERM')
        const moments: number[] = []
        for (const { closed, frames } of devices) {
          assert.equal((await closed).code, 1012)
          const { type, body } = frames.at(-1)
          assert.equal(type, 'reconnect')
          moments.push(body.retryAfterMs)
        }
        assert.deepEqual(await exitOf(server, told, exitMillisecondsMax), { code: 0, signal: null })
        assert.ok(moments.every((each) => each >= 0 && each <= (devicesCount + 1) * millisecondsPerReturn))
        // Whoever draws as many out of twice as many hardly ever gets so few.
        assert.ok(new Set(moments).size > devicesCount / 4, `at ${moments.join(', ')}`)
        deafSocket.resume()
        await deaf.closed
      })

      it('exits quickly when idle, even with a client connected', async () => {
        const server = await site.start()
        assert.equal((await app.at(server).get('/calls')).status, 200)
        const told = performance.now()
        server.signal('SIGTERM')
        assert.deepEqual(await exitOf(server, told, atOnceMilliseconds), { code: 0, signal: null })
      })
    })
  }
})

async function untilNotReady(watcher: Client): Promise<Answer> {
  let readiness: Answer | undefined
  await until('it is not ready any more', async () => {
    readiness = await watcher.send('localhost', '/readyz')
    return readiness.status !== 200
  })
  return readiness as Answer
}

async function exitOf(server: ServerProcess, told: number, millisecondsMax: number): Promise<Exit> {
  const exit = await server.exited
  const took = performance.now() - told
  assert.ok(took < millisecondsMax, `took ${Math.round(took)} ms`)
  return exit
}

interface Sent {
  beganAt: number
  isWrite: boolean
  answer: Answer | undefined
  failure: string | undefined
}

/** Reads and writes in turn over a kept connection until the server takes no more. */
async function writeUntilRefused(server: ServerProcess, app: AppOnDisk, writer: number, sent: Sent[]): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    const isWrite = turn % 2 === 0
    const one: Sent = { beganAt: performance.now(), isWrite, answer: undefined, failure: undefined }
    sent.push(one)
    try {
      one.answer = isWrite
        ? await app.emulator(server).post('/calls/script', { initiator: `w${writer}`, receiver: 'all', steps: [] })
        : await app.at(server).get(`/calls?uid=w${writer}&perPage=1`)
    } catch (error) {
      one.failure = String((error as { code?: string }).code ?? error)
      return
    }
  }
}

function certificateOf({ environment }: Install): string {
  return readFileSync(join(environment.PARLEY_DATA ?? '', 'ca.pem'), 'utf8')
}

/** A request that the server has begun to read and whose body is still missing its end. */
async function beginSlowly(site: Install, server: ServerProcess, app: AppOnDisk) {
  const text = JSON.stringify({ initiator: 'nora', receiver: 'milo', steps: [] })
  const sending = request({
    host: '127.0.0.1',
    port: server.port,
    ca: certificateOf(site),
    servername: app.host,
    agent: false,
    path: '/_emulator/calls/script',
    method: 'POST',
    headers: { host: app.host, apikey: app.apiKey, 'content-length': text.length, expect: '100-continue' },
  })
  const response = new Promise<IncomingMessage>((resolve, reject) =>
    sending.on('response', resolve).on('error', reject),
  )
  response.catch(() => {})
  sending.flushHeaders()
  await new Promise((resolve) => sending.once('continue', resolve))
  sending.write(text.slice(0, 10))
  return {
    async finish() {
      sending.end(text.slice(10))
      return (await response).statusCode
    },
    abandon: () => sending.destroy(),
  }
}
