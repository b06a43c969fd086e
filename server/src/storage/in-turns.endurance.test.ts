import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RunStatement } from './connection.ts'
import { readInTurns, writeInTurns } from './in-turns.ts'

// Two of them use up the time that a turn has for anybody, or three, if each is a little quicker.
const statementMilliseconds = 3
const atATimeMax = 3
const sortsPerTurn = 4
const longLength = 10
const turnsBefore = 10

describe('statements that take turns', () => {
  /** How many ran in each turn of the event loop. */
  let turns: number[]
  let watching: NodeJS.Immediate
  const watch = () => {
    turns.push(0)
    watching = setImmediate(watch)
  }
  beforeEach(() => {
    turns = []
    watch()
  })
  afterEach(() => clearImmediate(watching))

  const spend = () => {
    const start = process.hrtime.bigint()
    while (process.hrtime.bigint() - start < statementMilliseconds * 1e6);
    turns.push((turns.pop() ?? 0) + 1)
    return { rows: [], changes: 0 }
  }
  const read = readInTurns(spend)
  const write = writeInTurns(spend)

  /** Runs some statements one after the other; answers how many turns that took. */
  async function chain(run: RunStatement, length: number): Promise<number> {
    const before = turns.length
    for (let n = 0; n < length; n += 1) await run('', [])
    return turns.length - before
  }
  const longReads = (count: number) => Array.from({ length: count }, () => chain(read, longLength))

  it('make no turn longer, however many wait', async () => {
    await Promise.all([...longReads(40), chain(write, longLength)])
    assert.ok(Math.max(...turns) <= atATimeMax * sortsPerTurn, `${Math.max(...turns)} in a turn`)
  })

  it('let somebody who asks for little pass all who ask for much', async () => {
    const long = longReads(20)
    for (let n = 0; n < turnsBefore; n += 1) await nextTurn()
    const took = await chain(read, 1)
    assert.ok(took <= 2, `${took} turns`)
    assert.ok(Math.min(...(await Promise.all(long))) > turnsBefore + took)
  })

  it('go on in every turn for the transaction under way, for which all who write wait', async () => {
    const long = longReads(20)
    await nextTurn()
    const took = await chain(write, longLength)
    assert.ok(took <= longLength + 1, `${took} turns`)
    await Promise.all(long)
  })

  it('let an app go on every other time, however many of another wait', async () => {
    const long = Array.from({ length: 20 }, () => chain(readInTurns(spend, 'many'), longLength))
    await nextTurn()
    const took = await chain(readInTurns(spend, 'one'), longLength)
    assert.ok(took <= 2 * longLength + 2, `${took} turns`)
    await Promise.all(long)
  })

  it('all go on in the end, even if the machine is so busy that time is always over', async () => {
    let now = performance.now()
    const clock = mock.method(performance, 'now', () => (now += 1_000))
    try {
      await Promise.all([...longReads(3), chain(write, longLength)])
    } finally {
      clock.mock.restore()
    }
  })
})
