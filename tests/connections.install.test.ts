import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type ClientConnection, connectionOf } from '../server/src/http/connection.ts'
import { type Listener, type ListenerLimits, listen, usualLimits } from '../server/src/http/listener.ts'
import { type Patience, usualPatience } from '../server/src/http/patience.ts'
import { localCertificates } from '../server/src/install/certificates.ts'
import { passingTime } from './support/clock.ts'
import { until } from './support/until.ts'
import { requestText, type Wire, wire } from './support/wire.ts'

/** What the listener does with clients that send too much, read too little or come in crowds. */

const megabyte = 1_000_000
// More than the system takes of an answer that nobody reads.
const largeAnswer = Buffer.alloc(24 * megabyte, 'x')
// More than the system holds back from the server of what is read.
const portion = 4 * megabyte
const answers: Record<string, Buffer> = { '/large': largeAnswer, '/medium': largeAnswer.subarray(0, megabyte) }
const get = (path: string) => requestText('GET', path)

const folder = mkdtempSync(join(tmpdir(), 'parley-connections-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Door {
  listener: Listener
  /** Requests that were begun, in their order. */
  begun: string[]
  /** How many of them were answered at the same time, at most. */
  atOnceMax(): number
  /** That of the last request that was begun. */
  connection(): ClientConnection | undefined
  /** Answers all that ask to wait. */
  release(): void
  close(): Promise<void>
}

/**
 * A listener whose answers are made up: `/large`, `/wait` until it is released, `/parts` with the number of parts in which
 * the body came, and else the path itself.
 */
async function door(patience: Partial<Patience> = {}, limits: Partial<ListenerLimits> = {}): Promise<Door> {
  const { cert, key } = await localCertificates(folder, 'localhost')
  const begun: string[] = []
  const waiting: (() => void)[] = []
  let atOnce = 0
  let atOnceMax = 0
  let connection: ClientConnection | undefined
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    const { url = '' } = request
    begun.push(url)
    connection = connectionOf(request)
    atOnce += 1
    atOnceMax = Math.max(atOnceMax, atOnce)
    response.once('finish', () => {
      atOnce -= 1
    })
    const answer = () => response.end(answers[url] ?? url)
    if (url === '/wait') waiting.push(answer)
    else if (url === '/parts') countParts(request, response)
    else setImmediate(answer)
  }
  const listener = await listen(
    { host: '127.0.0.1', port: 0, cert, key },
    handler,
    { ...usualPatience, checkMilliseconds: 20, ...patience },
    { ...usualLimits, ...limits },
  )
  return {
    listener,
    begun,
    atOnceMax: () => atOnceMax,
    connection: () => connection,
    release: () => waiting.splice(0).forEach((answer) => void answer()),
    close: () => listener.drain(0),
  }
}

/** What the listener can do for others, it has done by the time that this one has been answered again and again. */
async function isAnsweredInBetween(d: Door): Promise<void> {
  const line = await wire(d.listener.port, { secure: false })
  for (let n = 0; n < 5; n += 1) {
    line.say(get(`/turn-${n}/`))
    await line.hears(new RegExp(`/turn-${n}/$`))
  }
  line.socket.destroy()
}

function countParts(request: IncomingMessage, response: ServerResponse): void {
  let parts = 0
  request.on('data', () => {
    parts += 1
  })
  request.on('end', () => response.end(`${parts} parts`))
}

for (const secure of [true, false]) {
  describe(`requests over one connection, ${secure ? 'TLS' : 'plain'}`, () => {
    let d: Door
    before(async () => {
      d = await door()
    })
    after(() => d.close())
    const open = () => wire(d.listener.port, { secure })

    it('are answered one after the other and in their order, however many are sent at once', async () => {
      const paths = Array.from({ length: 500 }, (_, n) => `/number-${n}/`)
      const line = await open()
      line.say(paths.map(get).join(''))
      const heard = await line.hears(/\/number-499\//)
      assert.deepEqual(heard.match(/\/number-\d+\//g), paths)
      assert.equal(d.atOnceMax(), 1)
      line.socket.destroy()
    })

    it('are read only a few ahead, so that sending more and more takes no memory', async () => {
      d.begun.length = 0
      const line = await open()
      line.say(get('/wait'))
      await until('it is being answered', () => d.begun.includes('/wait'))
      const many = Buffer.from(get('/ahead').repeat(1_000))
      for (let sent = 0; sent < 32 * megabyte; sent += many.length) line.socket.write(many)
      let written = -1
      // The system takes a few megabytes; after that nothing moves.
      await until('nothing moves', async () => {
        const before = written
        written = line.socket.bytesWritten - line.socket.writableLength
        await isAnsweredInBetween(d)
        return before === written
      })
      assert.ok(line.socket.writableLength > 8 * megabyte, 'the server has not stopped reading')
      assert.ok(d.listener.figures().heldBytes < 300_000, `${d.listener.figures().heldBytes} bytes are held`)
      line.socket.destroy()
      d.release()
      await until('nobody is connected', () => d.listener.figures().connections === 0)
      assert.equal(d.listener.figures().heldBytes, 0)
    })

    it('may have a body full of what looks like requests, which is read as fast as any other', async () => {
      const line = await open()
      const bytes = megabyte
      line.say(requestText('POST', '/parts', { 'Content-Length': String(bytes) }))
      line.say(Buffer.alloc(bytes, '\r\n\r\n'))
      const [, parts] = /(\d+) parts$/.exec(await line.hears(/ parts$/)) ?? []
      assert.ok(Number(parts) < 3_000, `it was read in ${parts} parts`)
      line.socket.destroy()
    })

    it('are not run once their client is gone', async () => {
      d.begun.length = 0
      const line = await open()
      line.say(get('/wait') + get('/after').repeat(5))
      await until('it is being answered', () => d.begun.includes('/wait'))
      line.socket.destroy()
      await until('nobody is connected', () => d.listener.figures().connections === 0)
      d.release()
      await isAnsweredInBetween(d)
      assert.deepEqual(
        d.begun.filter((path) => !path.startsWith('/turn')),
        ['/wait'],
      )
    })

    it('are answered first, if something that is no request comes behind them', async () => {
      d.begun.length = 0
      const line = await open()
      line.say(`${get('/first')}${get('/wait')}${get('/third')}hello there\r\n\r\n`)
      await line.hears(/\/first/)
      await until('it is being answered', () => d.begun.includes('/wait'))
      d.release()
      const heard = await line.closes()
      assert.deepEqual(heard.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
    })

    it('may be large to answer, and follow each other all the same', async () => {
      const line = await wire(d.listener.port, { secure, deaf: true })
      line.say(get('/medium').repeat(40))
      let bytes = 0
      line.socket.on('data', (part) => {
        bytes += part.length
      })
      await until('all is there', () => bytes > 40 * megabyte, 30_000)
      line.socket.destroy()
    })

    it('may bring their body after the answer, and nothing is said but what was asked', async () => {
      const strict = await door({ headersMilliseconds: 100 })
      const line = await wire(strict.listener.port, { secure })
      line.say('POST /early HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n')
      await line.hears(/\/early/)
      line.say('01234')
      await isAnsweredInBetween(strict)
      line.say('56789')
      // Whoever begins a request now and does not go on is sent away.
      const slow = await wire(strict.listener.port, { secure: false })
      slow.say('GET /slow HTTP/1.1\r\n')
      assert.match(await slow.closes(), /408/)
      line.say(get('/late'))
      assert.doesNotMatch(await line.hears(/\/late/), /408/)
      line.socket.destroy()
      await strict.close()
    })

    it('may come in the oldest form, and close the connection after the answer', async () => {
      const line = await open()
      line.say('GET /old HTTP/1.0\r\n\r\n')
      assert.match(await line.closes(), /200 OK[\s\S]*\/old$/)
    })
  })

  describe(`an answer over ${secure ? 'TLS' : 'plain'}`, () => {
    it('is given up when nothing of it is taken', async () => {
      const d = await door({ stallMilliseconds: 100 })
      const line = await wire(d.listener.port, { secure, deaf: true })
      line.say(get('/large'))
      await until('it is given up', () => d.listener.figures().stalled === 1)
      await until('nobody is connected', () => d.listener.figures().connections === 0)
      assert.equal(d.listener.figures().heldBytes, 0)
      await d.close()
    })

    for (const version of ['1.0', '1.1']) {
      it(`of HTTP/${version} reaches its end however slowly it is read, as long as it is`, async (test) => {
        const pass = passingTime(test)
        const d = await door()
        const line = await wire(d.listener.port, { secure, deaf: true })
        line.say(`GET /large HTTP/${version}\r\nHost: localhost\r\n\r\n`)
        await until('it is being answered', () => d.begun.includes('/large'))
        const connection = d.connection()
        assert.ok(connection)
        let [bytes, wanted] = [0, 0]
        line.socket.on('data', (part) => {
          bytes += part.length
          if (bytes >= wanted) line.socket.pause()
        })
        while (wanted < largeAnswer.length - portion) {
          const since = performance.now()
          wanted += portion
          line.socket.resume()
          await until('a portion is read', () => bytes >= wanted)
          await until('more has been sent', () => (connection.untakenSince() ?? since) >= since)
          const silent = await admitted(d)
          pass(usualPatience.stallMilliseconds * 0.8)
          await silent.closes()
        }
        wanted = Number.POSITIVE_INFINITY
        line.socket.resume()
        await until('all of it is there', () => bytes > largeAnswer.length)
        assert.equal(d.listener.figures().stalled, 0)
        line.socket.destroy()
        await d.close()
      })
    }

    it('that nobody takes gives way, once too much is held, to those that are taken', async () => {
      const d = await door({}, { heldBytesMax: 80 * megabyte })
      const lines: Wire[] = []
      for (let n = 0; n < 6; n += 1) {
        const line = await wire(d.listener.port, { secure, deaf: true })
        lines.push(line)
        line.say(get('/large'))
        await until('it is being answered', () => d.begun.length === n + 1)
      }
      await until('one is let go', () => d.listener.figures().connections < 6)
      assert.ok(d.listener.figures().heldBytes <= 80 * megabyte)
      const [eldest, youngest] = [lines[0] as Wire, lines[5] as Wire]
      assert.equal(eldest.socket.destroyed || (await closesSoon(eldest)), true)
      let bytes = 0
      youngest.socket.on('data', (part) => {
        bytes += part.length
      })
      await until('all of it is there', () => bytes > largeAnswer.length, 30_000)
      for (const { socket } of lines) socket.destroy()
      await until('nothing is held', () => d.listener.figures().heldBytes === 0)
      await d.close()
    })
  })
}

/** A deaf line learns of its end only when it reads. */
async function closesSoon(line: Wire): Promise<boolean> {
  line.socket.resume()
  await line.closes()
  return true
}

/** Opens a connection that has been admitted. */
async function admitted(d: Door, secure = false): Promise<Wire> {
  const before = d.listener.figures().connections
  const line = await wire(d.listener.port, { secure })
  await until('it is admitted', () => d.listener.figures().connections !== before || line.socket.destroyed)
  return line
}

describe('connections', () => {
  async function isAnswered(line: Wire): Promise<boolean> {
    line.say(get('/hello'))
    return /200 OK/.test(await line.hears(/HTTP/))
  }

  for (const [what, limits] of [
    ['in all', { connectionsMax: 5 }],
    ['from one address', { connectionsPerAddressMax: 5 }],
  ] as const) {
    it(`that say nothing make room for others, when there are too many ${what}`, async () => {
      const d = await door({}, limits)
      const silent: Wire[] = []
      for (let n = 0; n < 5; n += 1) silent.push(await admitted(d))
      const others = [await wire(d.listener.port), await wire(d.listener.port, { secure: false })]
      for (const line of others) assert.equal(await isAnswered(line), true)
      await silent[0]?.closes()
      await silent[1]?.closes()
      assert.equal(d.listener.figures().connections, 5)
      assert.equal(d.listener.figures().turnedAway, 0)
      await d.close()
    })

    it(`that are idle make room for others, the longest idle first, when there are too many ${what}`, async () => {
      const d = await door({}, limits)
      const idle: Wire[] = []
      for (let n = 0; n < 5; n += 1) {
        const line = await admitted(d)
        await isAnswered(line)
        idle.push(line)
      }
      await isAnswered(idle[0] as Wire)
      await idle[0]?.hears(/hello[\s\S]*hello/)
      assert.equal(await isAnswered(await wire(d.listener.port)), true)
      await idle[1]?.closes()
      assert.deepEqual(
        idle.map(({ socket }) => socket.destroyed),
        [false, true, false, false, false],
      )
      await d.close()
    })

    it(`that are busy keep their place, and newcomers are told so, when there are too many ${what}`, async () => {
      const d = await door({}, limits)
      const busy: Wire[] = []
      for (let n = 0; n < 5; n += 1) {
        const line = await admitted(d)
        line.say(get('/wait'))
        busy.push(line)
        await until('it is being answered', () => d.begun.length === n + 1)
      }
      const told = await wire(d.listener.port, { secure: false })
      told.say(get('/hello'))
      const heard = await told.closes()
      assert.match(heard, /^HTTP\/1\.1 503 [\s\S]*Retry-After: \d+[\s\S]*"ERR_TOO_MANY_REQUESTS"/)
      await assert.rejects(wire(d.listener.port), 'TLS is closed without an answer')
      assert.equal(d.listener.figures().turnedAway, 2)
      d.release()
      for (const line of busy) await line.hears(/\/wait/)
      assert.equal(await isAnswered(await wire(d.listener.port)), true)
      await d.close()
    })
  }

  it('of a trusted proxy count together with all others only', async () => {
    const d = await door({}, { connectionsPerAddressMax: 2, isProxy: (address) => address === '127.0.0.1' })
    const lines: Wire[] = []
    for (let n = 0; n < 8; n += 1) {
      const line = await admitted(d)
      line.say(get('/wait'))
      lines.push(line)
    }
    await until('all are being answered', () => d.begun.length === 8)
    d.release()
    for (const line of lines) await line.hears(/200 OK/)
    assert.equal(d.listener.figures().turnedAway, 0)
    await d.close()
  })

  it('that are idle for long are closed', async () => {
    const d = await door({ idleMilliseconds: 100 })
    const line = await wire(d.listener.port)
    await isAnswered(line)
    await line.closes()
    await d.close()
  })
})
