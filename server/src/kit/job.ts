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
  /** How long it waits after a failure. Without this: twice as long each time, up to an hour. */
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

/** What a job works with outside its transaction. */
export interface Outside {
  db: TenantDb
  tools: Tools
  inApp: InApp
  /** Given when the time is over, or the job has passed to somebody else. Whoever waits for the outside world listens. */
  signal: AbortSignal
  /** 1 for the first. */
  attempt: number
}

export interface Again<Payload extends TSchema = TSchema> {
  againAt: number
  payload?: Static<Payload>
}

/**
 * Pauses after the first failure, the second and so on, in seconds; the last one repeats. Or what answers them. Chance makes
 * each a fifth longer or shorter at most, so that what failed together does not come again together.
 */
export type Retry = readonly [number, ...number[]] | ((failures: number) => number)

const retryAfterSecondsMax = 3600

/** An attempt failed, and whoever refused it has said when to come again; for an hour at most they are believed. */
export class ComeAgain extends Error {
  readonly afterSeconds: number
  constructor(message: string, afterSeconds: number, options?: ErrorOptions) {
    super(message, options)
    // What cannot be waited for says nothing.
    this.afterSeconds = afterSeconds > 0 ? Math.min(Math.ceil(afterSeconds), retryAfterSecondsMax) : 0
  }
}

export function job<Payload extends TSchema, Given = undefined>(
  definition: JobDefinition<Payload, Given>,
): JobDefinition<Payload> {
  if (definition.name.includes(destinationMark)) throw new Error(`A job's name has no "${destinationMark}" in it.`)
  return definition as JobDefinition<Payload>
}

/** Jobs of a lane wait for each other, and not for those of another. */
export function laneOf({ bulk, prepare }: Pick<JobDefinition, 'bulk' | 'prepare'>): JobLane {
  if (bulk) return 'bulk'
  return prepare ? 'outside' : 'inside'
}

/** Stands between the name of a job and its destination. */
export const destinationMark = '/'
// It is part of the key of an index.
const destinationCharactersMax = 255

/**
 * Where a job waits in its lane. Outside, jobs of one kind to one destination wait for each other; a kind that names none
 * has one. No two kinds share one, whatever their destinations are called.
 */
export function destinationOf(definition: Pick<JobDefinition, 'name' | 'bulk' | 'prepare'>, named = ''): string {
  if (named.length > destinationCharactersMax) throw new Error(`The destination of ${definition.name} is too long.`)
  if (laneOf(definition) === 'outside') return `${definition.name}${destinationMark}${named}`
  if (named !== '') throw new Error(`${definition.name} has nothing to do outside, and so no destination.`)
  return ''
}

/** Which kind of job waits there. */
export function jobNameIn(destination: string): string {
  return destination.slice(0, Math.max(0, destination.indexOf(destinationMark)))
}

const backoffStartSeconds = 2
const backoffMaxSeconds = 3600
const jitter = 0.2

/** How many seconds a job waits after so many failures, of which this was the last. */
export function pauseAfter({ retry }: Pick<JobDefinition, 'retry'>, failures: number, error: unknown): number {
  const pause = retry ? shaken(plannedPause(retry, failures)) : backoffSeconds(failures)
  return error instanceof ComeAgain ? Math.max(pause, error.afterSeconds) : pause
}

function plannedPause(retry: Retry, failures: number): number {
  if (typeof retry === 'function') return retry(failures)
  return retry[Math.min(failures, retry.length) - 1] ?? retry[0]
}

function shaken(seconds: number): number {
  return Math.max(1, Math.round(seconds * (1 - jitter + 2 * jitter * Math.random())))
}

function backoffSeconds(failures: number): number {
  return Math.min(backoffMaxSeconds, backoffStartSeconds ** Math.min(failures, 16))
}
