import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createShares } from './shares.ts'

describe('shares of what all have together', () => {
  it('leave room for others, however many of one wait', async () => {
    const inShare = createShares(2)
    const began: string[] = []
    const ends: (() => void)[] = []
    const stay = (name: string, whose?: string) =>
      inShare(whose, () => {
        began.push(name)
        return new Promise<void>((end) => ends.push(end))
      })
    const all = [...['a1', 'a2', 'a3', 'a4'].map((name) => stay(name, 'a')), stay('b1', 'b'), stay('nobody')]
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'nobody'])
    while (ends.length > 0) {
      ends.shift()?.()
      await new Promise(setImmediate)
    }
    await Promise.all(all)
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'nobody', 'a3', 'a4'])
  })

  it('are free again after a failure', async () => {
    const inShare = createShares(1)
    await assert.rejects(inShare('a', () => Promise.reject(new Error('It failed.'))))
    assert.equal(await inShare('a', async () => 'done'), 'done')
  })
})
