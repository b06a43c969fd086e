import { randomBytes } from 'node:crypto'
import { type Logger, pino } from 'pino'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { MediaFigures } from '../common/media.ts'
import type { LiveFigures } from '../dispatch/live-figures.ts'
import type { Trace } from '../dispatch/trace.ts'
import type { Figures } from './listener.ts'
import { logLines } from './log-lines.ts'

export interface Observer {
  begin(): Trace
  end(trace: Trace, method: string, status: number): void
  /** Shows what the listener tells of itself. */
  watch(listener: () => Figures): void
  /** Shows what the gateway tells of itself. */
  watchGateway(gateway: () => LiveFigures): void
  /** Shows what the media engine tells of itself. */
  watchMedia(media: () => MediaFigures): void
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
    watchGateway: (gateway) => watchGateway(registry, gateway),
    watchMedia: (media) => watchMedia(registry, media),
    watchJobs: (countDead) => watchDeadJobs(registry, countDead),
    metrics: () => registry.metrics(),
    metricsType: registry.contentType,
  }
}

/** Shows figures that are counted elsewhere, when they are asked for. */
function shownIn<Figures>(registry: Registry, figures: () => Figures) {
  const registers = [registry]
  return {
    gauge(name: string, help: string, read: (figures: Figures) => number) {
      new Gauge({
        ...{ name, help, registers },
        collect() {
          this.set(read(figures()))
        },
      })
    },
    counter(name: string, help: string, read: (figures: Figures) => number) {
      new Counter({
        ...{ name, help, registers },
        collect() {
          this.reset()
          this.inc(read(figures()))
        },
      })
    },
  }
}

function watchListener(registry: Registry, listener: () => Figures): void {
  const { gauge, counter } = shownIn(registry, listener)
  const held = 'Bytes held for clients that have not taken or not sent all of something'
  gauge('parley_connections', 'Connections that are open', ({ connections }) => connections)
  gauge('parley_held_bytes', held, ({ heldBytes }) => heldBytes)
  counter('parley_connections_turned_away_total', 'Connections that found no room', ({ turnedAway }) => turnedAway)
  const stalled = 'Connections closed because an answer was not taken'
  counter('parley_connections_stalled_total', stalled, (figures) => figures.stalled)
}

function watchGateway(registry: Registry, gateway: () => LiveFigures): void {
  const { gauge, counter } = shownIn(registry, gateway)
  gauge('parley_sockets', 'WebSockets that are open', ({ sockets }) => sockets)
  gauge('parley_devices', 'WebSockets whose device has logged in', ({ devices }) => devices)
  gauge('parley_log_lag_seconds', 'How far live delivery is behind the log', ({ lagSeconds }) => lagSeconds)
  counter('parley_frames_in_total', 'Frames that devices have sent', ({ framesIn }) => framesIn)
  counter('parley_frames_out_total', 'Frames that were sent to devices', ({ framesOut }) => framesOut)
  const dropped = 'Signals that were left out for devices that did not take what they had been sent'
  counter('parley_signals_dropped_total', dropped, ({ signalsDropped }) => signalsDropped)
  const tooSlow = 'Devices that were let go because they did not take what they had been sent'
  counter('parley_devices_too_slow_total', tooSlow, (figures) => figures.tooSlow)
  counter('parley_resumed_total', 'Devices that came back and were told what they had missed', ({ resumed }) => resumed)
  counter('parley_resynced_total', 'Devices that came back and had to fetch anew', ({ resynced }) => resynced)
}

function watchMedia(registry: Registry, media: () => MediaFigures): void {
  const { gauge, counter } = shownIn(registry, media)
  gauge('parley_media_rooms', 'Calls whose media this server carries', ({ rooms }) => rooms)
  gauge('parley_media_devices', 'Devices in these calls', ({ devices }) => devices)
  const restarts = 'Processes of the media engine that were started anew because they had died'
  counter('parley_media_restarts_total', restarts, (figures) => figures.restarts)
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
