import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection } from './connection.ts'
import { createGroupCommit } from './group-commit.ts'

/** A writer that notes its commits. */
function noted(returnMilliseconds?: number) {
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
      // Others come while the disk takes it.
      await nextTurn()
    },
    rollback: nothing,
    ended: nothing,
    isAtRest: nothing,
    explained: (error) => error,
    connection: {} as Connection,
    returnMilliseconds,
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
  it('share a commit as long as they take little time', async () => {
    const { write, note, commits } = noted()
    const names = Array.from({ length: 100 }, (_, n) => `${n}`)
    await Promise.all(names.map((name) => write(note(name), `app ${Number(name) % 3}`)))
    assert.deepEqual(commits.flat().toSorted(), names.toSorted())
    assert.ok(commits.length < names.length, `${commits.length} commits`)
  })

  it('come to share every commit where some write again and again, whenever each of them began', async () => {
    const { write, note, commits } = noted(100)
    const goOn = async (name: string) => {
      for (let n = 0; n < 10; n += 1) {
        await write(note(name))
        // So long are an answer and the next request on their way.
        await nextTurn()
      }
    }
    const early = ['a', 'b', 'c'].map(goOn)
    // Their first commit is under way.
    while (commits.length === 0) await nextTurn()
    await Promise.all([...early, ...['d', 'e', 'f'].map(goOn)])
    // The first of those who began early, and the last of the others.
    assert.deepEqual(
      commits.map(({ length }) => length),
      [3, ...Array<number>(9).fill(6), 3],
    )
  })

  it('wait for nobody where one writes alone', async () => {
    const { write, note, commits } = noted(1_000_000)
    for (let n = 0; n < 3; n += 1) await write(note('alone'))
    assert.equal(commits.length, 3)
  })

  it('wait for a single write of another app, however many it has and however long they take', async () => {
    const { write, note, commits } = noted()
    const slow = Array.from({ length: 8 }, (_, n) => write(note(`slow ${n}`, 30), 'abused'))
    await slow[0]
    await Promise.all(['short 1', 'short 2', 'short 3'].map((name) => write(note(name), 'other')))
    await Promise.all(slow)
    const names = commits.flat()
    // One is under way when they come.
    assert.deepEqual(names.slice(names.indexOf('short 1'), names.indexOf('short 1') + 3), [
      'short 1',
      'short 2',
      'short 3',
    ])
    assert.ok(names.indexOf('short 1') <= 2, names.join())
    for (const commit of commits)
      assert.ok(commit.length === 1 || !commit.some((name) => name.startsWith('slow')), commit.join())
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
      ended: nothing,
      isAtRest: nothing,
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
