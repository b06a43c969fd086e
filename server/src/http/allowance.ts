import type { Allowance } from '../kit/limits.ts'

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
