import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createKeptFor } from './kept-for.ts'

describe('what is kept for a while', () => {
  it('is found until then, and counts anew when it is kept again', () => {
    let time = 0
    const kept = createKeptFor<number>(10, () => time)
    kept.keep('a', 1)
    kept.keep('b', 2)
    time = 9
    assert.deepEqual([kept.find('a'), kept.find('b'), kept.find('c')], [1, 2, undefined])
    kept.keep('a', 3)
    time = 10
    assert.deepEqual([kept.find('a'), kept.find('b'), kept.size], [3, undefined, 1])
    time = 19
    assert.deepEqual([kept.find('a'), kept.size], [undefined, 0])
  })

  it('costs the same to look through, however much of it there is', () => {
    let looks = 0
    const kept = createKeptFor<number>(10, () => {
      looks += 1
      return 0
    })
    for (let n = 0; n < 1_000; n += 1) kept.keep(`${n}`, n)
    looks = 0
    assert.equal(kept.find('999'), 999)
    assert.equal(looks, 1)
  })
})
