import type { Static, TSchema } from 'typebox'
import type { JobLane } from '../storage/tables.ts'
import type { TenantDb } from '../storage/tenant.ts'
import type { Tools } from './ports.ts'
import type { InApp, Work } from './work.ts'

/** Work for later. It runs in one transaction together with its own completion, so a crash repeats or loses nothing. */
export interface JobDefinition<Payload extends TSchema = TSchema, Given = unknown> {
  name: string
  payload: Payload
  /** After so many failures the job stays visible as dead; `Infinity` for what must happen in the end. */
  attemptsMax: number
  /** Large work in small batches: it rests between them, so that requests keep their speed meanwhile. */
  bulk?: true
  /**
   * What has to do with the outside world, or takes long. It comes first, in no transaction and beside other jobs; a
   * crash repeats it, and a claim that ran out can make two of it go on at once. Its result arrives as `given`.
   */
  prepare?(payload: Static<Payload>, outside: { db: TenantDb; tools: Tools; inApp: InApp }): Promise<Given>
  /** May answer the time of its next run, and what is left for it; the job then goes on living. */
  run(payload: Static<Payload>, work: Work, given?: Given): Promise<undefined | Again<Payload>>
}

export interface Again<Payload extends TSchema = TSchema> {
  againAt: number
  payload?: Static<Payload>
}

export function job<Payload extends TSchema, Given = undefined>(
  definition: JobDefinition<Payload, Given>,
): JobDefinition<Payload> {
  return definition as JobDefinition<Payload>
}

/** Jobs of a lane wait for each other, and not for those of another. */
export function laneOf({ bulk, prepare }: Pick<JobDefinition, 'bulk' | 'prepare'>): JobLane {
  if (bulk) return 'bulk'
  return prepare ? 'outside' : 'inside'
}

const backoffStartSeconds = 2
const backoffMaxSeconds = 3600

/** How long a failed job waits: twice as long each time, up to an hour. */
export function backoffSeconds(attempts: number): number {
  return Math.min(backoffMaxSeconds, backoffStartSeconds ** Math.min(attempts, 16))
}
