import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump, rowsOfApp } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { plansOf } from '../../../../tests/support/plans.ts'
import { connectUsers, toldTo } from '../../../../tests/support/told.ts'
import { workIn } from '../../common/work-in.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { placeOfGroup, unreadOf, writeMessage } from '../timeline/index.ts'
import { voidConversation } from './conversation.ts'
import { onlineMembersCount } from './online.ts'
import { requireGroup } from './store.ts'
import type { GroupRow } from './tables.ts'

const as = (uid: string) => ({ onBehalfOf: uid })
const guidsIn = (list: { guid: string }[]) => list.map(({ guid }) => guid)

for (const database of databases) {
  describe(`groups on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    async function newApp(...uids: string[]): Promise<AppClient> {
      const app = await h.app(randomUUID())
      for (const uid of uids) assertSucceeds(await app.post('/users', { uid, name: uid.toUpperCase() }))
      return app
    }
    const create = async (app: AppClient, body: object, headers?: Record<string, string>) =>
      assertSucceeds(await app.post('/groups', body, headers)).data
    const get = async (app: AppClient, guid: string, headers?: Record<string, string>) =>
      assertSucceeds(await app.get(`/groups/${guid}`, headers)).data
    const list = async (app: AppClient, search = '', headers?: Record<string, string>) =>
      assertSucceeds(await app.get(`/groups${search}`, headers))
    const webhooksOf = (app: AppClient) => toldTo(h, app)

    describe('creating', () => {
      it('makes a public group of the system, without members', async () => {
        const app = await newApp()
        const group = await create(app, { guid: 'River-Crew', name: 'River Crew' })
        assert.equal(group.guid, 'river-crew')
        assert.deepEqual(
          { ...group, createdAt: 0 },
          {
            guid: 'river-crew',
            name: 'River Crew',
            type: 'public',
            owner: 'app_system',
            membersCount: 0,
            conversationId: 'group_river-crew',
            createdAt: 0,
          },
        )
      })

      it('keeps everything that was sent but the password', async () => {
        const app = await newApp('ada')
        const body = {
          guid: 'g',
          name: '👩‍🚀 Ταξίδι',
          type: 'password',
          password: 'open sesame',
          icon: 'https://img.example.org/g.png',
          description: 'Plans',
          metadata: { dock: 4 },
          tags: ['sport', 'weekend', 'sport'],
          owner: 'ADA',
        }
        const answer = await app.post('/groups', body)
        assert.doesNotMatch(answer.text, /sesame|scrypt|"password":/)
        const group = assertSucceeds(answer).data
        assert.deepEqual(
          [group.name, group.type, group.icon, group.description, group.metadata, group.tags, group.owner],
          [body.name, 'password', body.icon, 'Plans', { dock: 4 }, ['sport', 'weekend'], 'ada'],
        )
        assert.equal(group.membersCount, 1)
        const read = await app.get('/groups/g')
        assert.doesNotMatch(read.text, /sesame|scrypt|"password":/)
        const { onlineMembersCount, ...same } = assertSucceeds(read).data
        assert.equal(onlineMembersCount, 0)
        assert.deepEqual(same, group)
        for (const row of rowsOfApp(await dump(h), app.id)) assert.doesNotMatch(row, /sesame/)
      })

      it('makes the acting user owner and admin, whatever `owner` says', async () => {
        const app = await newApp('ada', 'lin')
        const group = await create(app, { guid: 'g', name: 'G', owner: 'lin' }, as('ada'))
        assert.deepEqual([group.owner, group.scope, group.hasJoined], ['ada', 'admin', true])
        assert.equal(group.joinedAt, group.createdAt)
        assert.equal(group.membersCount, 1)
        assert.equal('updatedAt' in group, false)
      })

      it('adds and bans whom `members` names, each once, and tells what became of each', async () => {
        const app = await newApp('ada', 'lin', 'bo', 'cy', 'dee', 'evil')
        const members = {
          admins: ['lin'],
          moderators: ['BO', 'lin'],
          participants: ['cy', 'bo', 'nobody', 'ada'],
          usersToBan: ['evil', 'cy', 'ghost'],
        }
        const group = await create(app, { guid: 'g', name: 'G', members }, as('ada'))
        assert.equal(group.membersCount, 4)
        assert.deepEqual(Object.keys(group.members), ['admins', 'moderators', 'participants', 'usersToBan'])
        assert.deepEqual(Object.keys(group.members.admins), ['lin'])
        assert.deepEqual(Object.keys(group.members.moderators), ['bo'])
        assert.deepEqual(Object.keys(group.members.participants), ['cy', 'nobody', 'ada'])
        assert.deepEqual(Object.keys(group.members.usersToBan), ['evil', 'ghost'])
        assert.equal(group.members.participants.nobody.error.code, 'ERR_UID_NOT_FOUND')
        assert.equal(group.members.participants.ada.error.code, 'ERR_ALREADY_JOINED')
        assert.deepEqual(group.members.usersToBan.evil, { success: true })
        const message = group.members.participants.cy.data
        assert.deepEqual(
          [message.sender, message.receiver, message.category, message.type],
          ['ada', 'g', 'action', 'groupMember'],
        )
        assert.equal(message.data.action, 'added')
        assert.equal(message.data.entities.by.entity.uid, 'ada')
        assert.equal(message.data.entities.on.entity.uid, 'cy')
        assert.equal(message.data.entities.for.entity.membersCount, 4)
      })

      it('tells webhooks of the group, then of each member', async () => {
        const app = await newApp('ada', 'lin', 'evil')
        const members = { participants: ['lin'], usersToBan: ['evil'] }
        await create(app, { guid: 'g', name: 'G', members }, as('ada'))
        const told = await webhooksOf(app)
        assert.deepEqual(
          told.map(({ trigger }) => trigger),
          ['group_created', 'group_member_added', 'group_member_banned'],
        )
        const [created, added, banned] = told.map(({ data }) => data)
        assert.deepEqual(Object.keys(created?.members ?? {}), ['ada', 'lin'])
        const { scope, hasJoined, onlineMembersCount } = created?.group ?? {}
        assert.deepEqual([scope, hasJoined, onlineMembersCount], ['admin', true, 0])
        assert.deepEqual(Object.keys(added ?? {}).toSorted(), ['by', 'group', 'members'])
        assert.deepEqual(Object.keys(added?.members ?? {}), ['lin'])
        assert.deepEqual(Object.keys(banned?.members ?? {}), ['evil'])
      })

      it('takes everything up to its limit, and writes nothing into the conversation', async () => {
        const uids = Array.from({ length: 25 }, (_, n) => `u${n}`)
        const app = await newApp()
        const body = {
          guid: 'Aa0-_'.repeat(20),
          name: '👩'.repeat(50),
          description: 'x'.repeat(255),
          type: 'password',
          password: 'x'.repeat(100),
          icon: `https://a.example/${'x'.repeat(2_982)}`,
          tags: Array.from({ length: 25 }, (_, n) => `${n}`.padEnd(100, 'x')),
          members: { admins: uids.slice(0, 10), moderators: uids.slice(0, 20), usersToBan: uids.slice(5) },
        }
        assert.equal(body.icon.length, 3_000)
        const { members, ...group } = await create(app, body)
        assert.deepEqual([group.guid, group.name], [body.guid.toLowerCase(), body.name])
        assert.deepEqual([group.description, group.icon, group.tags], [body.description, body.icon, body.tags])
        const metadata = { t: 'x'.repeat(5_112) }
        assert.equal(JSON.stringify(metadata).length, 5_120)
        for (const sent of [metadata, JSON.stringify(metadata)]) {
          assert.deepEqual(
            assertSucceeds(await app.put(`/groups/${body.guid}`, { metadata: sent })).data.metadata,
            metadata,
          )
        }
        assert.deepEqual(
          Object.values(members).map((outcomes) => Object.keys(outcomes as object).length),
          [10, 10, 5],
        )
        await create(app, { guid: 'open', name: 'O', password: 'ignored', members: {} }).then((open) =>
          assert.deepEqual([open.type, open.members], ['public', undefined]),
        )
        const messages = await tenantDb(h.service.house.database.reader, app.id)
          .select('messages')
          .selectAll()
          .execute()
        assert.equal(messages.length, 0)
      })

      it('refuses what does not fit', async () => {
        const app = await newApp()
        const bad: [object, string][] = [
          [{ name: 'G' }, 'guid'],
          [{ guid: 'no spaces', name: 'G' }, 'guid'],
          [{ guid: 'x'.repeat(101), name: 'G' }, 'guid'],
          [{ guid: '', name: 'G' }, 'guid'],
          [{ guid: 'online-counts', name: 'G' }, 'guid'],
          [{ guid: 'g' }, 'name'],
          [{ guid: 'g', name: ' ' }, 'name'],
          [{ guid: 'g', name: 'x'.repeat(101) }, 'name'],
          [{ guid: 'g', name: 'G', type: 'protected' }, 'type'],
          [{ guid: 'g', name: 'G', icon: 'no address' }, 'icon'],
          [{ guid: 'g', name: 'G', icon: `https://a.example/${'x'.repeat(3_000)}` }, 'icon'],
          [{ guid: 'g', name: 'G', description: 'x'.repeat(256) }, 'description'],
          [{ guid: 'g', name: 'G', password: 'x'.repeat(101) }, 'password'],
          [{ guid: 'g', name: 'G', metadata: { text: 'x'.repeat(5_200) } }, 'metadata'],
          [{ guid: 'g', name: 'G', metadata: 'no object' }, 'metadata'],
          [{ guid: 'g', name: 'G', tags: Array.from({ length: 26 }, (_, n) => `t${n}`) }, 'tags'],
          [{ guid: 'g', name: 'G', tags: [' '] }, 'tags.0'],
          [{ guid: 'g', name: 'G', tags: ['x'.repeat(101)] }, 'tags.0'],
          [{ guid: 'g', name: '👩'.repeat(51) }, 'name'],
          [{ guid: 'ä', name: 'G' }, 'guid'],
          [{ guid: 'g', name: 'G', owner: ' ' }, 'owner'],
          [{ guid: 'g', name: 'G', metadata: { t: 'x'.repeat(5_113) } }, 'metadata'],
          [{ guid: 'g', name: 'G', members: { admins: [' '] } }, 'members.admins.0'],
          [{ guid: 'g', name: 'G', members: { guests: ['a'] } }, 'members'],
          [{ guid: 'g', name: 'G', members: { admins: 'a' } }, 'members.admins'],
          [{ guid: 'g', name: 'G', members: { admins: Array.from({ length: 26 }, (_, n) => `u${n}`) } }, 'members'],
        ]
        for (const [body, field] of bad) {
          const answer = await app.post('/groups', body)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(
            Object.keys(answer.body.error.details).some((name) => name === field || name.startsWith(`${field}.`)),
            answer.text,
          )
        }
        assert.equal((await list(app)).meta.pagination.total, 0)
        const before = await create(app, { guid: 'g', name: 'G' })
        for (const [body, field] of bad) {
          if (!('guid' in body) || body.guid !== 'g' || !(field in body) || field === 'members') continue
          assertFails(await app.put('/groups/g', body), 400, 'ERR_BAD_REQUEST')
        }
        assert.deepEqual(assertSucceeds(await app.put('/groups/g', {})).data, before)
      })

      it('refuses a taken GUID, a password group without password, and owners that are not there', async () => {
        const app = await newApp('gone')
        await create(app, { guid: 'g', name: 'G' })
        assertSucceeds(await app.delete('/users/gone'))
        const taken = await app.post('/groups', { guid: 'G', name: 'Again' })
        assertFails(taken, 400, 'ERR_GUID_ALREADY_EXISTS')
        assert.match(taken.body.error.message, /already exists/)
        for (const password of [undefined, '', null]) {
          const body = { guid: 'p', name: 'P', type: 'password', password }
          assertFails(await app.post('/groups', body), 400, 'ERR_EMPTY_GROUP_PASS')
        }
        for (const owner of ['nobody', 'gone', 'app_system']) {
          assertFails(await app.post('/groups', { guid: 'o', name: 'O', owner }), 404, 'ERR_UID_NOT_FOUND')
        }
        assertFails(await app.post('/groups', { guid: 'o', name: 'O' }, as('gone')), 404, 'ERR_UID_NOT_FOUND')
        assert.equal((await list(app)).meta.pagination.total, 1)
      })

      it('obeys the permissions of the role', async () => {
        const app = await newApp('ada')
        const set = (permissions: object) => app.put('/roles/default/permissions', { permissions })
        assertSucceeds(await set({ 'createGroup.allowedGroupTypes': ['private'] }))
        assertFails(await app.post('/groups', { guid: 'g', name: 'G' }, as('ada')), 403, 'ERR_PERMISSION_DENIED')
        await create(app, { guid: 'p', name: 'P', type: 'private' }, as('ada'))
        await create(app, { guid: 'g', name: 'G' })
        assertSucceeds(await set({ createGroup: 'deny' }))
        const denied = await app.post('/groups', { guid: 'q', name: 'Q', type: 'private' }, as('ada'))
        assertFails(denied, 403, 'ERR_PERMISSION_DENIED')
      })

      it('gives one success for fifty creations of one GUID at once', async () => {
        const app = await newApp('ada')
        const answers = await Promise.all(
          Array.from({ length: 50 }, () => app.post('/groups', { guid: 'g', name: 'G', owner: 'ada' })),
        )
        assert.equal(answers.filter(({ status }) => status === 200).length, 1)
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          assertFails(answer, 400, 'ERR_GUID_ALREADY_EXISTS')
        }
        assert.equal((await list(app)).meta.pagination.total, 1)
        assert.equal((await get(app, 'g')).membersCount, 1)
      })

      it('refuses an owner who is in 2,000 groups', async () => {
        const app = await newApp('ada')
        const { id } = await h.service.house.database.reader.query
          .selectFrom('users')
          .select('id')
          .where('app_id', '=', app.id)
          .where('uid', '=', 'ada')
          .executeTakeFirstOrThrow()
        await h.service.house.database.write(async (connection) => {
          const row = { user_id: id, uid: 'ada', scope: 'participant' as const, joined_at: 1 }
          const rows = Array.from({ length: 2_000 }, (_, n) => ({ group_id: `g${n}`, ...row }))
          for (let n = 0; n < 2_000; n += 500) {
            await tenantDb(connection, app.id)
              .insert('group_members', rows.slice(n, n + 500))
              .execute()
          }
        })
        const answer = await app.post('/groups', { guid: 'g', name: 'G', owner: 'ada' })
        assertFails(answer, 402, 'ERR_PLAN_QUOTA_RESTRICTION')
        await create(app, { guid: 'g', name: 'G', members: { admins: ['ada'] } }).then(({ members }) =>
          assert.equal(members.admins.ada.error.code, 'ERR_PLAN_QUOTA_RESTRICTION'),
        )
      })
    })

    describe('listing', () => {
      async function company(): Promise<AppClient> {
        const app = await newApp('ada', 'lin')
        const groups = [
          { guid: 'alpha', name: 'Zebra', type: 'public', tags: ['x', 'y'] },
          { guid: 'beta', name: 'apple', type: 'password', password: 'p', tags: ['y'] },
          { guid: 'gamma', name: 'Mango', type: 'private' },
          { guid: 'delta', name: 'kiwi', type: 'private', members: { participants: ['lin'] } },
          { guid: 'epsilon', name: 'Fig', type: 'public', owner: 'ada', members: { participants: ['lin'] } },
        ]
        for (const group of groups) {
          await create(app, group)
          h.clock.setOffset(h.clock.offsetSeconds() + 10)
        }
        return app
      }

      it('is newest first, with everything for a server', async () => {
        const app = await company()
        const { data, meta } = await list(app)
        assert.deepEqual(guidsIn(data), ['epsilon', 'delta', 'gamma', 'beta', 'alpha'])
        assert.deepEqual(meta.pagination, { total: 5, count: 5, per_page: 100, current_page: 1, total_pages: 1 })
        assert.deepEqual(meta.cursor, { updatedAt: data[0].updatedAt, affix: 'prepend' })
        assert.ok(data.every((group: object) => !('tags' in group) && !('hasJoined' in group)))
        assert.deepEqual((await list(app, '?withTags=true')).data[4].tags, ['x', 'y'])
      })

      it('shows a user the private groups they are in, and what they are there', async () => {
        const app = await company()
        const { data, meta } = await list(app, '', as('lin'))
        assert.deepEqual(guidsIn(data), ['epsilon', 'delta', 'beta', 'alpha'])
        assert.equal(meta.pagination.total, 4)
        assert.deepEqual([data[0].hasJoined, data[0].scope, data[2].hasJoined], [true, 'participant', false])
        assert.equal('scope' in data[2], false)
        assert.deepEqual(guidsIn((await list(app, '?hasJoined=true', as('lin'))).data), ['epsilon', 'delta'])
        assert.equal((await list(app, '?hasJoined=false', as('lin'))).meta.pagination.total, 4)
        assert.equal((await list(app, '?hasJoined=true')).meta.pagination.total, 5)
        const pages = [1, 2, 3, 4, 5].map((page) => list(app, `?perPage=1&page=${page}`, as('lin')))
        const walked = (await Promise.all(pages)).flatMap((page) => guidsIn(page.data))
        assert.deepEqual(walked, ['epsilon', 'delta', 'beta', 'alpha'])
      })

      it('filters, and all filters combine', async () => {
        const app = await company()
        const found = async (search: string, headers?: Record<string, string>) => {
          const { data, meta } = await list(app, search, headers)
          assert.equal(meta.pagination.total, data.length)
          return guidsIn(data)
        }
        const { createdAt } = await get(app, 'gamma')
        assert.deepEqual(await found('?type=public'), ['epsilon', 'alpha'])
        assert.deepEqual(await found('?type=protected'), ['beta'])
        assert.deepEqual(await found('?types=private,password'), ['delta', 'gamma', 'beta'])
        assert.deepEqual(await found('?type=private', as('lin')), ['delta'])
        assert.deepEqual(await found('?type=secret'), [])
        assert.deepEqual(await found('?types=secret'), [])
        assert.deepEqual(await found('?types=protected,secret'), ['beta'])
        assert.deepEqual(await found('?type=public&types=public,private'), ['epsilon', 'alpha'])
        assert.deepEqual(await found('?type=public&types=private'), [])
        assert.deepEqual(await found('?guid=alpha&guids=beta'), [])
        for (const guids of ['guids[]=alpha&guids[]=beta', 'guids=alpha&guids=BETA']) {
          assert.deepEqual(await found(`?${guids}`), ['beta', 'alpha'])
        }
        assert.deepEqual(await found('?sortBy=size'), [])
        assert.deepEqual(await found('?searchIn=name'), ['epsilon', 'delta', 'gamma', 'beta', 'alpha'])
        assert.deepEqual(await found(`?updatedAt=${createdAt}&updatedAt[from]=0`), [])
        assert.deepEqual(await found('?tags=y'), ['beta', 'alpha'])
        assert.deepEqual(await found('?tags=x,y&type=password'), ['beta'])
        assert.deepEqual(await found('?guid=GAMMA'), ['gamma'])
        assert.deepEqual(await found('?guid=gamma', as('lin')), [])
        assert.deepEqual(await found('?guids=alpha,beta,nope'), ['beta', 'alpha'])
        assert.deepEqual(await found(`?createdAt[from]=${createdAt}`), ['epsilon', 'delta', 'gamma'])
        assert.deepEqual(await found(`?createdAt[to]=${createdAt}`), ['gamma', 'beta', 'alpha'])
        assert.deepEqual(await found('?membersCount[gte]=1'), ['epsilon', 'delta'])
        assert.deepEqual(await found('?membersCount[gt]=1'), ['epsilon'])
        assert.deepEqual(await found('?membersCount[eq]=1'), ['delta'])
        assert.deepEqual(await found('?membersCount[lt]=1&membersCount[lte]=0&type=public'), ['alpha'])
      })

      it('reads its words in every form, caps the page, and refuses what is no number', async () => {
        const app = await newApp('ada')
        const { data, meta } = await list(app)
        assert.deepEqual([data, meta.pagination.total_pages, 'cursor' in meta], [[], 1, false])
        await create(app, { guid: 'g', name: 'G', tags: ['x'] })
        for (const yes of ['true', '1', 'True']) {
          assert.deepEqual((await list(app, `?withTags=${yes}`)).data[0].tags, ['x'])
          assert.deepEqual((await list(app, `?hasJoined=${yes}`, as('ada'))).data, [])
        }
        for (const no of ['false', '0']) assert.equal('tags' in (await list(app, `?withTags=${no}`)).data[0], false)
        const { pagination } = (await list(app, '?perPage=5000&page=3')).meta
        assert.deepEqual(pagination, { total: 1, count: 0, per_page: 1000, current_page: 3, total_pages: 1 })
        const numbers = ['createdAt[from]', 'createdAt[to]', 'updatedAt[from]', 'updatedAt[to]', 'updatedAt', 'page']
        const counts = ['gt', 'gte', 'lt', 'lte', 'eq'].map((word) => `membersCount[${word}]`)
        for (const name of [...numbers, ...counts, 'perPage']) {
          const answer = await app.get(`/groups?${name}=x`)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(answer.body.error.details), [name])
        }
        for (const name of ['page', 'perPage']) assertFails(await app.get(`/groups?${name}=0`), 400, 'ERR_BAD_REQUEST')
      })

      it('puts what is equal in the order of GUIDs, whichever way it is sorted', async () => {
        const app = await newApp()
        for (const guid of ['b', 'c', 'a']) await create(app, { guid, name: 'Same' })
        for (const order of ['asc', 'desc']) {
          assert.deepEqual(guidsIn((await list(app, `?sortBy=name&sortOrder=${order}`)).data), ['a', 'b', 'c'])
        }
        assert.deepEqual(guidsIn((await list(app, '?sortBy=guid&sortOrder=desc')).data), ['c', 'b', 'a'])
      })

      it('searches in name and GUID, in any letter case', async () => {
        const app = await company()
        const found = async (search: string, headers?: Record<string, string>) => {
          const { data, meta } = await list(app, search, headers)
          assert.equal(meta.pagination.total, data.length)
          return guidsIn(data)
        }
        assert.deepEqual(await found('?searchKey=A'), ['delta', 'gamma', 'beta', 'alpha'])
        assert.deepEqual(await found('?searchKey=A', as('lin')), ['delta', 'beta', 'alpha'])
        assert.deepEqual(await found('?searchKey=MANG'), ['gamma'])
        assert.deepEqual(await found('?searchKey=a&searchIn=name'), ['gamma', 'beta', 'alpha'])
        assert.deepEqual(await found('?searchKey=apple&searchIn=guid'), [])
        assert.deepEqual(await found('?searchKey=a&type=private'), ['delta', 'gamma'])
        assert.deepEqual(await found('?searchKey=a&sortBy=name'), ['beta', 'delta', 'gamma', 'alpha'])
        assertSucceeds(await app.put('/groups/gamma', { name: 'Papaya' }))
        assert.deepEqual(await found('?searchKey=mango'), [])
        assert.deepEqual(await found('?searchKey=papa'), ['gamma'])
      })

      it('sorts by name, GUID and age', async () => {
        const app = await company()
        const sorted = async (search: string) => guidsIn((await list(app, search)).data)
        assert.deepEqual(await sorted('?sortBy=name'), ['beta', 'epsilon', 'delta', 'gamma', 'alpha'])
        assert.deepEqual(await sorted('?sortBy=name&sortOrder=desc'), ['alpha', 'gamma', 'delta', 'epsilon', 'beta'])
        assert.deepEqual(await sorted('?sortBy=guid'), ['alpha', 'beta', 'delta', 'epsilon', 'gamma'])
        assert.deepEqual(await sorted('?sortBy=createdAt'), ['alpha', 'beta', 'gamma', 'delta', 'epsilon'])
        assert.deepEqual(await sorted('?sortOrder=asc'), ['alpha', 'beta', 'gamma', 'delta', 'epsilon'])
        assert.deepEqual(await sorted('?sortBy=createdAt&sortOrder=desc&perPage=1'), ['epsilon'])
      })

      it('reads on from a moment, and by when groups changed', async () => {
        const app = await company()
        const { data: all } = await list(app)
        const changedAt = new Map(
          all.map((group: { guid: string; updatedAt?: number; createdAt: number }) => [
            group.guid,
            group.updatedAt ?? group.createdAt,
          ]),
        )
        const found = async (search: string) => guidsIn((await list(app, search)).data)
        const gamma = changedAt.get('gamma')
        assert.deepEqual(await found(`?updatedAt=${gamma}&affix=append`), ['delta', 'epsilon'])
        assert.deepEqual(await found(`?updatedAt=${gamma}`), ['delta', 'epsilon'])
        assert.deepEqual(await found(`?updatedAt=${gamma}&affix=prepend`), ['beta', 'alpha'])
        assert.deepEqual(await found('?affix=prepend'), ['epsilon', 'delta', 'gamma', 'beta', 'alpha'])
        assert.deepEqual(await found('?updatedAt[from]=0'), [])
        const { updatedAt } = assertSucceeds(await app.put('/groups/alpha', { name: 'Alpha' })).data
        assert.deepEqual(await found('?updatedAt[from]=0'), ['alpha'])
        assert.deepEqual(await found(`?updatedAt[from]=${updatedAt}&updatedAt[to]=${updatedAt}`), ['alpha'])
        assert.deepEqual(await found(`?updatedAt[to]=${updatedAt - 1}`), [])
        await h.service.house.database.write(async (connection) => {
          const rows = tenantDb(connection, app.id)
          for (const [at, guids] of [
            [10, ['alpha', 'beta']],
            [20, ['gamma', 'delta']],
          ] as const) {
            await rows.update('groups').set({ changed_at: at }).where('guid', 'in', guids).execute()
          }
        })
        // A second is not torn apart where one reads on from it, but pages are.
        assert.deepEqual(await found('?updatedAt=9&perPage=3'), ['alpha', 'beta'])
        assert.deepEqual(await found('?updatedAt=10&perPage=2'), ['delta', 'gamma'])
        assert.equal((await found('?updatedAt=9&perPage=3&page=1')).length, 3)
      })

      it('obeys the permissions of the role', async () => {
        const app = await company()
        const set = (permissions: object) => app.put('/roles/default/permissions', { permissions })
        assertSucceeds(await set({ 'listGroups.allowedGroupTypes': ['public', 'private'] }))
        assert.deepEqual(guidsIn((await list(app, '', as('lin'))).data), ['epsilon', 'delta', 'alpha'])
        assertSucceeds(await set({ listGroups: 'deny' }))
        assertFails(await app.get('/groups', as('lin')), 403, 'ERR_PERMISSION_DENIED')
        assert.equal((await list(app)).meta.pagination.total, 5)
      })

      it('gives every group once when walked page by page, private ones between the others', async () => {
        const app = await newApp('ada')
        const expected: string[] = []
        for (let n = 0; n < 25; n += 1) {
          const guid = `g${String(n).padStart(2, '0')}`
          const type = ['public', 'private', 'public', 'private', 'public'][n % 5]
          await create(app, { guid, name: guid, type, ...(n % 5 === 1 && { owner: 'ada' }) })
          if (n % 5 !== 3) expected.push(guid)
          if (n % 3 === 0) h.clock.setOffset(h.clock.offsetSeconds() + 1)
        }
        for (const perPage of [1, 3, 7, 100]) {
          const seen: string[] = []
          for (let page = 1; ; page += 1) {
            const { data, meta } = await list(app, `?perPage=${perPage}&page=${page}`, as('ada'))
            assert.equal(meta.pagination.total, expected.length)
            seen.push(...guidsIn(data))
            if (data.length === 0) break
          }
          assert.equal(new Set(seen).size, seen.length)
          assert.deepEqual(seen.toSorted(), expected)
        }
      })
    })

    describe('getting one', () => {
      it('is for everyone who is not banned if it is public, for members if it is private', async () => {
        const app = await newApp('ada', 'lin', 'evil')
        const members = { usersToBan: ['evil'] }
        await create(app, { guid: 'open', name: 'O', members }, as('ada'))
        await create(app, { guid: 'shut', name: 'S', type: 'private', members }, as('ada'))
        for (const uid of ['ada', 'lin']) await get(app, 'open', as(uid))
        assertFails(await app.get('/groups/open', as('evil')), 403, 'ERR_BANNED_GROUPMEMBER')
        assert.equal((await get(app, 'SHUT', as('ada'))).scope, 'admin')
        assertFails(await app.get('/groups/shut', as('lin')), 403, 'ERR_GROUP_NOT_JOINED')
        assertFails(await app.get('/groups/shut', as('evil')), 403, 'ERR_BANNED_GROUPMEMBER')
        assertFails(await app.get('/groups/none'), 404, 'ERR_GUID_NOT_FOUND')
      })

      it('counts who is connected', async () => {
        const app = await newApp('ada', 'lin', 'bo')
        await create(app, { guid: 'g', name: 'G', members: { participants: ['lin'] } }, as('ada'))
        await create(app, { guid: 'p', name: 'P', type: 'private' }, as('ada'))
        connectUsers(h, app, 'ada', 'bo')
        assert.equal((await get(app, 'g')).onlineMembersCount, 1)
        connectUsers(h, app, 'lin')
        assert.equal((await get(app, 'g')).onlineMembersCount, 2)
        const { authToken } = assertSucceeds(await app.post('/users/lin/auth_tokens')).data
        const counts = await h.client.send(app.host, '/v3/groups/online-counts?guids=g,p,none', {
          headers: { authToken },
        })
        assert.deepEqual(assertSucceeds(counts).data, { g: 2 })
        const many = Array.from({ length: 26 }, (_, n) => `g${n}`).join()
        const tooMany = await h.client.send(app.host, `/v3/groups/online-counts?guids=${many}`, {
          headers: { authToken },
        })
        assertFails(tooMany, 400, 'ERR_BAD_REQUEST')
      })

      it('counts them by index: those who are connected, or the members, whoever are fewer', async () => {
        const app = await newApp('ada', 'lin', 'bo')
        await create(app, { guid: 'g', name: 'G', members: { participants: ['lin', 'bo'] } }, as('ada'))
        const count = async () => {
          let counted: number | undefined
          const plans = await plansOf(h, app, async (view) => {
            counted = await onlineMembersCount(view, await requireGroup(view.db, 'g'))
          })
          return { counted, plans: plans.join('\n') }
        }
        connectUsers(h, app, 'lin', 'nobody')
        const few = await count()
        assert.equal(few.counted, 1)
        if (database === 'sqlite') assert.match(few.plans, /SEARCH group_members [^"]*group_id=\? AND user_id=\?/)
        connectUsers(h, app, 'bo', ...Array.from({ length: 1_500 }, (_, n) => `stranger-${n}`))
        const many = await count()
        assert.equal(many.counted, 2)
        if (database === 'sqlite') assert.match(many.plans, /SEARCH group_members [^"]*group_id=\? AND user_id>\?/)
      })
    })

    describe('changing', () => {
      it('changes what was sent and nothing else', async () => {
        const app = await newApp()
        const before = await create(app, { guid: 'g', name: 'G', description: 'D', metadata: { a: 1 }, tags: ['t'] })
        assert.deepEqual(assertSucceeds(await app.put('/groups/g', {})).data, before)
        h.clock.setOffset(h.clock.offsetSeconds() + 5)
        const sent = { name: 'H', icon: 'https://a.example/i.png', metadata: { b: 2 }, tags: ['u', 'v'] }
        const group = assertSucceeds(await app.put('/groups/G', { ...sent, guid: 'x', membersCount: 7 })).data
        const { updatedAt, updatedBy, ...rest } = group
        assert.deepEqual(rest, { ...before, ...sent })
        assert.equal(updatedBy, 'app_system')
        assert.ok(updatedAt >= before.createdAt + 5)
        const unset = { unset: ['icon', 'description', 'metadata'], description: 'X', tags: [] }
        const bare = assertSucceeds(await app.put('/groups/g', unset)).data
        for (const name of ['icon', 'description', 'metadata', 'tags']) assert.equal(name in bare, false)
        assert.deepEqual((await list(app, '?tags=t,u,v')).data, [])
        assertFails(await app.put('/groups/g', { unset: ['name'] }), 400, 'ERR_BAD_REQUEST')
        assertFails(await app.put('/groups/none', {}), 404, 'ERR_GUID_NOT_FOUND')
        assert.deepEqual(
          (await webhooksOf(app)).map(({ trigger }) => trigger),
          ['group_created', 'group_updated', 'group_updated'],
        )
      })

      it('is for moderators and admins', async () => {
        const app = await newApp('ada', 'lin', 'bo', 'cy', 'evil')
        const members = { moderators: ['lin'], participants: ['bo'], usersToBan: ['evil'] }
        await create(app, { guid: 'g', name: 'G', members }, as('ada'))
        const put = (uid: string) => app.put('/groups/g', { name: uid, owner: uid }, as(uid))
        for (const uid of ['ada', 'lin']) {
          const group = assertSucceeds(await put(uid)).data
          assert.deepEqual([group.name, group.updatedBy, group.owner, group.hasJoined], [uid, uid, 'ada', true])
        }
        assertFails(await put('bo'), 403, 'ERR_GROUP_NO_MODERATOR_SCOPE')
        assertFails(await put('cy'), 403, 'ERR_GROUP_NOT_JOINED')
        assertFails(await put('evil'), 403, 'ERR_BANNED_GROUPMEMBER')
        assertFails(await put('nobody'), 404, 'ERR_UID_NOT_FOUND')
      })

      it('moves between the types, with a password where one is needed', async () => {
        const app = await newApp('ada')
        await create(app, { guid: 'g', name: 'G' }, as('ada'))
        assertFails(await app.put('/groups/g', { type: 'password' }), 400, 'ERR_EMPTY_GROUP_PASS')
        assertFails(await app.put('/groups/g', { type: 'password', password: '' }), 400, 'ERR_EMPTY_GROUP_PASS')
        assertSucceeds(await app.put('/groups/g', { type: 'password', password: ' ' }))
        assertSucceeds(await app.put('/groups/g', { type: 'password' }))
        assert.equal((await list(app, '?type=password')).meta.pagination.total, 1)
        assertSucceeds(await app.put('/groups/g', { type: 'private', password: 'ignored' }))
        assert.equal((await list(app, '?type=password')).meta.pagination.total, 0)
        assert.equal((await list(app, '?type=private')).meta.pagination.total, 1)
        assertFails(await app.put('/groups/g', { type: 'password' }), 400, 'ERR_EMPTY_GROUP_PASS')
        const { authToken } = assertSucceeds(await app.post('/users/ada/auth_tokens')).data
        const put = (body: object) =>
          h.client.send(app.host, '/v3/groups/g', { method: 'PUT', headers: { authToken }, body })
        assertFails(await put({ type: 'public' }), 403, 'AUTH_ERR_NO_ACCESS')
        assertFails(await put({ password: 'x' }), 403, 'AUTH_ERR_NO_ACCESS')
        assert.equal(assertSucceeds(await put({ type: 'private', name: 'Mine' })).data.name, 'Mine')
      })

      it('gives a group to another owner, who comes in as admin', async () => {
        const app = await newApp('ada', 'lin', 'bo', 'evil')
        await create(app, { guid: 'g', name: 'G', members: { participants: ['lin'], usersToBan: ['evil'] } }, as('ada'))
        const first = assertSucceeds(await app.put('/groups/g', { owner: 'LIN' })).data
        assert.deepEqual([first.owner, first.membersCount, first.updatedBy], ['lin', 2, 'app_system'])
        const second = assertSucceeds(await app.put('/groups/g', { owner: 'bo' })).data
        assert.deepEqual([second.owner, second.membersCount], ['bo', 3])
        for (const uid of ['ada', 'lin', 'bo']) assert.equal((await get(app, 'g', as(uid))).scope, 'admin')
        assertFails(await app.put('/groups/g', { owner: 'nobody' }), 404, 'ERR_UID_NOT_FOUND')
        assertFails(await app.put('/groups/g', { owner: 'evil' }), 403, 'ERR_BANNED_GROUPMEMBER')
        const all = await webhooksOf(app)
        assert.deepEqual(
          all.slice(3).map(({ trigger }) => trigger),
          [
            ...['group_owner_transferred', 'group_updated'],
            ...['group_member_added', 'group_owner_transferred', 'group_updated'],
          ],
        )
        const told = all.filter(({ trigger }) => trigger === 'group_owner_transferred')
        assert.deepEqual(
          told.map(({ data }) => [data.group?.owner, data.group?.oldOwner]),
          [
            ['lin', 'ada'],
            ['bo', 'lin'],
          ],
        )
      })
    })

    describe('deleting', () => {
      it('is for admins', async () => {
        const app = await newApp('ada', 'lin', 'bo', 'cy', 'evil')
        const members = { admins: ['lin'], moderators: ['bo'], usersToBan: ['evil'] }
        await create(app, { guid: 'g', name: 'G', members }, as('ada'))
        const remove = (uid: string) => app.delete('/groups/g', undefined, as(uid))
        assertFails(await remove('bo'), 403, 'ERR_GROUP_NO_ADMIN_SCOPE')
        assertFails(await remove('cy'), 403, 'ERR_GROUP_NOT_JOINED')
        assertFails(await remove('evil'), 403, 'ERR_BANNED_GROUPMEMBER')
        const { data } = assertSucceeds(await remove('lin'))
        assert.equal(data.success, true)
        assertFails(await app.delete('/groups/g'), 404, 'ERR_GUID_NOT_FOUND')
        const told = (await webhooksOf(app)).at(-1)
        assert.deepEqual([told?.trigger, told?.data.group.membersCount], ['group_deleted', 3])
      })

      it('leaves nothing behind', async () => {
        const app = await newApp('ada', 'lin', 'evil')
        await h.settle()
        const body = { guid: 'g', name: 'G', tags: ['t'], members: { participants: ['lin'], usersToBan: ['evil'] } }
        await create(app, body, as('ada'))
        assertSucceeds(await app.put('/groups/g/scopes/admin/permissions', { permissions: { sendMessage: 'deny' } }))
        await say(app, 'g', 'lin')
        assertSucceeds(await app.put('/conversations/pinned', { pinnedConversations: [{ guid: 'g' }] }))
        assertSucceeds(await app.delete('/groups/g'))
        await h.settle()
        const left = Object.entries(await dump(h)).flatMap(([table, rows]) =>
          ['events', 'tallies'].includes(table) ? [] : rows.filter((row) => row.includes(app.id)),
        )
        assert.equal(left.filter((row) => /"g"|group_g/.test(row)).length, 0, left.join('\n'))
        const tallies = (await dump(h)).tallies?.filter((row) => row.includes(app.id) && /members of|bans of/.test(row))
        assert.deepEqual(tallies, [])
      })

      it('frees the GUID at once, and the next group knows nothing of the last', async () => {
        const app = await newApp('ada', 'lin', 'bo', 'evil')
        const members = { participants: ['lin', 'bo'], usersToBan: ['evil'] }
        await create(app, { guid: 'g', name: 'First', tags: ['t'], members }, as('ada'))
        assertSucceeds(
          await app.put('/groups/g/scopes/participant/permissions', { permissions: { sendMessage: 'deny' } }),
        )
        for (let n = 0; n < 5; n += 1) await say(app, 'g', 'lin')
        assertSucceeds(await app.delete('/groups/g'))
        const again = await create(
          app,
          { guid: 'g', name: 'Second', members: { participants: ['lin', 'evil'] } },
          as('bo'),
        )
        assert.deepEqual([again.owner, again.membersCount, again.members.participants.evil.success], ['bo', 3, true])
        const said = await say(app, 'g', 'lin')
        await h.settle()
        await h.settle()
        const group = await get(app, 'g', as('lin'))
        assert.deepEqual([group.name, group.membersCount, 'tags' in group], ['Second', 3, false])
        assert.equal((await get(app, 'g', as('ada'))).hasJoined, false)
        const permissions = assertSucceeds(await app.get('/groups/g/scopes/participant/permissions')).data
        assert.equal(permissions.find(({ id }: { id: string }) => id === 'sendMessage').value, 'allow')
        const db = tenantDb(h.service.house.database.reader, app.id)
        const { conversationKey } = placeOfGroup('g')
        const messages = await db
          .select('messages')
          .selectAll()
          .where('messages.conversation_key', '=', conversationKey)
          .execute()
        assert.deepEqual(
          messages.map(({ id, category }) => (id === said.id ? 'said' : category)),
          ['action', 'action', 'said'],
        )
        const rows = await db
          .select('conversation_rows')
          .selectAll()
          .where('conversation_rows.conversation_key', '=', conversationKey)
          .orderBy('conversation_rows.uid')
          .execute()
        assert.deepEqual(
          rows.map(({ uid }) => uid),
          ['bo', 'evil', 'lin'],
        )
        const conversation = await db
          .select('conversations')
          .selectAll()
          .where('conversations.conversation_key', '=', conversationKey)
          .executeTakeFirstOrThrow()
        const unread = []
        for (const row of rows) {
          const { last_seq, last_counted } = conversation
          const counts = await unreadOf(db, [{ ...row, last_seq, last_counted }], [])
          unread.push([row.uid, counts.get(conversationKey)?.messages])
        }
        assert.deepEqual(unread, [
          ['bo', 1],
          ['evil', 2],
          ['lin', 0],
        ])
      })
    })

    it('show nothing of what an earlier group of the GUID has left to be cleared away', async () => {
      const app = await newApp('ada', 'lin')
      await create(app, { guid: 'g', name: 'G' }, as('ada'))
      const old = await say(app, 'g', 'ada')
      await h.service.house.database.write((connection) =>
        voidConversation(tenantDb(connection, app.id), { guid: 'g' } as GroupRow),
      )
      assertFails(await app.put(`/messages/${old.id}`, { data: { text: 'x' } }), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
      assertSucceeds(await app.post('/groups/g/members', { participants: ['lin'] }))
      for (const headers of [undefined, as('lin')]) {
        const { data } = assertSucceeds(await app.get('/groups/g/messages', headers))
        assert.deepEqual(
          data.map((message: { data: { action: string } }) => message.data.action),
          ['added'],
        )
      }
      const { data } = assertSucceeds(await app.get('/conversations', as('lin')))
      assert.deepEqual([data.length, data[0].lastMessage.data.action], [1, 'added'])
      assertFails(await app.get(`/messages/${old.id}`, as('lin')), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
    })

    async function say(app: AppClient, guid: string, sender: string) {
      return h.service.house.database.write((connection) =>
        writeMessage(workIn(connection, app.id, h.service.house.tools), placeOfGroup(guid), {
          sender,
          receiver: guid,
          category: 'message',
          type: 'text',
          data: { text: 'hello' },
          mentions: ['bo'],
        }),
      )
    }

    it('keeps apps apart', async () => {
      const [a, b] = [await newApp('ada'), await newApp('ada')]
      await create(a, { guid: 'g', name: 'G', owner: 'ada' })
      assertFails(await b.get('/groups/g'), 404, 'ERR_GUID_NOT_FOUND')
      assertFails(await b.put('/groups/g', {}), 404, 'ERR_GUID_NOT_FOUND')
      assertFails(await b.delete('/groups/g'), 404, 'ERR_GUID_NOT_FOUND')
      assert.equal((await list(b, '', as('ada'))).meta.pagination.total, 0)
      await create(b, { guid: 'g', name: 'Other' })
      assert.equal((await get(a, 'g')).name, 'G')
    })
  })
}
