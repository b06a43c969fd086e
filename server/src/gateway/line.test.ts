import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { noCounts } from '../dispatch/live-figures.ts'
import { openLine, openPost } from './line.ts'

/** Lines to so many devices, and what is written to each. */
function linesTo(count: number) {
  const post = openPost()
  return Array.from({ length: count }, () => {
    const writes: string[] = []
    const device = { readyState: 1, OPEN: 1 }
    const socket = { writableLength: 0, write: (bytes: Buffer) => writes.push(bytes.toString()) }
    return { writes, line: openLine(device as never, socket as never, post, noCounts()) }
  })
}

const sendTo = (all: ReturnType<typeof linesTo>, word: string) => {
  for (const { line } of all) line.send(Buffer.from(word))
}

describe('what devices are sent', () => {
  it('is written after the turn, all of a turn together', async () => {
    const few = linesTo(3)
    for (const word of ['one ', 'two']) sendTo(few, word)
    assert.deepEqual(
      few.flatMap(({ writes }) => writes),
      [],
    )
    await nextTurn()
    for (const { writes } of few) assert.deepEqual(writes, ['one two'])
  })

  it('waits a moment where there are many of them: what is said meanwhile goes along', async () => {
    const many = linesTo(1_000)
    sendTo(many, 'one ')
    await nextTurn()
    sendTo(many, 'two')
    while (many.some(({ writes }) => writes.length === 0)) await nextTurn()
    for (const { writes } of many) assert.deepEqual(writes, ['one two'])
  })

  it('reaches a few at once, also while many are written to', async () => {
    const [one, ...many] = linesTo(1_001)
    sendTo(many, 'to many')
    await nextTurn()
    one?.line.send(Buffer.from('to one'))
    await nextTurn()
    assert.deepEqual(one?.writes, ['to one'])
  })
})
