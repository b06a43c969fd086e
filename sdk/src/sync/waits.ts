import type { Runtime } from '../runtime/runtime.ts'

/** How long to wait before a connection is tried again. */
export interface Wait {
  milliseconds: number
  /** Whether it is worth trying earlier, where there is a sign that it may work now. */
  mayBeCut: boolean
}

const shortestMs = 1_000
const longestMs = 30_000
const tooManyMs = 30_000
// Those whom one node has told the same moment do not come all at once.
const spreadMs = 1_000

/**
 * Anything up to a bound that doubles, so that those who failed together do not come back together; but what the server says
 * counts. `returnMs` is when it asked to come back.
 */
export function waitAfter(
  code: number | undefined,
  tried: number,
  returnMs: number | undefined,
  { random }: Runtime,
): Wait {
  if (code === 4503 && tried === 0) return { milliseconds: 0, mayBeCut: true }
  if (code === 4429) return { milliseconds: tooManyMs + random() * spreadMs, mayBeCut: false }
  // Somebody else is connected in its place, and would only be pushed out in turn.
  if (code === 4409) return { milliseconds: Number.POSITIVE_INFINITY, mayBeCut: true }
  if (code === 1012 && returnMs !== undefined && tried === 0) {
    return { milliseconds: returnMs + random() * spreadMs, mayBeCut: false }
  }
  const bound = Math.min(shortestMs * 2 ** tried, longestMs)
  return { milliseconds: random() * bound, mayBeCut: true }
}
