import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { databases } from '../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../tests/support/house.ts'
import { appWith } from '../../../tests/support/talk.ts'
import { until } from '../../../tests/support/until.ts'
import { memoryPresence } from '../adapters/presence/memory.ts'
import { addMissingUsers, findUser } from '../areas/users/index.ts'
import { workIn } from '../common/work-in.ts'
import type { Presence } from '../kit/ports.ts'
import { tenantDb } from '../storage/tenant.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { type AnnouncerPace, createAnnouncer, type PresenceSubscriber, usualPace } from './announcer.ts'

/** Everybody sees them; when it has been told that they came or went, everything before has been told. */
const mark = 'mark'
const never = 1_000_000

for (const database of databases) {
  describe(`who comes and goes, on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h?.close())

    function announcing(
      t: TestContext,
      { pace, frail }: { pace?: Partial<AnnouncerPace>; frail?: () => unknown } = {},
    ) {
      const { database: stored, tools } = h.service.house
      const presence = memoryPresence(h.clock)
      let encoded = 0
      let sent = 0
      const announcer = createAnnouncer({
        presence,
        database: {
          read: (work, whose) => {
            frail?.()
            return stored.read(work, whose)
          },
          readLong: stored.readLong,
        },
        tools: () => tools,
        frame(type, rest) {
          encoded += 1
          return Buffer.from(JSON.stringify({ type, ...rest }))
        },
        log: { error: ({ err }: { err: unknown }) => assert.fail(String(err)) },
        pace: { ...usualPace, roundMilliseconds: 5, ...pace },
      })
      t.after(announcer.stop)

      function subscribe(
        app: AppClient,
        uid: string,
        mode: PresenceSubscriber['mode'] = 'ALL_USERS',
        roles: string[] = [],
        whenTold = () => {},
      ) {
        const frames: Buffer[] = []
        const end = announcer.subscribe({
          ...{ appId: app.id, uid, mode, roles: new Set(roles) },
          send(frame) {
            sent += 1
            frames.push(frame)
            whenTold()
          },
        })
        // biome-ignore lint/suspicious/noExplicitAny: tests look into frames freely
        const heard = (): any[] => frames.map((frame) => JSON.parse(frame.toString()))
        const told = () => heard().map(({ sender, body }) => `${sender} ${body.action}`)
        return { end, frames, heard, told, others: () => told().filter((each) => !each.startsWith(mark)) }
      }

      let isMarked = false
      /** Waits until all that happened before has been told. */
      async function settled(app: AppClient): Promise<void> {
        const witness = subscribe(app, 'witness')
        isMarked = !isMarked
        if (isMarked) presence.came(app.id, mark)
        else presence.went(app.id, mark)
        await until('it has been told', () => witness.told().includes(`${mark} ${isMarked ? 'online' : 'offline'}`))
        witness.end()
      }

      return { ...announcer, presence, subscribe, settled, figures: () => ({ encoded, sent }) }
    }

    const people = (...uids: string[]) => appWith(h, 'witness', mark, ...uids)

    it('is told with the record, in the words of live frames, encoded once for all', async (t) => {
      const app = await people('ada', 'lin', 'max')
      assertSucceeds(await app.put('/users/ada', { metadata: { hat: 'red', '@private': { pin: 1 } }, tags: ['first'] }))
      const { presence, subscribe, settled, figures } = announcing(t)
      const ears = [subscribe(app, 'lin'), subscribe(app, 'lin'), subscribe(app, 'max')]
      presence.came(app.id, 'ada')
      await settled(app)
      const record = assertSucceeds(await app.get('/users/ada')).data
      const { '@private': _, ...metadata } = record.metadata
      for (const { heard, frames } of ears) {
        const user = { ...record, metadata, status: 'online', lastActiveAt: h.clock.now() }
        assert.deepEqual(heard()[0], { type: 'presence', sender: 'ada', body: { action: 'online', user } })
        assert.equal(frames[0], ears[0]?.frames[0])
      }
      presence.went(app.id, 'ada')
      await settled(app)
      for (const { heard, others } of ears) {
        assert.deepEqual(others(), ['ada online', 'ada offline'])
        const { user } = heard().findLast(({ sender }) => sender === 'ada').body
        assert.deepEqual([user.status, user.lastActiveAt], ['offline', h.clock.now()])
      }
      assert.ok(figures().encoded < figures().sent)
    })

    it('is told to those who asked for all, for roles or for friends, and to nobody of themselves', async (t) => {
      const app = await people('ada', 'lin', 'max', 'eve')
      assertSucceeds(await app.post('/roles', { role: 'tutor', name: 'Tutor' }))
      assertSucceeds(await app.put('/users/lin', { role: 'tutor' }))
      assertSucceeds(await app.post('/users/max/friends', { accepted: ['ada', 'eve'] }))
      const { presence, subscribe, settled } = announcing(t)
      const ears = {
        all: subscribe(app, 'ada'),
        tutors: subscribe(app, 'ada', 'ROLES', ['tutor']),
        noRole: subscribe(app, 'ada', 'ROLES'),
        friends: subscribe(app, 'ada', 'FRIENDS'),
        alone: subscribe(app, 'lin', 'FRIENDS'),
      }
      for (const uid of ['ada', 'lin', 'max', 'eve']) presence.came(app.id, uid)
      await settled(app)
      assert.deepEqual(Object.fromEntries(Object.entries(ears).map(([name, ear]) => [name, ear.others().toSorted()])), {
        all: ['eve online', 'lin online', 'max online'],
        tutors: ['lin online'],
        noRole: [],
        friends: ['max online'],
        alone: [],
      })
    })

    it('is kept from both sides of a block, in every mode, until it is lifted', async (t) => {
      const app = await people('ada', 'lin', 'max')
      assertSucceeds(await app.post('/users/ada/friends', { accepted: ['lin', 'max'] }))
      assertSucceeds(await app.post('/users/ada/blockedusers', { blockedUids: ['lin'] }))
      const { presence, subscribe, settled } = announcing(t)
      const ears = (['ALL_USERS', 'ROLES', 'FRIENDS'] as const).flatMap((mode) =>
        ['ada', 'lin', 'max'].map((uid) => subscribe(app, uid, mode, ['default'])),
      )
      for (const uid of ['ada', 'lin', 'max']) presence.came(app.id, uid)
      await settled(app)
      const [ada, lin, max] = [['max online'], ['max online'], ['ada online', 'lin online']]
      assert.deepEqual(
        ears.map(({ others }) => others().toSorted()),
        // Lin and Max are no friends.
        [ada, lin, max, ada, lin, max, ada, [], ['ada online']],
      )
      assertSucceeds(await app.delete('/users/ada/blockedusers', { blockedUids: ['lin'] }))
      presence.went(app.id, 'ada')
      await settled(app)
      assert.deepEqual(ears[1]?.others().at(-1), 'ada offline')
    })

    it('is not told of whom a role may not see, nor of or to users who are deactivated or deleted', async (t) => {
      const app = await people('gus', 'fay', 'pal', 'sam', 'off', 'gone')
      for (const role of ['guest', 'pal']) assertSucceeds(await app.post('/roles', { role, name: role }))
      assertSucceeds(await app.put('/users/gus', { role: 'guest' }))
      assertSucceeds(await app.put('/users/pal', { role: 'pal' }))
      assertSucceeds(await app.post('/users/gus/friends', { accepted: ['fay'] }))
      const rules: [object, string[]][] = [
        [{ 'getUserDetails.mode': 'friends' }, ['fay online']],
        [{ 'getUserDetails.mode': 'all', 'getUserDetails.allowedRoles': ['pal'] }, ['pal online']],
        [{ 'getUserDetails.allowedRoles': [] }, ['fay online', 'pal online', 'sam online']],
      ]
      assertSucceeds(await app.delete('/users/off'))
      assertSucceeds(await app.delete('/users/gone', { permanent: true }))
      for (const [permissions, expected] of rules) {
        assertSucceeds(await app.put('/roles/guest/permissions', { permissions }))
        // A new one: what a role may see is remembered for a round.
        const { presence, subscribe, settled } = announcing(t)
        const [gus, off, sam] = [subscribe(app, 'gus'), subscribe(app, 'off'), subscribe(app, 'sam')]
        for (const uid of ['fay', 'pal', 'sam', 'off', 'gone']) presence.came(app.id, uid)
        await settled(app)
        assert.deepEqual(gus.others().toSorted(), expected)
        assert.deepEqual(sam.others().toSorted(), ['fay online', 'pal online'])
        assert.deepEqual(off.told(), [])
      }
    })

    it('of somebody who was deactivated is that they have gone, and no more', async (t) => {
      const app = await people('ada', 'lin')
      const { presence, subscribe, settled } = announcing(t)
      const { others } = subscribe(app, 'lin')
      presence.came(app.id, 'ada')
      await settled(app)
      assertSucceeds(await app.delete('/users/ada'))
      presence.went(app.id, 'ada')
      await settled(app)
      presence.came(app.id, 'ada')
      await settled(app)
      assert.deepEqual(others(), ['ada online', 'ada offline'])
    })

    it('stays within the app, and costs nothing where nobody listens', async (t) => {
      const [app, other] = [await people('ada'), await people('ada')]
      const { presence, subscribe, settled, figures } = announcing(t)
      const ear = subscribe(app, 'witness')
      presence.came(other.id, 'ada')
      presence.came(app.id, 'ada')
      await settled(app)
      assert.deepEqual(ear.others(), ['ada online'])
      ear.end()
      ear.end()
      const before = figures()
      presence.went(app.id, 'ada')
      const late = subscribe(app, 'witness')
      await settled(app)
      assert.deepEqual(late.others(), [], 'what happened before is not told')
      assert.equal(figures().encoded, before.encoded + 1)
    })

    it('is told to whoever begins to listen while the last one who did is being told', async (t) => {
      const app = await people('ada')
      const { presence, subscribe, settled } = announcing(t)
      const { promise: replaced, resolve } = Promise.withResolvers<ReturnType<typeof subscribe>>()
      const last = subscribe(app, 'witness', 'ALL_USERS', [], () => {
        last.end()
        resolve(subscribe(app, 'witness'))
      })
      presence.came(app.id, 'ada')
      const next = await replaced
      await settled(app)
      assert.deepEqual(next.told(), [`${mark} online`])
    })

    it('of somebody who goes and is back before it was told is nothing to tell', async (t) => {
      const app = await people('ada', 'lin')
      const { presence, subscribe, settled } = announcing(t)
      const ear = subscribe(app, 'witness')
      for (const uid of ['ada', 'lin']) presence.came(app.id, uid)
      await settled(app)
      presence.went(app.id, 'ada')
      presence.came(app.id, 'ada')
      presence.went(app.id, 'lin')
      presence.came(app.id, 'lin')
      presence.went(app.id, 'lin')
      await settled(app)
      assert.deepEqual(ear.others(), ['ada online', 'lin online', 'lin offline'])
    })

    it('is told again and again until the database is back, and then once', async (t) => {
      const app = await people('ada', 'lin')
      let isAway = true
      let tries = 0
      const frail = () => {
        tries += 1
        if (isAway) throw new DatabaseUnavailable('away')
      }
      const { presence, subscribe, settled } = announcing(t, { frail })
      const ear = subscribe(app, 'witness')
      for (const uid of ['ada', 'lin']) presence.came(app.id, uid)
      await until('it was tried', () => tries > 1)
      presence.went(app.id, 'lin')
      isAway = false
      await settled(app)
      assert.deepEqual(ear.others(), ['ada online'])
    })

    it('is told up to so many frames in a round, and the rest in those that follow', async (t) => {
      const app = await people('ada', 'lin', 'max', 'eve')
      const come = (presence: Presence) => {
        for (const uid of ['ada', 'lin', 'max', 'eve']) presence.came(app.id, uid)
      }
      const bound = { framesPerRound: 20, framesPerRoundMax: 20 }
      const longRound = announcing(t, { pace: { ...bound, roundMilliseconds: never } })
      for (let n = 0; n < 10; n += 1) longRound.subscribe(app, 'witness')
      come(longRound.presence)
      await until('the round is full', () => longRound.figures().sent >= 20)
      for (let n = 0; n < 100; n += 1) await nextTurn()
      assert.equal(longRound.figures().sent, 20)

      const { presence, subscribe, settled } = announcing(t, { pace: bound })
      const ears = Array.from({ length: 10 }, () => subscribe(app, 'witness'))
      come(presence)
      await settled(app)
      for (const { others } of ears)
        assert.deepEqual(others(), ['ada online', 'lin online', 'max online', 'eve online'])
    })

    it('heeds blocks and friends also where somebody has very many of them', async (t) => {
      const app = await people('ada', 'lin', 'max', 'eve')
      assertSucceeds(await app.post('/users/lin/blockedusers', { blockedUids: ['ada'] }))
      assertSucceeds(await app.post('/users/max/friends', { accepted: ['ada'] }))
      const { database: stored } = h.service.house
      await stored.write(async (connection) => {
        const db = tenantDb(connection, app.id)
        const { id = '' } = (await findUser(db, 'ada')) ?? {}
        const fans = Array.from({ length: 6_000 }, (_, n) => `fan-${n}`)
        for (let n = 0; n < fans.length; n += 1_000) {
          const some = fans.slice(n, n + 1_000).map((fan) => ({ user_id: fan, created_at: 1 }))
          await db
            .insert(
              'blocks',
              some.map((row) => ({ ...row, uid: row.user_id, blocked_id: id, blocked_uid: 'ada' })),
            )
            .execute()
          await db
            .insert(
              'friends',
              some.map((row) => ({ ...row, user_id: id, friend_id: row.user_id, friend_uid: row.user_id })),
            )
            .execute()
        }
      })
      const { presence, subscribe, settled } = announcing(t)
      const ears = ['lin', 'max', 'eve'].map((uid) => [subscribe(app, uid), subscribe(app, uid, 'FRIENDS')] as const)
      presence.came(app.id, 'ada')
      await settled(app)
      assert.deepEqual(
        ears.map((each) => each.map(({ others }) => others())),
        [
          [[], []],
          [['ada online'], ['ada online']],
          [['ada online'], []],
        ],
      )
    })

    it('of a storm is told as the last state of each, to every subscriber, and nothing is kept', async (t) => {
      const app = await people()
      const uids = Array.from({ length: 1_000 }, (_, n) => `user-${n}`)
      const { database: stored, tools } = h.service.house
      await stored.write((connection) =>
        addMissingUsers(
          workIn(connection, app.id, tools),
          uids.map((uid) => ({ uid, name: uid })),
        ),
      )
      const { presence, subscribe, settled, figures } = announcing(t, { pace: { framesPerRoundMax: 1_000_000 } })
      const ears = uids.slice(0, 100).map((uid) => subscribe(app, uid))
      /** Ten changes of each; those whom `isIn` names are online in the end. */
      const storm = async (isIn: (n: number) => boolean, pause: () => unknown) => {
        for (let change = 0; change < 10; change += 1) {
          for (const [n, uid] of uids.entries()) {
            if (change === 9 ? isIn(n) : change % 2 === 0) presence.came(app.id, uid)
            else presence.went(app.id, uid)
          }
          await pause()
        }
        await settled(app)
        for (const [n, ear] of ears.entries()) {
          const last = new Map(ear.heard().map(({ sender, body }) => [sender, body.action]))
          for (const [other, uid] of uids.entries()) {
            if (other === n) assert.equal(last.get(uid), undefined)
            else assert.equal(last.get(uid) ?? 'offline', isIn(other) ? 'online' : 'offline', uid)
          }
        }
      }
      const isThird = (n: number) => n % 3 === 0
      await storm(isThird, () => {})
      const online = uids.filter((_, n) => isThird(n)).length
      for (const [n, { others }] of ears.entries()) assert.equal(others().length, isThird(n) ? online - 1 : online)
      await storm((n) => n % 2 === 0, nextTurn)
      for (const { end } of ears) end()
      const { encoded } = figures()
      for (const uid of uids) presence.went(app.id, uid)
      await settled(app)
      assert.equal(figures().encoded, encoded + 1)
    })
  })
}
