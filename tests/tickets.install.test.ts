import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { secretsUnder } from '../server/src/adapters/secrets/master-key.ts'
import { type Listener, listen } from '../server/src/http/listener.ts'
import { ticketKeysUnder } from '../server/src/http/ticket-keys.ts'
import { type Certificates, localCertificates } from '../server/src/install/certificates.ts'
import { databases } from './support/databases.ts'
import { install } from './support/server-process.ts'

/** Clients that come back shake hands in short, at whichever node of the install and after restarts; elsewhere in full. */

type Version = NonNullable<ConnectionOptions['minVersion']>

interface Handshake {
  isShort: boolean
  session: Buffer
}

const versions: Version[] = ['TLSv1.2', 'TLSv1.3']
const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

/** Asks something over a connection of its own, and keeps the ticket that came with the answer. */
function shakeHands(port: number, version: Version, session?: Buffer): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    let ticket: Buffer | undefined
    const socket = connect({
      ...{ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false },
      ...{ minVersion: version, maxVersion: version, ...(session && { session }) },
    })
    let isShort = false
    socket.on('secureConnect', () => {
      isShort = socket.isSessionReused()
      socket.write(request)
    })
    socket.on('session', (each) => {
      ticket = each
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const kept = ticket ?? session
      if (kept) resolve({ isShort, session: kept })
      else reject(new Error('There was no ticket.'))
    })
    socket.resume()
  })
}

const dayMilliseconds = 24 * 3600 * 1000
const today = () => Math.floor(Date.now() / dayMilliseconds)

/** A ticket of one process, shown to another before the day is over. */
async function showTicket(one: () => Promise<number>, other: () => Promise<number>): Promise<boolean> {
  const day = today()
  const { session } = await shakeHands(await one(), 'TLSv1.3')
  const { isShort } = await shakeHands(await other(), 'TLSv1.3', session)
  return today() === day ? isShort : showTicket(one, other)
}

describe('tickets of TLS sessions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tickets-'))
  const listeners: Listener[] = []
  let certificates: Certificates
  before(async () => {
    certificates = await localCertificates(folder, 'localhost')
  })
  after(async () => {
    await Promise.all(listeners.map((listener) => listener.drain(0)))
    rmSync(folder, { recursive: true })
  })

  async function nodeOf(masterKey: Buffer): Promise<number> {
    const identity = { ...certificates, ticketKeys: ticketKeysUnder(secretsUnder(masterKey)) }
    const listener = await listen({ host: '127.0.0.1', port: 0, ...identity }, (_, response) => response.end())
    listeners.push(listener)
    return listener.port
  }

  for (const version of versions) {
    it(`are good at every node of an install, and at no other, with ${version}`, async (t) => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2031, 4, 6) })
      const masterKey = randomBytes(32)
      const [one, other, foreign] = [await nodeOf(masterKey), await nodeOf(masterKey), await nodeOf(randomBytes(32))]
      const first = await shakeHands(one, version)
      assert.equal(first.isShort, false)
      const second = await shakeHands(other, version, first.session)
      assert.equal(second.isShort, true)
      assert.equal((await shakeHands(one, version, second.session)).isShort, true)
      assert.equal((await shakeHands(foreign, version, second.session)).isShort, false)
    })

    it(`end with the day, with ${version}`, async (t) => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2031, 4, 6, 23, 59, 59) })
      const node = await nodeOf(randomBytes(32))
      const first = await shakeHands(node, version)
      const second = await shakeHands(node, version, first.session)
      assert.equal(second.isShort, true)
      t.mock.timers.tick(1_000)
      const third = await shakeHands(node, version, second.session)
      assert.equal(third.isShort, false)
      assert.equal((await shakeHands(node, version, third.session)).isShort, true)
    })
  }

  it('outlive a restart', async () => {
    const site = await install('sqlite')
    let server = await site.start()
    const restarted = async () => {
      await server.kill()
      server = await site.start({}, '--host', '127.0.0.1')
      return server.port
    }
    assert.equal(await showTicket(async () => server.port, restarted), true)
    await site.remove()
  })

  it('are good at the other of two processes', { skip: !databases.includes('postgres') }, async () => {
    const site = await install('postgres')
    const [one, other] = [await site.start(), await site.start()]
    const atOther = await showTicket(
      async () => one.port,
      async () => other.port,
    )
    assert.equal(atOther, true)
    await site.remove()
  })
})
