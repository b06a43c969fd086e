import type { TenantTable } from '../storage/tables.ts'

/** The outside world, as the areas see it. Each has an embedded and a scaled adapter, or a real and a virtual one. */

/** Time in whole UNIX seconds. The emulator and the tests move it; everything that waits obeys. */
export interface Clock {
  now(): number
}

/** A clock that can be set and pushed forward. */
export interface AdjustableClock extends Clock {
  /** Seconds by which this clock is ahead of real time. */
  offsetSeconds(): number
  setOffset(seconds: number): void
}

/** Keeps secrets unreadable at rest, under the install's master key. */
export interface Secrets {
  seal(plain: string): string
  open(sealed: string): string
  /** A keyed hash: the same text always gives the same answer, and nothing can be learnt from it without the key. */
  fingerprint(text: string): string
}

/** Counts per window, for rate limits; shared by all nodes where there are several. */
export interface Counters {
  /** Adds one and answers the count in the window that ends at `windowEndsAt`. */
  add(name: string, windowEndsAt: number): number | Promise<number>
  close(): Promise<void>
}

/** Durations that the rules obey, from the configuration. */
export interface Timings {
  /** A call that nobody answers rings this long. */
  ringSeconds: number
  /** A participant not heard of for this long has left. */
  leaseSeconds: number
}

/** The service a deployment is reached at; records name it in addresses. */
export interface Place {
  region: string
  domain: string
}

/** What operations, followers and jobs may use besides the database. */
export interface Tools {
  clock: AdjustableClock
  secrets: Secrets
  timings: Timings
  place: Place
  /** Every table that holds rows of apps. */
  tenantTables: TenantTable[]
  quotas: { appsMax: number | undefined }
  /** Runs followers and jobs until nothing is due; a few seconds at most. */
  settle(): Promise<void>
}
