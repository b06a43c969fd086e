import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { turns } from './turns.ts'

const tick = () => new Promise((go) => setImmediate(go))

/** Works that end when they are told to, in the order in which they began. */
function scene(limits: Partial<Parameters<typeof turns>[0]> = {}) {
  const inTurn = turns({ atOnce: 1, waitingMax: 10, waitingOfOneMax: 5, retryAfterSeconds: 3, ...limits })
  const begun: string[] = []
  const ends: (() => void)[] = []
  const work = (label: string) => () => {
    begun.push(label)
    return new Promise<string>((end) => ends.push(() => end(label)))
  }
  const add = (name: string, label: string) => inTurn(name, work(label))
  const endNext = async () => {
    await tick()
    ends.shift()?.()
    await tick()
  }
  return { inTurn, add, begun, endNext }
}

describe('turns', () => {
  it('let no more run than they should', async () => {
    const { add, begun, endNext } = scene({ atOnce: 2 })
    const all = ['1', '2', '3', '4'].map((label) => add('a', label))
    await tick()
    assert.deepEqual(begun, ['1', '2'])
    for (let n = 0; n < 4; n += 1) await endNext()
    assert.deepEqual(await Promise.all(all), ['1', '2', '3', '4'])
  })

  it('go round by name, each name in its own order', async () => {
    const { add, begun, endNext } = scene()
    const all = [add('a', 'a1'), add('a', 'a2'), add('a', 'a3'), add('b', 'b1'), add('c', 'c1'), add('b', 'b2')]
    for (let n = 0; n < 6; n += 1) await endNext()
    await Promise.all(all)
    assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
  })

  it('refuse whoever is one too many, of one name and of all, and nobody else', async () => {
    const { add, endNext } = scene({ waitingOfOneMax: 2, waitingMax: 3 })
    const tooMany = { code: 'ERR_TOO_MANY_REQUESTS', status: 429, details: { retryAfter: 3 } }
    const waiting = [add('a', 'a1'), add('a', 'a2'), add('a', 'a3')]
    await assert.rejects(add('a', 'a4'), tooMany)
    waiting.push(add('b', 'b1'))
    await assert.rejects(add('c', 'c1'), tooMany)
    await endNext()
    waiting.push(add('c', 'c2'))
    for (let n = 0; n < 5; n += 1) await endNext()
    assert.deepEqual(await Promise.all(waiting), ['a1', 'a2', 'a3', 'b1', 'c2'])
  })

  it('go on after a failure, which is for its caller alone', async () => {
    const { inTurn, add, endNext } = scene()
    const failing = inTurn('a', async () => {
      throw new Error('no')
    })
    const next = add('a', 'a2')
    await assert.rejects(failing, /no/)
    await endNext()
    assert.equal(await next, 'a2')
  })
})
