import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noCounts } from '../dispatch/live-figures.ts'
import { openLine, openPost } from './line.ts'
import { usualPatience } from './patience.ts'
import type { Visit } from './visit.ts'
import { createVisitors } from './visitors.ts'

const megabyte = 1024 * 1024

describe('devices that leave much untaken', () => {
  it('are let go and counted, the greediest first, until the others have room', () => {
    const figures = noCounts()
    const visitors = createVisitors(usualPatience)
    const closed: number[] = []
    for (const megabytes of [100, 150, 60]) {
      const device = { readyState: 1, OPEN: 1, close: () => closed.push(megabytes), terminate() {} }
      const line = openLine(device as never, { writableLength: megabytes * megabyte } as never, openPost(), figures)
      const now = performance.now()
      const visit = { arrivedAt: now, heardAt: () => now, askedAt: () => now, session: () => ({ line }) }
      visitors.add(visit as unknown as Visit)
    }
    visitors.check()
    assert.deepEqual(closed, [150])
    assert.equal(figures.tooSlow, 1)
  })
})
