import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { shareConnections } from './places.ts'
import { DatabaseUnavailable } from './unavailable.ts'

const patienceMilliseconds = 10_000

function stage(count: number, patience = patienceMilliseconds) {
  let now = 0
  const inPlace = shareConnections({ count, patienceMilliseconds: patience, milliseconds: () => now })
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const stay = (name: string, whose?: string) =>
    inPlace(whose, () => {
      began.push(name)
      return new Promise<void>((end) => ends.set(name, end))
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    ends.delete(name)
    await nextTurn()
  }
  return {
    began,
    stay,
    end,
    pass: (milliseconds: number) => {
      now += milliseconds
    },
    endAll: async () => {
      for (;;) {
        const [name] = ends.keys()
        if (name === undefined) return
        await end(name)
      }
    },
  }
}

describe('places of which there are only so many', () => {
  it('are never all taken by one app', async () => {
    const { began, stay, endAll } = stage(3)
    const all = [stay('a1', 'a'), stay('a2', 'a'), stay('a3', 'a'), stay('b1', 'b')]
    assert.deepEqual(began, ['a1', 'a2', 'b1'])
    await endAll()
    await Promise.all(all)
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'a3'])
  })

  it('are few for an app beside which there is another, and many again when that is gone', async () => {
    const { began, stay, end, pass, endAll } = stage(10)
    const all = [stay('b1', 'b')]
    await end('b1')
    all.push(...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => stay(`a${n}`, 'a')))
    assert.deepEqual(began.slice(1), ['a1', 'a2', 'a3', 'a4', 'a5'])
    pass(1_001)
    await end('a1')
    assert.equal(began.length, 1 + 5 + 3)
    await endAll()
    await Promise.all(all)
  })

  it('go to the app that has the fewest', async () => {
    const { began, stay, end, endAll } = stage(3)
    const all = [stay('a1', 'a'), stay('a2', 'a'), stay('b1', 'b'), stay('a3', 'a'), stay('c1', 'c'), stay('own')]
    await end('a1')
    assert.deepEqual(began.slice(3), ['c1'])
    await end('a2')
    assert.deepEqual(began.slice(3), ['c1', 'a3'], 'of two that have none, the one that came first')
    await endAll()
    await Promise.all(all)
    assert.equal(began.length, all.length)
  })

  it('come round to everybody where more apps wait than there are places', async () => {
    const { began, stay, end, endAll } = stage(2)
    const apps = ['a', 'b', 'c', 'd']
    const all = [1, 2, 3].flatMap((n) => apps.map((app) => stay(`${app}${n}`, app)))
    for (let n = 0; n < apps.length; n += 1) await end(began[n] as string)
    assert.deepEqual(new Set(began.slice(0, apps.length).map(([app]) => app)), new Set(apps))
    await endAll()
    await Promise.all(all)
  })

  it('are free again after a failure', async () => {
    const inPlace = shareConnections({ count: 1, patienceMilliseconds })
    await assert.rejects(inPlace('a', () => Promise.reject(new Error('It failed.'))))
    assert.equal(await inPlace('a', async () => 'done'), 'done')
  })

  it('are not waited for without end', async () => {
    const { stay, endAll } = stage(1, 10)
    const first = stay('a1', 'a')
    await assert.rejects(stay('a2', 'a'), DatabaseUnavailable)
    await endAll()
    await first
    const again = stay('a3', 'a')
    await endAll()
    await again
  })
})
