import type { Generator, Load, Request } from './load.ts'
import { cpuSeconds, type Running } from './processes.ts'

/** How a run is made: how often each contender has its turn, and for how long. */
export interface Plan {
  rounds: number
  seconds: number
  /** Records in the large installs. */
  records: number
  /** Folder for installs; one that is there already is used again. */
  folder: string
  profileFolder: string | undefined
}

/** One of several that are compared: a server and what it is asked. */
export interface Contender {
  name: string
  server: Running
  requests: Request[]
  secure?: boolean
  connections?: number
  status?: number
  rate?: number
}

export interface Sample {
  cpuMicroseconds: number
  requestsPerSecond: number
  p50: number
  p99: number
}

export type Samples = Map<string, Sample[]>

const connectionsDefault = 32
const warmUpSeconds = 4

/** Gives every contender a turn in each round, so that what the machine does meanwhile befalls all of them alike. */
export async function interleave(generator: Generator, plan: Plan, contenders: Contender[]): Promise<Samples> {
  const samples: Samples = new Map(contenders.map(({ name }) => [name, []]))
  for (const contender of contenders) await measure(generator, contender, Math.min(warmUpSeconds, 2 * plan.seconds))
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const contender of contenders) {
      samples.get(contender.name)?.push(await measure(generator, contender, plan.seconds))
    }
  }
  return samples
}

export async function measure(generator: Generator, contender: Contender, seconds: number): Promise<Sample> {
  const { name, server, requests, secure = false, connections = connectionsDefault, status = 200, rate } = contender
  const load: Load = {
    port: secure ? server.ports.secure : server.ports.plain,
    secure,
    connections,
    seconds,
    requests,
    ...(rate !== undefined && { rate }),
  }
  let cpu = 0
  const outcome = await generator.run(load, (moment) => {
    cpu += moment === 'before' ? -cpuSeconds(server.pid) : cpuSeconds(server.pid)
  })
  const wrong = Object.keys(outcome.statuses).find((each) => Number(each) !== status)
  if (wrong !== undefined) throw new Error(`${name} was answered with status ${wrong} instead of ${status}.`)
  return {
    cpuMicroseconds: (cpu * 1e6) / outcome.requests,
    requestsPerSecond: outcome.requests / outcome.seconds,
    ...outcome.milliseconds,
  }
}

/** A median and how far the values lie around it. */
export interface Figure {
  median: number
  low: number
  high: number
  unit: string
}

export function figureOf(values: number[], unit: string): Figure {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const median = ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
  return { median, low: sorted[0] ?? 0, high: sorted.at(-1) ?? 0, unit }
}

export function cpuOf(samples: Samples, name: string): Figure {
  return figureOf(
    (samples.get(name) ?? []).map(({ cpuMicroseconds }) => cpuMicroseconds),
    'µs',
  )
}

export function rateOf(samples: Samples, name: string): Figure {
  return figureOf(
    (samples.get(name) ?? []).map(({ requestsPerSecond }) => requestsPerSecond),
    '/s',
  )
}

/** A goal, and what was measured against it. */
export interface Row {
  group: string
  job: string
  /** What Parley is held against; absent where the goal is a plain figure. */
  floor?: Figure
  parley: Figure
  /** Requests a second, where the goal is about CPU time. */
  rates?: { floor: Figure; parley: Figure }
  /** The figure that the goal is about. */
  reached: number
  goal: { atLeast: number } | { atMost: number }
  met: boolean
}

type Measured = Omit<Row, 'met'>

export function judged(row: Measured): Row {
  const { goal, reached } = row
  return { ...row, met: 'atLeast' in goal ? reached >= goal.atLeast : reached <= goal.atMost }
}

/** Floor's CPU per request ÷ Parley's; the median of the rounds' own ratios, each of neighbours in time. */
export function againstFloor(
  samples: Samples,
  {
    group,
    job,
    floor,
    parley,
    atLeast,
  }: { group: string; job: string; floor: string; parley: string; atLeast: number },
): Row {
  return judged({
    group,
    job,
    floor: cpuOf(samples, floor),
    parley: cpuOf(samples, parley),
    rates: { floor: rateOf(samples, floor), parley: rateOf(samples, parley) },
    reached: ratioOf(samples, floor, parley, ({ cpuMicroseconds }) => cpuMicroseconds),
    goal: { atLeast },
  })
}

/** How many times fewer requests a second than another of Parley's own; for work that is done outside of its process. */
export function slowerBy(
  samples: Samples,
  { group, job, base, parley, atMost }: { group: string; job: string; base: string; parley: string; atMost: number },
): Row {
  return judged({
    group,
    job,
    floor: rateOf(samples, base),
    parley: rateOf(samples, parley),
    reached: ratioOf(samples, base, parley, ({ requestsPerSecond }) => requestsPerSecond),
    goal: { atMost },
  })
}

/** How many times the CPU of another request of Parley's own. */
export function againstSelf(
  samples: Samples,
  { group, job, base, parley, atMost }: { group: string; job: string; base: string; parley: string; atMost: number },
): Row {
  return judged({
    group,
    job,
    floor: cpuOf(samples, base),
    parley: cpuOf(samples, parley),
    rates: { floor: rateOf(samples, base), parley: rateOf(samples, parley) },
    reached: ratioOf(samples, parley, base, ({ cpuMicroseconds }) => cpuMicroseconds),
    goal: { atMost },
  })
}

export function ratioOf(samples: Samples, above: string, below: string, value: (sample: Sample) => number): number {
  const others = samples.get(below) ?? []
  const ratios = (samples.get(above) ?? []).map((sample, round) => value(sample) / value(others[round] as Sample))
  return figureOf(ratios, '').median
}

/** What a group of jobs gets to work with. */
export interface Bench {
  plan: Plan
  generator: Generator
  /** Remembers to stop a server after the group. */
  started<Server extends Running>(server: Promise<Server>): Promise<Server>
}

export interface Group {
  name: string
  about: string
  run(bench: Bench): Promise<Row[]>
}
