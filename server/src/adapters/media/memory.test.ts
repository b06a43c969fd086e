import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keepsMediaContract } from '../../../../tests/support/media-contract.ts'
import type { MediaEvent } from '../../common/media.ts'
import { memoryMedia } from './memory.ts'

describe('the media engine in memory', () => {
  const shared = memoryMedia()
  keepsMediaContract(() => shared)

  it('tells what a test makes happen, with the time that the test has', async () => {
    const media = memoryMedia(() => 5)
    const events: MediaEvent[] = []
    const ref = { room: 'r', device: 'ada~1' }
    await media.openRoom({ room: 'r', media: ['audio'], publishersMax: 2, videoBitrateMax: 1 })
    await media.join(ref, { mayPublish: true }, () => {})
    media.hear((event) => events.push(event))
    media.noteMedia(ref, 'audio', true)
    media.noteSpeaking(ref, true)
    media.loseRoom('r')
    await assert.rejects(
      media.join(ref, { mayPublish: true }, () => {}),
      /no such room/,
    )
    assert.deepEqual(
      events.map(({ kind, at }) => [kind, at]),
      [
        ['joined', 5],
        ['media', 5],
        ['speaking', 5],
        ['roomLost', 5],
      ],
    )
  })
})
