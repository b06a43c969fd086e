import { readFileSync, writeFileSync } from 'node:fs'
import type { AdjustableClock } from '../../kit/ports.ts'
import { systemClock } from './system.ts'

/** A clock whose offset outlives the process: data dated by a moved clock must not meet an unmoved one. */
export function fileClock(file: string): AdjustableClock {
  return systemClock(storedOffset(file), (offset) =>
    writeFileSync(file, `${JSON.stringify({ offsetSeconds: offset })}\n`, { mode: 0o600 }),
  )
}

function storedOffset(file: string): number {
  try {
    return Number(JSON.parse(readFileSync(file, 'utf8')).offsetSeconds) || 0
  } catch {
    return 0
  }
}
