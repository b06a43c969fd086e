import assert from 'node:assert/strict'
import { it } from 'node:test'
import { abused, casesByArea, openToUsers } from './support/abuse/cases.ts'

/** What the cases do is measured in `abuse.alone.test.ts`. */

it('has a case of abuse for every operation that is open to end users, and for nothing else', () => {
  // Whatever is missing here needs a line in one of the tables of tests/support/abuse.
  assert.deepEqual([...new Set(abused)].toSorted(), openToUsers.toSorted())
})

it('says of every case why nothing costs more', () => {
  const cases = [...casesByArea().values()].flat()
  assert.deepEqual(
    cases.filter(({ most }) => most.trim() === ''),
    [],
  )
})
