import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openPositions } from './positions.ts'
import type { Told } from './told.ts'

// Longer than any test: nobody goes on because the wait is over.
const aheadMilliseconds = 600_000

const toldAt = (id: number) => ({ id, at: 0, position: () => `${id}.abc` }) as Told

describe('positions that this node has not heard of yet', () => {
  async function opened() {
    const heard = new Map<number, Told>()
    const parts = { database: { eventsAfter: async () => [] }, clock: { now: () => 0 }, salt: '', aheadMilliseconds }
    const recent = { find: (id: number) => heard.get(id), since: () => 0 }
    const positions = await openPositions(parts as never, () => recent as never, 0)
    return {
      positions,
      hear(id: number) {
        heard.set(id, toldAt(id))
        positions.moveTo(toldAt(id))
      },
    }
  }

  it('are waited for without looking again and again: each goes on in the turn in which it is heard of', async () => {
    const { positions, hear } = await opened()
    const found: (number | undefined)[] = []
    for (const id of [7, 3, 999_999_999, 5, 3]) void positions.find(`${id}.abc`).then((each) => found.push(each))
    await nextTurn()
    assert.deepEqual(found, [])
    hear(3)
    await nextTurn()
    assert.deepEqual(found, [3, 3])
    hear(6)
    await nextTurn()
    // The fifth was never written.
    assert.deepEqual(found, [3, 3, undefined])
    hear(8)
    await nextTurn()
    assert.deepEqual(found, [3, 3, undefined, undefined])
  })
})
