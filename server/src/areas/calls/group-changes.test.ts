import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, clientOf } from '../../../../tests/support/talk.ts'
import { doctor } from '../../cli/doctor.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { afterDeletion, afterDeparture, type Departure } from './group-changes.ts'
import { ledgerOf } from './ledger.ts'
import { inTurn } from './rules.ts'
import { fold } from './state.ts'

const initiated = {
  kind: 'initiated' as const,
  at: 100,
  initiator: 'nora',
  receiver: 'crew',
  receiverType: 'group' as const,
  type: 'audio' as const,
  mode: 'call' as const,
  invited: ['milo', 'amara'],
  tags: [],
  cause: 'placed',
}
const joined = (at: number, uid: string, deviceId = 'd') => ({
  ...{ kind: 'joined' as const, at, uid, deviceId, mid: 'm', cause: 'joined' },
})
const left = (at: number, uid: string) => ({ kind: 'left' as const, at, uid, deviceId: 'd', cause: 'left' })
const camera = (at: number, uid: string) => ({ kind: 'cameraOn' as const, at, uid, deviceId: 'd', cause: 'on' })
const gone = (uid: string, at: number, isBack = false): Departure => ({ uid, at, cause: 'kicked', isBack })
const ringing = [initiated]
const ongoing = [initiated, joined(105, 'nora'), joined(110, 'milo')]

type Facts = Parameters<typeof fold>[0]

describe('a call whose group changes', () => {
  /** What is told of a change that is read at 200. */
  const told = (facts: Facts, next: Parameters<typeof inTurn>[2]) =>
    inTurn(fold(facts), 200, next).map((fact) => [fact.kind, 'uid' in fact ? fact.uid : '', fact.at].join(' '))

  const departures: [string, Facts, Departure, string[]][] = [
    ['one of three goes', [...ongoing, joined(112, 'amara')], gone('milo', 120), ['left milo 120']],
    [
      'one goes on two devices',
      [...ongoing, joined(112, 'milo', 'phone')],
      gone('milo', 120),
      ['left milo 120', 'left milo 120'],
    ],
    ['the last goes', [...ongoing, left(115, 'nora')], gone('milo', 120), ['left milo 120', 'ended  120']],
    ['one goes who has left the call before', [...ongoing, left(115, 'milo')], gone('milo', 120), []],
    ['one goes who had no part in it', ongoing, gone('otto', 120), []],
    ['one came to the call although gone', ongoing, gone('milo', 108), ['left milo 110']],
    ['one has come back, and to the call too', ongoing, gone('milo', 108, true), []],
    ['one has come back, and was in the call all the time', ongoing, gone('milo', 120, true), ['left milo 120']],
    [
      'one has come back, and only switched the camera on since',
      [...ongoing, camera(130, 'milo')],
      gone('milo', 120, true),
      ['left milo 130'],
    ],
    ['somebody who is rung goes', ringing, gone('milo', 120), []],
    ['the caller goes while it rings', ringing, gone('nora', 120), ['canceled  120']],
    [
      'the caller goes who waits in the call',
      [initiated, joined(105, 'nora')],
      gone('nora', 120),
      ['left nora 120', 'canceled  120'],
    ],
    ['the caller came back and called', ringing, gone('nora', 90, true), []],
    ['it is over', [...ongoing, { kind: 'ended', at: 115, cause: 'ended' }], gone('milo', 120), []],
  ]
  for (const [what, facts, departure, expected] of departures) {
    it(what, () => {
      assert.deepEqual(
        told(facts, (state) => afterDeparture(state, departure)),
        expected,
      )
    })
  }

  it('ends with it, or stops ringing', () => {
    const next = (at: number) => (state: ReturnType<typeof fold>) => afterDeletion(state, at)
    assert.deepEqual(told(ongoing, next(150)), ['ended  150'])
    assert.deepEqual(told(ongoing, next(90)), ['ended  110'])
    assert.deepEqual(told(ringing, next(150)), ['canceled  150'])
    assert.deepEqual(told([...ringing, { kind: 'canceled', at: 101, cause: 'x' }], next(150)), [])
  })
})

for (const database of databases) {
  describe(`calls follow groups on ${database}`, () => {
    let h: House
    before(async () => {
      // Nothing ends by itself while the test looks.
      h = await house({ database, environment: { PARLEY_RING_SECONDS: '180', PARLEY_LEASE_SECONDS: '600' } })
    })
    after(() => h.close())

    const members = { admins: ['nora'], participants: ['milo', 'amara', 'otto'] }
    const create = async (app: AppClient, guid = 'crew') =>
      assertSucceeds(await app.post('/groups', { guid, name: guid, members }, as('ada')))
    const crew = async () => {
      const app = await appWith(h, 'ada', 'nora', 'milo', 'amara', 'otto')
      await create(app)
      return app
    }
    const joins = (uid: string, deviceId = 'd') => ({ after: 0, do: 'join', uid, deviceId })
    const call = (app: AppClient, steps: object[], more: object = {}): Promise<{ sessionId: string }> =>
      app.play({ initiator: 'nora', receiver: 'crew', receiverType: 'group', steps, ...more })
    const record = async (app: AppClient, { sessionId }: { sessionId: string }) => {
      await h.settle()
      return assertSucceeds(await app.get(`/calls/${sessionId}`)).data
    }
    /** When the last thing was done to somebody in the group. */
    const changedAt = async (app: AppClient) => assertSucceeds(await app.get('/groups/crew')).data.updatedAt
    const assertSound = async () => {
      const examined = await doctor.run({ config: h.service.house.config, words: [], flags: {}, json: true })
      assert.ok(examined?.ok, examined?.text)
    }
    const later = () => h.clock.setOffset(h.clock.offsetSeconds() + 10)

    it('lose whoever is kicked, banned, leaves or is deleted, and end with the last', async () => {
      const app = await crew()
      const steps = [joins('nora'), joins('milo', 'web'), joins('milo', 'phone'), joins('amara'), joins('otto')]
      const running = await call(app, steps, { mode: 'meet' })
      const other = await call(app, [joins('milo')], { mode: 'meet', receiver: 'elsewhere' })
      const goings: [string, string, () => Promise<unknown>][] = [
        ['milo', 'kicked from the group', () => app.delete('/groups/crew/members/milo')],
        ['amara', 'banned from the group', () => app.post('/groups/crew/bannedusers/amara')],
        ['otto', 'left the group', async () => (await clientOf(h, app, 'otto')).post('/groups/crew/leave')],
      ]
      const leftAt: Record<string, number> = {}
      for (const [uid, , go] of goings) {
        later()
        await go()
        leftAt[uid] = await changedAt(app)
        const { status, participants } = await record(app, running)
        assert.equal(status, 'ongoing')
        const theirs = participants.filter((each: { uid: string }) => each.uid === uid)
        for (const each of theirs) assert.deepEqual([each.state, each.leftAt], ['ended', leftAt[uid]])
      }
      later()
      assertSucceeds(await app.delete('/users/nora', { permanent: true }))
      const { status, participants, startedAt, ...sums } = await record(app, running)
      assert.equal(status, 'ended')
      const seconds = participants.map((each: { uid: string; leftAt: number; joinedAt: number }) => {
        if (each.uid !== 'nora') assert.equal(each.leftAt, leftAt[each.uid])
        return each.leftAt - each.joinedAt
      })
      const total = seconds.reduce((sum: number, each: number) => sum + each, 0)
      assert.equal(sums.totalParticipants, 5)
      assert.equal(Math.round(sums.totalDurationInMinutes * 60), total)
      assert.equal(sums.totalAudioMinutes, sums.totalDurationInMinutes)
      assert.equal(sums.endedAt, Math.max(...participants.map((each: { leftAt: number }) => each.leftAt)))
      const facts = await ledgerOf(tenantDb(h.service.house.database.reader, app.id), running.sessionId)
      assert.deepEqual(
        [...new Set(facts.filter(({ kind }) => kind === 'left').map(({ cause }) => cause))],
        [...goings.map(([, cause]) => cause), 'user deleted'],
      )
      assert.equal((await record(app, other)).status, 'ongoing')
      await assertSound()
    })

    it('end with their group; those of another, or of the next of that GUID, go on', async () => {
      const app = await crew()
      await create(app, 'other')
      const ringing = await call(app, [], { invited: ['milo'] })
      const ongoing = await call(app, [joins('nora'), joins('milo')], { invited: ['milo'] })
      const meeting = await call(app, [joins('otto')], { mode: 'meet' })
      const over = await call(app, [joins('otto'), { after: 0, do: 'end' }], { mode: 'meet' })
      const elsewhere = await call(app, [joins('otto')], { mode: 'meet', receiver: 'other' })
      const before = await record(app, over)
      later()
      const early = h.clock.now()
      assertSucceeds(await app.delete('/groups/crew'))
      const late = h.clock.now()
      later()
      await create(app)
      const next = await call(app, [joins('otto')], { mode: 'meet' })
      for (const [which, status] of [
        [ringing, 'canceled'],
        [ongoing, 'ended'],
        [meeting, 'ended'],
      ] as const) {
        const ended = await record(app, which)
        assert.equal(ended.status, status)
        assert.ok(ended.endedAt >= early && ended.endedAt <= late, `${ended.endedAt}`)
        for (const each of ended.participants) if (each.isJoined) assert.equal(each.leftAt, ended.endedAt)
      }
      assert.deepEqual(await record(app, over), before)
      assert.equal((await record(app, elsewhere)).status, 'ongoing')
      assert.equal((await record(app, next)).status, 'ongoing')
      await assertSound()
    })

    it('stop ringing when their caller goes, and ring on when somebody else does', async () => {
      const app = await crew()
      const ringing = await call(app, [], { invited: ['milo', 'otto'] })
      assertSucceeds(await app.delete('/groups/crew/members/milo'))
      assert.equal((await record(app, ringing)).status, 'initiated')
      assertSucceeds(await app.delete('/groups/crew/members/nora'))
      const { status, endedAt } = await record(app, ringing)
      assert.deepEqual([status, endedAt], ['canceled', await changedAt(app)])
      await assertSound()
    })
  })
}
