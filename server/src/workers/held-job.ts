import type { JobRow } from '../storage/tables.ts'

/** A job that this node has claimed and not put down yet. */
export interface HeldJob {
  row: JobRow
  /** Until when the claim lasts, as far as this node knows. */
  until: number
  /** Given when the attempt must end. */
  signal: AbortSignal
  end(reason: Error): void
}

/** The job is no longer this node's, so nothing of the attempt is noted. */
export class LetGo extends Error {}

export function heldJob(row: JobRow): HeldJob {
  const ending = new AbortController()
  return { row, until: row.locked_until, signal: ending.signal, end: (reason) => ending.abort(reason) }
}

/** What some work answers, unless the attempt has to end before; then whoever does it is left alone. */
export async function unlessEnded<T>({ signal }: HeldJob, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  let stop = () => {}
  const ended = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([work(), ended])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
