import type { Fact } from './facts.ts'
import { accept, believed, type CallTimings, elapsed, type Intent, inTurn, type Sign, signsIn } from './rules.ts'
import { applyFact, type CallState } from './state.ts'

/**
 * The course of a call while somebody writes to it: how it stands, what was added, and when its devices were last heard of.
 * It knows nothing of where this is kept; ledger.ts opens one under the call's lock and writes down what it has added.
 */
export class Course {
  readonly added: Fact[] = []
  #state: CallState
  readonly #signs = new Map<string, Sign>()
  #now: number
  readonly #timings: CallTimings

  constructor(state: CallState, signs: readonly Sign[], now: number, timings: CallTimings) {
    this.#state = state
    this.#now = now
    this.#timings = timings
    this.hear(signs)
    this.passTime(now)
  }

  get state(): CallState {
    return this.#state
  }

  /** The present, as far as the course has come. */
  get now(): number {
    return this.#now
  }

  /** When each device that is in the call was last heard of. */
  get signs(): Sign[] {
    return signsIn(this.#state, [...this.#signs.values()])
  }

  /** Devices have been heard of; the latest sign of each counts. */
  hear(signs: readonly Sign[]): void {
    for (const sign of signs) {
      const key = JSON.stringify([sign.uid, sign.deviceId])
      if (sign.seenAt >= (this.#signs.get(key)?.seenAt ?? 0)) this.#signs.set(key, sign)
    }
  }

  /** Time goes on, and whatever falls due by `now` has happened. */
  passTime(now: number): void {
    this.#now = now
    this.#add(elapsed(this.#state, this.signs, now, this.#timings))
  }

  /** Something is told to have happened; refused where the rules forbid it now. */
  happen(intent: Intent): void {
    this.#add(accept(this.#state, believed(intent, this.#now, this.#timings), this.#now))
  }

  /** One thing after the other happens, as `next` names them from how the call stands; it may be nothing. */
  bringAbout(next: (present: CallState) => Intent | undefined): void {
    this.#add(inTurn(this.#state, this.#now, next))
  }

  #add(facts: Fact[]): void {
    this.added.push(...facts)
    this.#state = facts.reduce(applyFact, this.#state)
  }
}
