import { parentPort, workerData } from 'node:worker_threads'
import { type Place, placeOfGroup, placeOfUsers } from '../../server/src/areas/timeline/index.ts'
import { type Attempt, attemptIn, type By } from './crossing.ts'
import {
  everMembers,
  problemsIn,
  type Rows,
  rowsOfOther,
  rowsOfVictims,
  type Stage,
  stageFor,
  told,
} from './crossing-stage.ts'
import type { DatabaseName } from './databases.ts'
import type { Way } from './dispatched.ts'
import { type House, house } from './house.ts'
import type { Answer } from './http.ts'
import { type Random, randomFrom } from './random.ts'

/** Makes attempts and judges what comes of them; in a thread of its own, where that is several times faster. */

export interface Search {
  database: DatabaseName
  way: Way
  attempts: number
  /** After so many, others meet elsewhere. */
  attemptsPerStage: number
  seed: number
}

export interface Outcome {
  /** By operation: how often it was tried, and how often it did what it was asked for. */
  operations: Map<string, { tried: number; done: number }>
  failures: string[]
}

const lanes = 16
/** Of so many stages, one is the app's. */
const stagesPerRound = 4
const failuresMax = 10
const charactersShown = 1_000

const environment = {
  PARLEY_LIMIT_STANDARD: '1000000000',
  PARLEY_LIMIT_CORE: '1000000000',
  PARLEY_APPS_MAX: '1000',
  // Followers and jobs run between two stages.
  PARLEY_ROLES: 'api',
}

async function run({ database, way, attempts, attemptsPerStage, seed }: Search): Promise<Outcome> {
  const h = await house({ database, way, strict: false, environment })
  const outcome: Outcome = { operations: new Map(), failures: [] }
  for (let made = 0; made < attempts && outcome.failures.length < failuresMax; made += attemptsPerStage) {
    const n = made / attemptsPerStage
    const by: By = n % stagesPerRound === stagesPerRound - 1 ? 'app' : 'attackers'
    const count = Math.min(attemptsPerStage, attempts - made)
    await playStage(h, by, count, randomFrom(seed + n * 7_919), `stage ${n}`, outcome)
  }
  await h.close()
  return outcome
}

async function playStage(
  h: House,
  by: By,
  count: number,
  random: Random,
  name: string,
  outcome: Outcome,
): Promise<void> {
  const stage = await stageFor(h, random, name)
  await h.settle()
  const [victims, other] = [await rowsOfVictims(h, stage), await rowsOfOther(h, stage)]
  const sights: Sight[] = []
  const isDone = (id: string) => (outcome.operations.get(id)?.done ?? 0) > 0
  let left = count
  const lane = async () => {
    for (; left > 0 && outcome.failures.length < failuresMax; ) {
      left -= 1
      await tryOne(h, stage, attemptIn(stage, by, random, isDone), sights, outcome)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  await h.settle()
  const failed = (problems: string[]) => outcome.failures.push(...problems.map((problem) => `${name}: ${problem}`))
  failed(await problemsIn(h, stage))
  failed(differences('the other app', other, await rowsOfOther(h, stage)))
  if (by === 'attackers') failed(differences('victims', victims, await rowsOfVictims(h, stage)))
  failed(await unlawfulSights(h, stage, sights))
}

/** What was said somewhere has been shown to a user. */
interface Sight {
  actor: string
  place: Place
  attempt: Attempt
}

async function tryOne(
  { client, management }: House,
  stage: Stage,
  attempt: Attempt,
  sights: Sight[],
  { operations, failures }: Outcome,
): Promise<void> {
  const { operation, host, path, headers, body, actor, isStranger } = attempt
  const credentials = operation.door === 'management' ? { key: management.key, secret: management.secret } : headers
  // What is good in the other app, and was just now, is not good here.
  if (isStranger) await client.send(stage.other.app.host, '/v3/conversations', { headers: credentials })
  const answer = await client.send(host, path, {
    method: operation.method,
    headers: credentials,
    ...(body !== undefined && { body }),
  })
  const count = operations.get(operation.id) ?? { tried: 0, done: 0 }
  operations.set(operation.id, { tried: count.tried + 1, done: count.done + (answer.status === 200 ? 1 : 0) })
  const problem = problemWith(stage, answer, isStranger)
  if (problem) failures.push(`${problem}: ${shown(attempt)} ${answer.text.slice(0, charactersShown)}`)
  for (const n of new Set(told(answer.text))) {
    const place = stage.said[n]
    if (place && actor !== undefined) sights.push({ actor, place, attempt })
  }
  learn(stage, answer, operation.id)
}

function problemWith({ other }: Stage, { status, text }: Answer, isStranger: boolean): string | undefined {
  if (status >= 500) return 'it failed'
  if (isStranger && status === 200) return 'the key or token of the other app was taken'
  return text.includes(other.word) ? 'it shows something of the other app' : undefined
}

/** Messages that were sent can be meant by what follows. */
function learn({ own }: Stage, { status, body }: Answer, id: string): void {
  const message = body?.data
  if (status !== 200 || !sending.has(id) || !message.id) return
  const { sender, receiver, receiverType } = message
  const place = receiverType === 'group' ? placeOfGroup(receiver) : placeOfUsers(sender, receiver)
  if (own.messages.size < messagesMax) own.messages.set(message.id, place)
}

const messagesMax = 400
const sending = new Set(['sendMessage', 'sendMessageToUser', 'sendMessageToGroup', 'sendMessageAsBot', 'sendReply'])

async function unlawfulSights(h: House, stage: Stage, sights: Sight[]): Promise<string[]> {
  const members = await everMembers(h, stage)
  const isTheirs = ({ actor, place: { type, first, second } }: Sight) =>
    type === 'group' ? members.has(`${first} ${actor}`) : [first, second].includes(actor)
  return sights
    .filter((sight) => !isTheirs(sight))
    .map(({ actor, place, attempt }) => `${actor} saw what was said in ${place.conversationKey}: ${shown(attempt)}`)
}

function differences(whose: string, before: Rows, after: Rows): string[] {
  return Object.keys({ ...before, ...after }).flatMap((table) => {
    const [old, now] = [new Set(before[table]), new Set(after[table])]
    const changed = [...now].filter((row) => !old.has(row)).concat([...old].filter((row) => !now.has(row)))
    return changed.slice(0, 2).map((row) => `${table} of ${whose} has changed: ${row.slice(0, charactersShown)}`)
  })
}

function shown({ operation, path, headers, body }: Attempt): string {
  return JSON.stringify({ id: operation.id, path, headers, body }).slice(0, charactersShown)
}

parentPort?.postMessage(await run(workerData as Search))
