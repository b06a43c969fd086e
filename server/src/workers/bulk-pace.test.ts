import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBulkPace } from './bulk-pace.ts'

const batchMilliseconds = 10
const spanMilliseconds = 60_000

/** Lets apps with endless work take batch after batch, in turn; answers how long each has worked. */
function workAllDay(apps: string[]): Map<string, number> {
  const pace = createBulkPace()
  const worked = new Map(apps.map((appId) => [appId, 0]))
  let turn = 0
  for (let now = 1; now < spanMilliseconds; ) {
    const resting = pace.resting(now)
    const waiting = [...apps.slice(turn), ...apps.slice(0, turn)]
    const appId = resting === 'all' ? undefined : waiting.find((each) => !resting.has(each))
    if (appId === undefined) {
      now = pace.restEndsAt(now) ?? assert.fail('somebody rests')
      continue
    }
    now += batchMilliseconds
    pace.worked(appId, batchMilliseconds, now)
    worked.set(appId, (worked.get(appId) ?? 0) + batchMilliseconds)
    turn = (apps.indexOf(appId) + 1) % apps.length
  }
  return worked
}

const shareOf = (milliseconds: number) => milliseconds / spanMilliseconds

describe('the pace of bulk work', () => {
  it('leaves one app a fifth of the time, and all of it', () => {
    const [share = 0] = [...workAllDay(['a']).values()].map(shareOf)
    assert.ok(share > 0.195 && share < 0.205, `${share}`)
  })

  it('leaves many apps two fifths of the time together, and each the same', () => {
    const shares = [...workAllDay(['a', 'b', 'c', 'd', 'e', 'f']).values()].map(shareOf)
    const together = shares.reduce((sum, share) => sum + share, 0)
    assert.ok(together > 0.39 && together < 0.41, `${together}`)
    for (const share of shares) assert.ok(Math.abs(share - together / shares.length) < 0.005, `${shares}`)
  })

  it('lets whoever comes new begin while another rests', () => {
    const pace = createBulkPace()
    for (const now of [30, 200, 400]) pace.worked('busy', 30, now)
    assert.deepEqual(pace.resting(401), new Set(['busy']))
  })

  it('forgets what has been rested from', () => {
    const pace = createBulkPace()
    pace.worked('a', 30, 30)
    assert.equal(pace.restEndsAt(30), 125)
    assert.deepEqual(pace.resting(125), new Set())
    assert.equal(pace.restEndsAt(125), undefined)
  })

  it('does not pay back in one go for a time without work', () => {
    const pace = createBulkPace()
    pace.worked('a', 10, 10)
    pace.worked('a', 10, 10_000)
    assert.ok((pace.restEndsAt(10_000) ?? 0) > 10_000)
  })
})
