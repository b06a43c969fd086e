import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { usualRuntime } from '../../sdk/src/runtime/runtime.ts'
import { waitAfter } from '../../sdk/src/sync/waits.ts'

/** What a client does after each way to lose a connection, as docs/realtime.md asks for it. */

describe('the wait before a connection is tried again', () => {
  const wait = (code: number | undefined, tried = 0, returnMs?: number, chance = 0.5) =>
    waitAfter(code, tried, returnMs, { ...usualRuntime, random: () => chance })

  it('is anything up to a bound that doubles from one second to thirty', () => {
    const bounds = [0, 1, 2, 3, 4, 5, 6].map((tried) => wait(1006, tried, undefined, 1).milliseconds)
    assert.deepEqual(bounds, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    assert.equal(wait(undefined, 3, undefined, 0).milliseconds, 0)
    for (const code of [undefined, 1006, 1013, 4408]) assert.ok(wait(code).mayBeCut)
  })

  it('is none where the device was too slow, once', () => {
    assert.equal(wait(4503).milliseconds, 0)
    assert.ok(wait(4503, 1).milliseconds > 0)
  })

  it('is half a minute after too much, whatever else happens', () => {
    assert.ok(wait(4429, 0, undefined, 0).milliseconds >= 30_000)
    assert.equal(wait(4429).mayBeCut, false)
  })

  it('lasts until there is a sign of the user where another connection took its place', () => {
    assert.deepEqual(wait(4409), { milliseconds: Number.POSITIVE_INFINITY, mayBeCut: true })
  })

  it('is what a node that leaves has asked for, and some more', () => {
    const { milliseconds, mayBeCut } = wait(1012, 0, 7_000)
    assert.ok(milliseconds >= 7_000 && milliseconds <= 8_000)
    assert.equal(mayBeCut, false)
    assert.ok(wait(1012, 2, 7_000).milliseconds < 7_000)
  })
})
