import { pino } from 'pino'
import { readConfig } from '../server/src/config.ts'
import { startService } from '../server/src/service.ts'

/**
 * Parley in a process that watches its own event loop: how much CPU time each turn of it takes. Time in which the machine
 * does something else is not counted, so a busy machine tells the same as a quiet one.
 */

export type Order = { start: Record<string, string> } | 'watch' | 'tell'
export type Report = { port: number } | { watching: true } | Held

/** The longest turn since the watch began, and how much CPU time all of them took, in milliseconds. */
export interface Held {
  longest: number
  inAll: number
}

let held: Held = { longest: 0, inAll: 0 }
let isWatching = false
let before = 0

const threadMilliseconds = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function nextTurn(): void {
  const now = threadMilliseconds()
  held = { longest: Math.max(held.longest, now - before), inAll: held.inAll + now - before }
  before = now
  if (isWatching) setImmediate(nextTurn)
}

const report = (what: Report) => void process.send?.(what)

process.on('message', async (order: Order) => {
  if (order === 'watch') {
    held = { longest: 0, inAll: 0 }
    before = threadMilliseconds()
    isWatching = true
    setImmediate(nextTurn)
    report({ watching: true })
  } else if (order === 'tell') {
    isWatching = false
    report(held)
  } else {
    const { port } = await startService(readConfig(order.start), pino({ level: 'silent' }))
    report({ port })
  }
})
process.on('disconnect', () => process.exit())
