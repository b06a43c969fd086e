import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Listener, listen } from '../server/src/http/listener.ts'
import { takeTime, usualPatience } from '../server/src/http/patience.ts'
import { localCertificates } from '../server/src/install/certificates.ts'
import { passingTime } from './support/clock.ts'
import { until } from './support/until.ts'
import { requestText, wire } from './support/wire.ts'

/** Clients that begin and do not go on are let go, so that they cannot use up the server's connections. */

const patience = { ...usualPatience, checkMilliseconds: 20 }
const hello = Buffer.from([0x16, 3, 1])
// Looking comes a little later than the moment that is looked for.
const more = 100

describe('a connection that goes silent', () => {
  let listener: Listener
  const folder = mkdtempSync(join(tmpdir(), 'parley-patience-'))

  before(async () => {
    const { cert, key } = await localCertificates(folder, 'localhost')
    listener = await listen(
      { host: '0.0.0.0', port: 0, cert, key },
      (request, response) => {
        if (request.url === '/slowly') {
          takeTime(request)
          response.setHeader('Connection', 'close')
        }
        request.resume()
        request.on('end', () => response.end('heard'))
      },
      patience,
    )
  })
  after(async () => {
    await listener.drain(100)
    rmSync(folder, { recursive: true, force: true })
  })

  const plain = () => wire(listener.port, { secure: false })
  const secure = () => wire(listener.port)
  const begun = 'POST /v3/apikeys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"name"'

  /** By the time that others have been answered, the server has heard what was said before. */
  async function isHeard(): Promise<void> {
    for (let n = 0; n < 5; n += 1) {
      const line = await secure()
      line.say(requestText('GET', '/'))
      await line.hears(/heard/)
      line.socket.destroy()
    }
  }

  it('before its first byte is closed', async (test) => {
    const pass = passingTime(test)
    const line = await plain()
    await isHeard()
    pass(patience.handshakeMilliseconds + more)
    assert.equal(await line.closes(), '')
  })

  it('in the middle of the TLS handshake is closed, whatever becomes of another from the same port', async (test) => {
    const pass = passingTime(test)
    const first = connect({ host: '127.0.0.1', port: listener.port, localAddress: '127.0.0.1' })
    await once(first, 'connect')
    const { localPort = 0 } = first
    const second = connect({ host: '127.0.0.2', port: listener.port, localAddress: '127.0.0.1', localPort })
    await once(second, 'connect')
    for (const socket of [first, second]) {
      socket.on('error', () => {})
      socket.resume()
      socket.write(hello)
    }
    await isHeard()
    first.destroy()
    await until('one of them is left', () => listener.figures().connections === 1)
    pass(patience.handshakeMilliseconds + more)
    await until('it is closed', () => second.closed)
  })

  it('in the middle of the TLS handshake is closed', async (test) => {
    const pass = passingTime(test)
    const line = await plain()
    line.say(hello)
    await isHeard()
    pass(patience.handshakeMilliseconds + more)
    await line.closes()
  })

  it('in the middle of its headers is told so and closed, with TLS and without', async (test) => {
    const pass = passingTime(test)
    const lines = [await plain(), await secure()]
    for (const line of lines) line.say('GET /v3/calls HTTP/1.1\r\nHost: localhost\r\n')
    await isHeard()
    pass(patience.headersMilliseconds + more)
    for (const line of lines) assert.match(await line.closes(), /408/)
  })

  it('in the middle of its body is closed, and later, if it was given time for a large one', async (test) => {
    const pass = passingTime(test)
    const patient = await secure()
    patient.say(begun.replace('/v3/apikeys', '/slowly'))
    const line = await secure()
    line.say(begun)
    await isHeard()
    pass(patience.requestMilliseconds + more)
    assert.match(await line.closes(), /408/)
    assert.equal(patient.socket.closed, false)
    patient.say('x'.repeat(93))
    assert.match(await patient.closes(), /heard/)

    const late = await secure()
    late.say(begun.replace('/v3/apikeys', '/slowly'))
    await isHeard()
    pass(patience.uploadMilliseconds + more)
    assert.match(await late.closes(), /408/)
  })
})
