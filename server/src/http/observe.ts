import { randomBytes } from 'node:crypto'
import { type Logger, pino } from 'pino'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Trace } from '../dispatch/trace.ts'
import type { Figures } from './listener.ts'
import { logLines } from './log-lines.ts'

export interface Observer {
  begin(): Trace
  end(trace: Trace, method: string, status: number): void
  /** Shows what the listener tells of itself. */
  watch(listener: () => Figures): void
  /** Shows how many jobs were given up, by their names; whoever tells must know only so many of these. */
  watchJobs(countDead: () => Promise<ReadonlyMap<string, number>>): void
  metrics(): Promise<string>
  metricsType: string
  log: Logger
}

type Child = ReturnType<Histogram<'operation' | 'status'>['labels']>

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
  // Finding a labelled child costs more than observing on it; and so would making one text of both labels.
  const children = new Map<string, Map<number, Child>>()
  function childFor(operation: string, status: number): Child {
    const known = children.get(operation)?.get(status)
    if (known) return known
    const child = durations.labels(operation, String(status))
    children.set(operation, (children.get(operation) ?? new Map()).set(status, child))
    return child
  }
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
        allowance: undefined,
      }
    },
    end(trace, method, status) {
      const milliseconds = performance.now() - trace.startedAt
      childFor(trace.operation, status).observe(milliseconds / 1000)
      const ms = Math.round(milliseconds * 1000) / 1000
      const fields = fieldsOf(trace, method, status, ms)
      if (trace.error === undefined) log.info(fields)
      else log.error({ ...fields, err: trace.error })
    },
    watch: (listener) => watchListener(registry, listener),
    watchJobs: (countDead) => watchDeadJobs(registry, countDead),
    metrics: () => registry.metrics(),
    metricsType: registry.contentType,
  }
}

function watchListener(registry: Registry, listener: () => Figures): void {
  const registers = [registry]
  const gauge = (name: string, help: string, figure: 'connections' | 'heldBytes') =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(listener()[figure])
      },
    })
  const counter = (name: string, help: string, figure: 'turnedAway' | 'stalled') =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(listener()[figure])
      },
    })
  gauge('parley_connections', 'Connections that are open', 'connections')
  gauge('parley_held_bytes', 'Bytes held for clients that have not taken or not sent all of something', 'heldBytes')
  counter('parley_connections_turned_away_total', 'Connections that found no room', 'turnedAway')
  counter('parley_connections_stalled_total', 'Connections closed because an answer was not taken', 'stalled')
}

function watchDeadJobs(registry: Registry, countDead: () => Promise<ReadonlyMap<string, number>>): void {
  new Gauge({
    name: 'parley_jobs_dead',
    help: 'Jobs that were given up, by name; no more than 10000 are counted',
    labelNames: ['job'],
    registers: [registry],
    async collect() {
      // Without the database there are still the other figures to tell; how many there were the last time is none.
      const counts = await countDead().catch(() => new Map<string, number>())
      this.reset()
      for (const [job, count] of counts) this.set({ job }, count)
    },
  })
}

function fieldsOf({ id, operation, appId, caller, actor }: Trace, method: string, status: number, ms: number) {
  return { id, method, operation, app: appId, caller, actor, status, ms }
}

let isoMoment = 0
let isoText = ''

/** The time in ISO 8601, for each line. Several requests share a millisecond, and a date's text is dear. */
function isoTime(): string {
  const now = Date.now()
  if (now !== isoMoment) {
    isoMoment = now
    isoText = `,"time":"${new Date(now).toISOString()}"`
  }
  return isoText
}

const standardOutput = 1

/** JSON lines on standard output. */
export function createLog(level: string): { log: Logger; close: () => void } {
  const lines = logLines(standardOutput)
  return { log: pino({ level, base: null, timestamp: isoTime }, lines), close: lines.close }
}
