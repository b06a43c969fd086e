import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  type MediaStage,
  openEngine,
  openMediaStage,
  videoRoom,
  withoutBrowser,
} from '../../../../tests/support/media.ts'
import { until } from '../../../../tests/support/until.ts'

describe('two devices in real browsers', { skip: withoutBrowser }, () => {
  let stage: MediaStage
  before(async () => {
    stage = await openMediaStage()
  })
  after(() => stage.close())

  it('see and hear each other, with Opus and H.264 over SRTP', async (t) => {
    const { engine, events, troubles, remove } = await openEngine()
    t.after(remove)
    await engine.openRoom(videoRoom('call one'))
    const [ada, lin] = [await stage.peer('call one', 'ada~1'), await stage.peer('call one', 'lin~1')]
    for (const peer of [ada, lin]) {
      await peer.join(engine)
      await peer.send()
    }
    try {
      await ada.seesMoreOf('lin~1')
      await lin.seesMoreOf('ada~1')
    } finally {
      console.log(troubles, ada.refusals, lin.refusals, JSON.stringify(events))
      console.log(
        JSON.stringify(await ada.received()),
        await ada.evaluate('JSON.stringify([peer.hangups, peer.streams, peer.connection])'),
      )
    }
    for (const peer of [ada, lin]) {
      const { flows, cipher } = await peer.received()
      assert.deepEqual(flows.map(({ codec }) => codec).toSorted(), ['audio/opus', 'video/H264'])
      assert.match(cipher, /^(SRTP_)?A/)
    }
    await until('it is told', () => events.filter(({ kind }) => kind === 'media').length >= 4)
  })
})
