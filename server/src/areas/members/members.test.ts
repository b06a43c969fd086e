import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { sayIn } from '../../../../tests/support/talk.ts'
import { connectUsers, logOf, toldTo } from '../../../../tests/support/told.ts'
import { viewIn } from '../../common/work-in.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { requireGroup, selectMembers } from '../groups/index.ts'
import { placeOfGroup } from '../timeline/index.ts'

const as = (uid: string) => ({ onBehalfOf: uid })
const uidsIn = (list: { uid: string }[]) => list.map(({ uid }) => uid)

for (const database of databases) {
  describe(`members on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    async function newApp(...uids: string[]): Promise<AppClient> {
      const app = await h.app(randomUUID())
      for (const uid of uids) assertSucceeds(await app.post('/users', { uid, name: `Name of ${uid}` }))
      return app
    }
    /** A group of `ada`, with an admin, a moderator, a participant, somebody outside and somebody banned. */
    async function crew(type = 'public'): Promise<AppClient> {
      const app = await newApp('ada', 'admin', 'mod', 'part', 'out', 'evil')
      const members = { admins: ['admin'], moderators: ['mod'], participants: ['part'], usersToBan: ['evil'] }
      const password = type === 'password' ? { password: 'open sesame' } : {}
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', type, members, ...password }, as('ada')))
      return app
    }
    const add = async (app: AppClient, body: object, headers?: Record<string, string>) =>
      assertSucceeds(await app.post('/groups/g/members', body, headers)).data
    const list = async (app: AppClient, search = '', headers?: Record<string, string>) =>
      assertSucceeds(await app.get(`/groups/g/members${search}`, headers))
    const group = async (app: AppClient) => assertSucceeds(await app.get('/groups/g')).data
    const clientOf = async (app: AppClient, uid: string) => {
      const { authToken } = assertSucceeds(await app.post(`/users/${uid}/auth_tokens`)).data
      return (method: string, path: string, body?: object) =>
        h.client.send(app.host, `/v3${path}`, { method, headers: { authToken }, body })
    }
    const later = () => h.clock.setOffset(h.clock.offsetSeconds() + 1)
    const scopesOf = async (app: AppClient) =>
      Object.fromEntries((await list(app)).data.map(({ uid, scope }: { uid: string; scope: string }) => [uid, scope]))
    const db = (app: AppClient) => tenantDb(h.service.house.database.reader, app.id)
    const rowsOf = async (app: AppClient) =>
      uidsIn(
        await db(app)
          .select('conversation_rows')
          .select('conversation_rows.uid')
          .where('conversation_rows.conversation_key', '=', placeOfGroup('g').conversationKey)
          .orderBy('conversation_rows.uid')
          .execute(),
      )
    const actionsIn = async (app: AppClient) => {
      const rows = await db(app)
        .select('messages')
        .select(['messages.data', 'messages.sender'])
        .where('messages.conversation_key', '=', placeOfGroup('g').conversationKey)
        .where('messages.category', '=', 'action')
        .orderBy('messages.id')
        .execute()
      return rows.map(({ data, sender }) => {
        const { action, entities } = JSON.parse(data)
        return `${sender} ${action} ${entities.on.entity.uid}`
      })
    }

    describe('adding', () => {
      it('tells for each what became of it, with the message in the group', async () => {
        const app = await crew('private')
        assertSucceeds(await app.post('/users', { uid: 'new', name: 'New', metadata: { '@private': { pin: 1 } } }))
        const body = { admins: ['OUT'], participants: ['new', 'part', 'nobody', 'evil'], usersToBan: ['mod', 'evil'] }
        const answer = await add(app, body)
        assert.deepEqual(Object.keys(answer), ['admins', 'participants', 'usersToBan'])
        const { id, sentAt, updatedAt, ...message } = answer.admins.out.data
        assert.match(id, /^\d+$/)
        assert.equal(sentAt, updatedAt)
        const { for: place, by, on } = message.data.entities
        const { createdAt } = assertSucceeds(await h.management.get(`/apps/${app.id}`)).data
        assert.deepEqual(by, {
          entity: { uid: 'app_system', name: 'System', role: 'default', status: 'offline', createdAt },
          entityType: 'user',
        })
        assert.deepEqual([on.entity.uid, on.entityType], ['out', 'user'])
        assert.equal(place.entityType, 'group')
        assert.deepEqual([place.entity.guid, place.entity.membersCount, place.entity.owner], ['g', 5, 'ada'])
        assert.equal(answer.participants.new.data.data.entities.for.entity.membersCount, 6)
        assert.equal(JSON.stringify(answer).includes('pin'), false)
        assert.deepEqual(
          [
            message.conversationId,
            message.sender,
            message.receiver,
            message.receiverType,
            message.category,
            message.type,
          ],
          ['group_g', 'app_system', 'g', 'group', 'action', 'groupMember'],
        )
        assert.equal(answer.participants.part.error.code, 'ERR_ALREADY_JOINED')
        assert.equal(answer.participants.nobody.error.code, 'ERR_UID_NOT_FOUND')
        assert.equal(answer.participants.evil.error.code, 'ERR_BANNED_GROUPMEMBER')
        assert.deepEqual(answer.usersToBan, { mod: { success: true } })
        assert.equal((await group(app)).membersCount, 5)
        assert.deepEqual(await rowsOf(app), ['ada', 'admin', 'new', 'out', 'part'])
        assert.deepEqual((await add(app, { usersToBan: ['mod'] })).usersToBan.mod.error.code, 'ERR_ALREADY_BANNED')
      })

      it('does not change the scope of who is in already', async () => {
        const app = await crew()
        const { admins } = await add(app, { admins: ['part'] })
        assert.equal(admins.part.error.code, 'ERR_ALREADY_JOINED')
        assert.equal((await scopesOf(app)).part, 'participant')
      })

      it('wants 1 to 25 users, each counted once', async () => {
        const app = await crew()
        const many = Array.from({ length: 26 }, (_, n) => `u${n}`)
        for (const body of [
          {},
          { admins: [] },
          { participants: many },
          { admins: ['a'], moderators: many.slice(0, 25) },
        ]) {
          assertFails(await app.post('/groups/g/members', body), 400, 'ERR_BAD_REQUEST')
        }
        const answer = await add(app, { admins: many.slice(0, 25), participants: many.slice(0, 25), moderators: [] })
        assert.deepEqual(Object.keys(answer), ['admins', 'participants'])
        assert.equal(Object.keys(answer.admins).length, 25)
        assert.deepEqual(answer.participants, {})
        assertFails(await app.post('/groups/none/members', { admins: ['a'] }), 404, 'ERR_GUID_NOT_FOUND')
      })

      it('is for admins; bans beside it keep their own rules', async () => {
        const app = await crew()
        const adding = (uid: string) => app.post('/groups/g/members', { participants: ['nobody'] }, as(uid))
        assertFails(await adding('mod'), 403, 'ERR_GROUP_NO_ADMIN_SCOPE')
        assertFails(await adding('part'), 403, 'ERR_GROUP_NO_ADMIN_SCOPE')
        assertFails(await adding('out'), 403, 'ERR_GROUP_NOT_JOINED')
        assertFails(await adding('evil'), 403, 'ERR_BANNED_GROUPMEMBER')
        const { participants, usersToBan } = await add(
          app,
          { participants: ['out'], usersToBan: ['ada', 'admin'] },
          as('admin'),
        )
        assert.equal(participants.out.data.sender, 'admin')
        assert.equal(usersToBan.ada.error.code, 'ERR_GROUP_NO_CLEARANCE')
        assert.equal(usersToBan.admin.error.code, 'ERR_GROUP_NO_SELF_ACTION')
        const told = (await toldTo(h, app)).at(-1)
        assert.equal(told?.trigger, 'group_member_added')
        assert.deepEqual(
          [told?.data.by.uid, Object.keys(told?.data.members), told?.data.group.membersCount],
          ['admin', ['out'], 5],
        )
      })

      it('stops where the group is full', async () => {
        const app = await crew()
        await size(app, 99_999)
        const { participants } = await add(app, { participants: ['out', 'nobody'], moderators: ['part'] })
        assert.equal(participants.out.success, true)
        await size(app, 99_999)
        assertSucceeds(await app.post('/users', { uid: 'one', name: 'One' }))
        assertSucceeds(await app.post('/users', { uid: 'two', name: 'Two' }))
        const last = await add(app, { participants: ['one', 'two'] })
        assert.equal(last.participants.one.success, true)
        assert.equal(last.participants.two.error.code, 'ERR_NO_VACANCY')
        assertFails(await app.post('/groups/g/members', { participants: ['two'] }), 402, 'ERR_PLAN_QUOTA_RESTRICTION')
        assert.equal((await add(app, { usersToBan: ['part'] })).usersToBan.part.success, true)
        const join = await clientOf(app, 'two')
        await size(app, 100_000)
        assertFails(await join('POST', '/groups/g/join'), 403, 'ERR_NO_VACANCY')
      })

      it('gives everybody a conversation row, also in a group of more than 300', async () => {
        const app = await crew()
        await size(app, 300)
        await add(app, { participants: ['out'] })
        assert.equal((await rowsOf(app)).includes('out'), true)
      })

      it('obeys restricted features', async () => {
        const app = await crew()
        assertSucceeds(await app.post('/users', { uid: 'x', name: 'X' }))
        const featuresToRestrict = ['massMemberOperate']
        assertSucceeds(await app.post('/roles/default/restrictedfeatures', { featuresToRestrict }))
        await add(app, { participants: ['x'] }, as('ada'))
        assertFails(
          await app.post('/groups/g/members', { participants: ['x', 'out'] }, as('ada')),
          403,
          'ERR_PERMISSION_DENIED',
        )
      })
    })

    async function size(app: AppClient, members_count: number): Promise<void> {
      await h.service.house.database.write((connection) =>
        tenantDb(connection, app.id).update('groups').set({ members_count }).where('guid', '=', 'g').execute(),
      )
    }

    describe('listing', () => {
      it('has the latest to join first, with scope and time, and no banned ones', async () => {
        const app = await crew()
        later()
        await add(app, { participants: ['out'] })
        const { data, meta } = await list(app)
        assert.deepEqual(uidsIn(data), ['out', 'ada', 'admin', 'mod', 'part'])
        assert.deepEqual(meta.pagination, { total: 5, count: 5, per_page: 100, current_page: 1, total_pages: 1 })
        assert.equal(meta.cursor.affix, 'prepend')
        const { createdAt, joinedAt, ...rest } = data[4]
        assert.deepEqual(rest, {
          uid: 'part',
          name: 'Name of part',
          role: 'default',
          status: 'offline',
          scope: 'participant',
        })
        assert.ok(joinedAt >= createdAt)
      })

      it('shows the whole user beside what the member is, and private data to servers alone', async () => {
        const app = await crew()
        const profile = {
          avatar: 'https://a.example/a.png',
          link: 'https://a.example/',
          statusMessage: 'Away',
          metadata: { a: 1, '@private': { pin: 2 } },
          tags: ['t'],
        }
        assertSucceeds(await app.put('/users/part', profile))
        const of = async (headers?: Record<string, string>) =>
          (await list(app, '?searchKey=part', headers)).data[0] as Record<string, unknown>
        const user = assertSucceeds(await app.get('/users/part')).data
        const { scope, joinedAt, ...member } = await of()
        assert.deepEqual([scope, typeof joinedAt], ['participant', 'number'])
        const { tags: _tags, ...withoutTags } = user
        assert.deepEqual(member, withoutTags)
        assert.deepEqual((await of(as('mod'))).metadata, { a: 1 })
      })

      it('reads its words in every form, caps the page, and refuses what is no number', async () => {
        const app = await crew()
        for (const search of ['scopes[]=admin&scopes[]=moderator', 'scopes=admin&scopes=moderator']) {
          assert.deepEqual(uidsIn((await list(app, `?${search}`)).data), ['ada', 'admin', 'mod'])
        }
        const { data, meta } = await list(app, '?perPage=5000&page=2')
        assert.deepEqual([data, meta.pagination.per_page, 'cursor' in meta], [[], 1000, false])
        for (const search of ['perPage=0', 'page=0', 'page=x', 'perPage=1.5']) {
          assertFails(await app.get(`/groups/g/members?${search}`), 400, 'ERR_BAD_REQUEST')
        }
      })

      it('shows what the acting user and each have to do with each other', async () => {
        const app = await crew()
        assertSucceeds(await app.post('/users/part/blockedusers', { blockedUids: ['mod'] }))
        const { data } = await list(app, '', as('part'))
        const of = (uid: string) => data.find((member: { uid: string }) => member.uid === uid)
        assert.equal(of('mod').blockedByMe, true)
        assert.equal(of('mod').conversationId, 'mod_user_part')
        assert.equal(typeof of('mod').blockedByMeAt, 'number')
        const blocked = (await list(app, '?searchKey=part', as('mod'))).data[0]
        assert.deepEqual([blocked.hasBlockedMe, typeof blocked.blockedAt], [true, 'number'])
        assert.equal(
          (await list(app)).data.some((member: object) => 'conversationId' in member),
          false,
        )
        assert.equal('conversationId' in of('part'), false)
        assert.equal('blockedByMe' in of('ada'), false)
      })

      it('shows members who are deactivated', async () => {
        const app = await crew()
        assertSucceeds(await app.delete('/users/part'))
        const part = (await list(app)).data.find(({ uid }: { uid: string }) => uid === 'part')
        assert.ok(part.deactivatedAt > 0)
      })

      it('filters by scope, status and a part of the name', async () => {
        const app = await crew()
        await add(app, { participants: ['out'] })
        connectUsers(h, app, 'mod', 'out', 'evil')
        const found = async (search: string) => {
          const { data, meta } = await list(app, search)
          assert.equal(meta.pagination.total, data.length, search)
          return uidsIn(data).toSorted()
        }
        assert.deepEqual(await found('?scopes=admin'), ['ada', 'admin'])
        assert.deepEqual(await found('?scopes=admin,moderator'), ['ada', 'admin', 'mod'])
        assert.deepEqual(await found('?scopes=king'), [])
        assert.deepEqual(await found('?status=available'), ['mod', 'out'])
        assert.deepEqual(await found('?status=online&scopes=moderator'), ['mod'])
        assert.deepEqual(await found('?status=offline'), ['ada', 'admin', 'part'])
        assert.deepEqual(await found('?status=away'), [])
        assert.deepEqual(await found('?searchKey=AD'), ['ada', 'admin'])
        assert.deepEqual(await found('?searchKey=name%20of%20m'), ['mod'])
        assert.deepEqual(await found('?searchKey=evil'), [])
        assert.deepEqual(await found('?searchKey=o&status=available&scopes=participant'), ['out'])
        assert.deepEqual(await found('?searchKey=ad&status=offline'), ['ada', 'admin'])
      })

      it('finds the same whoever are fewer, the members or those who match', async () => {
        const app = await crew()
        for (let n = 0; n < 8; n += 1) assertSucceeds(await app.post('/users', { uid: `extra${n}`, name: 'Name' }))
        assert.deepEqual(uidsIn((await list(app, '?searchKey=name')).data).toSorted(), ['ada', 'admin', 'mod', 'part'])
        connectUsers(h, app, ...Array.from({ length: 8 }, (_, n) => `extra${n}`), 'ada')
        assert.deepEqual(uidsIn((await list(app, '?status=available')).data), ['ada'])
        assert.equal((await list(app, '?status=offline')).meta.pagination.total, 3)
      })

      it('is no long read in a small group, however many are connected elsewhere', async () => {
        const app = await crew()
        connectUsers(h, app, 'mod', 'part', ...Array.from({ length: 1_500 }, (_, n) => `stranger-${n}`))
        const { database, tools } = h.service.house
        // Where a long read ends as soon as it turns out to be one.
        const view = viewIn({ ...database.reader, isShared: true }, app.id, tools)
        const group = await requireGroup(view.db, 'g')
        const found = async (query: Parameters<typeof selectMembers>[2]) =>
          uidsIn((await selectMembers(view, group, query, { limit: 10, offset: 0 })).rows.map(({ user }) => user))
        assert.deepEqual((await found({ status: 'available' })).toSorted(), ['mod', 'part'])
        assert.deepEqual(await found({ status: 'available', scopes: ['moderator'] }), ['mod'])
        assert.deepEqual((await found({ status: 'offline' })).toSorted(), ['ada', 'admin'])
      })

      it('gives every member once when walked page by page', async () => {
        const app = await newApp('ada')
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G' }, as('ada')))
        later()
        const expected = ['ada']
        for (let n = 0; n < 20; n += 1) {
          const uid = `u${String(n).padStart(2, '0')}`
          assertSucceeds(await app.post('/users', { uid, name: uid }))
          await add(app, { [n % 3 === 0 ? 'moderators' : 'participants']: [uid] })
          expected.push(uid)
          if (n % 4 === 0) later()
        }
        for (const search of [
          '?perPage=3',
          '?perPage=7',
          '?perPage=4&scopes=participant,moderator,admin',
          '?perPage=4&searchKey=a',
        ]) {
          const seen: string[] = []
          for (let page = 1; ; page += 1) {
            const { data, meta } = await list(app, `${search}&page=${page}`)
            seen.push(...uidsIn(data))
            if (seen.length >= meta.pagination.total) break
          }
          assert.equal(new Set(seen).size, seen.length)
          assert.deepEqual(seen.toSorted(), search.includes('searchKey') ? ['ada'] : expected, search)
        }
        const connected = ['u01', 'u02', 'u07', 'u19']
        connectUsers(h, app, ...connected)
        for (const perPage of [1, 3, 10]) {
          const seen: string[] = []
          for (let page = 1; page <= 21; page += 1) {
            seen.push(...uidsIn((await list(app, `?status=offline&perPage=${perPage}&page=${page}`)).data))
          }
          assert.deepEqual(
            seen.toSorted(),
            expected.filter((uid) => !connected.includes(uid)),
          )
        }
        const moderators = uidsIn((await list(app, '?scopes=moderator,admin&perPage=5&page=2')).data)
        assert.deepEqual(moderators.slice(-2), ['u00', 'ada'])
      })

      it('is for members if the group is private', async () => {
        const app = await crew('private')
        await list(app, '', as('part'))
        assertFails(await app.get('/groups/g/members', as('out')), 403, 'ERR_GROUP_NOT_JOINED')
        assertFails(await app.get('/groups/g/members', as('evil')), 403, 'ERR_BANNED_GROUPMEMBER')
        const open = await crew()
        await list(open, '', as('out'))
        assertFails(await open.get('/groups/none/members'), 404, 'ERR_GUID_NOT_FOUND')
      })

      it('obeys the permissions of the scope', async () => {
        const app = await crew()
        const set = (scope: string, permissions: object) =>
          app.put(`/groups/g/scopes/${scope}/permissions`, { permissions })
        assertSucceeds(await set('participant', { 'listMembers.allowedScopes': ['admin', 'moderator'] }))
        assertSucceeds(await set('moderator', { listMembers: 'deny' }))
        assert.deepEqual(uidsIn((await list(app, '', as('part'))).data), ['ada', 'admin', 'mod'])
        assert.deepEqual(uidsIn((await list(app, '?scopes=participant', as('part'))).data), [])
        assertFails(await app.get('/groups/g/members', as('mod')), 403, 'ERR_PERMISSION_DENIED')
        assert.equal((await list(app, '', as('ada'))).meta.pagination.total, 4)
      })
    })

    describe('changing a scope', () => {
      it('answers the membership, and tells the group old and new', async () => {
        const app = await crew()
        const { joinedAt } = (await list(app)).data.find(({ uid }: { uid: string }) => uid === 'part')
        const { data } = assertSucceeds(await app.put('/groups/G/members/PART', { scope: 'moderator' }, as('ada')))
        assert.deepEqual(data, { guid: 'g', uid: 'part', scope: 'moderator', joinedAt })
        assert.equal((await actionsIn(app)).at(-1), 'ada scopeChanged part')
        const message = await db(app)
          .select('messages')
          .select('messages.data')
          .orderBy('messages.id', 'desc')
          .limit(1)
          .executeTakeFirstOrThrow()
        assert.deepEqual(JSON.parse(message.data).extras, { scope: { new: 'moderator', old: 'participant' } })
        const told = (await toldTo(h, app)).at(-1)
        assert.equal(told?.trigger, 'group_member_scope_changed')
        assert.deepEqual(
          [told?.data.members.part.scope, told?.data.members.part.oldScope, told?.data.by.uid],
          ['moderator', 'participant', 'ada'],
        )
        assert.deepEqual(uidsIn((await list(app, '?scopes=moderator')).data), ['mod', 'part'])
        const before = await group(app)
        later()
        assert.equal(assertSucceeds(await app.put('/groups/g/members/part')).data.scope, 'participant')
        const after = await group(app)
        assert.ok(after.updatedAt > before.updatedAt)
        assert.equal('updatedBy' in after, false)
      })

      it('refuses, each in its own way', async () => {
        const app = await crew()
        const change = (uid: string, scope: unknown, by?: string) =>
          app.put(`/groups/g/members/${uid}`, { scope }, by ? as(by) : undefined)
        assertFails(await change('part', 'king'), 400, 'ERR_BAD_REQUEST')
        assertFails(await change('nobody', 'admin'), 404, 'ERR_UID_NOT_FOUND')
        assertFails(await change('out', 'admin'), 404, 'ERR_NOT_A_MEMBER')
        assertFails(await change('part', 'participant'), 403, 'ERR_SAME_SCOPE')
        assertFails(await change('ada', 'admin'), 403, 'ERR_SAME_SCOPE')
        assertFails(await change('ada', 'participant'), 403, 'ERR_GROUP_NO_SCOPE_CLEARANCE')
        assertFails(await change('ada', 'participant', 'ada'), 403, 'ERR_GROUP_NO_SELF_ACTION')
        assertFails(await change('mod', 'participant', 'part'), 403, 'ERR_GROUP_NO_SCOPE_CLEARANCE')
        assertFails(await change('part', 'admin', 'mod'), 403, 'ERR_GROUP_NO_SCOPE_CLEARANCE')
        assertFails(await change('part', 'moderator', 'out'), 403, 'ERR_GROUP_NOT_JOINED')
        assertFails(await change('part', 'moderator', 'evil'), 403, 'ERR_BANNED_GROUPMEMBER')
        assertFails(await app.put('/groups/none/members/part', {}), 404, 'ERR_GUID_NOT_FOUND')
        assertSucceeds(await change('part', 'moderator', 'mod'))
      })
    })

    describe('kicking', () => {
      it('ends the membership and the conversation row; what was said stays, and the member may come back', async () => {
        const app = await crew()
        const { id } = await sayIn(app, 'g', 'part')
        const { data } = assertSucceeds(await app.delete('/groups/g/members/Part', undefined, as('mod')))
        assert.equal(data.success, true)
        assert.equal((await group(app)).membersCount, 3)
        assert.deepEqual(await rowsOf(app), ['ada', 'admin', 'mod'])
        assert.equal((await actionsIn(app)).at(-1), 'mod kicked part')
        const told = (await toldTo(h, app)).at(-1)
        assert.deepEqual(
          [told?.trigger, Object.keys(told?.data.members), told?.data.by.uid],
          ['group_member_kicked', ['part'], 'mod'],
        )
        assertFails(await app.delete('/groups/g/members/part'), 404, 'ERR_NOT_A_MEMBER')
        assert.deepEqual(assertSucceeds(await app.get('/conversations', as('part'))).data, [])
        assertSucceeds(await app.get(`/messages/${id}`, as('mod')))
        assertFails(await app.get('/groups/g/messages', as('part')), 403, 'ERR_GROUP_NOT_JOINED')
        assert.equal((await add(app, { participants: ['part'] })).participants.part.success, true)
      })

      it('refuses, each in its own way', async () => {
        const app = await crew()
        const kick = (uid: string, by?: string) =>
          app.delete(`/groups/g/members/${uid}`, undefined, by ? as(by) : undefined)
        assertFails(await kick('nobody'), 404, 'ERR_UID_NOT_FOUND')
        assertFails(await kick('out'), 404, 'ERR_NOT_A_MEMBER')
        assertFails(await kick('mod', 'mod'), 403, 'ERR_GROUP_NO_SELF_ACTION')
        assertFails(await kick('ada', 'admin'), 403, 'ERR_GROUP_NO_CLEARANCE')
        assertFails(await kick('admin', 'mod'), 403, 'ERR_GROUP_NO_CLEARANCE')
        assertFails(await kick('mod', 'part'), 403, 'ERR_GROUP_NO_CLEARANCE')
        assertFails(await kick('part', 'out'), 403, 'ERR_GROUP_NOT_JOINED')
        assertFails(await kick('part', 'evil'), 403, 'ERR_BANNED_GROUPMEMBER')
      })

      it('hands the group of a kicked owner to the oldest admin, moderator, participant, and then to the system', async () => {
        const app = await crew()
        const owners: string[] = []
        for (const uid of ['ada', 'admin', 'mod', 'part']) {
          owners.push((await group(app)).owner)
          assertSucceeds(await app.delete(`/groups/g/members/${uid}`))
        }
        assert.deepEqual(owners, ['ada', 'admin', 'mod', 'part'])
        const last = await group(app)
        assert.deepEqual([last.owner, last.membersCount], ['app_system', 0])
        const told = (await toldTo(h, app)).filter(({ trigger }) => trigger === 'group_owner_transferred')
        assert.deepEqual(
          told.map(({ data }) => [data.group.oldOwner, data.group.owner]),
          [
            ['ada', 'admin'],
            ['admin', 'mod'],
            ['mod', 'part'],
            ['part', 'app_system'],
          ],
        )
      })
    })

    describe('joining and leaving', () => {
      it('lets anyone into a public group', async () => {
        const app = await crew()
        const send = await clientOf(app, 'out')
        const { data } = assertSucceeds(await send('POST', '/groups/G/join'))
        assert.deepEqual([data.hasJoined, data.scope, data.membersCount], [true, 'participant', 5])
        assert.equal((await actionsIn(app)).at(-1), 'out joined out')
        const told = (await toldTo(h, app)).at(-1)
        assert.deepEqual(
          [told?.trigger, Object.keys(told?.data ?? {}).toSorted()],
          ['group_member_joined', ['group', 'members']],
        )
        assertFails(await send('POST', '/groups/g/join'), 409, 'ERR_ALREADY_JOINED')
        const banned = await clientOf(app, 'evil')
        assertFails(await banned('POST', '/groups/g/join'), 403, 'ERR_BANNED_GROUPMEMBER')
        assertFails(await send('POST', '/groups/none/join'), 404, 'ERR_GUID_NOT_FOUND')
        assertFails(await app.post('/groups/g/join', {}, as('out')), 403, 'AUTH_ERR_NO_ACCESS')
      })

      it('asks for the password, and lets nobody into a private group', async () => {
        const app = await crew('password')
        const send = await clientOf(app, 'out')
        const join = (body?: object) => send('POST', '/groups/g/join', body)
        assertFails(await join(), 400, 'ERR_EMPTY_GROUP_PASS')
        for (const password of ['', null]) assertFails(await join({ password }), 400, 'ERR_EMPTY_GROUP_PASS')
        assertFails(await join({ password: ' ' }), 403, 'ERR_WRONG_GROUP_PASS')
        assertFails(await join({ password: 'Open Sesame' }), 403, 'ERR_WRONG_GROUP_PASS')
        assertSucceeds(await app.put('/groups/g', { password: 'new one' }))
        assertFails(await join({ password: 'open sesame' }), 403, 'ERR_WRONG_GROUP_PASS')
        assertSucceeds(await app.put('/groups/g', { password: ' ' }))
        assertFails(await join({ password: 'new one' }), 403, 'ERR_WRONG_GROUP_PASS')
        assertSucceeds(await join({ password: ' ' }))
        assertFails(await join({ password: 'wrong' }), 409, 'ERR_ALREADY_JOINED')
        const shut = await crew('private')
        const outside = await clientOf(shut, 'out')
        assertFails(await outside('POST', '/groups/g/join'), 403, 'ERR_GROUP_JOIN_NOT_ALLOWED')
      })

      it('obeys the permissions of the role', async () => {
        const app = await crew()
        const send = await clientOf(app, 'out')
        const set = (permissions: object) => app.put('/roles/default/permissions', { permissions })
        assertSucceeds(await set({ 'joinGroup.allowedGroupTypes': ['password'] }))
        assertFails(await send('POST', '/groups/g/join'), 403, 'ERR_PERMISSION_DENIED')
        assertSucceeds(await set({ joinGroup: 'deny', 'joinGroup.allowedGroupTypes': [] }))
        assertFails(await send('POST', '/groups/g/join'), 403, 'ERR_PERMISSION_DENIED')
      })

      it('lets members leave, but not the owner', async () => {
        const app = await crew()
        const part = await clientOf(app, 'part')
        assertSucceeds(await part('POST', '/groups/g/leave'))
        assertFails(await part('POST', '/groups/g/leave'), 403, 'ERR_GROUP_NOT_JOINED')
        assert.equal((await actionsIn(app)).at(-1), 'part left part')
        assert.equal((await toldTo(h, app)).at(-1)?.trigger, 'group_member_left')
        assert.deepEqual(await rowsOf(app), ['ada', 'admin', 'mod'])
        const owner = await clientOf(app, 'ada')
        assertFails(await owner('POST', '/groups/g/leave'), 403, 'ERR_GROUP_NO_SELF_ACTION')
        assertSucceeds(await owner('PUT', '/groups/g/owner', { uid: 'MOD' }))
        assertSucceeds(await owner('POST', '/groups/g/leave'))
        assert.equal((await scopesOf(app)).mod, 'admin')
      })

      it('hands a group over from its owner to a member', async () => {
        const app = await crew()
        const send = async (uid: string, body: object) => (await clientOf(app, uid))('PUT', '/groups/g/owner', body)
        assertFails(await send('admin', { uid: 'part' }), 403, 'ERR_GROUP_NO_CLEARANCE')
        assertFails(await send('out', { uid: 'part' }), 403, 'ERR_GROUP_NOT_JOINED')
        assertFails(await send('evil', { uid: 'part' }), 403, 'ERR_BANNED_GROUPMEMBER')
        assertFails(await send('ada', { uid: 'out' }), 404, 'ERR_NOT_A_MEMBER')
        assertFails(await send('ada', { uid: 'nobody' }), 404, 'ERR_UID_NOT_FOUND')
        assertFails(await send('ada', { uid: 'ada' }), 403, 'ERR_GROUP_NO_SELF_ACTION')
        assertFails(await send('ada', {}), 400, 'ERR_BAD_REQUEST')
        const { data } = assertSucceeds(await send('ada', { uid: 'part' }))
        assert.deepEqual([data.owner, data.scope], ['part', 'admin'])
        assert.deepEqual([(await scopesOf(app)).part, (await scopesOf(app)).ada], ['admin', 'admin'])
        const told = (await toldTo(h, app)).at(-1)
        assert.deepEqual(
          [told?.trigger, told?.data.group.owner, told?.data.group.oldOwner],
          ['group_owner_transferred', 'part', 'ada'],
        )
      })
    })

    it('tells members by the message, and whoever comes or goes with them', async () => {
      const app = await crew()
      const out = await clientOf(app, 'out')
      const acts: [string, string, string[], () => Promise<unknown>][] = [
        ['joined', 'memberJoined', ['group:g', 'user:out'], () => out('POST', '/groups/g/join')],
        ['left', 'memberLeft', ['group:g', 'user:out'], () => out('POST', '/groups/g/leave')],
        ['added', 'memberAdded', ['group:g', 'user:out'], () => add(app, { participants: ['out'] })],
        ['scopeChanged', 'memberScopeChanged', ['group:g'], () => app.put('/groups/g/members/out', { scope: 'admin' })],
        ['kicked', 'memberKicked', ['group:g', 'user:out'], () => app.delete('/groups/g/members/out')],
        ['banned', 'memberBanned', ['group:g', 'user:out'], () => add(app, { usersToBan: ['out'] })],
        ['unbanned', 'memberUnbanned', ['group:g'], () => app.delete('/groups/g/bannedusers/out')],
      ]
      for (const [action, name, audience, act] of acts) {
        const known = (await logOf(h, app)).length
        await act()
        const [written, told, ...more] = (await logOf(h, app)).slice(known)
        assert.deepEqual([written?.payload.message.data.action, written?.audience], [action, audience])
        assert.deepEqual([told?.name, told?.audience, more], [`group.${name}`, [], []])
        assert.equal(told?.payload.message.id, written?.payload.message.id)
      }
    })

    describe('at the same time', () => {
      it('fifty joins make a group of fifty more', async () => {
        const app = await newApp('ada')
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G' }, as('ada')))
        const uids = Array.from({ length: 50 }, (_, n) => `u${n}`)
        await Promise.all(uids.map((uid) => app.post('/users', { uid, name: uid })))
        const clients = await Promise.all(uids.map((uid) => clientOf(app, uid)))
        const answers = await Promise.all(clients.map((send) => send('POST', '/groups/g/join')))
        for (const answer of answers) assertSucceeds(answer)
        assert.equal((await group(app)).membersCount, 51)
        assert.equal((await list(app)).meta.pagination.total, 51)
        const conversation = await db(app).select('conversations').selectAll().executeTakeFirstOrThrow()
        assert.equal(conversation.last_seq, 50)
        await Promise.all(clients.map((send) => send('POST', '/groups/g/leave')))
        assert.equal((await group(app)).membersCount, 1)
      })

      it('joining twice at once is joining once', async () => {
        const app = await crew()
        const send = await clientOf(app, 'out')
        const answers = await Promise.all(Array.from({ length: 10 }, () => send('POST', '/groups/g/join')))
        assert.equal(answers.filter(({ status }) => status === 200).length, 1)
        assert.equal((await group(app)).membersCount, 5)
      })

      it('adding, kicking, banning and lifting the ban of one user end in one state', async () => {
        const app = await crew()
        const acts = Array.from({ length: 12 }, () => [
          app.post('/groups/g/members', { participants: ['out'] }),
          app.delete('/groups/g/members/out'),
          app.post('/groups/g/bannedusers/out'),
          app.delete('/groups/g/bannedusers/out'),
          app.put('/groups/g/members/out', { scope: 'moderator' }),
        ])
        for (const { status, text } of await Promise.all(acts.flat())) assert.ok(status < 500, text)
        const { membersCount } = await group(app)
        const { data, meta } = await list(app)
        assert.equal(data.length, membersCount)
        assert.equal(meta.pagination.total, membersCount)
        const banned = assertSucceeds(await app.get('/groups/g/bannedusers'))
        assert.equal(banned.meta.pagination.total, banned.data.length)
        const both = uidsIn(data).filter((uid) => uidsIn(banned.data).includes(uid))
        assert.deepEqual(both, [])
        assert.equal((await rowsOf(app)).length, membersCount)
      })

      it('of several who hand the group over, one does', async () => {
        const app = await crew()
        const owner = await clientOf(app, 'ada')
        const heirs = ['admin', 'mod', 'part', 'admin', 'mod', 'part']
        const answers = await Promise.all(heirs.map((uid) => owner('PUT', '/groups/g/owner', { uid })))
        assert.equal(answers.filter(({ status }) => status === 200).length, 1)
        for (const answer of answers.filter(({ status }) => status !== 200))
          assertFails(answer, 403, 'ERR_GROUP_NO_CLEARANCE')
        const { owner: heir } = await group(app)
        assert.equal((await scopesOf(app))[heir], 'admin')
      })

      it('deleting a group while others join leaves nobody in it', async () => {
        const app = await crew()
        const send = await clientOf(app, 'out')
        const answers = await Promise.all([
          send('POST', '/groups/g/join'),
          app.delete('/groups/g'),
          app.delete('/groups/g/members/part'),
          app.post('/groups/g/members', { participants: ['out'] }),
        ])
        for (const { status, text } of answers) assert.ok(status < 500, text)
        await h.settle()
        for (const table of ['group_members', 'group_bans', 'conversation_rows', 'messages'] as const) {
          assert.equal((await db(app).select(table).selectAll().execute()).length, 0, table)
        }
      })
    })

    describe('a user deleted for good', () => {
      it('is in no group, banned from none, and owns none', async () => {
        const app = await crew()
        for (let n = 0; n < 60; n += 1) {
          const body = { guid: `g${n}`, name: 'G', members: { participants: ['part'], usersToBan: ['evil'] } }
          assertSucceeds(await app.post('/groups', body, as('ada')))
        }
        assertSucceeds(await app.delete('/users/ada', { permanent: true }))
        assertSucceeds(await app.delete('/users/evil', { permanent: true }))
        await h.settle()
        assert.deepEqual([(await group(app)).owner, (await group(app)).membersCount], ['admin', 3])
        for (const guid of ['g0', 'g59']) {
          const record = assertSucceeds(await app.get(`/groups/${guid}`)).data
          assert.deepEqual([record.owner, record.membersCount], ['part', 1])
        }
        assert.deepEqual(await rowsOf(app), ['admin', 'mod', 'part'])
        assert.equal((await db(app).select('group_bans').selectAll().execute()).length, 0)
        assert.equal(assertSucceeds(await app.get('/groups/g/bannedusers')).meta.pagination.total, 0)
      })

      it('leaves nothing to the next user of that UID, even before all is cleared away', async () => {
        const app = await crew()
        assertSucceeds(await app.delete('/users/part', { permanent: true }))
        assertSucceeds(await app.post('/users', { uid: 'part', name: 'Another' }))
        assert.equal(assertSucceeds(await app.get('/groups/g', as('part'))).data.hasJoined, false)
        await add(app, { participants: ['part'] })
        await h.settle()
        assert.equal((await group(app)).membersCount, 4)
        assert.equal((await list(app)).meta.pagination.total, 4)
        assert.deepEqual(await rowsOf(app), ['ada', 'admin', 'mod', 'part'])
      })
    })
  })
}
