import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { workIn } from '../server/src/common/work-in.ts'
import { type KnownApp, openDirectory } from '../server/src/dispatch/directory.ts'
import { enterAsClient } from '../server/src/dispatch/doors/client.ts'
import { area } from '../server/src/kit/area.ts'
import { defineEvent } from '../server/src/kit/event.ts'
import { follower } from '../server/src/kit/follower.ts'
import { job } from '../server/src/kit/job.ts'
import type { Secrets } from '../server/src/kit/ports.ts'
import { Type } from '../server/src/kit/schema.ts'
import type { Work } from '../server/src/kit/work.ts'
import type { Database } from '../server/src/storage/database.ts'
import { DatabaseUnavailable } from '../server/src/storage/unavailable.ts'
import { createFollowers } from '../server/src/workers/followers.ts'
import { createLogReader } from '../server/src/workers/log-reader.ts'
import { keepRecentEvents } from '../server/src/workers/recent-events.ts'
import { databases } from './support/databases.ts'
import { type House, house } from './support/house.ts'
import { until } from './support/until.ts'

const payload = Type.Object({ n: Type.Integer() })
const ticked = defineEvent({ name: 'test.ticked', payload, audience: () => [] })
const echoed = defineEvent({ name: 'test.echoed', payload, audience: () => [] })
const chore = job({ name: 'test.chore', payload, attemptsMax: 1, run: async () => undefined })
const testing = area({ name: 'test', about: 'Ticks.', events: [ticked, echoed], jobs: [chore] })
const silentLog = pino({ level: 'silent' })

function inApp({ service }: House, work: (work: Work) => Promise<void>): Promise<void> {
  const { database, tools } = service.house
  return database.write((connection) => work(workIn(connection, 'app', tools)))
}

/** A database that counts how often the log is read. */
function counting(database: Database) {
  const looks = { atLog: 0 }
  const eventsAfter: Database['eventsAfter'] = (position, limit) => {
    looks.atLog += 1
    return database.eventsAfter(position, limit)
  }
  return { looks, database: { ...database, eventsAfter } }
}

describe('a log that was set back', () => {
  const row = (id: number, payload: string) => ({ id, app_id: 'app', name: ticked.name, payload, at: 0 })

  it('is read from where it ends now, and nothing that was lost is handed out', async () => {
    let log = [row(1, 'one'), row(2, 'lost'), row(3, 'lost')]
    let isAway = false
    const database = {
      logEnd: async () => log.at(-1)?.id ?? 0,
      async eventsAfter(position: number) {
        if (isAway) throw new DatabaseUnavailable('away on purpose')
        return log.filter(({ id }) => id > position)
      },
    } as unknown as Database
    const reader = createLogReader(database, () => {})
    const eventsAfter = keepRecentEvents(reader, database)
    const heard: string[] = []
    reader.subscribe((rows) => void heard.push(...rows.map(({ payload }) => payload)))
    const all = log
    log = []
    await reader.readAll()
    log = all
    await reader.readAll()
    assert.deepEqual(heard, ['one', 'lost', 'lost'])

    isAway = true
    await assert.rejects(reader.readAll(), DatabaseUnavailable)
    isAway = false
    log = all.slice(0, 1)
    assert.deepEqual(await eventsAfter(1), [])
    await reader.readAll()
    log = [...log, row(2, 'two'), row(3, 'three')]
    await reader.readAll()
    assert.deepEqual(heard.slice(3), ['two', 'three'])
    assert.deepEqual(
      (await eventsAfter(1)).map(({ payload }) => payload),
      ['two', 'three'],
    )
  })
})

describe('what the doors remember', () => {
  it('is let go when its time is over, and never of what is too long to be an auth token', async () => {
    let now = 0
    const asked: string[] = []
    const database = {
      async read(_work: unknown, whose: string) {
        asked.push(whose)
        return undefined
      },
    } as unknown as Database
    const secrets = { fingerprint: (text: string) => text } as Secrets
    const directory = openDirectory(database, secrets, () => now)
    const app = { id: 'app' } as KnownApp
    const enter = (authToken: string) => assert.rejects(enterAsClient(directory, app, { authToken }))
    await enter('short')
    await enter('short')
    assert.deepEqual(asked, ['app'])
    await enter('x'.repeat(513))
    assert.deepEqual(asked, ['app'])
    now = 1_000
    await enter('short')
    assert.deepEqual(asked, ['app', 'app'])
  })
})

for (const name of databases) {
  describe(`the log of a node on ${name}`, () => {
    it('is read once for all who follow it, whether or not an event is for them', async () => {
      const h = await house({ database: name, areas: [testing] })
      try {
        const { looks, database } = counting(h.service.house.database)
        const seen: string[] = []
        const followers = Array.from({ length: 20 }, (_, n) =>
          follower({
            ...{ name: `test.follower-${n}`, on: [n % 2 === 0 ? ticked : echoed] },
            handle: async ({ definition, payload }) => void seen.push(`${n} ${definition.name} ${payload.n}`),
          }),
        )
        const node = createFollowers(database, [{ ...testing, followers }], () => h.service.house.tools, silentLog)
        const readAll = () => until('the log is read', async () => !(await node.run()) && !(await node.isBehind()))
        await readAll()

        await inApp(h, ({ emit }) => emit(ticked, { n: 1 }))
        looks.atLog = 0
        await node.run()
        assert.equal(looks.atLog, 1)
        await readAll()
        await inApp(h, ({ emit }) => emit(echoed, { n: 2 }))
        await readAll()
        const expected = followers.map((_, n) => (n % 2 === 0 ? `${n} test.ticked 1` : `${n} test.echoed 2`))
        assert.deepEqual(seen.toSorted(), expected.toSorted())
      } finally {
        await h.close()
      }
    })

    it('is found in the database by one who is further behind than what is kept', async () => {
      const h = await house({ database: name, areas: [testing] })
      try {
        const { database, tools } = h.service.house
        const many = Array.from({ length: 1_300 }, (_, n) => ({ n }))
        const seen: number[] = []
        const all = follower({
          name: 'test.all',
          on: [ticked],
          handle: async (event) => void seen.push(event.payload.n),
        })
        const reader = createLogReader(database, () => {})
        const node = createFollowers(database, [{ ...testing, followers: [all] }], () => tools, silentLog, { reader })
        await reader.readAll()
        await inApp(h, ({ emitEach }) => emitEach(ticked, many))
        await reader.readAll()
        await until('the log is read', async () => !(await node.run()) && !(await node.isBehind()))
        assert.deepEqual(
          seen,
          many.map(({ n }) => n),
        )
      } finally {
        await h.close()
      }
    })
  })

  describe(`a commit on ${name}`, () => {
    it('wakes those who wait for what it leaves, and nobody else', async () => {
      const h = await house({ database: name, areas: [testing] })
      try {
        const { database } = h.service.house
        await h.settle()
        const woken: string[] = []
        database.onWake('events', () => woken.push('events'))
        database.onWake('jobs', () => woken.push('jobs'))
        /** Who is woken, once anybody is: commits that follow each other closely wake together. */
        const wokenBy = async (...works: ((work: Work) => Promise<void>)[]) => {
          woken.length = 0
          for (const work of works) await inApp(h, work)
          await until('somebody is woken', () => woken.length > 0)
          return [...woken]
        }
        const nothing = async ({ db }: Work) => void (await db.select('jobs').selectAll().execute())
        const aJob = ({ later }: Work) => later(chore, { n: 1 }, { key: 'a', at: Number.MAX_SAFE_INTEGER })
        // Once this node listens it looks at everything; that may be now.
        await until('a job wakes those who wait for jobs, and a commit that leaves nothing wakes nobody', async () => {
          return (await wokenBy(nothing, aJob)).join() === 'jobs'
        })
        assert.equal((await wokenBy(({ emit }) => emit(echoed, { n: 1 })))[0], 'events')
      } finally {
        await h.close()
      }
    })
  })

  describe(`what the doors remember on ${name}`, () => {
    it('is forgotten for the app whose callers have changed, and for no other', async () => {
      const h = await house({ database: name })
      try {
        const { database, tools } = h.service.house
        const [one, other] = [await h.app('one'), await h.app('other')]
        const readFor: string[] = []
        const watched: Database = {
          ...database,
          read(work, whose) {
            readFor.push(whose)
            return database.read(work, whose)
          },
        }
        const directory = openDirectory(watched, tools.secrets, () => 0)
        const enterBoth = async () => {
          readFor.length = 0
          for (const { id, apiKey } of [one, other]) assert.ok(await directory.key(id, apiKey))
          return [...readFor]
        }
        assert.deepEqual(await enterBoth(), [one.id, other.id])
        directory.forget(one.id)
        assert.deepEqual(await enterBoth(), [one.id])
      } finally {
        await h.close()
      }
    })
  })
}
