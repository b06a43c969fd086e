import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gatherHints, type Hint } from './hints.ts'

function gathering() {
  const { promise: told, resolve } = Promise.withResolvers<void>()
  const all: Hint[][] = []
  const note = (some: Iterable<Hint>) => {
    all.push([...some])
    resolve()
  }
  const hints = gatherHints(note)
  return { hints, all, told }
}

describe('what commits leave', () => {
  it('is told once for those that follow each other closely', async () => {
    const { hints, all, told } = gathering()
    hints.noted.add('events')
    hints.ended()
    hints.noted.add('jobs')
    hints.ended()
    hints.isAtRest()
    await told
    assert.deepEqual(all, [['events', 'jobs']])
  })

  it('is told while another commit is under way, without what that one leaves', async () => {
    const { hints, all, told } = gathering()
    hints.noted.add('events')
    hints.ended()
    hints.noted.add('jobs')
    await told
    assert.deepEqual(all, [['events']])
    assert.deepEqual([...hints.noted], ['jobs'])
  })
})
