import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shortTime } from '../../demo/src/conversations/short-time.ts'
import { freshId, idFrom } from '../../demo/src/groups/group-id.ts'
import { timeOf } from '../../demo/src/messages/times.ts'

describe('ids that the chat page makes from the names of groups', () => {
  const cases: [string, string][] = [
    ['Boats & oars', 'boats-oars'],
    ['  Čaj v páté  ', 'caj-v-pate'],
    ['ＡＢＣ 12', 'abc-12'],
    ['قهوة', ''],
    ['!!!', ''],
  ]
  for (const [name, id] of cases) it(`makes "${id}" of "${name}"`, () => assert.equal(idFrom(name), id))

  it('are never longer than the server takes, and end in no dash', () => {
    assert.match(freshId('long and '.repeat(50)), /^[a-z-]{1,80}-[0-9a-f]{8}$/)
    assert.doesNotMatch(idFrom(`${'a'.repeat(79)} b`), /-$/)
  })

  it('are others each time, where the name gives none or is taken', () => {
    assert.match(freshId('قهوة'), /^group-[0-9a-f]{8}$/)
    assert.notEqual(freshId('Boats'), freshId('Boats'))
  })
})

describe('times in the list of conversations', () => {
  const now = new Date(2026, 6, 15, 9, 30)
  const at = (...[year, month, day]: [number, number, number]) =>
    shortTime(new Date(year, month, day, 23, 59).getTime() / 1_000, now)

  it('are a time today, a weekday within a week, and a date before', () => {
    assert.equal(at(2026, 6, 15), timeOf(new Date(2026, 6, 15, 23, 59).getTime() / 1_000))
    assert.equal(
      at(2026, 6, 14),
      new Intl.DateTimeFormat(undefined, { weekday: 'short' }).format(new Date(2026, 6, 14)),
    )
    assert.match(at(2026, 6, 8), /8/)
    assert.doesNotMatch(at(2026, 6, 8), /26/)
    assert.match(at(2025, 6, 8), /25/)
  })
})
