import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { logOf } from '../../../../tests/support/told.ts'
import { workIn } from '../../common/work-in.ts'
import type { Work } from '../../kit/work.ts'
import { connectionOver } from '../../storage/connection.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { DatabaseUnavailable } from '../../storage/unavailable.ts'
import { auditCalls } from './audit.ts'
import { beginCall, happen, ledgerOf, newSessionId, superviseCall } from './ledger.ts'
import { type CallAct, initiate, participantsMax } from './rules.ts'
import { signOfLife } from './signs.ts'
import type { CallState } from './state.ts'
import { callsPage, selectOfServer } from './store.ts'

/** What the ledger promises when many write to one call, and when time was faster than the watcher. */

const rounds = 12

const join = (uid: string, deviceId = 'd'): CallAct => ({ kind: 'joined', uid, deviceId, mid: 'm' })
const leave = (uid: string, deviceId = 'd'): CallAct => ({ kind: 'left', uid, deviceId })

for (const database of databases) {
  describe(`the ledger on ${database}`, () => {
    let h: House
    let app: AppClient
    let start: number

    before(async () => {
      h = await house({ database })
      app = await h.app('ledger')
      // Ahead of the clock, so that the service's own workers find nothing due.
      start = h.clock.now() + 3600
    })
    after(() => h.close())

    /** Runs work in a transaction of its own, as many seconds after the start as `later` says. */
    const write = <T>(later: number, work: (work: Work) => Promise<T>): Promise<T> => {
      const { database: storage, tools } = h.service.house
      const attempt = (): Promise<T> =>
        storage
          .write((connection) => work(workIn(connection, app.id, tools, start + later)))
          .catch((error) => {
            // On a busy machine not all who come at once get a connection in time; they come again, as clients do.
            if (error instanceof DatabaseUnavailable && !error.inDoubt) return attempt()
            throw error
          })
      return attempt()
    }

    const place = (mode: 'call' | 'meet', receiverType: 'user' | 'group' = 'user', invited: string[] = []) =>
      write(0, async (work) => {
        const sessionId = newSessionId(app.region, app.id, start)
        const receiver = receiverType === 'user' ? 'milo' : 'team'
        const placed = { initiator: 'nora', receiver, receiverType, type: 'audio' as const, mode, invited, tags: [] }
        await beginCall(work, sessionId, initiate({ at: start, ...placed }))
        return sessionId
      })

    /** What happens so many seconds after the start, and is told then, or at another time. */
    const make = (sessionId: string, later: number, act: CallAct, told = later): Promise<CallState> =>
      write(told, (work) => happen(work, sessionId, { ...act, happenedAt: start + later }))

    /** Devices are heard of, as the house writes it down now and then. */
    const hear = async (sessionId: string, later: number, ...uids: string[]) => {
      const { notes } = h.service.house.tools
      for (const uid of uids) notes.take(signOfLife, app.id, { key: [sessionId, uid, 'd'], at: start + later })
      await notes.write()
    }

    /** The code with which it was refused, or nothing if it happened. */
    const refusal = (attempt: Promise<unknown>): Promise<string | undefined> =>
      attempt.then(
        () => undefined,
        (error) => error.code ?? Promise.reject(error),
      )

    const record = async (sessionId: string) => assertSucceeds(await app.get(`/calls/${sessionId}`)).data

    const facts = (sessionId: string) => ledgerOf(tenantDb(h.service.house.database.reader, app.id), sessionId)

    const assertSound = async () => {
      const { findings } = await h.service.house.database.snapshot((connection) =>
        auditCalls(tenantDb(connection, app.id)),
      )
      assert.deepEqual(findings, [])
    }

    it('lets nobody answer a ring that is over, whether or not the watcher has come by', async () => {
      const sessionId = await place('call')
      assert.equal(await refusal(make(sessionId, 600, join('milo'))), 'ERR_CALL_TERMINATED')
      assert.equal((await facts(sessionId)).length, 1, 'a refused intent leaves nothing')
      assert.equal(await refusal(make(sessionId, 600, { kind: 'canceled' })), 'ERR_CALL_TERMINATED')
      const again = await write(600, (work) => superviseCall.run({ sessionId }, work))
      assert.equal(again, undefined)
      const { status, endedAt } = await record(sessionId)
      assert.deepEqual([status, endedAt], ['unanswered', start + 45])
      await assertSound()
    })

    it('lets what time decided happen first, then the intent, in one transaction', async () => {
      const sessionId = await place('meet', 'group')
      await make(sessionId, 0, join('nora'))
      await make(sessionId, 5, join('milo'))
      await hear(sessionId, 300, 'milo')
      await make(sessionId, 310, join('amara'))
      assert.deepEqual(
        (await facts(sessionId)).slice(3).map((fact) => [fact.kind, 'uid' in fact && fact.uid, fact.at]),
        [
          ['left', 'nora', start],
          ['joined', 'amara', start + 310],
        ],
      )
      assert.equal(await refusal(make(sessionId, 311, leave('nora'))), 'ERR_CALL_GROUP_ALREADY_LEFT')
      await make(sessionId, 312, { kind: 'ended' })
      await assertSound()
    })

    it('keeps a watcher that has nothing to do from changing the call', async () => {
      const sessionId = await place('call')
      assert.deepEqual(await write(20, (work) => superviseCall.run({ sessionId }, work)), { againAt: start + 45 })
      await assertSound()
    })

    it('dates what is told late when it happened, and tells each fact with the status of its moment', async () => {
      const sessionId = await place('meet', 'group')
      await make(sessionId, 2, join('nora'), 9)
      await make(sessionId, 4, { kind: 'cameraOn', uid: 'nora', deviceId: 'd' }, 20)
      await make(sessionId, 30, leave('nora'), 40)
      const { participants, endedAt } = await record(sessionId)
      assert.deepEqual(
        [participants[0].joinedAt, participants[0].leftAt, endedAt, participants[0].totalVideoMinutes],
        [start + 2, start + 30, start + 30, 26 / 60],
      )
      const told = (await logOf(h, app)).filter(({ payload }) => payload.sessionId === sessionId)
      assert.deepEqual(
        told.map(({ name, payload }) => [name, payload.status]),
        [
          ['call.initiated', 'ongoing'],
          ['call.participantJoined', 'ongoing'],
          ['call.participantLeft', 'ongoing'],
          ['call.ended', 'ended'],
        ],
      )
      await assertSound()
    })

    it('keeps devices in the call that are heard of, without a word to the row of the call', async () => {
      const sessionId = await place('meet', 'group')
      await make(sessionId, 0, join('nora'))
      await make(sessionId, 0, join('milo'))
      const db = tenantDb(h.service.house.database.reader, app.id)
      const row = () => db.select('calls').selectAll().where('calls.session_id', '=', sessionId).executeTakeFirst()
      const before = await row()
      await hear(sessionId, 200, 'nora')
      await hear(sessionId, 50, 'nora', 'stranger')
      assert.deepEqual(await row(), before)
      const again = await write(210, (work) => superviseCall.run({ sessionId }, work))
      assert.deepEqual(again, { againAt: start + 260 })
      const left = (await facts(sessionId)).filter(({ kind }) => kind === 'left')
      assert.deepEqual(
        left.map((fact) => ['uid' in fact && fact.uid, fact.at]),
        [['milo', start]],
      )
      await assertSound()
      await make(sessionId, 212, { kind: 'ended' })
      await assertSound()
    })

    it('notes no signs of life in a call that is over', async () => {
      const sessionId = await place('meet', 'group')
      await make(sessionId, 0, join('nora'))
      await make(sessionId, 3, { kind: 'ended' })
      await hear(sessionId, 4, 'nora')
      await assertSound()
    })

    it('takes the file of a recorder that outlived the call, and counts the call as recorded', async () => {
      const sessionId = await place('meet', 'group')
      await make(sessionId, 0, join('nora'))
      await make(sessionId, 10, { kind: 'recordingStarted', rid: 'r1' })
      await make(sessionId, 40, { kind: 'ended' })
      await make(sessionId, 900, { kind: 'recordingStopped', rid: 'r1', url: 'https://files.example/r1.mp4' })
      const { recordings, endedAt } = await record(sessionId)
      assert.equal(recordings[0].endTime, endedAt)
      const { data, meta } = assertSucceeds(await app.get('/calls?hasRecording=true'))
      assert.deepEqual([data[0].sessionId, meta.pagination.total], [sessionId, 1])
      await assertSound()
    })

    it('lets exactly 50 of 60 join who come at once, and numbers their facts without gaps', async () => {
      const sessionId = await place('meet', 'group')
      const refusals = await Promise.all(
        Array.from({ length: 60 }, (_, n) => refusal(make(sessionId, 1, join(`user-${n}`)))),
      )
      assert.equal(refusals.filter((code) => code === undefined).length, participantsMax)
      assert.equal(refusals.filter((code) => code === 'ERR_PLAN_QUOTA_RESTRICTION').length, 60 - participantsMax)
      assert.equal((await facts(sessionId)).length, 1 + participantsMax)
      assert.equal((await record(sessionId)).totalParticipants, participantsMax)
      await assertSound()
    })

    it('decides between an answer and the caller giving up', async () => {
      for (let round = 0; round < rounds; round += 1) {
        const sessionId = await place('call')
        const attempts = [() => make(sessionId, 5, join('milo')), () => make(sessionId, 5, { kind: 'canceled' })]
        const order = round % 2 === 0 ? [0, 1] : [1, 0]
        const refusals = new Map<number, string | undefined>()
        await Promise.all(
          order.map(async (each) => refusals.set(each, await refusal((attempts[each] as () => Promise<unknown>)()))),
        )
        const { status } = await record(sessionId)
        const expected =
          status === 'ongoing' ? [undefined, 'ERR_CALL_ONGOING_TO_INVALID'] : ['ERR_CALL_TERMINATED', undefined]
        assert.deepEqual([refusals.get(0), refusals.get(1)], expected)
        assert.ok(status === 'ongoing' || status === 'canceled')
        if (status === 'ongoing') await make(sessionId, 6, { kind: 'ended' })
      }
      await assertSound()
    })

    it('decides the same between a device that leaves and the end of its lease, whoever is first', async () => {
      for (let round = 0; round < rounds; round += 1) {
        const sessionId = await place('meet', 'group')
        await make(sessionId, 0, join('nora'))
        const supervise = () => write(300, (work) => superviseCall.run({ sessionId }, work))
        const goes = () => refusal(make(sessionId, 300, leave('nora')))
        const order = round % 2 === 0 ? [supervise, goes] : [goes, supervise]
        const outcomes = await Promise.all(order.map((each) => each()))
        assert.ok(outcomes.includes('ERR_CALL_TERMINATED'))
        assert.deepEqual(
          (await facts(sessionId)).slice(2).map(({ kind, at, cause }) => [kind, at, cause]),
          [
            ['left', start, 'connection lost'],
            ['ended', start, 'last participant left'],
          ],
        )
      }
      await assertSound()
    })

    it('takes the counts that calls share last, and those of the whole app at the very end', async () => {
      const sessionId = await place('call')
      const statements: string[] = []
      const { database: storage, tools } = h.service.house
      await storage.write((connection) => {
        const watched = connectionOver(connection.flavour, (sql, parameters) => {
          statements.push(`${sql.replaceAll('"', '').split(' ').slice(0, 3).join(' ')} ${parameters.includes('calls')}`)
          return connection.run(sql, parameters)
        })
        return happen(workIn(watched, app.id, tools, start + 3), sessionId, { kind: 'canceled', happenedAt: start + 3 })
      })
      const first = statements.findIndex((each) => each.startsWith('insert into tallies'))
      assert.deepEqual(statements.slice(first), [
        'insert into tallies false',
        'insert into tallies false',
        'insert into tallies true',
      ])
    })

    it('reads the ledgers of all live calls of a page at once', async () => {
      for (let n = 0; n < 5; n += 1) await place('call')
      let reads = 0
      const { reader } = h.service.house.database
      const watched = connectionOver(reader.flavour, (sql, parameters) => {
        if (sql.includes('call_facts')) reads += 1
        return reader.run(sql, parameters)
      })
      const db = tenantDb(watched, app.id)
      const query = { status: 'initiated' } as const
      const page = await callsPage(db, query, (slice) => selectOfServer(db, query, slice), start + 9)
      assert.ok(JSON.parse(page.text).data.length >= 5)
      assert.equal(reads, 1)
    })
  })
}
