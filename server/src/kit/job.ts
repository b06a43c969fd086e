import type { Static, TSchema } from 'typebox'
import type { Work } from './work.ts'

/** Work for later. It runs in one transaction together with its own completion, so a crash repeats or loses nothing. */
export interface JobDefinition<Payload extends TSchema = TSchema> {
  name: string
  payload: Payload
  /** After so many failures the job stays visible as dead; `Infinity` for what must happen in the end. */
  attemptsMax: number
  /** May answer the time of its next run; the job then goes on living. */
  run(payload: Static<Payload>, work: Work): Promise<undefined | { againAt: number }>
}

export function job<Payload extends TSchema>(definition: JobDefinition<Payload>): JobDefinition<Payload> {
  return definition
}

const backoffStartSeconds = 2
const backoffMaxSeconds = 3600

/** How long a failed job waits: twice as long each time, up to an hour. */
export function backoffSeconds(attempts: number): number {
  return Math.min(backoffMaxSeconds, backoffStartSeconds ** Math.min(attempts, 16))
}
