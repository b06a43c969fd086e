import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { describe, it } from 'node:test'
import { workIn } from '../server/src/common/work-in.ts'
import { area } from '../server/src/kit/area.ts'
import { defineEvent } from '../server/src/kit/event.ts'
import { follower } from '../server/src/kit/follower.ts'
import { type JobDefinition, job } from '../server/src/kit/job.ts'
import { Type } from '../server/src/kit/schema.ts'
import type { Work } from '../server/src/kit/work.ts'
import { destinationOf } from '../server/src/storage/destination.ts'
import { databases } from './support/databases.ts'
import { type House, house } from './support/house.ts'
import { times } from './support/quick.ts'
import { until } from './support/until.ts'

/** Endpoints that take a request and never answer hold up nothing but themselves, however much is queued for them. */

const perDestination = 4
const floodJobs = times(20_000, 100_000)
const rowsPerInsert = 1_000
const deafEndpoints = 4
const callsWaitedForMax = 100

/** A server on loopback that counts what comes in; it answers, or never does. */
async function endpoint(answers: boolean) {
  const open = new Set<Socket>()
  let requests = 0
  const server: Server = createServer((_, response) => {
    requests += 1
    if (answers) response.end('ok')
  })
  server.on('connection', (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests: () => requests,
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An area that calls endpoints, and does other work beside that. */
function callingArea() {
  const done: string[] = []
  const payload = Type.Object({ url: Type.String() })
  const called = job({
    ...{ name: 'test.call', payload, attemptsMax: 5, secondsMax: 3_600, atOnce: { perDestination } },
    async prepare({ url }, { signal }) {
      await (await fetch(url, { signal })).text()
    },
    async run(_, { db }) {
      done.push(`called ${db.appId}`)
      return undefined
    },
  })
  const told = async (what: string, { db }: Work) => {
    done.push(`${what} ${db.appId}`)
    return undefined
  }
  const inside = job({ name: 'test.inside', payload, attemptsMax: 5, run: (_, work) => told('inside', work) })
  const bulk = job({ name: 'test.bulk', payload, attemptsMax: 5, bulk: true, run: (_, work) => told('bulk', work) })
  const ticked = defineEvent({ name: 'test.ticked', payload: Type.Object({}), audience: () => [] })
  const follow = follower({ name: 'test.follow', on: [ticked], handle: (_, work) => told('followed', work) })
  const card = area({
    ...{ name: 'test', about: 'Calls.', events: [ticked], followers: [follow], jobs: [called, inside, bulk] },
  })
  return { card, called, inside, bulk, ticked, done }
}

function inApp(h: House, appId: string, work: (work: Work) => Promise<unknown>): Promise<unknown> {
  const { database, tools } = h.service.house
  return database.write((connection) => work(workIn(connection, appId, tools)))
}

/** Queues very many calls of an app, in turn to each of some addresses. */
async function flood(h: House, appId: string, definition: JobDefinition, urls: string[]): Promise<void> {
  for (let from = 0; from < floodJobs; from += rowsPerInsert) {
    await inApp(h, appId, ({ db, now }) => {
      const rows = Array.from({ length: rowsPerInsert }, (_, index) => {
        const url = urls[index % urls.length] ?? ''
        const destination = destinationOf('outside', definition.name, url)
        const key = `flood ${from + index}`
        return {
          name: definition.name,
          lane: 'outside' as const,
          destination,
          key,
          payload: JSON.stringify({ url }),
          run_at: now - 60,
        }
      })
      return db.insert('jobs', rows).execute()
    })
  }
}

for (const database of databases) {
  describe(`endpoints that hang, on ${database}`, () => {
    it('delay neither other apps, nor other endpoints, nor anything else', async () => {
      const { card, called, inside, bulk, ticked, done } = callingArea()
      const deaf = await Promise.all(Array.from({ length: deafEndpoints }, () => endpoint(false)))
      const live = await endpoint(true)
      const h = await house({ database, areas: [card] })
      const deafRequests = () => deaf.map(({ requests }) => requests())
      const full = deaf.map(() => perDestination)
      const call = (appId: string, key: string) =>
        inApp(h, appId, ({ later }) => later(called, { url: live.url }, { key, destination: live.url }))
      try {
        await flood(
          h,
          'a-flood',
          called,
          deaf.map(({ url }) => url),
        )
        h.service.house.database.wake()
        await until('each of them has as many as it may', () => deafRequests().every((n) => n >= perDestination))

        // Nothing below could ever happen if it waited for one of these to end.
        for (let round = 1; round <= 5; round += 1) {
          done.length = 0
          await call('z-other', `${round}`)
          await call('a-flood', `${round}`)
          await inApp(h, 'z-other', async ({ later, emit }) => {
            for (const definition of [inside, bulk]) await later(definition, { url: '' }, { key: `${round}` })
            await emit(ticked, {})
          })
          h.service.house.database.wake()
          await until('all of it is done', () => done.length === 5)
          assert.deepEqual(done.toSorted(), [
            ...['bulk z-other', 'called a-flood', 'called z-other', 'followed z-other', 'inside z-other'],
          ])
        }
        assert.deepEqual(deafRequests(), full, 'they still have what they had, and no more')
      } finally {
        await h.close()
        for (const each of [...deaf, live]) await each.close()
      }
    })

    it(`delay nobody beside an app whose ${floodJobs} calls are answered`, async () => {
      const { card, called, done } = callingArea()
      const deaf = await Promise.all(Array.from({ length: deafEndpoints }, () => endpoint(false)))
      const [busy, live] = [await endpoint(true), await endpoint(true)]
      const h = await house({ database, areas: [card] })
      try {
        for (const [n, { url }] of deaf.entries()) {
          for (let key = 0; key < 2 * perDestination; key += 1)
            await inApp(h, `deaf-${n}`, ({ later }) => later(called, { url }, { key: `${key}`, destination: url }))
        }
        await flood(h, 'a-flood', called, [busy.url])
        h.service.house.database.wake()
        await until('the flood is under way', () => done.length > perDestination && deaf.every((d) => d.requests() > 0))
        for (let round = 1; round <= 5; round += 1) {
          const before = done.length
          const url = live.url
          await inApp(h, 'z-other', ({ later }) => later(called, { url }, { key: `${round}`, destination: url }))
          h.service.house.database.wake()
          await until('the single one is done', () => done.indexOf('called z-other', before) >= 0)
          const waitedFor = done.indexOf('called z-other', before) - before
          assert.ok(waitedFor <= callsWaitedForMax, `it waited for ${waitedFor} calls of others`)
        }
        assert.deepEqual(
          deaf.map(({ requests }) => requests()),
          deaf.map(() => perDestination),
        )
      } finally {
        await h.close()
        for (const each of [...deaf, busy, live]) await each.close()
      }
    })
  })
}
