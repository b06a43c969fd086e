import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openEngine, videoRoom, withoutJanus } from '../../../../../tests/support/media.ts'
import { offerOf } from '../../../../../tests/support/media-sdp.ts'
import { times } from '../../../../../tests/support/quick.ts'

// As many at a time as killed an engine that was taken down without order.
const atOnce = 8
const devices = ['ada', 'lin', 'max']

describe('an engine', { skip: withoutJanus }, () => {
  it('is the same process after many rooms have come and gone at once', async (t) => {
    const opened = await openEngine()
    t.after(opened.remove)
    const { engine, troubles } = opened
    let left = times(100, 5_000)

    async function comeAndGo(n: number): Promise<void> {
      for (let turn = 0; left > 0; turn += 1) {
        left -= 1
        const room = `room ${n} ${turn}`
        await engine.openRoom(videoRoom(room))
        await Promise.all(devices.map((device) => engine.join({ room, device }, { mayPublish: true }, () => {})))
        await Promise.all(
          devices.map((device) => engine.signal({ room, device }, { type: 'offer', sdp: offerOf('audio', 'video') })),
        )
        // Some leave while the room is closed.
        await Promise.all([engine.leave({ room, device: 'ada' }), engine.closeRoom(room), engine.closeRoom(room)])
      }
    }

    await engine.openRoom(videoRoom('first'))
    const before = engine.processIds()
    await Promise.all(Array.from({ length: atOnce }, (_, n) => comeAndGo(n)))
    assert.deepEqual(engine.processIds(), before)
    assert.deepEqual(engine.figures(), { rooms: 1, devices: 0, restarts: 0 })
    assert.deepEqual(troubles, [])
  })
})
