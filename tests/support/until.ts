import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { House } from './house.ts'

const patienceMilliseconds = 15_000
const pauseMilliseconds = 10

/** Waits for something that no call can be awaited for: another process, or a back-off in real time. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  milliseconds = patienceMilliseconds,
): Promise<void> {
  const deadline = performance.now() + milliseconds
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `waited ${milliseconds} ms in vain until ${what}`)
    await pause(pauseMilliseconds)
  }
}

/** A follower's back-off runs in real time, so one call of `settle` is not always enough. */
export function settleUntil(h: House, what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  return until(what, async () => {
    await h.settle()
    return condition()
  })
}
