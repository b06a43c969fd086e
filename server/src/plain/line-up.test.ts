import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLineUp } from './line-up.ts'

describe('things in line', () => {
  it('go in the order in which they came, and are found from any of them on', () => {
    const line = createLineUp<number>()
    for (let n = 1; n <= 10; n += 1) line.add(n)
    for (let n = 1; n <= 7; n += 1) assert.equal(line.takeFirst(), n)
    line.add(11)
    assert.deepEqual([line.length, line.first(), line.last()], [4, 8, 11])
    assert.deepEqual(
      line.from((n) => n > 9),
      [10, 11],
    )
    assert.deepEqual(
      line.from((n) => n > 0),
      [8, 9, 10, 11],
    )
    assert.deepEqual(
      line.from((n) => n > 11),
      [],
    )
    line.clear()
    assert.deepEqual([line.length, line.first(), line.last(), line.takeFirst()], [0, undefined, undefined, undefined])
  })

  it('are as many as were added and not taken, whatever the turn of both', () => {
    const line = createLineUp<number>()
    let [added, taken] = [0, 0]
    for (let round = 1; round < 200; round += 1) {
      for (let n = 0; n < round % 7; n += 1) {
        added += 1
        line.add(added)
      }
      for (let n = 0; n < round % 5 && line.length > 0; n += 1) {
        taken += 1
        assert.equal(line.takeFirst(), taken)
      }
      assert.equal(line.length, added - taken)
    }
  })
})
