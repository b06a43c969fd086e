import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { note } from '../kit/note.ts'
import { createNotes } from './notes.ts'

describe('notes', () => {
  /** Notes over a database that can be away, and what was written. */
  const opened = () => {
    const written: [string, string[], number][] = []
    const trouble = { isAway: false }
    const notes = createNotes({
      async write(work) {
        if (trouble.isAway) throw new Error('away')
        return work({ flavour: { rowLocks: {} } } as never)
      },
    })
    const seen = note({
      name: 'seen',
      async write(db, moments) {
        for (const { key, at } of moments) written.push([db.appId, key, at])
      },
    })
    return { notes, seen, written, trouble }
  }

  it('keep the latest moment of each key, and write it once', async () => {
    const { notes, seen, written } = opened()
    for (const at of [3, 9, 5]) notes.take(seen, 'app', { key: ['a', 'b'], at })
    notes.take(seen, 'app', { key: ['a b'], at: 1 })
    notes.take(seen, 'other', { key: ['a', 'b'], at: 2 })
    await notes.write()
    await notes.write()
    assert.deepEqual(written, [
      ['app', ['a', 'b'], 9],
      ['app', ['a b'], 1],
      ['other', ['a', 'b'], 2],
    ])
  })

  it('are kept while they cannot be written', async () => {
    const { notes, seen, written, trouble } = opened()
    trouble.isAway = true
    notes.take(seen, 'app', { key: ['a'], at: 1 })
    await assert.rejects(notes.write(), /away/)
    notes.take(seen, 'app', { key: ['a'], at: 2 })
    trouble.isAway = false
    await notes.write()
    assert.deepEqual(written, [['app', ['a'], 2]])
  })

  it('are written some at a time', async () => {
    const { notes, seen, written } = opened()
    for (let n = 0; n < 1_200; n += 1) notes.take(seen, 'app', { key: [String(n)], at: n })
    await notes.write()
    assert.equal(new Set(written.map(([, key]) => key[0])).size, 1_200)
  })
})
