import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  type MediaEngine,
  type MediaEvent,
  type MediaRefusal,
  MediaRefused,
  type ToDeviceSignal,
} from '../../server/src/common/media.ts'
import { offerOf } from './media-sdp.ts'

/** What every media engine keeps to, whatever carries its media. */

const spec = (room: string) => ({
  room,
  media: ['audio' as const, 'video' as const],
  publishersMax: 5,
  videoBitrateMax: 500_000,
})

const silently = () => {}
const publishing = { mayPublish: true }
const isRefused = (reason: MediaRefusal) => (error: Error) => error instanceof MediaRefused && error.reason === reason

let lastRoom = 0
/** Also names that no file could have. */
const freshRoom = () => {
  lastRoom += 1
  return `v1.us.room/${lastRoom} “é”~`
}

export function keepsMediaContract(engineOf: () => MediaEngine): void {
  function eventsOf(room: string): { told: string[]; stop: () => void } {
    const told: string[] = []
    const shown = (event: MediaEvent) => `${'device' in event ? event.device : 'room'} ${event.kind}`
    const stop = engineOf().hear((event) => {
      if (event.room === room && ['joined', 'left', 'roomLost'].includes(event.kind)) told.push(shown(event))
    })
    return { told, stop }
  }

  it('says that there is no trouble', async () => {
    assert.equal(await engineOf().trouble(), undefined)
  })

  it('opens a room once, closes it once, and minds neither to be asked again', async () => {
    const [engine, room] = [engineOf(), freshRoom()]
    const before = engine.figures().rooms
    const [one, two] = await Promise.all([engine.openRoom(spec(room)), engine.openRoom(spec(room))])
    assert.deepEqual(one, two)
    assert.equal(engine.figures().rooms, before + 1)
    assert.ok(engine.nodes().some(({ node, isReady, rooms }) => node === one.node && isReady && rooms > 0))
    await Promise.all([engine.closeRoom(room), engine.closeRoom(room)])
    await engine.closeRoom(room)
    assert.equal(engine.figures().rooms, before)
  })

  it('tells who joins and leaves, and of everybody in a room that is closed', async () => {
    const [engine, room] = [engineOf(), freshRoom()]
    const { told, stop } = eventsOf(room)
    await engine.openRoom(spec(room))
    for (const device of ['ada~1', 'ada~2', 'Łin/é~1']) await engine.join({ room, device }, publishing, silently)
    assert.equal(engine.figures().devices, 3)
    await engine.leave({ room, device: 'ada~1' })
    await engine.leave({ room, device: 'ada~1' })
    await engine.leave({ room, device: 'nobody' })
    await engine.closeRoom(room)
    assert.deepEqual(told, [
      ...['ada~1 joined', 'ada~2 joined', 'Łin/é~1 joined'],
      ...['ada~1 left', 'ada~2 left', 'Łin/é~1 left'],
    ])
    assert.equal(engine.figures().devices, 0)
    stop()
    await engine.openRoom(spec(room))
    await engine.join({ room, device: 'ada~1' }, publishing, silently)
    await engine.closeRoom(room)
    assert.equal(told.length, 6, 'nothing more is heard')
  })

  it('lets a device that joins again begin anew, also if it does so at the same time', async () => {
    const [engine, room, device] = [engineOf(), freshRoom(), 'ada~1']
    const { told, stop } = eventsOf(room)
    await engine.openRoom(spec(room))
    await Promise.all([1, 2, 3].map(() => engine.join({ room, device }, publishing, silently)))
    assert.equal(engine.figures().devices, 1)
    await engine.closeRoom(room)
    stop()
    const once = [`${device} joined`, `${device} left`]
    assert.deepEqual(told, [...once, ...once, ...once])
  })

  it('refuses what has no room or no device, and resumes nothing of the kind', async () => {
    const [engine, room] = [engineOf(), freshRoom()]
    const ref = { room, device: 'ada~1' }
    await assert.rejects(engine.join(ref, publishing, silently), isRefused('noRoom'))
    await assert.rejects(engine.signal(ref, { type: 'offer', sdp: offerOf('audio') }), isRefused('noRoom'))
    assert.equal(await engine.resume(ref, silently), false)
    await engine.openRoom(spec(room))
    assert.equal(await engine.resume(ref, silently), false)
    await assert.rejects(engine.signal(ref, { type: 'offer', sdp: offerOf('audio') }), isRefused('noDevice'))
    await assert.rejects(engine.select(ref, []), isRefused('noDevice'))
    await assert.rejects(engine.setMuted(ref, 'audio', true), isRefused('noDevice'))
    await engine.closeRoom(room)
  })

  it('answers what a device offers, and keeps it from others when it is muted, before and after', async () => {
    const [engine, room] = [engineOf(), freshRoom()]
    const ref = { room, device: 'ada~1' }
    const told: ToDeviceSignal[] = []
    await engine.openRoom(spec(room))
    await engine.join(ref, publishing, (signal) => told.push(signal))
    await engine.setMuted(ref, 'video', true)
    await engine.signal(ref, { type: 'offer', sdp: offerOf('audio', 'video'), labels: { 1: 'screen' } })
    assert.deepEqual(
      told.map(({ type }) => type),
      ['answer'],
    )
    await engine.signal(ref, { type: 'candidate', way: 'send', candidate: null })
    await engine.setMuted(ref, 'video', false)
    await engine.setMuted(ref, 'audio', true)
    assert.equal(await engine.resume(ref, silently), true)
    await engine.closeRoom(room)
  })

  it('refuses what is no offer, what may not be sent, and video where there is to be none', async () => {
    const [engine, room] = [engineOf(), freshRoom()]
    const [ada, lin] = [
      { room, device: 'ada~1' },
      { room, device: 'lin~1' },
    ]
    await engine.openRoom({ ...spec(room), media: ['audio'] })
    await engine.join(ada, publishing, silently)
    await engine.join(lin, { mayPublish: false }, silently)
    const offers = (device: typeof ada, sdp: unknown) => engine.signal(device, { type: 'offer', sdp: sdp as string })
    for (const sdp of ['', 'v=0', 'nonsense', undefined, 7, `v=0\r\nm=${'x'.repeat(300_000)}`]) {
      await assert.rejects(offers(ada, sdp), isRefused('badSignal'))
    }
    await assert.rejects(engine.signal(ada, { type: 'answer', sdp: 'no', connection: 1 }), isRefused('badSignal'))
    await assert.rejects(offers(lin, offerOf('audio')), isRefused('mayNotPublish'))
    await assert.rejects(offers(ada, offerOf('audio', 'video')), isRefused('videoInAudioRoom'))
    await offers(ada, offerOf('audio'))
    const refused = offerOf('audio', 'video').replace('m=video 9', 'm=video 0')
    await offers(ada, refused)
    await engine.closeRoom(room)
  })

  it('survives listeners and devices that throw', async () => {
    const [engine, room] = [engineOf(), freshRoom()]
    const ref = { room, device: 'ada~1' }
    await engine.openRoom(spec(room))
    await engine.join(ref, publishing, () => {
      throw new Error('away')
    })
    await engine.signal(ref, { type: 'offer', sdp: offerOf('audio') })
    await engine.closeRoom(room)
  })
}
