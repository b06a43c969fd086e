import { ComeAgain, type JobDefinition, type Retry } from '../kit/job.ts'

const backoffStartSeconds = 2
const backoffMaxSeconds = 3600
const retryAfterSecondsMax = 3600
const jitter = 0.2

/** How many seconds a job waits after so many failures, of which this was the last. */
export function pauseAfter({ retry }: Pick<JobDefinition, 'retry'>, failures: number, error: unknown): number {
  const pause = retry ? shaken(plannedPause(retry, failures)) : backoffSeconds(failures)
  return error instanceof ComeAgain ? Math.max(pause, believed(error.afterSeconds)) : pause
}

function plannedPause(retry: Retry, failures: number): number {
  if (typeof retry === 'function') return retry(failures)
  return retry[Math.min(failures, retry.length) - 1] ?? retry[0]
}

/** What failed together does not come again together. */
function shaken(seconds: number): number {
  return Math.max(1, Math.round(seconds * (1 - jitter + 2 * jitter * Math.random())))
}

function backoffSeconds(failures: number): number {
  return Math.min(backoffMaxSeconds, backoffStartSeconds ** Math.min(failures, 16))
}

/** Whoever asks for a pause that cannot be waited for asks for none, and nobody is waited for very long. */
function believed(seconds: number): number {
  return seconds > 0 ? Math.min(Math.ceil(seconds), retryAfterSecondsMax) : 0
}
