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
    const device = { readyState: 1, OPEN: 1, terminate: () => writes.push('cut') }
    const socket = { writableLength: 0, write: (bytes: Buffer) => writes.push(bytes.toString()) }
    return { writes, socket, line: openLine(device as never, socket as never, post, noCounts()) }
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

  for (const count of [3, 1_000])
    it(`reaches all but the one that cannot be written to, of ${count}, and goes on doing so`, async () => {
      const [broken, ...others] = linesTo(count)
      assert.ok(broken)
      broken.socket.write = () => assert.fail('cannot be written to')
      for (const word of ['one', 'two']) {
        sendTo([broken, ...others], word)
        while (others.some(({ writes }) => writes.at(-1) !== word)) await nextTurn()
      }
      assert.deepEqual(broken.writes, ['cut', 'cut'])
      for (const { writes } of others) assert.deepEqual(writes, ['one', 'two'])
    })
})
