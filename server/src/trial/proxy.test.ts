import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, afterEach, before, describe, it } from 'node:test'
import { until } from '../../../tests/support/until.ts'
import { wire } from '../../../tests/support/wire.ts'
import { trialNames } from './instructions.ts'
import { openTrialProxy, type TrialProxy } from './proxy.ts'

/** It stands between clients and a server of ours, on a machine where others may try it as well. */

const limits = { connectionsMax: 20, headMilliseconds: 500, idleMilliseconds: 1_500 }
const established = /^HTTP\/1\.1 200 Connection Established\r\n\r\n/
const mapped = 'app1.api-us.chat.example:443'

describe('the proxy of a trial', () => {
  const arrived: Socket[] = []
  const echo = createServer((socket) => {
    arrived.push(socket)
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  let proxy: TrialProxy
  before(async () => {
    echo.listen(0, '127.0.0.1')
    await once(echo, 'listening')
    const { port: target } = echo.address() as AddressInfo
    proxy = await openTrialProxy({ port: 0, isMapped: trialNames('chat.example'), target }, limits)
  })
  afterEach(() => {
    for (const socket of arrived.splice(0)) socket.destroy()
  })
  after(async () => {
    await proxy.close()
    echo.close()
  })

  const plain = (port = proxy.port) => wire(port, { secure: false })
  const asks = (authority: string, ...headers: string[]) =>
    [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, ...headers, '', ''].join('\r\n')

  async function answerTo(text: string): Promise<string> {
    const line = await plain()
    line.say(text)
    const heard = await line.hears(/\r\n\r\n/)
    line.socket.destroy()
    return heard
  }

  async function tunnel() {
    const line = await plain()
    line.say(asks(mapped))
    await line.hears(established)
    return line
  }

  it('passes on what goes to mapped names, both ways and from the first byte', async () => {
    for (const name of ['app1.api-us', 'app1.apiclient-eu', 'app1.call-in', 'api-us', 'apimgmt', 'APP1.API-US']) {
      const line = await plain()
      line.say(`${asks(`${name}.chat.example:443`)}early`)
      await line.hears(/\r\n\r\nearly$/)
      line.say(' and late')
      await line.hears(/early and late$/)
      line.socket.destroy()
    }
  })

  it('refuses every other name, every other port and every address, and connects to none of them', async () => {
    const refused = [
      'example.org:443',
      'chat.example:443',
      'xchat.example:443',
      'app1.api-us.chat.example.org:443',
      'app1.api-mars.chat.example:443',
      'a.b.api-us.chat.example:443',
      'app_1.api-us.chat.example:443',
      'www.chat.example:443',
      'app1.api-us.chat.example:80',
      'app1.api-us.chat.example:22',
      'app1.api-us.chat.example:4430',
      'localhost:443',
      '127.0.0.1:443',
      '169.254.169.254:443',
    ]
    for (const authority of refused) assert.match(await answerTo(asks(authority)), /^HTTP\/1\.1 403 /, authority)
    for (const authority of ['[::1]:443', 'app1.api-us.chat.example', 'me@app1.api-us.chat.example:443', ':443', '/']) {
      assert.match(await answerTo(asks(authority)), /^HTTP\/1\.1 40[03] /, authority)
    }
    assert.equal(arrived.length, 0)
  })

  it('takes nothing but CONNECT', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const line = `${method} http://app1.api-us.chat.example/v3/users HTTP/1.1\r\nHost: app1.api-us.chat.example\r\n\r\n`
      assert.match(await answerTo(line), /^HTTP\/1\.1 405 /, method)
    }
    assert.match(await answerTo('hello there\r\n\r\n'), /^HTTP\/1\.1 400 /)
    assert.equal(arrived.length, 0)
  })

  it('refuses a head that is too large, and lets go of whoever does not finish one', async () => {
    assert.match(await answerTo(asks(mapped, `X: ${'y'.repeat(10_000)}`)), /^HTTP\/1\.1 431 /)
    const slow = await plain()
    slow.say('CONNECT app1.api')
    await slow.closes()
    const silent = await plain()
    await silent.closes()
    assert.equal(arrived.length, 0)
  })

  it('ends a tunnel that nobody has used for a while, on both sides, and keeps one that is used', async () => {
    const unused = await tunnel()
    const [server] = arrived
    assert.ok(server)
    const line = await tunnel()
    await until('the one that is not used has ended', async () => {
      line.say('.')
      await line.hears(/\.$/)
      return unused.socket.closed && server.closed
    })
    line.say('last')
    await line.hears(/last$/)
    line.socket.destroy()
  })

  it('ends one side when the other has gone, however rudely, and goes on for all others', async () => {
    const other = await tunnel()
    const left = await tunnel()
    left.socket.resetAndDestroy()
    const dropped = await tunnel()
    arrived.at(-1)?.resetAndDestroy()
    await dropped.closes()
    const half = await plain()
    half.say('CONNECT app1')
    half.socket.resetAndDestroy()
    const refusedAndGone = await plain()
    refusedAndGone.say(asks('example.org:443'))
    refusedAndGone.socket.resetAndDestroy()
    other.say('still there')
    await other.hears(/still there$/)
    other.socket.destroy()
  })

  it('has room for so many connections, and takes more when there is some again', async () => {
    const lines = await Promise.all(Array.from({ length: limits.connectionsMax }, () => plain()))
    const beyond = await plain()
    assert.equal(await beyond.closes(), '')
    for (const { socket } of lines) socket.destroy()
    await Promise.all(lines.map((line) => line.closes()))
    await until('there is room', async () => {
      const line = await plain()
      line.say(asks(mapped))
      await until('it is let in or not', () => established.test(line.heard()) || line.socket.closed)
      line.socket.destroy()
      return established.test(line.heard())
    })
  })

  it('listens on loopback alone', async () => {
    const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
    const outside = all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address)
    // Linux has all of 127/8; what listens everywhere would answer there as well.
    if (process.platform === 'linux') outside.push('127.0.0.2')
    assert.ok(outside.length > 0)
    for (const address of outside) {
      const socket = connect(proxy.port, address)
      const [error] = await once(socket, 'error')
      assert.equal(error.code, 'ECONNREFUSED', address)
    }
  })

  it('says so when the server does not answer', async () => {
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const { port: target } = gone.address() as AddressInfo
    gone.close()
    const lost = await openTrialProxy({ port: 0, isMapped: () => true, target }, limits)
    const line = await plain(lost.port)
    line.say(asks(mapped))
    assert.match(await line.closes(), /^HTTP\/1\.1 502 /)
    await lost.close()
  })

  it('takes nobody in once it is told to stop, and ends all when it closes', async () => {
    const { port: target } = echo.address() as AddressInfo
    const second = await openTrialProxy({ port: 0, isMapped: trialNames('chat.example'), target }, limits)
    const line = await plain(second.port)
    line.say(asks(mapped))
    await line.hears(established)
    second.stopAccepting()
    await assert.rejects(plain(second.port), /ECONNREFUSED/)
    line.say('to the end')
    await line.hears(/to the end$/)
    await second.close()
    await line.closes()
  })
})
