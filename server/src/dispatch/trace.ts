import type { Allowance } from '../kit/limits.ts'

/** What a call left behind, for the log and the metrics. Never a path, a key or a body: those may hold secrets. */
export interface Trace {
  id: string
  startedAt: number
  operation: string
  appId: string | undefined
  caller: string | undefined
  actor: string | undefined
  error: unknown
  /** What its app has left; for the caller, not for the log. */
  allowance: Allowance | undefined
}
