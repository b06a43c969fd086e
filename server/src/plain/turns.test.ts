import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Asker, createTurns, type TurnLimits } from './turns.ts'

const tick = () => new Promise((go) => setImmediate(go))

/** Those who wait for their turn, by label, and the order in which it came. */
function scene(limits: Partial<TurnLimits> = {}) {
  const turns = createTurns({ atOnce: 1, ofUserMax: 5, ofAppMax: 5, inAllMax: 10, ...limits })
  const begun: string[] = []
  const leaving = new Map<string, () => void>()
  const lineUp = (label: string, asker: Partial<Asker> = {}) => {
    const place = turns.lineUp({ appId: label.charAt(0), uid: undefined, ...asker })
    if (!place) return false
    leaving.set(label, place.leave)
    void place.itsTurn.then(() => begun.push(label))
    return true
  }
  const leave = async (label: string) => {
    leaving.get(label)?.()
    await tick()
  }
  /** Everyone leaves when their turn has come. */
  const goRound = async () => {
    await tick()
    for (let done = 0; done < begun.length; done += 1) await leave(begun[done] ?? '')
    return begun
  }
  return { lineUp, leave, goRound, begun }
}

describe('turns', () => {
  it('let no more go on than they should', async () => {
    const { lineUp, leave, begun } = scene({ atOnce: 2 })
    for (const label of ['a1', 'b1', 'c1', 'd1']) lineUp(label)
    await tick()
    assert.deepEqual(begun, ['a1', 'b1'])
    await leave('b1')
    assert.deepEqual(begun, ['a1', 'b1', 'c1'])
  })

  it('go round by app, each app in its own order', async () => {
    const { lineUp, goRound } = scene()
    for (const label of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) lineUp(label)
    assert.deepEqual(await goRound(), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  it('go round by user within an app', async () => {
    const { lineUp, goRound } = scene()
    for (const [label, uid] of Object.entries({ a1: 'ada', a2: 'ada', a3: 'ada', a4: 'bo' })) lineUp(label, { uid })
    assert.deepEqual(await goRound(), ['a1', 'a4', 'a2', 'a3'])
  })

  it('leave one for other apps, where several can go on', async () => {
    const { lineUp, begun } = scene({ atOnce: 2 })
    for (const label of ['a1', 'a2', 'b1']) lineUp(label)
    await tick()
    assert.deepEqual(begun, ['a1', 'b1'])
  })

  it('refuse whoever is one too many, of a user, of an app and of all, and nobody else', async () => {
    const { lineUp, leave } = scene({ ofUserMax: 1, ofAppMax: 2, inAllMax: 3 })
    assert.deepEqual(
      [lineUp('a1', { uid: 'ada' }), lineUp('a2', { uid: 'ada' }), lineUp('a3'), lineUp('a4')],
      [true, false, true, false],
    )
    assert.deepEqual([lineUp('b1'), lineUp('c1')], [true, false])
    await leave('a1')
    assert.equal(lineUp('c2'), true)
  })

  it('pass over whoever leaves before their turn', async () => {
    const { lineUp, leave, goRound } = scene()
    for (const label of ['a1', 'b1', 'c1']) lineUp(label)
    await leave('b1')
    assert.deepEqual(await goRound(), ['a1', 'c1'])
  })
})
