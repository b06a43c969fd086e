import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import { type Listener, listen } from '../server/src/http/listener.ts'
import { takeTime, usualPatience } from '../server/src/http/patience.ts'
import { localCertificates } from '../server/src/install/certificates.ts'

/** Clients that begin and do not go on are let go, so that they cannot use up the server's connections. */

const patience = {
  ...usualPatience,
  handshakeMilliseconds: 300,
  headersMilliseconds: 300,
  requestMilliseconds: 500,
  uploadMilliseconds: 60_000,
  checkMilliseconds: 50,
}
const farTooLongMilliseconds = 5_000

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

  /** What the server said before it closed the connection. */
  async function heardUntilClosed(socket: ReturnType<typeof connect>, sent: string | Buffer): Promise<string> {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => {})
    if (sent.length > 0) socket.write(sent)
    const timer = setTimeout(() => socket.destroy(new Error('still open')), farTooLongMilliseconds)
    const started = Date.now()
    await once(socket, 'close')
    clearTimeout(timer)
    assert.ok(Date.now() - started < farTooLongMilliseconds, 'the server closed it, not this test')
    return text
  }

  const plain = () => connect(listener.port, '127.0.0.1')
  const secure = async () => {
    const socket = connectSecurely({ port: listener.port, host: '127.0.0.1', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    return socket
  }

  it('before its first byte is closed', async () => {
    assert.equal(await heardUntilClosed(plain(), ''), '')
  })

  it('in the middle of the TLS handshake is closed, whatever becomes of another from the same port', async () => {
    const hello = Buffer.from([0x16, 3, 1])
    const first = connect({ host: '127.0.0.1', port: listener.port, localAddress: '127.0.0.1' })
    await once(first, 'connect')
    const { localPort = 0 } = first
    const second = connect({ host: '127.0.0.2', port: listener.port, localAddress: '127.0.0.1', localPort })
    await once(second, 'connect')
    first.on('error', () => {})
    first.write(hello)
    const closed = heardUntilClosed(second, hello)
    await pause(patience.checkMilliseconds)
    first.destroy()
    assert.equal(await closed, '')
  })

  it('in the middle of the TLS handshake is closed', async () => {
    await heardUntilClosed(plain(), Buffer.from([0x16, 0x03, 0x01]))
  })

  it('in the middle of its headers is told so and closed, with TLS and without', async () => {
    const half = 'GET /v3/calls HTTP/1.1\r\nHost: localhost\r\n'
    assert.match(await heardUntilClosed(plain(), half), /408/)
    assert.match(await heardUntilClosed(await secure(), half), /408/)
  })

  it('in the middle of a large body is closed later, if it was given time', async () => {
    const half = 'POST /slowly HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"name"'
    const socket = await secure()
    const heard = heardUntilClosed(socket, half)
    await pause(patience.requestMilliseconds * 2)
    assert.equal(socket.closed, false)
    socket.write('x'.repeat(93))
    assert.match(await heard, /heard/)
  })

  it('in the middle of its body is closed', async () => {
    const half = 'POST /v3/apikeys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"name"'
    await heardUntilClosed(await secure(), half)
  })
})
