import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Database } from '../storage/database.ts'
import type { EventRow } from '../storage/tables.ts'
import { openRecent } from './recent.ts'

const now = 1_000_000
const megabyte = 1024 * 1024

/** A log of many events that have just happened; each of them is large. */
function logOf(count: number, payload: string) {
  let read = 0
  const eventsAfter = async (position: number, limit: number): Promise<EventRow[]> => {
    const length = Math.min(limit, count - position)
    read += length
    const row = { app_id: 'app', name: 'said', payload, at: now, device: null }
    return Array.from({ length }, (_, n) => ({ ...row, id: position + n + 1 }))
  }
  return { database: { eventsAfter } as unknown as Database, read: () => read }
}

it('reads no more of what has happened lately than it keeps', async () => {
  const log = logOf(20_000, 'x'.repeat(megabyte / 10))
  const recent = await openRecent(
    log.database,
    20_000,
    () => now,
    () => undefined,
  )
  assert.equal(log.read(), 500)
  assert.equal(recent.since(), 19_500)
})
