import { type ApiError, tooManyRequests } from '../kit/errors.ts'
import type { Allowance, Limits, Rate, Share } from '../kit/limits.ts'
import type { Counters } from '../kit/ports.ts'

/** So many in so many seconds. */
export interface Window {
  limit: number
  seconds: number
}

/** Limits by counters. Windows have names of rates, and begin at whole minutes or hours, for everyone at once. */
export function rateLimits(counters: Counters, windows: ReadonlyMap<string, Window>): Limits {
  async function add(rate: Rate, whose: string[], amount: number) {
    const window = windows.get(rate.name)
    if (!window) throw new Error(`No card brings the rate "${rate.name}".`)
    const { limit, seconds } = window
    const now = Math.floor(Date.now() / 1000)
    const resetsAt = now - (now % seconds) + seconds
    const name = nameOf(rate, whose)
    const counted = counters.add(name, resetsAt, amount)
    const used = typeof counted === 'number' ? counted : await counted
    const allowance = { limit, remaining: Math.max(0, limit - used), resetsAt }
    const giveBack = async (unused: number) => {
      if (unused > 0) await counters.add(name, resetsAt, -unused)
    }
    return { used, over: Math.max(0, used - limit), allowance, giveBack }
  }

  return {
    async count(rate, whose) {
      const { over, allowance } = await add(rate, whose, 1)
      if (over > 0) throw refusalOf(allowance)
      return allowance
    },
    async take(rate, whose, amount) {
      const { used, over, allowance, giveBack } = await add(rate, whose, amount)
      const granted = Math.max(0, amount - over)
      await giveBack(amount - granted)
      return { granted, earlier: used - amount, refusal: () => refusalOf({ ...allowance, remaining: 0 }), giveBack }
    },
  }
}

/** Two parts of one allowance, taken one after the other; what is not needed of the later one goes back first. */
export function together(first: Share, later: Share): Share {
  return {
    granted: first.granted + later.granted,
    earlier: first.earlier,
    refusal: later.refusal,
    async giveBack(amount) {
      const ofLater = Math.min(amount, later.granted)
      await later.giveBack(ofLater)
      await first.giveBack(amount - ofLater)
    },
  }
}

/** As JSON, so that no two lists of names read alike: whom a request acts for is any text until it is looked up. */
function nameOf(rate: Rate, whose: string[]): string {
  return JSON.stringify([rate.name, ...whose])
}

function refusalOf(allowance: Allowance): ApiError {
  const retryAfter = Math.max(1, allowance.resetsAt - Math.floor(Date.now() / 1000))
  return Object.assign(tooManyRequests({ retryAfter }), { allowance })
}
