import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createShortTurns } from './short-turns.ts'

describe('short turns', () => {
  it('are interrupted after a few milliseconds, so that everybody else has theirs', async () => {
    let time = 0
    let turn = 0
    const turns = createShortTurns(() => time)
    const doneIn: number[] = []
    const work = () => {
      time += 2
      doneIn.push(turn)
    }
    const all = Promise.all(Array.from({ length: 9 }, (_, n) => turns.take({ appId: 'a', uid: `${n}` }, work)))
    for (; doneIn.length < 9; turn += 1) await nextTurn()
    await all
    const counts = [...Map.groupBy(doneIn, (each) => each).values()].map(({ length }) => length)
    assert.deepEqual(counts, [3, 3, 3])
  })

  it('are taken by apps one after the other, whoever has more of them', async () => {
    const turns = createShortTurns()
    const done: string[] = []
    const take = (appId: string, uid: string) => turns.take({ appId, uid }, () => done.push(`${appId} ${uid}`))
    await Promise.all([take('a', '1'), take('a', '2'), take('a', '3'), take('b', '1')])
    assert.deepEqual(done, ['a 1', 'b 1', 'a 2', 'a 3'])
  })

  it('go on where work fails', async () => {
    const turns = createShortTurns()
    const failing = turns.take({ appId: 'a', uid: '1' }, () => {
      throw new Error('no')
    })
    await assert.rejects(failing, /no/)
    assert.equal(await turns.take({ appId: 'a', uid: '1' }, () => 'yes'), 'yes')
  })
})
