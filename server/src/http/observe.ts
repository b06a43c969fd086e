import { randomBytes } from 'node:crypto'
import { type Logger, pino } from 'pino'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** What a request left behind, for the log and the metrics. Never a path, a key or a body: those may hold secrets. */
export interface Trace {
  id: string
  startedAt: number
  operation: string
  appId: string | undefined
  caller: string | undefined
  actor: string | undefined
  error: unknown
}

export interface Observer {
  begin(): Trace
  end(trace: Trace, method: string, status: number): void
  metrics(): Promise<string>
  metricsType: string
  log: Logger
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export function createObserver(log: Logger): Observer {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'parley_request_seconds',
    help: 'Duration of requests by operation and status',
    labelNames: ['operation', 'status'],
    buckets: secondsBuckets,
    registers: [registry],
  })
  // Finding a labelled child costs more than observing on it.
  const children = new Map<string, ReturnType<typeof durations.labels>>()
  const processName = randomBytes(4).toString('hex')
  let count = 0

  return {
    log,
    begin() {
      count += 1
      return {
        id: `${processName}-${count.toString(36)}`,
        startedAt: performance.now(),
        operation: 'none',
        appId: undefined,
        caller: undefined,
        actor: undefined,
        error: undefined,
      }
    },
    end(trace, method, status) {
      const milliseconds = performance.now() - trace.startedAt
      const key = `${trace.operation} ${status}`
      let child = children.get(key)
      if (!child) {
        child = durations.labels(trace.operation, String(status))
        children.set(key, child)
      }
      child.observe(milliseconds / 1000)
      const { id, operation, appId, caller, actor, error } = trace
      const line = {
        id,
        method,
        operation,
        app: appId,
        caller,
        actor,
        status,
        ms: Math.round(milliseconds * 1000) / 1000,
      }
      if (error === undefined) log.info(line)
      else log.error({ ...line, err: error })
    },
    metrics: () => registry.metrics(),
    metricsType: registry.contentType,
  }
}

const flushMilliseconds = 300
const bufferBytes = 8_192

/** JSON lines on standard output, written in batches. */
export function createLog(level: string): { log: Logger; close: () => void } {
  const destination = pino.destination({ fd: 1, sync: false, minLength: bufferBytes })
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
  const timer = setInterval(() => destination.flush(), flushMilliseconds).unref()
  return {
    log,
    close() {
      clearInterval(timer)
      destination.flushSync()
    },
  }
}
