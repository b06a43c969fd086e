import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createWordAllowance } from './word-allowance.ts'

const people = Array.from({ length: 100 }, (_, n) => `u${n}`)

describe('what is said and gone', () => {
  it('is bounded for each user, whatever others say', () => {
    const allowance = createWordAllowance(() => 0)
    const asked = Array.from({ length: 61 }, () => allowance.mayAsk('a', 'ada'))
    assert.deepEqual(
      [asked.indexOf(false), allowance.mayAsk('a', 'lin'), allowance.mayAsk('b', 'ada')],
      [60, true, true],
    )
    assert.equal(allowance.take('a', 'ada', 5_000, 0), 'told')
    assert.equal(allowance.take('a', 'ada', 1, 0), 'tooMuch')
    assert.equal(allowance.take('a', 'lin', 1, 0), 'told')
  })

  it('is bounded for all users of an app together, and leaves room for other apps', () => {
    const allowance = createWordAllowance(() => 0)
    const toldIn = (appId: string) =>
      people.filter((uid) => allowance.take(appId, uid, 1_000, 0) === 'told').length * 1_000
    assert.deepEqual([toldIn('a'), toldIn('b'), toldIn('c'), toldIn('d')], [30_000, 30_000, 30_000, 0])
  })

  it('counts what is large for more', () => {
    const allowance = createWordAllowance(() => 0)
    const told = people.filter((uid) => allowance.take('a', uid, 500, 4_100) === 'told')
    assert.equal(told.length, 12)
  })

  it('is never lost where nobody else says anything, however large it is', () => {
    const allowance = createWordAllowance(() => 0)
    const outcomes = Array.from({ length: 11 }, () => allowance.take('a', 'ada', 500, 5_120))
    assert.deepEqual([...new Set(outcomes)], ['told', 'tooMuch'])
  })

  it('comes back within a second', () => {
    let time = 0
    const allowance = createWordAllowance(() => time)
    for (const uid of people) allowance.take('a', uid, 1_000, 0)
    assert.equal(allowance.take('a', 'lin', 1_000, 0), 'lost')
    time = 1_000
    assert.equal(allowance.take('a', 'lin', 1_000, 0), 'told')
  })
})
