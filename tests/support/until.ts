import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { House } from './house.ts'

const patienceMilliseconds = 15_000
const pauseMilliseconds = 10
const pauseMillisecondsMax = 250
const partOfTheWait = 1 / 10

/**
 * Waits for something that no call can be awaited for: another process, or a back-off in real time. The longer it takes, the
 * less often it is looked for: a look is often a request, and a minute of them costs more than what is waited for.
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  milliseconds = patienceMilliseconds,
): Promise<void> {
  const since = performance.now()
  while (!(await condition())) {
    const waited = performance.now() - since
    assert.ok(waited < milliseconds, `waited ${milliseconds} ms in vain until ${what}`)
    await pause(Math.min(Math.max(pauseMilliseconds, waited * partOfTheWait), pauseMillisecondsMax))
  }
}

/**
 * Waits until some work is over, or the database keeps somebody waiting for what another has locked. Where there is one
 * writer at a time, work waits in line for it, and stands there by the time that others have been answered.
 */
export async function untilOverOrHeldUp(h: House, work: Promise<unknown>): Promise<void> {
  const { database, config } = h.service.house
  let isOver = false
  const over = () => {
    isOver = true
  }
  void work.then(over, over)
  if (config.databaseUrl === undefined) {
    for (let n = 0; n < answersInBetween; n += 1) await h.client.send('localhost', '/healthz')
    return
  }
  const waiting = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await until('it is over or held up', async () => isOver || (await database.reader.run(waiting, [])).rows.length > 0)
}

const answersInBetween = 10

/** Waits for some work, but for a moment only; what takes longer goes on beside whatever comes next. */
export async function forAMoment(work: Promise<unknown>): Promise<void> {
  await Promise.race([work, pause(pauseMilliseconds)])
}

/** A follower's back-off runs in real time, so one call of `settle` is not always enough. */
export function settleUntil(h: House, what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  return until(what, async () => {
    await h.settle()
    return condition()
  })
}
