import type { Static, TSchema } from 'typebox'
import type { JobLane } from '../storage/tables.ts'
import type { InApp, View, Work } from './work.ts'

/** Work for later. It runs in one transaction together with its own completion, so a crash repeats or loses nothing. */
export interface JobDefinition<Payload extends TSchema = TSchema, Given = unknown> {
  name: string
  payload: Payload
  /** After so many failures the job stays visible as dead; `Infinity` for what must happen in the end. */
  attemptsMax: number
  /** Without this: twice as long a pause each time, up to an hour. */
  retry?: Retry
  /** A run that asks to come again counts as an attempt too; without this, it makes earlier failures forgotten. */
  keepsAttempts?: true
  /** Large work in small batches: it rests between them, so that requests keep their speed meanwhile. */
  bulk?: true
  /** How long `prepare` may take; then it is told to stop, and the attempt has failed whether or not it does. */
  secondsMax?: number
  /** How many of these jobs may be outside at once, on a node: in all, and of one destination. */
  atOnce?: { inAll?: number; perDestination?: number }
  /**
   * What has to do with the outside world, or takes long. It comes first, in no transaction and beside other jobs; a
   * crash repeats it, and a node that was away can make two of it go on at once. Its result arrives as `given`.
   */
  prepare?(payload: Static<Payload>, outside: Outside): Promise<Given>
  /** May answer the time of its next run, and what is left for it; the job then goes on living. */
  run(payload: Static<Payload>, work: Work, given?: Given): Promise<undefined | Again<Payload>>
  /** Runs in the transaction in which the job becomes dead. */
  onDead?(payload: Static<Payload>, work: Work, end: { attempts: number; lastError: string }): Promise<void>
}

/** The signal is given when the time is over, or the job is somebody else's; the first attempt is 1. */
type Outside = View & { inApp: InApp; signal: AbortSignal; attempt: number }

/** Seconds to wait after the first failure, the second and so on; the last repeats. Chance adds or takes up to a fifth. */
export type Retry = readonly [number, ...number[]] | ((failures: number) => number)

/** An attempt failed, and whoever refused it has said when to come again; for an hour at most they are believed. */
export class ComeAgain extends Error {
  readonly afterSeconds: number
  constructor(message: string, afterSeconds: number, options?: ErrorOptions) {
    super(message, options)
    this.afterSeconds = afterSeconds
  }
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
