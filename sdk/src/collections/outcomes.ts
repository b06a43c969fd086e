import { ParleyError } from '../http/errors.ts'

type Outcome = { success: true } | { success: false; error: { code: string; message: string } }

/** Of what is asked for several at a time, each has an answer of its own. What was refused for one is an error here, too. */
export function requireAll(outcomes: Record<string, Outcome> = {}): void {
  for (const outcome of Object.values(outcomes)) {
    if (!outcome.success) throw new ParleyError({ ...outcome.error, kind: 'refused' })
  }
}
