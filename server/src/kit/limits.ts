import type { ApiError } from './errors.ts'

/** Something that is counted: there may be so much of it in so many seconds. Areas bring theirs on their cards. */
export interface Rate {
  name: string
  seconds: number
  /** How much, unless an operator says otherwise by this variable. */
  setting: { variable: `PARLEY_LIMIT_${string}`; about: string; usual: number }
  /** How many there may be for each one that the setting grants; one if absent. */
  times?: number
}

/** What is left of a window, as response headers tell it. */
export interface Allowance {
  limit: number
  remaining: number
  resetsAt: number
}

/** Counts what happens in windows of real time, for all nodes together. */
export interface Limits {
  /** Counts one, and refuses once the window's are used up. What is refused counts, too. */
  count(rate: Rate, whose: string[]): Promise<Allowance>
  /** Takes some, as many as are left; that may be none. */
  take(rate: Rate, whose: string[], amount: number): Promise<Share>
}

/** A part of an allowance, taken before it is known how much of it is needed. */
export interface Share {
  granted: number
  /** How many were taken before it. */
  earlier: number
  /** For what goes beyond it. */
  refusal(): ApiError
  giveBack(amount: number): Promise<void>
}

/** What one request may use of a share. */
export interface Portion extends Pick<Share, 'refusal'> {
  left: number
}

/** Uses one of what is left, or refuses; where nothing is counted, everything may be used. */
export function useOne(portion: Portion | undefined): void {
  if (!portion) return
  if (portion.left === 0) throw portion.refusal()
  portion.left -= 1
}
