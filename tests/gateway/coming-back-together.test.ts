import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pino } from 'pino'
import { eventsByName } from '../../server/src/dispatch/events-by-name.ts'
import { createAbsent } from '../../server/src/gateway/absent.ts'
import { type Attaching, createAttaching } from '../../server/src/gateway/attach.ts'
import { createDelivery } from '../../server/src/gateway/delivery.ts'
import { createHearers } from '../../server/src/gateway/hearers.ts'
import type { Line } from '../../server/src/gateway/line.ts'
import { type Listening, openListening } from '../../server/src/gateway/listening.ts'
import { type LogOfApp, logOfApp } from '../../server/src/gateway/log-of-app.ts'
import { createReadings } from '../../server/src/gateway/readings.ts'
import type { Session } from '../../server/src/gateway/session.ts'
import { openTail } from '../../server/src/workers/tail.ts'
import { tokenOf, untilTold } from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { laborious } from '../support/laborious.ts'
import { appWith, as, sayIn } from '../support/talk.ts'
import { until } from '../support/until.ts'

/**
 * Many devices that come back at the same moment. Only their lines are made up, so that it can be seen in which turn of the
 * event loop each of them is told something.
 */

const memorySeconds = 120
const guid = 'boats'

describe('devices that come back together', () => {
  let h: House
  let listening: Listening
  let close: () => void
  before(async () => {
    h = await house({ database: 'sqlite' })
    const { database, tools, areas, reader } = h.service.house
    const log = pino({ level: 'silent' })
    const tail = openTail(reader, eventsByName(areas), log)
    const told = { deliver() {}, beginAnew() {} }
    listening = await openListening({ database, tools, areas, tail, log, aheadMilliseconds: 50, ...told })
    close = () => {
      listening.stop()
      tail.close()
    }
  })
  after(async () => {
    close()
    await h.close()
  })

  /** How devices enter, where what is read from the log is read like this. */
  function entrance(log: Partial<LogOfApp> = {}): { attaching: Attaching; entered: Set<string> } {
    const { database, areas } = h.service.house
    const [hearers, readings] = [createHearers(), createReadings(database, areas)]
    const delivery = createDelivery(hearers, readings, () => {})
    const entered = new Set<string>()
    const attaching = createAttaching({
      ...{
        ...listening,
        readings,
        areas,
        hearers,
        delivery,
        absent: createAbsent(),
        log: { ...listening.log, ...log },
      },
      entered: (session) => void entered.add(session.caller.uid),
    })
    return { attaching, entered }
  }

  async function sessionOf(app: AppClient, uid: string, line: Partial<Line> = {}): Promise<Session> {
    const { doors } = h.service
    const known = await doors.app({ appId: app.id, region: undefined })
    const caller = await doors.enter(known, { authToken: await tokenOf(app, uid) })
    assert.ok(caller.kind === 'client')
    const open: Line = {
      ...{ send() {}, signal() {}, letGo() {}, close() {} },
      ...{ untakenBytes: () => 0, hasRoom: () => true, isOpen: () => true, room: async () => true },
      ...line,
    }
    return { app: known, caller, resource: uid, reached: 0, line: open }
  }

  /** An app with so many people in a group, and where the log is. */
  async function groupOf(count: number): Promise<{ app: AppClient; uids: string[]; position: string }> {
    const uids = Array.from({ length: count }, (_, n) => `u${n}`)
    const app = await appWith(h, 'ada', ...uids)
    const group = { guid, name: guid, type: 'public', members: { participants: uids } }
    assertSucceeds(await app.post('/groups', group, as('ada')))
    await untilTold(h)
    return { app, uids, position: listening.positions.heard().position }
  }

  async function forget(app: AppClient): Promise<void> {
    h.clock.setOffset(h.clock.offsetSeconds() + memorySeconds + 1)
    await sayIn(app, guid, 'ada', 'Much later')
    await untilTold(h)
  }

  it('from far leave room for those of another app', async () => {
    const [many, few] = [await groupOf(8), await groupOf(1)]
    await sayIn(many.app, guid, 'ada')
    await sayIn(few.app, guid, 'ada')
    await forget(many.app)
    const asked: string[] = []
    const held = Promise.withResolvers<void>()
    const { attaching, entered } = entrance({
      async page(db, from, upTo) {
        asked.push(db.appId)
        await held.promise
        return listening.log.page(db, from, upTo)
      },
    })
    const comeBack = async ({ app, uids, position }: typeof many) => {
      const sessions = await Promise.all(uids.map((uid) => sessionOf(app, uid)))
      return sessions.map((session) => attaching.attach(session, position, () => {}))
    }
    const coming = await comeBack(many)
    await until('as many of them read as may', () => asked.length >= 3)
    coming.push(...(await comeBack(few)))
    await until('the other app reads as well', () => asked.length >= 4)
    assert.deepEqual(asked, [many.app.id, many.app.id, many.app.id, few.app.id])
    held.resolve()
    await Promise.all(coming)
    assert.deepEqual([...entered].toSorted(), many.uids)
  })

  it('are told what they missed in short turns, between which everybody else has theirs', async () => {
    const { app, uids, position } = await groupOf(24)
    for (let n = 0; n < 30; n += 1) await sayIn(app, guid, 'ada')
    await untilTold(h)
    const { attaching, entered } = entrance()
    const sends = laborious(0.2)
    let ready = 0
    const all = Promise.withResolvers<void>()
    const room = async () => {
      ready += 1
      if (ready === uids.length) all.resolve()
      await all.promise
      return true
    }
    const sessions = await Promise.all(uids.map((uid) => sessionOf(app, uid, { send: sends.work, room })))
    await Promise.all(sessions.map((session) => attaching.attach(session, position, () => {})))
    const { count, mostInATurn } = await sends.end()
    assert.deepEqual([entered.size, count], [uids.length, 30 * uids.length])
    assert.ok(mostInATurn <= count / 4, `${mostInATurn} of ${count} were sent in one turn`)
  })

  it('have what they missed read in turns, too', async () => {
    const { app, position } = await groupOf(1)
    for (let n = 0; n < 30; n += 1) await sayIn(app, guid, 'ada')
    await forget(app)
    const known = eventsByName(h.service.house.areas)
    const reads = laborious(1)
    const slow = new Map(known)
    slow.get = (name) => {
      reads.work()
      return known.get(name)
    }
    const { attaching, entered } = entrance(logOfApp(slow))
    await attaching.attach(await sessionOf(app, 'u0'), position, () => {})
    const { count, mostInATurn } = await reads.end()
    assert.equal(entered.size, 1)
    assert.ok(count >= 30 && mostInATurn <= count / 2, `${mostInATurn} of ${count} were read in one turn`)
  })

  it('do not enter where they have gone while they waited for their turn', async () => {
    const { app, position } = await groupOf(1)
    const { attaching, entered } = entrance()
    let isOpen = true
    const goes = {
      isOpen: () => isOpen,
      async room() {
        const wasOpen = isOpen
        isOpen = false
        return wasOpen
      },
    }
    for (const from of [undefined, position]) {
      isOpen = true
      await attaching.attach(await sessionOf(app, 'u0', goes), from, () => {})
    }
    assert.equal(entered.size, 0)
    await attaching.attach(await sessionOf(app, 'u0'), position, () => {})
    assert.equal(entered.size, 1)
  })
})
