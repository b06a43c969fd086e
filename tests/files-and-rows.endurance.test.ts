import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { pino } from 'pino'
import sharp from 'sharp'
import { systemClock } from '../server/src/adapters/clock/system.ts'
import { picturesInChild } from '../server/src/adapters/pictures/in-child.ts'
import { purgeApp } from '../server/src/areas/apps/jobs.ts'
import { claimFiles, keepFile, openReception, receiveAnnounced, releaseFiles } from '../server/src/areas/files/index.ts'
import { addFile } from '../server/src/areas/files/store.ts'
import { messagesErased } from '../server/src/areas/timeline/events.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import type { Pictures } from '../server/src/kit/ports.ts'
import type { InApp } from '../server/src/kit/work.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { databases, freshDatabase } from './support/databases.ts'
import { times } from './support/quick.ts'
import { type Random, randomFrom, seedFrom } from './support/random.ts'
import { s3Server } from './support/s3.ts'
import { forAMoment, until } from './support/until.ts'

/**
 * Files come, are sent, forwarded, pictured and deleted in random order, while servers die between any two steps and some
 * steps take very long. In the end the store holds what the rows say, and nothing else.
 */

const seedVariable = 'FILES_SEED'
const runsPerStore = times(1, 6)
const stepsPerRun = 200
const apps = ['shop', 'club']
const hour = 3_600
const never = new Promise<never>(() => {})
const silentLog = pino({ level: 'silent' })

const picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#336699' } })
  .png()
  .toBuffer()

const inTwo = (bytes: Buffer) => [bytes.subarray(0, 50), bytes.subarray(50)]

type OpenHouse = Awaited<ReturnType<typeof openHouse>>

/** One server's time from its start to its death. */
interface Life {
  house: OpenHouse
  isOver: boolean
}

/** What happens to whoever is between two steps: most go on, some wait, some die. */
interface Fate {
  random: Random
  /** How likely it is that a server dies, or that something takes long. */
  deadly: number
  slow: number
  /** Those that wait. */
  waiting: (() => void)[]
  /** Content that a store has taken to its end and is making durable; that takes no hours. */
  finishing: Set<Promise<unknown>>
}

/** Transactions under way, of whichever server: one that is dead ends its own as if that had been the last it did. */
const writing = new Set<Promise<unknown>>()

async function beginLife(environment: Record<string, string>, fate: Fate, pictures: Pictures): Promise<Life> {
  // All of them share this process, and on SQLite whoever opens the file would wait for one that cannot go on meanwhile.
  await Promise.allSettled(writing)
  const house = await openHouse(readConfig(environment), silentLog, { clock: systemClock() })
  const life: Life = { house, isOver: false }
  const { random } = fate

  /** A dead server goes no further, whatever it was at. */
  async function mayDie(): Promise<void> {
    if (random.chance(fate.deadly)) life.isOver = true
    if (life.isOver) await never
  }

  async function mayWait(): Promise<void> {
    if (random.chance(fate.slow)) await new Promise<void>((go) => fate.waiting.push(go))
    await mayDie()
  }

  function broken<Args extends unknown[], Result>(between: typeof mayDie, work: (...args: Args) => Promise<Result>) {
    return async (...args: Args): Promise<Result> => {
      await between()
      const result = await work(...args)
      await between()
      return result
    }
  }

  const { database, tools } = house
  const { put, get, remove } = tools.files
  const { write: writeAtOnce } = database
  const write: typeof writeAtOnce = (...args) => {
    const written = writeAtOnce(...args)
    writing.add(written)
    return written.finally(() => writing.delete(written))
  }
  async function* halting(content: AsyncIterable<Buffer>, atEnd: () => void) {
    for await (const chunk of content) {
      yield chunk
      await mayWait()
    }
    atEnd()
  }
  async function putSlowly(...[key, content, about]: Parameters<typeof put>): Promise<void> {
    const putting = put(
      key,
      halting(content, () => fate.finishing.add(putting)),
      about,
    )
    await putting.finally(() => fate.finishing.delete(putting))
  }
  database.write = broken(mayDie, write) as typeof write
  tools.files.put = broken(mayWait, putSlowly)
  tools.files.get = broken(mayDie, get)
  tools.files.remove = broken(mayDie, remove)
  await tools.pictures.close()
  tools.pictures = {
    // A dead server's question is nobody's; one decoder is enough for all of them.
    async shrink(read, edge) {
      const content = await read()
      const bytes = content && (await buffer(content))
      return bytes && pictures.shrink(async () => Readable.from([bytes]), edge)
    },
    close: async () => {},
  }
  return life
}

/** What was acknowledged: which message has which file. */
interface Known {
  keys: Map<number, string>
  /** Sent or deleted without an answer; both may have happened. */
  doubtful: Set<number>
  purged: Set<string>
}

const appOf = (messageId: number) => apps[messageId % apps.length] as string

function inAppOf({ house: { database, tools } }: Life, appId: string): InApp {
  return (work) => database.write((connection) => work(workIn(connection, appId, tools)))
}

/** As a request with a form does it. */
async function sendForm(life: Life, known: Known, messageId: number): Promise<void> {
  const inApp = inAppOf(life, appOf(messageId))
  known.doubtful.add(messageId)
  const reception = openReception(life.house.tools, inApp, 'ada', (content) => content)
  try {
    const { file } = await reception.take(Readable.from(inTwo(picture)), { name: 'a.png', declaredType: 'image/png' })
    await inApp(async (work) => {
      if (messageId % 5 === 0) throw new Error('refused')
      await keepFile(work, file)
      await claimFiles(work.db, [file.key], messageId)
    })
    known.keys.set(messageId, file.key)
    known.doubtful.delete(messageId)
  } catch {
    await reception.discard()
  }
}

/** As a client does it that uploads first. */
async function sendUploaded(life: Life, known: Known, messageId: number): Promise<void> {
  const inApp = inAppOf(life, appOf(messageId))
  known.doubtful.add(messageId)
  const about = { name: 'a.png', mimeType: 'image/png', extension: 'png', size: picture.length, uploader: 'ada' }
  const key = await inApp((work) => addFile(work, { state: 'announced', ...about }))
  await receiveAnnounced(life.house.tools, inApp, key, () => Readable.from(inTwo(picture)))
  const claimed = await inApp(({ db }) => claimFiles(db, [key], messageId))
  if (claimed.length === 1) known.keys.set(messageId, key)
  known.doubtful.delete(messageId)
}

async function forward(life: Life, known: Known, from: number, messageId: number): Promise<void> {
  const key = known.keys.get(from)
  if (key === undefined || appOf(from) !== appOf(messageId)) return
  known.doubtful.add(messageId)
  const claimed = await inAppOf(life, appOf(from))(({ db }) => claimFiles(db, [key], messageId))
  if (claimed.length === 1) known.keys.set(messageId, key)
  known.doubtful.delete(messageId)
}

async function deleteMessage(life: Life, known: Known, messageId: number): Promise<void> {
  known.doubtful.add(messageId)
  await inAppOf(life, appOf(messageId))((work) => releaseFiles(work, [messageId]))
  known.keys.delete(messageId)
  known.doubtful.delete(messageId)
}

/** As users, groups and conversations go: with an event for all that was said there. */
async function deleteWithAll(life: Life, known: Known, appId: string): Promise<void> {
  const ids = [...known.keys.keys()].filter((messageId) => appOf(messageId) === appId).slice(-4)
  for (const id of ids) known.doubtful.add(id)
  await inAppOf(life, appId)(({ emit }) => emit(messagesErased, { ids }))
  for (const id of ids) {
    known.keys.delete(id)
    known.doubtful.delete(id)
  }
}

/** Lets claims of the dead run out. */
function jump({ mock }: TestContext, seconds: number): void {
  const later = Date.now() + seconds * 1000
  const since = performance.now()
  mock.method(Date, 'now', () => Math.floor(later + performance.now() - since))
}

async function live(test: TestContext, environment: Record<string, string>, seed: number): Promise<void> {
  const random = randomFrom(seed)
  const fate: Fate = { random, deadly: 0.003, slow: 0.15, waiting: [], finishing: new Set() }
  const known: Known = { keys: new Map(), doubtful: new Set(), purged: new Set() }
  const pictures = picturesInChild(() => {})
  const lives = [await beginLife(environment, fate, pictures)]
  let ahead = 0
  const now = () => lives.at(-1) as Life

  async function goOn(): Promise<void> {
    if (now().isOver) lives.push(await beginLife(environment, fate, pictures))
    now().house.tools.clock.setOffset(ahead)
  }

  const messages = () => [...known.keys.keys()]
  const settle = () => now().house.workers.settle(200)
  const acts: [times: number, act: (n: number) => Promise<unknown>][] = [
    [6, (n) => sendForm(now(), known, n)],
    [2, (n) => sendUploaded(now(), known, n)],
    [2, async (n) => messages().length > 0 && forward(now(), known, random.pick(messages()), n)],
    // What was sent a moment ago is still being worked on.
    [6, async () => messages().length > 0 && deleteMessage(now(), known, random.pick(messages().slice(-3)))],
    [1, () => deleteWithAll(now(), known, random.pick(apps))],
    [8, settle],
    [4, async () => fate.waiting.splice(random.whole(0, fate.waiting.length), 1)[0]?.()],
    [1, async () => jump(test, 61)],
    [
      1,
      async () => {
        await Promise.allSettled(fate.finishing)
        ahead += random.pick([60, 600, 2 * hour, 25 * hour])
        now().house.tools.clock.setOffset(ahead)
      },
    ],
  ]
  const choices = acts.flatMap(([times, act]) => Array.from({ length: times }, () => act))
  for (let n = 1; n <= stepsPerRun; n += 1) {
    await goOn()
    const acting = random
      .pick(choices)(n)
      .catch(() => {})
    await forAMoment(acting)
  }
  const doomed = random.pick(apps)
  await goOn()
  void inAppOf(now(), doomed)(({ later }) => later(purgeApp, {}, { key: doomed })).catch(() => {})
  known.purged.add(doomed)

  // From here on everybody goes on, and time passes.
  fate.deadly = 0
  fate.slow = 0
  await goOn()
  await inAppOf(now(), doomed)(({ later }) => later(purgeApp, {}, { key: doomed }))
  const { house } = now()
  await until(
    'all that is left is done',
    async () => {
      for (const go of fate.waiting.splice(0)) go()
      await Promise.allSettled(fate.finishing)
      ahead += 5 * hour
      house.tools.clock.setOffset(ahead)
      jump(test, 61)
      await house.workers.settle(2_000)
      return ahead > 100 * hour && fate.waiting.length === 0 && (await unsettled(house)) === 0
    },
    60_000,
  )
  test.diagnostic(`seed ${seed}: ${lives.length} servers, ${known.keys.size} files sent for certain`)
  await compare(house, known)
  for (const each of lives) await each.house.close()
  await pictures.close()
}

async function rowsOf({ database }: OpenHouse) {
  const rows = await Promise.all(
    apps.map((appId) => tenantDb(database.reader, appId).select('files').selectAll('files').execute()),
  )
  return rows.flat()
}

/** Rows that are on their way somewhere. */
async function unsettled(house: OpenHouse): Promise<number> {
  return (await rowsOf(house)).filter(({ state, unused_since }) => state !== 'stored' || unused_since !== null).length
}

async function compare(house: OpenHouse, { keys, doubtful, purged }: Known): Promise<void> {
  const rows = await rowsOf(house)
  const listed = new Set<string>()
  for await (const name of house.tools.files.list()) listed.add(name)
  const named = new Set(rows.map(({ key }) => key))
  const strays = [...listed].filter((name) => !named.has(name.replace(/-small$/, '')))
  assert.deepEqual(strays, [], 'nothing is in the store that no row names')
  const missing = rows.filter(
    ({ key, has_thumbnail }) => !listed.has(key) || (has_thumbnail === 1 && !listed.has(`${key}-small`)),
  )
  assert.deepEqual(missing, [], 'nothing is missing that a row names')
  for (const [messageId, key] of keys) {
    if (doubtful.has(messageId) || purged.has(appOf(messageId))) continue
    assert.ok(named.has(key), `message ${messageId} has lost its file`)
  }
  assert.deepEqual(
    rows.filter(({ app_id }) => purged.has(app_id)),
    [],
    'nothing is left of the app that is gone',
  )
}

for (const database of databases) {
  describe(`files and their rows on ${database}`, () => {
    for (const store of ['a folder', 'an S3 bucket'] as const) {
      it(`agree in the end in ${store}, whatever dies in between`, async (test) => {
        const seed = seedFrom(seedVariable)
        test.diagnostic(`${seedVariable}=${seed}`)
        for (let run = 0; run < runsPerStore; run += 1) {
          const s3 = store === 'a folder' ? undefined : await s3Server()
          const fresh = await freshDatabase(database)
          const inBucket: Record<string, string> = s3
            ? {
                ...{ PARLEY_S3_BUCKET: s3.bucket, PARLEY_S3_ENDPOINT: s3.endpoint },
                ...{ PARLEY_S3_ACCESS_KEY: s3.accessKey, PARLEY_S3_SECRET_KEY: s3.secretKey },
              }
            : {}
          await live(test, { ...fresh.environment, ...inBucket }, seed + run)
          await fresh.drop()
          await s3?.close()
        }
      })
    }
  })
}
