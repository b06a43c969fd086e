import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { assertParametersKnown, triedIds } from './support/crossing.ts'
import type { Outcome, Search } from './support/crossing-worker.ts'
import { databases } from './support/databases.ts'
import { times } from './support/quick.ts'
import { seedFrom } from './support/random.ts'

/**
 * Nothing that is done in one app shows in another that has the very same ids, and nothing that users do shows in the
 * conversations of others, however their ids are chosen: of every operation there is, or will be.
 */

const seedVariable = 'CROSSING_SEED'

// Many small searches: on a busy machine each has its own time. Seeds differ, so every run looks elsewhere.
const attempts = times(4_000, 12_000)
const attemptsPerStage = 1_000
// How a request came is no part of what is searched for, so it takes the long way in the shortest of them only.
const searches: Omit<Search, 'seed'>[] = [
  { database: 'sqlite', way: 'http', attempts: times(1_000, 12_000), attemptsPerStage },
  ...Array.from({ length: times(1, 8) }, () => ({
    ...{ database: 'sqlite' as const, way: 'dispatch' as const, attempts, attemptsPerStage },
  })),
  {
    ...{ database: 'postgres', way: 'dispatch' },
    ...{ attempts: times(1_600, 12_000), attemptsPerStage: times(400, attemptsPerStage) },
  },
]

describe('what reads alike', () => {
  const done = new Set<string>()

  describe('is not taken for each other', { concurrency: 2 }, () => {
    const possible = searches.filter(({ database }) => databases.includes(database))
    for (const [n, search] of possible.entries()) {
      it(`in ${search.attempts} attempts on ${search.database} by ${search.way}, number ${n + 1}`, async (test) => {
        const seed = seedFrom(seedVariable)
        test.diagnostic(`${seedVariable}=${seed}`)
        const { operations, failures } = await inThread({ ...search, seed })
        assert.deepEqual(failures, [])
        for (const [id, count] of operations) if (count.done > 0) done.add(id)
      })
    }
  })

  it('is tried with every parameter that a path can have', assertParametersKnown)

  it('is tried with every operation there is, and does what it asks for', () => {
    // Whatever is missing here was never accepted; see crossing.ts for what it is sent.
    assert.deepEqual(
      triedIds.filter((id) => !done.has(id)),
      [],
    )
  })
})

function inThread(search: Search): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./support/crossing-worker.ts', import.meta.url), { workerData: search })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`The search ended without an outcome (${code}).`)))
  })
}
