import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FixedAnswer, HttpFloor } from '../floors/http.ts'
import type { SendFloor } from '../floors/send.ts'
import { againstFloor, type Bench, figureOf, type Group, interleave, judged, measure } from '../harness.ts'
import { type Install, installWith, requestTo, send } from '../install.ts'
import { type Request, serialNumber } from '../load.ts'
import { type Running, startFloor, startParley } from '../processes.ts'

export interface Stage {
  install: Install
  server: Running
}

/** Parley on the large install. */
export async function largeStage({ plan, started }: Bench): Promise<Stage> {
  const install = await installWith(plan.records, plan.folder)
  const server = await started(startParley({ data: install.data, profileFolder: plan.profileFolder }))
  return { install, server }
}

/** The floor that answers what Parley answered to each of these requests. */
export async function httpFloorFor({ install, server }: Stage, requests: Request[]): Promise<Running> {
  const answers: Record<string, FixedAnswer> = {}
  for (const request of requests) {
    const { status, headers, text } = await send(server, request)
    answers[request.path] = { status, headers, body: text }
  }
  const settings: HttpFloor = {
    answers,
    cert: readFileSync(join(install.data, 'server.pem'), 'utf8'),
    key: readFileSync(join(install.data, 'server-key.pem'), 'utf8'),
  }
  return startFloor('http', settings)
}

/** The floor that inserts a row of so many characters for each request, and answers what Parley answered to one. */
export async function sendFloorFor(stage: Stage, request: Request, rowCharacters: number): Promise<Running> {
  const body = request.body?.replace(serialNumber, String(Date.now()))
  const { status, headers, text } = await send(stage.server, { ...request, ...(body !== undefined && { body }) })
  const settings: SendFloor = {
    file: join(stage.install.data, 'floor.sqlite'),
    row: 'x'.repeat(rowCharacters),
    answer: { status, headers, body: text },
  }
  return startFloor('send', settings)
}

const differentCalls = 500
const pagesAsked = 5

/** Requests for single calls from all over the list. */
export async function requestsForCalls({ install, server }: Stage): Promise<Request[]> {
  const perPage = differentCalls / pagesAsked
  const requests: Request[] = []
  for (let n = 0; n < pagesAsked; n += 1) {
    const page = 1 + Math.floor((n * install.records) / pagesAsked / perPage)
    const { text } = await send(server, requestTo(install, `/v3/calls?page=${page}&perPage=${perPage}`))
    const { data } = JSON.parse(text) as { data: { sessionId: string }[] }
    requests.push(...data.map(({ sessionId }) => requestTo(install, `/v3/calls/${sessionId}`)))
  }
  return requests
}

export const oneCall: Group = {
  name: 'calls/one',
  about: 'GET /calls/{sessionId} against raw HTTP that answers the same bytes',
  async run(bench) {
    const stage = await largeStage(bench)
    const requests = await requestsForCalls(stage)
    const floor = await bench.started(httpFloorFor(stage, requests))
    const { server } = stage
    const samples = await interleave(bench.generator, bench.plan, [
      { name: 'floor', server: floor, requests },
      { name: 'parley', server, requests },
      { name: 'floor, TLS', server: floor, requests, secure: true },
      { name: 'parley, TLS', server, requests, secure: true },
    ])
    const group = 'calls/one'
    const atLeast = 0.55
    return [
      againstFloor(samples, { group, job: 'GET /calls/{id}', floor: 'floor', parley: 'parley', atLeast }),
      againstFloor(samples, {
        group,
        job: 'GET /calls/{id}, TLS',
        floor: 'floor, TLS',
        parley: 'parley, TLS',
        atLeast,
      }),
    ]
  },
}

const comfortableShare = 0.7

export const latency: Group = {
  name: 'calls/latency',
  about: 'GET /calls/{sessionId} at 70 % of the highest throughput: how far the slowest are from the middle',
  async run({ generator, plan, ...bench }) {
    const stage = await largeStage({ generator, plan, ...bench })
    const contender = { name: 'parley', server: stage.server, requests: await requestsForCalls(stage) }
    const fastest = await interleave(generator, plan, [contender])
    const highest = figureOf(
      (fastest.get('parley') ?? []).map(({ requestsPerSecond }) => requestsPerSecond),
      '/s',
    ).median
    const rate = Math.floor(highest * comfortableShare)
    const p50: number[] = []
    const p99: number[] = []
    for (let round = 0; round < plan.rounds; round += 1) {
      const sample = await measure(generator, { ...contender, rate }, plan.seconds)
      p50.push(sample.p50)
      p99.push(sample.p99)
    }
    return [
      judged({
        group: 'calls/latency',
        job: `GET /calls/{id}, p99 against p50 at ${rate}/s`,
        floor: figureOf(p50, 'ms'),
        parley: figureOf(p99, 'ms'),
        reached: figureOf(p99, 'ms').median / figureOf(p50, 'ms').median,
        goal: { atMost: 10 },
      }),
    ]
  },
}
