import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { thorough } from '../../../../tests/support/quick.ts'
import { settleUntil } from '../../../../tests/support/until.ts'
import { workIn } from '../../common/work-in.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { connectionUnder } from '../../storage/underneath.ts'
import { addMissingUsers, eachUserMatches, findUser } from '../users/index.ts'
import { areFriends } from './index.ts'
import { friendsOf } from './store.ts'

const friendsMax = 1_000
const perRequestMax = 25

interface Entry {
  success: boolean
  message?: string
  error?: { code: string; message: string; devMessage: string; source: string }
}

for (const database of databases) {
  describe(`friends on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    /** An app with users of these UIDs. */
    async function appWith(...uids: string[]): Promise<AppClient> {
      const app = await h.app(randomUUID())
      for (const uid of uids) assertSucceeds(await app.post('/users', { uid, name: `${uid} Example` }))
      return app
    }

    const add = async (app: AppClient, uid: string, ...accepted: string[]): Promise<Record<string, Entry>> =>
      assertSucceeds(await app.post(`/users/${uid}/friends`, { accepted })).data.accepted
    const list = async (app: AppClient, uid: string, query = '') =>
      assertSucceeds(await app.get(`/users/${uid}/friends${query}`))
    const uidsOf = async (app: AppClient, uid: string, query = ''): Promise<string[]> =>
      (await list(app, uid, query)).data.map((user: { uid: string }) => user.uid)
    const codes = (entries: Record<string, Entry>) =>
      Object.fromEntries(Object.entries(entries).map(([uid, { error }]) => [uid, error?.code ?? 'success']))

    /** What the log says about friendships of an app, in its order. */
    async function friendEvents(app: AppClient): Promise<{ name: string; payload: string }[]> {
      const rows = await h.service.house.database.reader.query
        .selectFrom('events')
        .select(['name', 'payload'])
        .where('app_id', '=', app.id)
        .where('name', 'like', 'friend.%')
        .orderBy('id')
        .execute()
      return rows
    }

    describe('add', () => {
      it('makes both friends of each other at once', async () => {
        const app = await appWith('nora', 'milo')
        const entries = await add(app, 'nora', 'milo')
        assert.deepEqual(Object.keys(entries), ['milo'])
        assert.equal(entries.milo?.success, true)
        assert.equal(typeof entries.milo?.message, 'string')
        assert.deepEqual([await uidsOf(app, 'nora'), await uidsOf(app, 'milo')], [['milo'], ['nora']])
      })

      it('answers for each UID alone, with the whole error where one fails, and status 200', async () => {
        const app = await appWith('nora', 'milo', 'amara', 'gone')
        await add(app, 'nora', 'milo')
        assertSucceeds(await app.delete('/users', { uidsToDeactivate: ['gone'] }))
        const entries = await add(app, 'nora', 'milo', 'amara', 'nora', 'ghost', 'gone')
        assert.deepEqual(codes(entries), {
          milo: 'ERR_ALREADY_FRIEND',
          amara: 'success',
          nora: 'ERR_CANNOT_FORM_SELF_RELATION',
          ghost: 'ERR_UID_NOT_FOUND',
          gone: 'ERR_UID_NOT_FOUND',
        })
        const { code, source, message, devMessage } = entries.ghost?.error ?? {}
        assert.deepEqual([code, source], ['ERR_UID_NOT_FOUND', 'chat-api'])
        assert.ok(message && devMessage)
      })

      it('says of friends that they are friends already, whoever of the two asks', async () => {
        const app = await appWith('nora', 'milo')
        await add(app, 'nora', 'milo')
        const entries = await add(app, 'milo', 'nora')
        assert.deepEqual(codes(entries), { nora: 'ERR_ALREADY_FRIEND' })
        assert.match(entries.nora?.error?.message ?? '', /already/)
      })

      it('lower-cases UIDs, in the path and in the list, and counts one that is named twice once', async () => {
        const app = await appWith('nora', 'milo')
        assert.deepEqual(codes(await add(app, 'NORA', 'Milo', 'MILO', 'milo')), { milo: 'success' })
      })

      it('takes 25 users, named twice or not, and refuses 26', async () => {
        const app = await appWith('nora')
        const uids = Array.from({ length: perRequestMax }, (_, i) => `friend-${i}`)
        assert.equal(Object.keys(await add(app, 'nora', ...uids, ...uids)).length, perRequestMax)
        const answer = await app.post('/users/nora/friends', { accepted: [...uids, 'one-more'] })
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.ok(Array.isArray(answer.body.error.details.accepted))
      })

      for (const accepted of [undefined, [], 'milo', {}, null, [''], ['milo', ' '], [7.5], [null], [['milo']]]) {
        it(`refuses ${JSON.stringify(accepted)} as a list, naming the field`, async () => {
          const app = await appWith('nora')
          const answer = await app.post('/users/nora/friends', { accepted })
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(Array.isArray(answer.body.error.details.accepted), answer.text)
        })
      }

      it('allows friends between whom there is a block, which stays', async () => {
        const app = await appWith('nora', 'milo')
        assertSucceeds(await app.post('/users/nora/blockedusers', { blockedUids: ['milo'] }))
        assert.deepEqual(codes(await add(app, 'nora', 'milo')), { milo: 'success' })
        const [milo] = (await list(app, 'nora')).data
        assert.equal(milo.blockedByMe, true)
      })

      it('stops at exactly 1,000 friends for either of the two, also when adds race', thorough, async () => {
        const app = await appWith()
        const crowd = Array.from({ length: friendsMax + 120 }, (_, i) => ({ uid: `u${i}`, name: `Person ${i}` }))
        await h.service.house.database.write(async (connection) => {
          const work = workIn(connection, app.id, h.service.house.tools)
          await addMissingUsers(work, [{ uid: 'star', name: 'Star' }, ...crowd])
        })
        const uids = crowd.map(({ uid }) => uid)
        for (let at = 0; at < friendsMax - 10; at += 18) await add(app, 'star', ...uids.slice(at, at + 18))
        const before = (await list(app, 'star')).meta.pagination.total
        assert.equal(before, friendsMax - 10)
        const rest = uids.slice(before)
        const [half, others] = [rest.slice(0, 60), rest.slice(60, 120)]
        const outcomes = await Promise.all([
          ...[0, 1, 2].map((i) => add(app, 'star', ...half.slice(i * 20, i * 20 + 20))),
          ...others.map((uid) => add(app, uid, 'star')),
        ])
        const made = outcomes.flatMap((entries) => Object.values(codes(entries)))
        assert.equal(made.filter((code) => code === 'success').length, 10)
        assert.equal(made.filter((code) => code === 'ERR_FAILED_TO_ADD_FRIEND').length, made.length - 10)
        assert.equal((await list(app, 'star', '?perPage=1')).meta.pagination.total, friendsMax)
        const code = codes(await add(app, rest.at(-1) ?? '', 'star')).star
        assert.equal(code, 'ERR_FAILED_TO_ADD_FRIEND')
      })
    })

    describe('list', () => {
      it('shows user records with the conversation of the two, without tags', async () => {
        const app = await appWith('nora')
        const avatar = 'https://img.example.org/milo.png'
        assertSucceeds(await app.post('/users', { uid: 'milo', name: 'Milo', avatar, tags: ['beta'] }))
        await add(app, 'nora', 'milo')
        const { data, meta } = await list(app, 'nora')
        const [{ createdAt, ...milo }] = data
        assert.deepEqual(milo, {
          uid: 'milo',
          name: 'Milo',
          avatar,
          role: 'default',
          status: 'offline',
          conversationId: 'milo_user_nora',
        })
        assert.deepEqual(meta.cursor, { updatedAt: createdAt, affix: 'prepend' })
      })

      it('shows the newest users first, then by UID, whenever they became friends', async () => {
        const app = await appWith('nora', 'old')
        h.clock.setOffset(h.clock.offsetSeconds() + 10)
        for (const uid of ['zoe', 'bea']) assertSucceeds(await app.post('/users', { uid, name: uid }))
        await add(app, 'nora', 'zoe', 'bea')
        await add(app, 'nora', 'old')
        assert.deepEqual(await uidsOf(app, 'nora'), ['bea', 'zoe', 'old'])
        assert.deepEqual(await uidsOf(app, 'nora', '?perPage=1&page=2'), ['zoe'])
      })

      it('is empty, without a cursor, for somebody without friends', async () => {
        const app = await appWith('nora')
        const { data, meta } = await list(app, 'nora')
        assert.deepEqual([data, meta.pagination.total, meta.pagination.total_pages], [[], 0, 1])
        assert.equal('cursor' in meta, false)
      })

      it('tells its newest change in the cursor', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await add(app, 'nora', 'milo', 'amara')
        h.clock.setOffset(h.clock.offsetSeconds() + 60)
        const { updatedAt } = assertSucceeds(await app.put('/users/milo', { name: 'Milo B' })).data
        assert.equal((await list(app, 'nora')).meta.cursor.updatedAt, updatedAt)
      })

      it('finds a part of a name or UID in any script and letter case, among friends alone', async () => {
        const app = await appWith('nora')
        for (const [uid, name] of Object.entries({
          kenji: '田中 Kenji',
          milo: 'Milo Ångström',
          k2: 'Stranger Kenji',
        })) {
          assertSucceeds(await app.post('/users', { uid, name }))
        }
        await add(app, 'nora', 'kenji', 'milo')
        assert.deepEqual(await uidsOf(app, 'nora', `?searchKey=${encodeURIComponent('田中')}`), ['kenji'])
        assert.deepEqual(await uidsOf(app, 'nora', `?searchKey=${encodeURIComponent('ÅNGS')}`), ['milo'])
        assert.deepEqual(await uidsOf(app, 'nora', '?searchKey=ENJ'), ['kenji'])
        assert.deepEqual(await uidsOf(app, 'nora', '?searchKey=%25'), [])
        assert.equal((await list(app, 'nora', '?searchKey=o')).meta.pagination.total, 1)
      })

      it('searches by looking at the friends, one by one, and never at all users', async () => {
        const app = await appWith('nora', 'milo')
        await add(app, 'nora', 'milo')
        const { db } = workIn(h.service.house.database.reader, app.id, h.service.house.tools)
        const nora = await findUser(db, 'nora')
        assert.ok(nora)
        const { sql, parameters } = friendsOf(db, nora).where(eachUserMatches(db, 'a')).compile()
        const explain = database === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
        const { rows } = await connectionUnder(db).run(`${explain} ${sql}`, parameters)
        const byKey =
          database === 'sqlite'
            ? /SEARCH search_entries .*\(app_id=\? AND list=\? AND id=\?\)/
            : /search_entries_key on search_entries[\s\S]*Index Cond: .*list = .*id = /
        assert.match(rows.map((row) => Object.values(row as object).join(' ')).join('\n'), byKey)
      })

      it('leaves out deactivated friends until they are back, and keeps the relation', async () => {
        const app = await appWith('nora', 'milo')
        await add(app, 'nora', 'milo')
        assertSucceeds(await app.delete('/users/milo'))
        await h.settle()
        assert.deepEqual(await uidsOf(app, 'nora'), [])
        assertFails(await app.get('/users/milo/friends'), 404, 'ERR_UID_NOT_FOUND')
        assertSucceeds(await app.put('/users', { uidsToActivate: ['milo'] }))
        assert.deepEqual(await uidsOf(app, 'nora'), ['milo'])
      })
    })

    describe('remove', () => {
      const remove = (app: AppClient, uid: string, ...friends: string[]) =>
        app.delete(`/users/${uid}/friends`, { friends })

      it('ends the friendship for both', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await add(app, 'nora', 'milo', 'amara')
        const { data } = assertSucceeds(await remove(app, 'milo', 'NORA'))
        assert.deepEqual(Object.keys(data).toSorted(), ['message', 'success'])
        assert.deepEqual([await uidsOf(app, 'nora'), await uidsOf(app, 'milo')], [['amara'], []])
      })

      it('passes over UIDs that are no friends, unless none is one', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await add(app, 'nora', 'milo')
        assertFails(await remove(app, 'nora', 'amara', 'ghost', 'nora'), 404, 'ERR_NOT_A_FRIEND')
        assertSucceeds(await remove(app, 'nora', 'amara', 'ghost', 'milo'))
        assertFails(await remove(app, 'nora', 'milo'), 404, 'ERR_NOT_A_FRIEND')
      })

      it('removes a deactivated friend too', async () => {
        const app = await appWith('nora', 'milo')
        await add(app, 'nora', 'milo')
        assertSucceeds(await app.delete('/users/milo'))
        assertSucceeds(await remove(app, 'nora', 'milo'))
        assertSucceeds(await app.put('/users', { uidsToActivate: ['milo'] }))
        assert.deepEqual(await uidsOf(app, 'nora'), [])
      })

      for (const friends of [undefined, [], 'milo', [' '], Array.from({ length: 26 }, (_, i) => `u${i}`)]) {
        it(`refuses ${JSON.stringify(friends)?.slice(0, 40)} as a list, naming the field`, async () => {
          const app = await appWith('nora')
          const answer = await app.delete('/users/nora/friends', { friends })
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(Array.isArray(answer.body.error.details.friends), answer.text)
        })
      }
    })

    describe('everywhere', () => {
      it('refuses a path user who is unknown or deactivated', async () => {
        const app = await appWith('nora', 'gone')
        assertSucceeds(await app.delete('/users/gone'))
        for (const uid of ['ghost', 'gone']) {
          assertFails(await app.get(`/users/${uid}/friends`), 404, 'ERR_UID_NOT_FOUND')
          assertFails(await app.post(`/users/${uid}/friends`, { accepted: [] }), 404, 'ERR_UID_NOT_FOUND')
          assertFails(await app.delete(`/users/${uid}/friends`, { friends: [] }), 404, 'ERR_UID_NOT_FOUND')
        }
      })

      it('keeps apps with the same UIDs apart', async () => {
        const [one, two] = [await appWith('nora', 'milo'), await appWith('nora', 'milo')]
        await add(one, 'nora', 'milo')
        assert.deepEqual(await uidsOf(two, 'nora'), [])
        assertFails(await two.delete('/users/nora/friends', { friends: ['milo'] }), 404, 'ERR_NOT_A_FRIEND')
        assert.deepEqual(await uidsOf(one, 'nora'), ['milo'])
      })

      it('forgets the friendships of a deleted user, and gives none to the next user of that UID', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await add(app, 'nora', 'milo', 'amara')
        assertSucceeds(await app.delete('/users/milo', { permanent: true }))
        assertSucceeds(await app.post('/users', { uid: 'milo', name: 'Another Milo' }))
        assert.deepEqual(await uidsOf(app, 'nora'), ['amara'])
        assert.deepEqual(codes(await add(app, 'amara', 'milo')), { milo: 'success' })
        await h.settle()
        assert.deepEqual([await uidsOf(app, 'nora'), await uidsOf(app, 'milo')], [['amara'], ['amara']])
        const rows = await h.service.house.database.reader.query
          .selectFrom('friends')
          .select('friend_uid')
          .where('app_id', '=', app.id)
          .execute()
        assert.equal(rows.length, 4)
      })

      it('forgets all friendships of a deleted user, however many, and tells of each once', async () => {
        const app = await appWith('nora', 'milo')
        const { database: storage } = h.service.house
        const others = Array.from({ length: 450 }, (_, n) => `other-${n}`)
        await storage.write(async (connection) => {
          const db = tenantDb(connection, app.id)
          const { id } = await db
            .select('users')
            .select('users.id')
            .where('users.uid', '=', 'milo')
            .executeTakeFirstOrThrow()
          const rows = others.flatMap((other) => [
            { user_id: other, friend_id: id, friend_uid: 'milo', created_at: 1 },
            { user_id: id, friend_id: other, friend_uid: other, created_at: 1 },
          ])
          await db.insert('friends', rows).execute()
        })
        assertSucceeds(await app.delete('/users/milo', { permanent: true }))
        const left = () => tenantDb(storage.reader, app.id).select('friends').select('friends.friend_uid').execute()
        await settleUntil(h, 'all is forgotten', async () => (await left()).length === 0)
        const told = (await friendEvents(app)).map(({ payload }) => JSON.parse(payload).friendUid)
        assert.deepEqual(told.toSorted(), others.toSorted())
      })

      it('tells the log of every friendship made and ended, once, and of nothing else', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await add(app, 'nora', 'milo', 'amara', 'ghost')
        await add(app, 'nora', 'milo')
        assertSucceeds(await app.delete('/users/nora/friends', { friends: ['milo', 'ghost'] }))
        assertSucceeds(await app.delete('/users/amara', { permanent: true }))
        await h.settle()
        const events = await friendEvents(app)
        assert.deepEqual(
          events.map(({ name, payload }) => {
            const { user, friend, uid, friendUid } = JSON.parse(payload)
            return `${name} ${user?.uid ?? uid} ${friend?.uid ?? friendUid}`
          }),
          [
            'friend.added nora milo',
            'friend.added nora amara',
            'friend.removed nora milo',
            'friend.removed amara nora',
          ],
        )
      })

      it(
        'ends a flood of parallel friending and unfriending in a state that both sides and the log agree on',
        thorough,
        async () => {
          const uids = ['a', 'b', 'c', 'd']
          const app = await appWith(...uids)
          const pairs = uids.flatMap((uid) => uids.filter((other) => other !== uid).map((other) => [uid, other]))
          const flood = Array.from({ length: 10 }, () => pairs).flat()
          await Promise.all(
            flood.map(async ([uid, other], i) => {
              const answer =
                i % 2 === 0
                  ? await app.post(`/users/${uid}/friends`, { accepted: [other] })
                  : await app.delete(`/users/${uid}/friends`, { friends: [other] })
              assert.ok(answer.status === 200 || answer.body.error.code === 'ERR_NOT_A_FRIEND', answer.text)
            }),
          )
          const state = new Map<string, boolean>()
          for (const { name, payload } of await friendEvents(app)) {
            const { user, friend, uid, friendUid } = JSON.parse(payload)
            const pair = [user?.uid ?? uid, friend?.uid ?? friendUid].toSorted().join(' ')
            const next = name === 'friend.added'
            assert.notEqual(state.get(pair) ?? false, next, `${name} of ${pair} changes something`)
            state.set(pair, next)
          }
          for (const uid of uids) {
            const expected = uids.filter((other) => state.get([uid, other].toSorted().join(' '))).toSorted()
            assert.deepEqual((await uidsOf(app, uid)).toSorted(), expected)
          }
        },
      )

      it('never leaves half a friendship or one with nobody when users are deleted meanwhile', thorough, async () => {
        const uids = Array.from({ length: 12 }, (_, i) => `u${i}`)
        const app = await appWith('nora', ...uids)
        await Promise.all([
          ...uids.map((uid) => app.post('/users/nora/friends', { accepted: [uid] })),
          ...uids.map((uid) => app.post(`/users/${uid}/friends`, { accepted: uids })),
          ...uids.slice(0, 6).map((uid) => app.delete(`/users/${uid}`, { permanent: true })),
        ])
        await h.settle()
        const { query } = h.service.house.database.reader
        const rows = await query.selectFrom('friends').selectAll().where('app_id', '=', app.id).execute()
        const users = await query.selectFrom('users').select('id').where('app_id', '=', app.id).execute()
        const known = new Set(users.map(({ id }) => id))
        const directions = new Set(rows.map((row) => `${row.user_id} ${row.friend_id}`))
        for (const { user_id, friend_id } of rows) {
          assert.ok(known.has(user_id) && known.has(friend_id), 'both users exist')
          assert.ok(directions.has(`${friend_id} ${user_id}`), 'the other direction exists')
        }
      })

      it('answers other areas whether two users are friends', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await add(app, 'nora', 'milo')
        const { db } = workIn(h.service.house.database.reader, app.id, h.service.house.tools)
        assert.equal(await areFriends(db, 'milo', 'nora'), true)
        assert.equal(await areFriends(db, 'nora', 'amara'), false)
        assert.equal(await areFriends(db, 'nora', 'ghost'), false)
      })

      it('narrows the list of users to friends for a role that sees friends only', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await add(app, 'nora', 'milo')
        assertSucceeds(await app.put('/roles/default', { settings: { listUsers: 'friendsOnly' } }))
        const { data } = assertSucceeds(await app.get('/users', { onBehalfOf: 'nora' }))
        assert.deepEqual(
          data.map(({ uid }: { uid: string }) => uid),
          ['milo'],
        )
      })
    })
  })
}
