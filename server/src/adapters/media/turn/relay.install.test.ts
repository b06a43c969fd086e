import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { freePort } from '../../../../../scripts/processes.ts'
import {
  addressOfMedia,
  type MediaStage,
  openEngine,
  openMediaStage,
  videoRoom,
  withoutRelay,
} from '../../../../../tests/support/media.ts'
import { until } from '../../../../../tests/support/until.ts'
import { openRelay, type Relay, relayTrouble } from './relay.ts'

const room = 'v1.us.call/2'
const unauthorized = 401
const patientMilliseconds = 40_000

const isRunning = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
  } catch {
    return false
  }
}

describe('the relay', { skip: withoutRelay }, () => {
  let stage: MediaStage
  before(async () => {
    stage = await openMediaStage()
  })
  after(() => stage?.close())

  async function makeRelay(t: TestContext, credentialSeconds = 60) {
    const folder = mkdtempSync(join(tmpdir(), 'parley-test-relay-'))
    const address = await addressOfMedia()
    const settings = { port: await freePort(), ports: { first: 25_000, last: 25_999 }, credentialSeconds }
    const troubles: string[] = []
    const onTrouble = (error: unknown) => void troubles.push(String(error))
    const open = () => openRelay({ settings, folder, address, publicAddress: undefined, uid: undefined, onTrouble })
    const opened: Relay[] = [await open()]
    t.after(async () => {
      for (const relay of opened) await relay.close()
      rmSync(folder, { recursive: true })
    })
    const reopen = async () => {
      const relay = await open()
      opened.push(relay)
      return relay
    }
    return { relay: opened[0] ?? assert.fail(), reopen, settings, folder, address, troubles }
  }

  it('carries a call whose devices may use nothing else', async (t) => {
    const { relay } = await makeRelay(t)
    const { engine, remove } = await openEngine({}, { iceServers: relay.iceServers })
    t.after(remove)
    await engine.openRoom(videoRoom(room))
    const peers = [await stage.peer(room, 'ada'), await stage.peer(room, 'lin')]
    for (const peer of peers) {
      t.after(() => peer.page.context().close())
      await peer.join(engine)
      await peer.send({ relayOnly: true, iceServers: engine.iceServers(peer.ref) })
    }
    const [ada, lin] = peers
    await ada?.seesMoreOf('lin')
    await lin?.seesMoreOf('ada')
    for (const peer of peers) assert.equal((await peer.received()).candidate, 'relay')
    const names = peers.map(({ ref }) => engine.iceServers(ref)[0]?.username)
    assert.equal(new Set(names).size, 2, 'each device has a name of its own')
  })

  it('refuses credentials whose time is over, and those of nobody', async (t) => {
    const { relay } = await makeRelay(t, -60)
    const ref = { room, device: 'ada' }
    const [expired] = relay.iceServers(ref)
    const until10Minutes = Math.floor(Date.now() / 1000) + 600
    for (const iceServers of [
      [expired ?? assert.fail()],
      [{ urls: expired?.urls ?? [], username: `${until10Minutes}:x`, credential: 'guessed' }],
    ]) {
      const peer = await stage.peer(room, 'ada')
      t.after(() => peer.page.context().close())
      await peer.send({ relayOnly: true, iceServers })
      const errors = () => peer.evaluate<number[]>('peer.candidateErrors')
      await until('it is refused', async () => (await errors()).includes(unauthorized), patientMilliseconds)
      assert.equal(await peer.evaluate('peer.sending.iceConnectionState'), 'new')
    }
  })

  it('is started anew when it dies, and outlives the server, which finds it again', async (t) => {
    const { relay, reopen, settings, folder, address, troubles } = await makeRelay(t)
    const first = relay.processId() ?? assert.fail('it does not run')
    process.kill(first, 'SIGKILL')
    await until('another one runs', () => ![undefined, first].includes(relay.processId()))
    assert.equal(relay.restarts(), 1)
    assert.equal(troubles.length, 1)
    const [server] = relay.iceServers({ room, device: 'ada' })
    relay.letGo()
    const again = await reopen()
    assert.equal(again.processId(), relay.processId())
    assert.equal(again.iceServers({ room, device: 'ada' })[0]?.credential, server?.credential)
    assert.equal(await relayTrouble(settings, folder, address), undefined)
    await again.close()
    assert.ok(!isRunning(again.processId() ?? 0))
  })

  it('says what is in its way', async () => {
    const address = await addressOfMedia()
    const taken = createSocket('udp4')
    await new Promise<void>((resolve) => taken.bind({ address, port: 0 }, resolve))
    const settings = { port: taken.address().port, ports: { first: 25_000, last: 25_999 }, credentialSeconds: 1 }
    assert.match((await relayTrouble(settings, '/nowhere', address)) ?? '', /PARLEY_MEDIA_RELAY_PORT\.$/)
    taken.close()
    const without = { ...settings, turnserver: '/nowhere/turnserver' }
    assert.match((await relayTrouble(without, '/nowhere', address)) ?? '', /package coturn/)
  })
})
