import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import {
  audioRoom,
  type MediaPeer,
  type MediaStage,
  type OpenedEngine,
  openEngine,
  openMediaStage,
  videoRoom,
  withoutBrowser,
} from '../../../../tests/support/media.ts'
import { until } from '../../../../tests/support/until.ts'
import type { MediaEvent } from '../../common/media.ts'

const patientMilliseconds = 40_000
const room = 'v1.us.call/1'

describe('devices in real browsers, through Janus', { skip: withoutBrowser }, () => {
  let stage: MediaStage
  before(async () => {
    stage = await openMediaStage()
  })
  after(() => stage?.close())

  async function call(t: TestContext, names: string[], opened?: OpenedEngine) {
    const there = opened ?? (await openEngine())
    if (!opened) t.after(there.remove)
    const { engine } = there
    await engine.openRoom(videoRoom(room))
    const peers: MediaPeer[] = []
    for (const name of names) {
      const peer = await stage.peer(room, name)
      t.after(() => peer.page.context().close())
      await peer.join(engine)
      await peer.send({ hums: true })
      peers.push(peer)
    }
    return { ...there, peers }
  }

  async function seeEachOther(peers: MediaPeer[]): Promise<void> {
    for (const peer of peers) {
      for (const other of peers) if (other !== peer) await peer.seesMoreOf(other.ref.device)
    }
  }

  const ofKind = (events: MediaEvent[], kind: MediaEvent['kind']) => events.filter((event) => event.kind === kind)

  it('see and hear each other with Opus and H.264 over SRTP, and all of it is told', async (t) => {
    const { engine, events, peers, troubles } = await call(t, ['ada~1', 'lin~1'])
    await seeEachOther(peers)
    for (const peer of peers) {
      const { flows, cipher, candidate } = await peer.received()
      assert.deepEqual(flows.map(({ codec }) => codec).toSorted(), ['audio/opus', 'video/H264'])
      assert.ok(flows.every(({ packets }) => packets > 0))
      assert.match(cipher, /^SRTP_|^AES/)
      assert.notEqual(candidate, 'relay')
      assert.deepEqual(peer.refusals, [])
    }
    await until('what flows is told', () => ofKind(events, 'media').length >= 4)
    await until('who speaks is told', () => ofKind(events, 'speaking').length >= 2, patientMilliseconds)
    const shown = ofKind(events, 'media').map(
      (event) => event.kind === 'media' && [event.device, event.media, event.isOn],
    )
    assert.deepEqual(shown.toSorted(), [
      ['ada~1', 'audio', true],
      ['ada~1', 'video', true],
      ['lin~1', 'audio', true],
      ['lin~1', 'video', true],
    ])
    await peers[0]?.evaluate(
      `Promise.all(peer.sending.getSenders().filter(({ track }) => track.kind === 'video').map((each) => each.replaceTrack(null)))`,
    )
    await until('the camera is off', () =>
      ofKind(events, 'media').some((event) => event.kind === 'media' && !event.isOn),
    )
    await engine.closeRoom(room)
    assert.deepEqual(
      events
        .filter(({ kind }) => kind === 'joined' || kind === 'left')
        .map((event) => [event.kind, 'device' in event && event.device]),
      [
        ['joined', 'ada~1'],
        ['joined', 'lin~1'],
        ['left', 'ada~1'],
        ['left', 'lin~1'],
      ],
    )
    assert.deepEqual(troubles, [])
  })

  it('of which there are four see who comes, stop seeing who goes, and choose whom they see', async (t) => {
    const { engine, peers, troubles } = await call(t, ['ada', 'lin', 'max', 'zoe'])
    await seeEachOther(peers)
    const [ada, lin] = peers as [MediaPeer, MediaPeer]
    await engine.leave({ room, device: 'zoe' })
    const namesAt = async (peer: MediaPeer, kind: string) =>
      Object.values(await peer.evaluate<Record<string, { device: string; media: string }>>('peer.streams'))
        .filter(({ media }) => media === kind)
        .map(({ device }) => device)
        .toSorted()
    await until('they are gone', async () => String(await namesAt(ada, 'video')) === 'lin,max')
    await engine.select({ room, device: 'ada' }, [{ device: 'max', heightMax: 180 }])
    await until('one video is left', async () => String(await namesAt(ada, 'video')) === 'max')
    assert.deepEqual(await namesAt(ada, 'audio'), ['lin', 'max'])
    await ada.seesMoreOf('max')
    await engine.select({ room, device: 'ada' }, [{ device: 'max' }, { device: 'lin' }])
    await until('both are there', async () => String(await namesAt(ada, 'video')) === 'lin,max')
    await ada.seesMoreOf('lin')
    await lin.seesMoreOf('ada')
    assert.equal(await ada.evaluate('peer.connection'), 1, 'all of it over one connection')
    assert.deepEqual(
      peers.map(({ refusals }) => refusals),
      [[], [], [], []],
    )
    assert.deepEqual(troubles, [])
  })

  it('are not heard while they are muted', async (t) => {
    const { engine, peers } = await call(t, ['ada', 'lin'])
    await seeEachOther(peers)
    const [, lin] = peers as [MediaPeer, MediaPeer]
    const soundAt = async () => (await lin.received()).flows.find(({ kind }) => kind === 'audio')?.packets ?? 0
    await engine.setMuted({ room, device: 'ada' }, 'audio', true)
    let before = await soundAt()
    await until('nothing is heard', async () => {
      const now = await soundAt()
      const isStill = now === before
      before = now
      await lin.seesMoreOf('ada')
      return isStill && now === (await soundAt())
    })
    const still = await soundAt()
    await engine.setMuted({ room, device: 'ada' }, 'audio', false)
    await until('they are heard', async () => (await soundAt()) > still + 10)
  })

  it('get their video in the height they ask for, where it is sent in several', async (t) => {
    const opened = await openEngine()
    t.after(opened.remove)
    const { engine } = opened
    await engine.openRoom(videoRoom(room))
    const [ada, lin] = [await stage.peer(room, 'ada'), await stage.peer(room, 'lin')]
    for (const peer of [ada, lin]) t.after(() => peer.page.context().close())
    await ada.join(engine)
    await ada.send({ simulcast: true, hums: true })
    await lin.join(engine, { mayPublish: false })
    await lin.seesMoreOf('ada')
    const heightAt = async () => (await lin.received()).flows.find(({ kind }) => kind === 'video')?.height ?? 0
    await engine.select({ room, device: 'lin' }, [{ device: 'ada', heightMax: 180 }])
    await until('it is small', async () => (await heightAt()) === 180, patientMilliseconds)
    await engine.select({ room, device: 'lin' }, [{ device: 'ada', heightMax: 360 }])
    await until('it is larger', async () => (await heightAt()) === 360, patientMilliseconds)
    assert.deepEqual(opened.troubles, [])
  })

  it('are seen when they switch on their camera later, and go on when they get into another network', async (t) => {
    const opened = await openEngine()
    t.after(opened.remove)
    const { engine, troubles } = opened
    await engine.openRoom(videoRoom(room))
    const [ada, lin] = [await stage.peer(room, 'ada'), await stage.peer(room, 'lin')]
    for (const peer of [ada, lin]) {
      t.after(() => peer.page.context().close())
      await peer.join(engine)
      await peer.send({ video: false })
    }
    await until('sound arrives', async () => (await lin.received()).flows.some(({ packets }) => packets > 10))
    await ada.evaluate('addVideo()')
    await lin.seesMoreOf('ada')
    const secrets = () =>
      Promise.all([
        ada.evaluate<string>('/ice-ufrag:(.*)/.exec(peer.sending.remoteDescription.sdp)[1]'),
        ada.evaluate<string>('/ice-ufrag:(.*)/.exec(peer.receiving.remoteDescription.sdp)[1]'),
      ])
    const before = await secrets()
    await ada.evaluate('restart()')
    await until('both ways have begun anew', async () => (await secrets()).every((now, n) => now !== before[n]))
    await lin.seesMoreOf('ada')
    assert.equal(await ada.evaluate('peer.connection'), 1)
    assert.deepEqual([troubles, ada.refusals, lin.refusals], [[], [], []])
  })

  it('that offer VP8 send no video, and the call goes on', async (t) => {
    const opened = await openEngine()
    t.after(opened.remove)
    const { engine } = opened
    await engine.openRoom(videoRoom(room))
    const [ada, lin] = [await stage.peer(room, 'ada'), await stage.peer(room, 'lin')]
    for (const peer of [ada, lin]) t.after(() => peer.page.context().close())
    await ada.join(engine)
    await ada.send({ codec: 'VP8' })
    await lin.join(engine)
    await lin.send()
    await ada.seesMoreOf('lin')
    await until('sound arrives', async () => (await lin.received()).flows.some(({ packets }) => packets > 10))
    const answer = await ada.evaluate<string>('peer.sending.remoteDescription.sdp')
    assert.match(answer, /^m=video 0 /m)
    assert.deepEqual(
      (await lin.received()).flows.map(({ kind }) => kind),
      ['audio'],
    )
  })

  it('cannot send video into a call of sound alone', async (t) => {
    const opened = await openEngine()
    t.after(opened.remove)
    const { engine } = opened
    await engine.openRoom(audioRoom(room))
    const [ada, lin] = [await stage.peer(room, 'ada'), await stage.peer(room, 'lin')]
    for (const peer of [ada, lin]) t.after(() => peer.page.context().close())
    for (const peer of [ada, lin]) await peer.join(engine)
    await ada.send({ video: true })
    await until('it is refused', () => ada.refusals.some((each) => each.includes('sound alone')))
    await lin.send({ video: false })
    await until('sound arrives', async () => (await ada.received()).flows.some(({ packets }) => packets > 10))
    assert.deepEqual(
      (await ada.received()).flows.map(({ codec }) => codec),
      ['audio/opus'],
    )
  })

  it('see each other again after the engine was killed and they have joined anew', async (t) => {
    const { engine, events, peers } = await call(t, ['ada', 'lin'])
    await seeEachOther(peers)
    process.kill(engine.processIds()[0] ?? 0, 'SIGKILL')
    await until('the room is lost', () => ofKind(events, 'roomLost').length === 1)
    await engine.openRoom(videoRoom(room))
    for (const peer of peers) {
      await peer.evaluate('peer.receiving?.close(), peer.sending?.close(), (peer.connection = 0)')
      await peer.join(engine)
      await peer.send()
    }
    await seeEachOther(peers)
    assert.equal(engine.figures().restarts, 1)
  })

  it('do not notice that the server was away, and see who joins after it is back', async (t) => {
    const first = await openEngine()
    const { engine, peers } = await call(t, ['ada', 'lin'], first)
    await seeEachOther(peers)
    await engine.letGo()
    const [ada, lin] = peers as [MediaPeer, MediaPeer]
    await ada.seesMoreOf('lin')
    const second = await first.reopen()
    t.after(second.remove)
    await seeEachOther(peers)
    for (const peer of peers) assert.equal(await peer.resume(second.engine), true)
    await seeEachOther(peers)
    assert.equal(await ada.evaluate('peer.connection'), 1, 'it is the same connection')
    const max = await stage.peer(room, 'max')
    t.after(() => max.page.context().close())
    await max.join(second.engine)
    await max.send()
    await seeEachOther([ada, lin, max])
    await second.engine.leave({ room, device: 'lin' })
    await until('it is told', () => second.events.some(({ kind }) => kind === 'left'))
    await ada.seesMoreOf('max')
    assert.deepEqual(second.troubles, [])
    assert.deepEqual([ada.refusals, lin.refusals, max.refusals], [[], [], []])
  })

  it('that do not answer an offer are offered a new connection, and nothing else waits for them', async (t) => {
    const opened = await openEngine({}, { times: { offerMilliseconds: 500 } })
    t.after(opened.remove)
    const { engine, peers } = await call(t, ['ada', 'lin'], opened)
    await seeEachOther(peers)
    const offers: number[] = []
    const silent = { room, device: 'mute' }
    await engine.join(silent, { mayPublish: false }, (signal) => {
      if (signal.type === 'offer') offers.push(signal.connection)
    })
    await until('it was tried', () => offers.length === 3)
    assert.deepEqual(offers, [1, 2, 3])
    await seeEachOther(peers)
    await engine.leave(silent)
  })
})
