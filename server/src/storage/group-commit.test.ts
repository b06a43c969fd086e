import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Connection } from './connection.ts'
import { createGroupCommit } from './group-commit.ts'

/** A writer that notes its commits. */
function noted() {
  const commits: string[][] = []
  let batch: string[] = []
  const nothing = () => {}
  const write = createGroupCommit({
    begin: nothing,
    savepoint: nothing,
    release: nothing,
    undo: nothing,
    async commit() {
      commits.push(batch)
      batch = []
    },
    rollback: nothing,
    explained: (error) => error,
    connection: {} as Connection,
  })
  const note = (name: string, takes = 0) => {
    return async () => {
      for (const end = performance.now() + takes; performance.now() < end; ) {}
      batch.push(name)
    }
  }
  return { write, note, commits }
}

describe('writes that wait for each other', () => {
  it('share a commit, and let apps take turns', async () => {
    const { write, note, commits } = noted()
    const all = [
      ...['a1', 'a2', 'a3', 'a4'].map((name) => write(note(name), 'a')),
      ...['b1', 'b2'].map((name) => write(note(name), 'b')),
      write(note('nobody')),
    ]
    await Promise.all(all)
    assert.deepEqual(commits.flat(), ['a1', 'b1', 'nobody', 'a2', 'b2', 'a3', 'a4'])
  })

  it('wait for a write or two of another app, however many it has and however long they take', async () => {
    const { write, note, commits } = noted()
    const slow = Array.from({ length: 8 }, (_, n) => write(note(`slow ${n}`, 30), 'abused'))
    await slow[0]
    await write(note('short'), 'other')
    await Promise.all(slow)
    assert.deepEqual(commits[0], ['slow 0'])
    const place = commits.flat().indexOf('short')
    // One may be under way, and another was in line before it.
    assert.ok(place <= 3, `it came after ${place} others`)
  })

  it('fail one by one where none can begin', async () => {
    const nothing = () => {}
    const write = createGroupCommit({
      begin() {
        throw new Error('The disk is full.')
      },
      savepoint: nothing,
      release: nothing,
      undo: nothing,
      commit: async () => {},
      rollback: nothing,
      explained: (error) => error,
      connection: {} as Connection,
    })
    const outcomes = await Promise.allSettled(['a', 'a', 'b'].map((whose) => write(async () => 1, whose)))
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    )
  })
})
