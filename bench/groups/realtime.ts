import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { type Bench, type Figure, figureOf, type Group, judged, type Row } from '../harness.ts'
import { type Install, installWithListeners, requestTo, send } from '../install.ts'
import { hallAt, hallsCount, listenerAt, parlour, parlourSize, speaker, tokensFile } from '../load-listeners.ts'
import { cpuSeconds, type Running, residentMegabytes, startFloor, startParley, throughProxy } from '../processes.ts'
import { type Crowd, startCrowd } from '../sockets.ts'

const talksPerRound = 20
const burstsPerRound = 5
const burstSize = 10
const missedInStorm = 20
const latencySeconds = 8
const rates = [200, 1_000]
const sendsPerRound = 300
const restMilliseconds = 3_000

interface Stage {
  /** The name of the group. */
  group: string
  bench: Bench
  install: Install
  host: string
  tokens: string[]
  people: number
  /** How many of them one message goes to. */
  listeners: number
}

const onStage = (name: string, about: string, run: (stage: Stage) => Promise<Row[]>): Group => ({
  name,
  about,
  async run(bench) {
    const isQuick = bench.plan.records < 1_000_000
    const people = isQuick ? 1_000 : 10_000
    const install = await installWithListeners(people, bench.plan.folder)
    const tokens: string[] = JSON.parse(readFileSync(join(install.data, tokensFile), 'utf8'))
    const host = install.host.replace('.call-', '.api-')
    return run({ group: name, bench, install, host, tokens, people, listeners: isQuick ? 200 : 1_000 })
  },
})

export const realtime: Group[] = [
  onStage('realtime/fan-out', 'A message, and bursts of them, to many sockets, against bare ws', fanOut),
  onStage('realtime/latency', 'From request to frame', latency),
  onStage('realtime/idle', 'What idle sockets take, against bare ws', idle),
  onStage('realtime/storm', 'All sockets come back at once, against bare ws', storm),
]

const startServer = ({ bench, install: { data, environment } }: Stage) =>
  startParley({
    data,
    environment: {
      ...environment,
      PARLEY_LIMIT_MESSAGES: '1000000000',
      PARLEY_LIMIT_CONNECTS: '1000000000',
      PARLEY_CONNECTIONS_MAX: '100000',
      PARLEY_CONNECTIONS_PER_ADDRESS_MAX: '100000',
    },
    profileFolder: bench.plan.profileFolder,
  })

const startBareWs = ({ install: { data } }: Stage) =>
  startFloor('ws', {
    cert: readFileSync(join(data, 'server.pem'), 'utf8'),
    key: readFileSync(join(data, 'server-key.pem'), 'utf8'),
  })

function placeAt({ host, tokens }: Stage, server: Running, secure: boolean, count: number) {
  const port = secure ? server.ports.secure : server.ports.plain
  return { port, secure, headers: { host: `${host}:${port}`, ...throughProxy }, tokens, count }
}

function floorPlace({ ports }: Running, secure: boolean, count: number) {
  return { port: secure ? ports.secure : ports.plain, secure, headers: {}, count }
}

// A connection for each of those that come at once, made once.
const kept = new Agent({ keepAlive: true, maxSockets: burstSize })

const data = { text: 'The oak for the bench comes tomorrow.' }

/** The speaker says something in a group, so often at once. */
const say = (stage: Stage, server: Running, guid: string, times: number) =>
  post(stage, server, { receiver: guid, receiverType: 'group', data }, times)

async function post(stage: Stage, server: Running, body: object, times: number): Promise<void> {
  const headers = { host: stage.host, onbehalfof: speaker }
  const request = requestTo(stage.install, '/v3/messages', { method: 'POST', body, headers })
  const answers = await Promise.all(Array.from({ length: times }, () => send(server, request, kept)))
  const refused = answers.find(({ status }) => status !== 200)
  if (refused) throw new Error(`A message was refused: ${refused.text}`)
}

interface Contender {
  server: Running
  crowd: Crowd
  /** Says something to everybody, so often in a turn. */
  speak(times: number): Promise<void>
}

async function fanOut(stage: Stage): Promise<Row[]> {
  const server = await startServer(stage)
  const floor = await startBareWs(stage)
  try {
    return [...(await fanOutOver(stage, server, floor, false)), ...(await fanOutOver(stage, server, floor, true))]
  } finally {
    await Promise.all([server.stop(), floor.stop()])
  }
}

async function fanOutOver(stage: Stage, server: Running, floor: Running, secure: boolean): Promise<Row[]> {
  const { group, listeners, bench } = stage
  const [parleyCrowd, floorCrowd] = [startCrowd(), startCrowd()]
  try {
    await parleyCrowd.open(placeAt(stage, server, secure, listeners))
    await floorCrowd.open(floorPlace(floor, secure, listeners))
    await say(stage, server, hallAt(0), 1)
    await parleyCrowd.heard(listeners)
    const { frame = '' } = await parleyCrowd.ask({ frame: true })
    const parley: Contender = { server, crowd: parleyCrowd, speak: (times) => say(stage, server, hallAt(0), times) }
    const bare: Contender = {
      server: floor,
      crowd: floorCrowd,
      async speak(times) {
        await send(floor, { method: 'POST', path: `/?times=${times}`, headers: {}, body: frame })
      },
    }
    const jobs = [
      { job: 'a message', turns: talksPerRound, times: 1, atLeast: secure ? 0.85 : 0.7 },
      { job: 'bursts of ten', turns: burstsPerRound, times: burstSize, atLeast: secure ? 1.3 : 2 },
    ]
    const rows: Row[] = []
    for (const { job, turns, times, atLeast } of jobs) {
      const deliver = (contender: Contender) => cpuPerDelivery(contender, turns, times, listeners)
      for (const contender of [bare, parley]) await deliver(contender)
      const rounds: { bare: number; parley: number }[] = []
      for (let n = 0; n < bench.plan.rounds; n += 1) {
        rounds.push({ bare: await deliver(bare), parley: await deliver(parley) })
      }
      rows.push(
        judged({
          ...{ group, job: `${job} to ${listeners} sockets, ${secure ? 'TLS' : 'plain'}` },
          floor: figureOf(
            rounds.map((round) => round.bare),
            'µs',
          ),
          parley: figureOf(
            rounds.map((round) => round.parley),
            'µs',
          ),
          reached: figureOf(
            rounds.map((round) => round.bare / round.parley),
            '',
          ).median,
          goal: { atLeast },
        }),
      )
    }
    return rows
  } finally {
    for (const crowd of [parleyCrowd, floorCrowd]) crowd.stop()
  }
}

async function cpuPerDelivery({ server, crowd, speak }: Contender, turns: number, times: number, sockets: number) {
  const before = cpuSeconds(server.pid)
  for (let n = 0; n < turns; n += 1) {
    await speak(times)
    await crowd.heard(times * sockets)
  }
  return ((cpuSeconds(server.pid) - before) * 1e6) / (turns * times * sockets)
}

async function latency(stage: Stage): Promise<Row[]> {
  const { group, host, install, listeners } = stage
  const server = await startServer(stage)
  const crowd = startCrowd()
  const rows: Row[] = []
  try {
    await crowd.open(placeAt(stage, server, true, listeners))
    const headers = { host, apikey: install.apiKey, onbehalfof: speaker }
    const receivers = Array.from({ length: listeners }, (_, n) => listenerAt(n))
    const talk = { headers, port: server.ports.secure, receivers, seconds: latencySeconds }
    await crowd.ask({ talk: { ...talk, rate: 200, seconds: 2 } })
    for (const rate of rates) {
      const { milliseconds } = await crowd.ask({ talk: { ...talk, rate } })
      const { p50 = 0, p99 = 0 } = milliseconds ?? {}
      for (const [part, value, atMost] of [
        ['p50', p50, 10],
        ['p99', p99, 50],
      ] as const) {
        const parley = figureOf([value], 'ms')
        rows.push(
          judged({
            group,
            job: `request to frame, ${part} at ${rate}/s, TLS`,
            parley,
            reached: value,
            goal: { atMost },
          }),
        )
      }
    }
    return rows
  } finally {
    crowd.stop()
    await server.stop()
  }
}

const clientProcesses = 2
const rest = () => new Promise((resolve) => setTimeout(resolve, restMilliseconds))

async function idle(stage: Stage): Promise<Row[]> {
  const { group, people } = stage
  const bare = await openBareWs(stage)
  const server = await startServer(stage)
  const [few, crowd] = [startCrowd(), startCrowd(clientProcesses)]
  try {
    const tokens = stage.tokens.slice(parlourSize)
    await few.open(placeAt(stage, server, true, parlourSize))
    const alone = await costOfMessages(stage, server, few)
    const before = residentMegabytes(server.pid)
    await crowd.open({ ...placeAt(stage, server, true, people - parlourSize), tokens })
    await rest()
    const resident = residentMegabytes(server.pid)
    const among = await costOfMessages(stage, server, few)
    const kilobytes = ((resident - before) * 1024) / (people - parlourSize)
    return [
      judged({
        ...{ group, job: `an idle TLS socket in ${hallsCount} groups, of ${people}` },
        floor: figureOf([bare.kilobytes], 'KB'),
        parley: figureOf([kilobytes], 'KB'),
        reached: kilobytes / bare.kilobytes,
        goal: { atMost: 1.3 },
      }),
      judged({
        ...{ group, job: `${people} idle TLS sockets, resident` },
        parley: figureOf([resident], 'MB'),
        reached: resident,
        goal: { atMost: 850 },
      }),
      judged({
        ...{ group, job: `a message to ${parlourSize}, with ${people} idle sockets against none` },
        floor: alone,
        parley: among,
        reached: among.median / alone.median,
        goal: { atMost: 1.3 },
      }),
    ]
  } finally {
    for (const each of [few, crowd]) each.stop()
    await server.stop()
  }
}

async function storm(stage: Stage): Promise<Row[]> {
  const { group, people } = stage
  const bare = await openBareWs(stage)
  const server = await startServer(stage)
  const crowd = startCrowd(clientProcesses)
  try {
    await crowd.open(placeAt(stage, server, true, people))
    await rest()
    await crowd.cut()
    await rest()
    await say(stage, server, hallAt(1), missedInStorm)
    const { seconds, wrong } = await crowd.comeBack(missedInStorm)
    if (wrong > 0) throw new Error(`${wrong} devices were not told exactly what they had missed.`)
    return [
      judged({
        ...{ group, job: `all ${people} come back over TLS and are told ${missedInStorm} messages` },
        floor: figureOf([bare.seconds], 's'),
        parley: figureOf([seconds], 's'),
        reached: seconds,
        goal: { atMost: 30 },
      }),
    ]
  } finally {
    crowd.stop()
    await server.stop()
  }
}

/** What a socket takes there, and how long it takes until all are in who only come. */
async function openBareWs(stage: Stage): Promise<{ kilobytes: number; seconds: number }> {
  const floor = await startBareWs(stage)
  const crowd = startCrowd(clientProcesses)
  try {
    await rest()
    const before = residentMegabytes(floor.pid)
    const begun = performance.now()
    await crowd.open(floorPlace(floor, true, stage.people))
    const seconds = (performance.now() - begun) / 1000
    await rest()
    return { kilobytes: ((residentMegabytes(floor.pid) - before) * 1024) / stage.people, seconds }
  } finally {
    crowd.stop()
    await floor.stop()
  }
}

/** CPU of a message to the few who hear it, whoever else is connected. */
async function costOfMessages({ bench, ...stage }: Stage, server: Running, few: Crowd): Promise<Figure> {
  const values: number[] = []
  for (let round = 0; round <= bench.plan.rounds; round += 1) {
    const before = cpuSeconds(server.pid)
    for (let n = 0; n < sendsPerRound; n += burstSize) {
      await say({ bench, ...stage }, server, parlour, burstSize)
      await few.heard(burstSize * parlourSize)
    }
    values.push(((cpuSeconds(server.pid) - before) * 1e6) / sendsPerRound)
  }
  // The first one is for warming up.
  return figureOf(values.slice(1), 'µs')
}
