import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import {
  type AppClient,
  assertFails,
  assertSucceeds,
  type Caller,
  callerAt,
  type House,
  house,
} from '../../../../tests/support/house.ts'
import { settleUntil } from '../../../../tests/support/until.ts'
import { workIn } from '../../common/work-in.ts'
import { channelKey } from '../../kit/channel.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { userBlocked, userUnblocked } from './events.ts'
import { refusalTo, relationBetween } from './index.ts'

interface Entry {
  success: boolean
  error?: { code: string; source: string }
}

describe('the rule about blocks', () => {
  const table = [
    { blocks: {}, code: undefined },
    { blocks: { blockedByMe: true, blockedByMeAt: 1, blockedAt: 1 }, code: 'ERR_BLOCKED_RECEIVER' },
    { blocks: { hasBlockedMe: true, hasBlockedMeAt: 1, blockedAt: 1 }, code: 'ERR_BLOCKED_SENDER' },
    { blocks: { blockedByMe: true, hasBlockedMe: true, blockedAt: 1 }, code: 'ERR_BLOCKED_RECEIVER' },
  ] as const
  for (const { blocks, code } of table) {
    it(`answers ${code ?? 'nothing'} for ${JSON.stringify(blocks)}`, () => {
      const refusal = refusalTo('milo', blocks)
      assert.equal(refusal?.code, code)
      assert.equal(refusal?.status, code && 403)
    })
  }
})

for (const database of databases) {
  describe(`blocked users on ${database}`, () => {
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

    /** The app as a user's client meets it. */
    async function clientOf(app: AppClient, uid: string): Promise<Caller> {
      const { authToken } = assertSucceeds(await app.post(`/users/${uid}/auth_tokens`)).data
      return callerAt(h.client, app.host, '/v3', { authToken })
    }

    const later = (seconds: number) => h.clock.setOffset(h.clock.offsetSeconds() + seconds)
    const block = async (app: Caller, uid: string, ...blockedUids: string[]): Promise<Record<string, Entry>> =>
      assertSucceeds(await app.post(`/users/${uid}/blockedusers`, { blockedUids })).data
    const unblock = async (app: Caller, uid: string, ...blockedUids: string[]): Promise<Record<string, Entry>> =>
      assertSucceeds(await app.delete(`/users/${uid}/blockedusers`, { blockedUids })).data
    const list = async (app: Caller, uid: string, query = '') =>
      assertSucceeds(await app.get(`/users/${uid}/blockedusers${query}`))
    const uidsOf = async (app: Caller, uid: string, query = ''): Promise<string[]> =>
      (await list(app, uid, query)).data.map((user: { uid: string }) => user.uid)
    const codes = (entries: Record<string, Entry>) =>
      Object.fromEntries(Object.entries(entries).map(([uid, { error }]) => [uid, error?.code ?? 'success']))

    /** What the log says about blocks of an app, in its order. */
    async function blockEvents(app: AppClient): Promise<{ name: string; by: string; user: string }[]> {
      const rows = await h.service.house.database.reader.query
        .selectFrom('events')
        .select(['name', 'payload'])
        .where('app_id', '=', app.id)
        .where('name', 'in', [userBlocked.name, userUnblocked.name])
        .orderBy('id')
        .execute()
      return rows.map(({ name, payload }) => {
        const { by, user } = JSON.parse(payload)
        return { name, by: by.uid, user: user.uid }
      })
    }

    describe('block', () => {
      it('answers for each UID alone, keyed by the UID as stored, with status 200', async () => {
        const app = await appWith('nora', 'milo', 'gone')
        assertSucceeds(await app.delete('/users/gone'))
        const entries = await block(app, 'NORA', 'MILO', 'milo', 'nora', 'ghost', 'gone')
        assert.deepEqual(codes(entries), {
          milo: 'success',
          nora: 'ERR_CANNOT_BLOCK_SELF',
          ghost: 'ERR_UID_NOT_FOUND',
          gone: 'ERR_UID_NOT_FOUND',
        })
        assert.equal(entries.ghost?.error?.source, 'chat-api')
        assert.deepEqual(await uidsOf(app, 'nora'), ['milo'])
      })

      it('is a success a second time and keeps the first time', async () => {
        const app = await appWith('nora', 'milo')
        await block(app, 'nora', 'milo')
        const [{ blockedByMeAt }] = (await list(app, 'nora')).data
        later(100)
        assert.deepEqual(codes(await block(app, 'nora', 'milo')), { milo: 'success' })
        assert.equal((await list(app, 'nora')).data[0].blockedByMeAt, blockedByMeAt)
      })

      it('is refused beyond a thousand, for each UID alone; whoever is blocked already stays a success', async () => {
        const app = await appWith('nora', 'milo', 'amara', 'lin')
        await block(app, 'nora', 'milo')
        await h.service.house.database.write(async (connection) => {
          const db = tenantDb(connection, app.id)
          const { user_id } = await db.select('blocks').select('blocks.user_id').executeTakeFirstOrThrow()
          const others = Array.from({ length: 998 }, (_, n) => `other-${n}`)
          const blocks = others.map((other) => ({
            user_id,
            uid: 'nora',
            blocked_id: other,
            blocked_uid: other,
            created_at: 1,
          }))
          await db.insert('blocks', blocks).execute()
        })
        assert.deepEqual(codes(await block(app, 'nora', 'milo', 'amara', 'lin')), {
          milo: 'success',
          amara: 'success',
          lin: 'ERR_PLAN_QUOTA_RESTRICTION',
        })
        await unblock(app, 'nora', 'milo')
        assert.deepEqual(codes(await block(app, 'nora', 'lin')), { lin: 'success' })
      })

      it('takes as many UIDs as the body can hold', async () => {
        const app = await appWith('nora', 'u7')
        const uids = Array.from({ length: 1_000 }, (_, i) => `u${i}`)
        const entries = await block(app, 'nora', ...uids)
        assert.equal(Object.keys(entries).length, uids.length)
        assert.equal(Object.values(entries).filter(({ success }) => success).length, 1)
      })
    })

    describe('unblock', () => {
      it('lifts blocks, and is a success for whoever is not blocked', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await block(app, 'nora', 'milo')
        const entries = await unblock(app, 'nora', 'Milo', 'amara', 'nora', 'ghost')
        assert.deepEqual(codes(entries), {
          milo: 'success',
          amara: 'success',
          nora: 'success',
          ghost: 'ERR_UID_NOT_FOUND',
        })
        assert.deepEqual(await uidsOf(app, 'nora'), [])
      })

      it('lifts a block of a deactivated user', async () => {
        const app = await appWith('nora', 'milo')
        await block(app, 'nora', 'milo')
        assertSucceeds(await app.delete('/users/milo'))
        assert.deepEqual(codes(await unblock(app, 'nora', 'milo')), { milo: 'success' })
        assertSucceeds(await app.put('/users', { uidsToActivate: ['milo'] }))
        assert.deepEqual(await uidsOf(app, 'nora'), [])
      })

      it('leaves the block in the other direction alone', async () => {
        const app = await appWith('nora', 'milo')
        await block(app, 'nora', 'milo')
        await block(app, 'milo', 'nora')
        await unblock(app, 'nora', 'milo')
        assert.deepEqual([await uidsOf(app, 'nora'), await uidsOf(app, 'milo')], [[], ['nora']])
      })
    })

    for (const method of ['POST', 'DELETE']) {
      describe(`${method} with a list that is none`, () => {
        const table: [unknown, string][] = [
          [undefined, 'blockedUids'],
          [[], 'blockedUids'],
          ['milo', 'blockedUids'],
          [{}, 'blockedUids'],
          [['milo', ''], 'blockedUids.1'],
          [['  ', 'milo'], 'blockedUids.0'],
          [[7.5], 'blockedUids.0'],
        ]
        for (const [blockedUids, field] of table) {
          it(`refuses ${JSON.stringify(blockedUids)}, naming ${field}`, async () => {
            const app = await appWith('nora')
            const answer = await app.send('/users/nora/blockedusers', { method, body: { blockedUids } })
            assertFails(answer, 400, 'ERR_BAD_REQUEST')
            assert.ok(Array.isArray(answer.body.error.details[field]), answer.text)
          })
        }
      })
    }

    describe('list', () => {
      it('shows user records with both blocks of the pair, the later time and the conversation', async () => {
        const app = await appWith('nora', 'milo')
        await block(app, 'nora', 'milo')
        later(50)
        await block(app, 'milo', 'nora')
        const { data, meta } = await list(app, 'nora')
        const [{ createdAt, blockedByMeAt, hasBlockedMeAt, blockedAt, ...milo }] = data
        assert.deepEqual(milo, {
          uid: 'milo',
          name: 'milo Example',
          role: 'default',
          status: 'offline',
          conversationId: 'milo_user_nora',
          blockedByMe: true,
          hasBlockedMe: true,
        })
        assert.ok(hasBlockedMeAt >= blockedByMeAt + 50)
        assert.equal(blockedAt, hasBlockedMeAt)
        assert.deepEqual(meta.cursor, { updatedAt: createdAt, affix: 'prepend' })
      })

      it('leaves out what does not stand: one block shows one side only', async () => {
        const app = await appWith('nora', 'milo')
        await block(app, 'nora', 'milo')
        const [milo] = (await list(app, 'nora')).data
        assert.equal(milo.blockedAt, milo.blockedByMeAt)
        assert.deepEqual(['hasBlockedMe' in milo, 'hasBlockedMeAt' in milo], [false, false])
        const [nora] = (await list(app, 'milo', '?direction=hasBlockedMe')).data
        assert.equal(nora.blockedAt, nora.hasBlockedMeAt)
        assert.deepEqual([nora.hasBlockedMe, 'blockedByMe' in nora], [true, false])
      })

      it('goes by direction: own blocks unless said otherwise, those of others, or both', async () => {
        const app = await appWith('nora', 'milo', 'amara', 'kenji')
        await block(app, 'nora', 'milo')
        later(1)
        await block(app, 'amara', 'nora')
        later(1)
        await block(app, 'kenji', 'nora')
        await block(app, 'nora', 'kenji')
        assert.deepEqual(await uidsOf(app, 'nora'), ['milo', 'kenji'])
        assert.deepEqual(await uidsOf(app, 'nora', '?direction=blockedByMe'), ['milo', 'kenji'])
        assert.deepEqual(await uidsOf(app, 'nora', '?direction=hasBlockedMe'), ['amara', 'kenji'])
        assert.deepEqual(await uidsOf(app, 'nora', '?direction=both'), ['milo', 'amara', 'kenji'])
        assert.equal((await list(app, 'nora', '?direction=both&perPage=1')).meta.pagination.total, 3)
        assert.deepEqual(await uidsOf(app, 'nora', '?direction=sideways'), [])
      })

      it('shows the oldest block first, page by page, with true totals', async () => {
        const app = await appWith('nora', 'a', 'b', 'c')
        for (const uid of ['b', 'a', 'c']) {
          await block(app, 'nora', uid)
          later(1)
        }
        assert.deepEqual(await uidsOf(app, 'nora'), ['b', 'a', 'c'])
        assert.deepEqual(await uidsOf(app, 'nora', '?perPage=1&page=2'), ['a'])
        const { total, total_pages } = (await list(app, 'nora', '?perPage=2&page=2')).meta.pagination
        assert.deepEqual([total, total_pages], [3, 2])
        await block(app, 'nora', 'b')
        assert.deepEqual(await uidsOf(app, 'nora'), ['b', 'a', 'c'])
      })

      it('is empty, without a cursor, where nobody is blocked', async () => {
        const app = await appWith('nora')
        const { data, meta } = await list(app, 'nora')
        assert.deepEqual([data, meta.pagination.total, 'cursor' in meta], [[], 0, false])
      })

      it('finds a part of a name or UID in any script, among the blocked alone', async () => {
        const app = await appWith('nora')
        for (const [uid, name] of Object.entries({ kenji: '田中', milo: 'Милош', other: '田中 again' })) {
          assertSucceeds(await app.post('/users', { uid, name }))
        }
        await block(app, 'nora', 'kenji', 'milo')
        assert.deepEqual(await uidsOf(app, 'nora', `?searchKey=${encodeURIComponent('田中')}`), ['kenji'])
        assert.deepEqual(await uidsOf(app, 'nora', `?searchKey=${encodeURIComponent('МИЛ')}&direction=both`), ['milo'])
        assert.deepEqual(await uidsOf(app, 'nora', '?searchKey=ENJ'), ['kenji'])
      })

      it('leaves out deactivated users until they are back', async () => {
        const app = await appWith('nora', 'milo')
        await block(app, 'nora', 'milo')
        assertSucceeds(await app.delete('/users/milo'))
        await h.settle()
        assert.deepEqual(await uidsOf(app, 'nora'), [])
        assertSucceeds(await app.put('/users', { uidsToActivate: ['milo'] }))
        assert.deepEqual(await uidsOf(app, 'nora'), ['milo'])
      })
    })

    describe('everywhere', () => {
      it('refuses a path user who is unknown or deactivated', async () => {
        const app = await appWith('gone')
        assertSucceeds(await app.delete('/users/gone'))
        for (const uid of ['ghost', 'gone']) {
          assertFails(await app.get(`/users/${uid}/blockedusers`), 404, 'ERR_UID_NOT_FOUND')
          assertFails(await app.post(`/users/${uid}/blockedusers`, {}), 404, 'ERR_UID_NOT_FOUND')
          assertFails(await app.delete(`/users/${uid}/blockedusers`, {}), 404, 'ERR_UID_NOT_FOUND')
        }
      })

      it('ignores onBehalfOf: the blocker is always the user in the path', async () => {
        const app = await appWith('nora', 'milo')
        const answer = await app.post('/users/nora/blockedusers', { blockedUids: ['milo'] }, { onBehalfOf: 'ghost' })
        assert.deepEqual(codes(assertSucceeds(answer).data), { milo: 'success' })
      })

      it('shows blocks to the acting user in the list of users and in one user', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await block(app, 'nora', 'milo')
        await block(app, 'amara', 'nora')
        const acting = { onBehalfOf: 'nora' }
        const { data } = assertSucceeds(await app.get('/users', acting))
        const shown = data.map((user: Record<string, unknown>) => [user.uid, user.blockedByMe, user.hasBlockedMe])
        assert.deepEqual(shown.toSorted(), [
          ['amara', undefined, true],
          ['milo', true, undefined],
        ])
        const milo = assertSucceeds(await app.get('/users/milo', acting)).data
        assert.deepEqual([milo.blockedByMe, milo.conversationId], [true, 'milo_user_nora'])
        assert.equal('blockedByMe' in assertSucceeds(await app.get('/users/milo')).data, false)
      })

      it('keeps apps with the same UIDs apart', async () => {
        const [one, two] = [await appWith('nora', 'milo'), await appWith('nora', 'milo')]
        await block(one, 'nora', 'milo')
        assert.deepEqual(await uidsOf(two, 'nora'), [])
        await unblock(two, 'nora', 'milo')
        assert.deepEqual(await uidsOf(one, 'nora'), ['milo'])
      })

      it('leaves friendships alone', async () => {
        const app = await appWith('nora', 'milo')
        assertSucceeds(await app.post('/users/nora/friends', { accepted: ['milo'] }))
        await block(app, 'nora', 'milo')
        const { data } = assertSucceeds(await app.get('/users/nora/friends'))
        assert.deepEqual([data[0].uid, data[0].blockedByMe], ['milo', true])
      })

      it('forgets the blocks of a deleted user, and gives none to the next user of that UID', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await block(app, 'nora', 'milo', 'amara')
        await block(app, 'milo', 'nora')
        assertSucceeds(await app.delete('/users/milo', { permanent: true }))
        assertSucceeds(await app.post('/users', { uid: 'milo', name: 'Another Milo' }))
        assert.deepEqual([await uidsOf(app, 'nora'), await uidsOf(app, 'milo')], [['amara'], []])
        await block(app, 'amara', 'milo')
        await h.settle()
        assert.deepEqual(
          [await uidsOf(app, 'nora', '?direction=both'), await uidsOf(app, 'amara')],
          [['amara'], ['milo']],
        )
        const rows = await h.service.house.database.reader.query
          .selectFrom('blocks')
          .select(['uid', 'blocked_uid'])
          .where('app_id', '=', app.id)
          .orderBy('uid')
          .execute()
        assert.deepEqual(
          rows.map((row) => `${row.uid} ${row.blocked_uid}`),
          ['amara milo', 'nora amara'],
        )
      })

      it('forgets all blocks by and against a deleted user, however many', async () => {
        const app = await appWith('nora', 'milo')
        const { database: storage } = h.service.house
        const blocksLeft = () => tenantDb(storage.reader, app.id).select('blocks').select('blocks.uid').execute()
        await storage.write(async (connection) => {
          const db = tenantDb(connection, app.id)
          const { id } = await db
            .select('users')
            .select('users.id')
            .where('users.uid', '=', 'milo')
            .executeTakeFirstOrThrow()
          const others = Array.from({ length: 1_100 }, (_, n) => `other-${n}`)
          const pairs = others.flatMap((other) => [
            { user_id: other, uid: other, blocked_id: id, blocked_uid: 'milo', created_at: 1 },
            { user_id: id, uid: 'milo', blocked_id: other, blocked_uid: other, created_at: 1 },
          ])
          await db.insert('blocks', pairs).execute()
        })
        await block(app, 'nora', 'milo')
        assertSucceeds(await app.delete('/users/milo', { permanent: true }))
        await settleUntil(h, 'all is forgotten', async () => (await blocksLeft()).length === 0)
      })

      it('tells the log of every pair that really changed, once', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await block(app, 'nora', 'milo', 'amara', 'ghost', 'nora')
        await block(app, 'nora', 'milo')
        await unblock(app, 'nora', 'amara', 'nora')
        await unblock(app, 'nora', 'amara')
        assert.deepEqual(await blockEvents(app), [
          { name: 'user.blocked', by: 'nora', user: 'milo' },
          { name: 'user.blocked', by: 'nora', user: 'amara' },
          { name: 'user.unblocked', by: 'nora', user: 'amara' },
        ])
      })

      it('tells webhooks who was blocked by whom, without private metadata, and both users live', async () => {
        const app = await appWith('nora')
        const metadata = { '@private': { email: 'milo@example.org' }, team: 'blue' }
        assertSucceeds(await app.post('/users', { uid: 'milo', name: 'Milo', metadata }))
        await block(app, 'nora', 'milo')
        const { payload } = await h.service.house.database.reader.query
          .selectFrom('events')
          .select('payload')
          .where('app_id', '=', app.id)
          .where('name', '=', userBlocked.name)
          .executeTakeFirstOrThrow()
        const told = JSON.parse(payload)
        assert.deepEqual(userBlocked.audience(told).map(channelKey), ['user:nora', 'user:milo'])
        const { trigger, body } = userBlocked.webhook ?? { trigger: 'none', body: () => ({}) }
        assert.deepEqual([trigger, userUnblocked.webhook?.trigger], ['user_blocked', 'user_unblocked'])
        const { users, by } = body(told) as { users: Record<string, object>; by: { uid: string } }
        assert.deepEqual([Object.keys(users), by.uid], [['milo'], 'nora'])
        assert.ok(!payload.includes('@private') && payload.includes('blue'))
      })

      it('ends a flood of parallel blocking and unblocking in the state that the log tells', async () => {
        const uids = ['a', 'b', 'c']
        const app = await appWith(...uids)
        const pairs = uids.flatMap((uid) => uids.filter((other) => other !== uid).map((other) => [uid, other]))
        const flood = Array.from({ length: 16 }, () => pairs).flat()
        await Promise.all(
          flood.map(([uid = '', other = ''], i) => (i % 3 === 1 ? unblock(app, uid, other) : block(app, uid, other))),
        )
        const state = new Map<string, boolean>()
        for (const { name, by, user } of await blockEvents(app)) {
          const next = name === 'user.blocked'
          assert.notEqual(state.get(`${by} ${user}`) ?? false, next, `${name} of ${by} and ${user} changes something`)
          state.set(`${by} ${user}`, next)
        }
        for (const uid of uids) {
          const expected = uids.filter((other) => state.get(`${uid} ${other}`))
          assert.deepEqual((await uidsOf(app, uid)).toSorted(), expected)
        }
      })

      it('answers other areas what stands between two users', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        await block(app, 'nora', 'milo')
        const { db } = workIn(h.service.house.database.reader, app.id, h.service.house.tools)
        const [there, back] = [await relationBetween(db, 'nora', 'milo'), await relationBetween(db, 'milo', 'nora')]
        assert.deepEqual([there.blockedByMe, there.hasBlockedMe], [true, undefined])
        assert.deepEqual([back.blockedByMe, back.hasBlockedMe], [undefined, true])
        assert.deepEqual(await relationBetween(db, 'nora', 'amara'), {})
        assert.equal(refusalTo('milo', there)?.code, 'ERR_BLOCKED_RECEIVER')
        assert.equal(refusalTo('nora', back)?.code, 'ERR_BLOCKED_SENDER')
      })
    })

    describe("a user's own client", () => {
      it('blocks, lists both directions and unblocks', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        const nora = await clientOf(app, 'nora')
        assert.deepEqual(codes(await block(nora, 'nora', 'milo')), { milo: 'success' })
        later(1)
        await block(app, 'amara', 'nora')
        assert.deepEqual(await uidsOf(nora, 'nora'), ['milo', 'amara'])
        assert.deepEqual(await uidsOf(nora, 'nora', '?direction=blockedByMe'), ['milo'])
        assert.deepEqual(codes(await unblock(nora, 'nora', 'milo')), { milo: 'success' })
        assert.deepEqual(await uidsOf(nora, 'nora'), ['amara'])
      })

      it('is refused at the blocks of anybody else', async () => {
        const app = await appWith('nora', 'milo')
        const nora = await clientOf(app, 'nora')
        assertFails(await nora.get('/users/milo/blockedusers'), 403, 'ERR_PERMISSION_DENIED')
        const body = { blockedUids: ['nora'] }
        assertFails(await nora.post('/users/milo/blockedusers', body), 403, 'ERR_PERMISSION_DENIED')
        assertFails(await nora.delete('/users/milo/blockedusers', body), 403, 'ERR_PERMISSION_DENIED')
      })

      it('never sees private metadata', async () => {
        const app = await appWith('nora')
        const metadata = { '@private': { email: 'milo@example.org' } }
        assertSucceeds(await app.post('/users', { uid: 'milo', name: 'Milo', metadata }))
        await block(app, 'nora', 'milo')
        assert.ok(!JSON.stringify(await list(await clientOf(app, 'nora'), 'nora')).includes('@private'))
        assert.ok(JSON.stringify(await list(app, 'nora')).includes('@private'))
      })

      it('is refused what the role has restricted', async () => {
        const app = await appWith('nora', 'milo')
        const nora = await clientOf(app, 'nora')
        const features = ['blockUser', 'unblockUser', 'getBlockedUsers']
        assertSucceeds(await app.post('/roles/default/restrictedfeatures', { featuresToRestrict: features }))
        const body = { blockedUids: ['milo'] }
        assertFails(await nora.get('/users/nora/blockedusers'), 403, 'ERR_PERMISSION_DENIED')
        assertFails(await nora.post('/users/nora/blockedusers', body), 403, 'ERR_PERMISSION_DENIED')
        assertFails(await nora.delete('/users/nora/blockedusers', body), 403, 'ERR_PERMISSION_DENIED')
        await block(app, 'nora', 'milo')
      })
    })
  })
}
