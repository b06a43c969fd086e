import type { Counters } from '../kit/ports.ts'
import { tooManyRequests } from './errors.ts'

const windowSeconds = 60

/** Classes that an app's requests count against, and acts that a user's do. */
export type RateClass = 'core' | 'standard' | 'sendMessage' | 'markUnread'

/** What a caller has left in this minute, as response headers tell it. */
export interface Allowance {
  limit: number
  remaining: number
  resetsAt: number
}

export interface Limits {
  /** Counts a request; throws once the minute's requests are used up. `tell` learns the figures either way. */
  count(owner: string, rate: RateClass, tell: (allowance: Allowance) => void): Promise<void>
}

export function rateLimits(counters: Counters, perMinute: Record<RateClass, number>): Limits {
  return {
    async count(owner, rate, tell) {
      const now = Math.floor(Date.now() / 1000)
      const resetsAt = now - (now % windowSeconds) + windowSeconds
      const limit = perMinute[rate]
      const counted = counters.add(`${owner}:${rate}`, resetsAt)
      const used = typeof counted === 'number' ? counted : await counted
      tell({ limit, remaining: Math.max(0, limit - used), resetsAt })
      if (used > limit) throw tooManyRequests({ retryAfter: resetsAt - now })
    },
  }
}

/** Both naming sets that clients know. */
export function allowanceHeaders({ limit, remaining, resetsAt }: Allowance): string[] {
  return [
    'X-Rate-Limit',
    String(limit),
    'X-Rate-Limit-Remaining',
    String(remaining),
    'X-RateLimit-Limit',
    String(limit),
    'X-RateLimit-Remaining',
    String(remaining),
    'X-RateLimit-Reset',
    String(resetsAt),
  ]
}

/** What a caller is told on top who has used it up. */
export function refusalHeaders({ resetsAt }: Allowance): string[] {
  return ['X-Rate-Limit-Reset', String(resetsAt)]
}
