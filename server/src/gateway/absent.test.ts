import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAbsent } from './absent.ts'
import type { Hearer } from './hearers.ts'

const hearer = (uid: string, rest: Partial<Hearer> = {}): Hearer => ({
  ...{ appId: 'app', uid, channels: ['app', `user:${uid}`], shows: undefined },
  ...{ sessions: new Set(), sightChanges: 0, held: [], leftMeanwhile: [] },
  ...rest,
})

describe('what users heard who have gone', () => {
  it('is known once, at the place where they went', () => {
    const absent = createAbsent()
    absent.keep(hearer('ada'), 7)
    const { id, channels } = absent.take('app', 'ada') ?? {}
    assert.deepEqual({ id, channels }, { id: 7, channels: ['app', 'user:ada'] })
    assert.equal(absent.take('app', 'ada'), undefined)
    assert.equal(absent.take('other', 'ada'), undefined)
  })

  it('is not kept while nobody knows what they may be shown', () => {
    const absent = createAbsent()
    absent.keep(hearer('ada'), 7)
    absent.keep(hearer('ada', { shows: 'unknown' }), 8)
    assert.equal(absent.take('app', 'ada'), undefined)
  })

  it('is forgotten after two minutes', () => {
    let now = 0
    const absent = createAbsent(() => now)
    absent.keep(hearer('ada'), 7)
    now = 60_000
    absent.keep(hearer('lin'), 8)
    now = 120_001
    absent.check()
    assert.equal(absent.take('app', 'ada'), undefined)
    assert.equal(absent.take('app', 'lin')?.id, 8)
  })

  it('is bounded by the number of channels: who went first is forgotten first', () => {
    const absent = createAbsent()
    const channels = Array.from({ length: 400_000 }, (_, n) => `group:${n}`)
    for (const uid of ['ada', 'lin', 'mei']) absent.keep(hearer(uid, { channels }), 7)
    assert.deepEqual(
      ['ada', 'lin', 'mei'].map((uid) => absent.take('app', uid) !== undefined),
      [false, true, true],
    )
  })

  it('is worth nothing once the log was set back, also of those who go only then', () => {
    const absent = createAbsent()
    const lin = hearer('lin')
    absent.keep(hearer('ada'), 7)
    absent.beginAnew([lin])
    absent.keep(lin, 3)
    assert.equal(absent.take('app', 'ada'), undefined)
    assert.equal(absent.take('app', 'lin'), undefined)
  })
})
