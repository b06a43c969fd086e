import type { Actor } from '../kit/operation.ts'

/** The acting user of an operation that never runs without one. */
export function acting(actor: Actor | undefined): Actor {
  if (!actor) throw new Error('Somebody has to act.')
  return actor
}
