import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump, nothingChanges } from '../../../../tests/support/dump.ts'
import {
  type AppClient,
  assertFails,
  assertSucceeds,
  callerAt,
  type House,
  house,
} from '../../../../tests/support/house.ts'
import { connectUsers } from '../../../../tests/support/told.ts'
import { lastActive } from './online.ts'

const tokenForm = /^(.+)_(\d{10})[0-9a-f]{30}$/
const always = ['createdAt', 'name', 'role', 'status', 'uid']

for (const database of databases) {
  describe(`users on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const newApp = () => h.app(randomUUID())
    const create = async (app: AppClient, uid: string, more: object = {}) =>
      assertSucceeds(await app.post('/users', { uid, name: `Name of ${uid}`, ...more })).data
    const get = async (app: AppClient, uid: string, headers = {}) =>
      assertSucceeds(await app.get(`/users/${uid}`, headers)).data
    const list = async (app: AppClient, query = '', headers = {}) =>
      assertSucceeds(await app.get(`/users${query}`, headers))
    const uids = async (app: AppClient, query = '', headers = {}): Promise<string[]> =>
      (await list(app, query, headers)).data.map(({ uid }: { uid: string }) => uid).toSorted()
    const asUser = async (app: AppClient, uid: string) => {
      const { authToken } = assertSucceeds(await app.post(`/users/${uid}/auth_tokens`)).data
      return callerAt(h.client, app.host, '/v3', { authToken })
    }
    /** An app with these users, the first created first. */
    async function appWith(...people: (string | { uid: string; [field: string]: unknown })[]): Promise<AppClient> {
      const app = await newApp()
      for (const person of people) {
        const { uid, ...more } = typeof person === 'string' ? { uid: person } : person
        await create(app, uid, more)
      }
      return app
    }
    const eventsOf = async (app: AppClient) =>
      ((await dump(h)).events ?? [])
        .map((line) => JSON.parse(line))
        .filter((event) => event.app_id === app.id)
        .toSorted((a, b) => a.id - b.id)
        .map(({ name, payload }) => ({ name, payload: JSON.parse(payload) }))

    describe('create', () => {
      it('answers the record, with what was sent and nothing that was not', async () => {
        const app = await newApp()
        const plain = await create(app, 'plain')
        assert.deepEqual(Object.keys(plain).toSorted(), always)
        assert.deepEqual([plain.role, plain.status], ['default', 'offline'])
        assert.ok(Math.abs(plain.createdAt - h.clock.now()) <= 2)
        const full = {
          name: 'Nora Lind',
          avatar: 'https://img.example.org/nora.png',
          link: 'http://example.org/nora',
          statusMessage: 'On the train',
          metadata: { team: 'design', '@private': { email: 'nora@example.org' } },
          tags: ['beta', 'north'],
        }
        const { uid, role, status, createdAt, ...rest } = await create(app, 'nora', full)
        assert.deepEqual(rest, full)
        assert.deepEqual(await get(app, 'nora'), { uid, role, status, createdAt, ...full })
      })

      it('stores the UID in lower case and finds it in any', async () => {
        const app = await newApp()
        assert.equal((await create(app, 'Nora-LIND_7')).uid, 'nora-lind_7')
        assert.equal((await get(app, 'NORA-lind_7')).uid, 'nora-lind_7')
        assertFails(await app.post('/users', { uid: 'NORA-LIND_7', name: 'x' }), 400, 'ERR_UID_ALREADY_EXISTS')
      })

      it('keeps a UID taken while its user is deactivated, and keeps app_system for itself', async () => {
        const app = await appWith('nora')
        assertSucceeds(await app.delete('/users/nora'))
        const taken = await app.post('/users', { uid: 'nora', name: 'x' })
        assertFails(taken, 400, 'ERR_UID_ALREADY_EXISTS')
        assert.match(taken.body.error.message, /already exists/)
        assertFails(await app.post('/users', { uid: 'App_System', name: 'x' }), 400, 'ERR_UID_ALREADY_EXISTS')
        assertFails(await app.get('/users/app_system'), 404, 'ERR_UID_NOT_FOUND')
      })

      it('of fifty at once with one UID, lets exactly one succeed and leaves one user', async () => {
        const app = await newApp()
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, at) => app.post('/users', { uid: at % 2 ? 'nora' : 'NORA', name: `n${at}` })),
        )
        assert.equal(answers.filter(({ status }) => status === 200).length, 1)
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          assertFails(answer, 400, 'ERR_UID_ALREADY_EXISTS')
        }
        assert.equal((await list(app)).meta.pagination.total, 1)
      })

      it('refuses a malformed UID with a code of its own, and names the field too', async () => {
        const app = await newApp()
        for (const uid of ['two words', 'umlaut-ä', 'dot.ted', 'a'.repeat(101), 'slash/ed', ' nora', '田中']) {
          const answer = await app.post('/users', { uid, name: 'x' })
          assertFails(answer, 400, 'ERR_INVALID_UID')
          assert.ok(Array.isArray(answer.body.error.details.uid), uid)
        }
        await create(app, 'a'.repeat(100), { name: 'Long' })
      })

      for (const [field, values] of Object.entries({
        uid: [undefined, '', '  ', 5.5, -1, 2 ** 53, null],
        name: [undefined, '', ' \t', 5, null, 'n'.repeat(101), '😀'.repeat(51)],
        avatar: [
          'nora.png',
          'Invalid:https://img.example.org',
          'ftp://example.org/x',
          'https://',
          `https://e.org/${'a'.repeat(3000)}`,
        ],
        link: ['javascript:alert(1)', 'https://a b.org', 7],
        statusMessage: ['s'.repeat(256), 5],
        metadata: [
          '{"a":"\\u0000"}',
          `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`,
          'text',
          '[1]',
          5,
          [1],
          { big: 'x'.repeat(5_120) },
        ],
        tags: ['beta', [5], Array.from({ length: 26 }, (_, at) => `t${at}`)],
        withAuthToken: ['yes', 1],
        role: [5.5, true],
      })) {
        it(`refuses a wrong ${field} and creates nobody`, async () => {
          const app = await newApp()
          const assertUnchanged = await nothingChanges(h)
          for (const value of values) {
            const answer = await app.post('/users', { uid: 'nora', name: 'Nora', [field]: value })
            assertFails(answer, 400, 'ERR_BAD_REQUEST')
            const named = Object.keys(answer.body.error.details)
            assert.ok(
              named.some((name) => name.split('.')[0] === field),
              `${field}: ${answer.text}`,
            )
          }
          await assertUnchanged(field)
        })
      }

      it('names the tag at fault by its index', async () => {
        const answer = await (await newApp()).post('/users', { uid: 'nora', name: 'Nora', tags: ['good', ' '] })
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.deepEqual(Object.keys(answer.body.error.details), ['tags.1'])
      })

      it('takes values up to their limits, counted in UTF-16 code units', async () => {
        const app = await newApp()
        const tags = Array.from({ length: 25 }, (_, at) => `${at}`.padEnd(100, 't'))
        const user = await create(app, 'nora', {
          name: '😀'.repeat(50),
          statusMessage: 's'.repeat(255),
          avatar: `https://e.org/${'a'.repeat(3000 - 14)}`,
          tags,
        })
        assert.equal(user.name.length, 100)
        assert.equal(user.avatar.length, 3000)
        assert.deepEqual(user.tags, tags)
      })

      it('takes metadata as an object or as JSON text, and answers an object', async () => {
        const app = await newApp()
        assert.deepEqual((await create(app, 'a', { metadata: '{"team":{"name":"設計"}}' })).metadata, {
          team: { name: '設計' },
        })
        assert.deepEqual((await get(app, 'a')).metadata, { team: { name: '設計' } })
        const fits = { big: 'x'.repeat(5_120 - '{"big":""}'.length) }
        assert.deepEqual((await create(app, 'b', { metadata: fits })).metadata, fits)
      })

      it('drops a tag sent twice', async () => {
        assert.deepEqual((await create(await newApp(), 'nora', { tags: ['a', 'b', 'a'] })).tags, ['a', 'b'])
      })

      it('gives an existing role and refuses any other', async () => {
        const app = await newApp()
        assertSucceeds(await app.post('/roles', { role: 'tutor', name: 'Tutor' }))
        assert.equal((await create(app, 'nora', { role: 'Tutor' })).role, 'tutor')
        assertFails(await app.post('/users', { uid: 'milo', name: 'M', role: 'ghost' }), 404, 'ERR_ROLE_NOT_FOUND')
        assertFails(await app.get('/users/milo'), 404, 'ERR_UID_NOT_FOUND')
      })

      it('answers a token that works, if asked to', async () => {
        const app = await newApp()
        const { authToken, uid } = await create(app, 'n_ora', { withAuthToken: true })
        assert.equal(tokenForm.exec(authToken)?.[1], 'n_ora')
        const me = callerAt(h.client, app.host, '/v3', { authToken })
        assert.equal(assertSucceeds(await me.get('/me')).data.uid, uid)
        assert.equal((await get(app, 'n_ora')).authToken, undefined)
      })

      it('is open to an authOnly key', async () => {
        const app = await newApp()
        const narrow = app.withKey(app.authKey)
        assertSucceeds(await narrow.post('/users', { uid: 'nora', name: 'Nora', withAuthToken: true }))
        assertFails(await narrow.get('/users/nora'), 403, 'AUTH_ERR_NO_ACCESS')
      })
    })

    describe('get', () => {
      it('does not know unknown and deactivated users', async () => {
        const app = await appWith('nora')
        assertFails(await app.get('/users/milo'), 404, 'ERR_UID_NOT_FOUND')
        assertSucceeds(await app.delete('/users/nora'))
        assertFails(await app.get('/users/nora'), 404, 'ERR_UID_NOT_FOUND')
      })

      it('names the conversation of the acting user and this one, whoever asks', async () => {
        const app = await appWith('nora', 'milo')
        assert.equal((await get(app, 'nora', { onBehalfOf: 'MILO' })).conversationId, 'milo_user_nora')
        assert.equal((await get(app, 'milo', { onBehalfOf: 'nora' })).conversationId, 'milo_user_nora')
        assert.equal((await get(app, 'nora', { onBehalfOf: 'nora' })).conversationId, undefined)
        assert.equal((await get(app, 'nora')).conversationId, undefined)
      })

      it('shows private metadata to API keys acting for nobody, and to no one else', async () => {
        const app = await appWith(
          { uid: 'nora', metadata: { team: 'a', '@private': { email: 'n@example.org' } } },
          'milo',
        )
        assert.deepEqual((await get(app, 'nora')).metadata['@private'], { email: 'n@example.org' })
        assert.deepEqual((await list(app)).data[1].metadata['@private'], { email: 'n@example.org' })
        for (const onBehalfOf of ['milo', 'nora']) {
          assert.deepEqual((await get(app, 'nora', { onBehalfOf })).metadata, { team: 'a' })
        }
        const milo = await asUser(app, 'milo')
        assert.ok(!(await milo.get('/users/nora')).text.includes('@private'))
        assert.ok(!(await milo.get('/users')).text.includes('@private'))
        assert.ok(!(await (await asUser(app, 'nora')).get('/me')).text.includes('@private'))
        assert.ok(!JSON.stringify(await eventsOf(app)).includes('@private'))
      })
    })

    describe('list', () => {
      it('shows the newest first, then by UID, without tags unless asked', async () => {
        const app = await newApp()
        await create(app, 'b', { tags: ['x'] })
        await create(app, 'a')
        h.clock.setOffset(h.clock.offsetSeconds() + 10)
        await create(app, 'c')
        const { data, meta } = await list(app)
        assert.deepEqual(
          data.map(({ uid }: { uid: string }) => uid),
          ['c', 'a', 'b'],
        )
        assert.deepEqual(meta.pagination, { total: 3, count: 3, per_page: 100, current_page: 1, total_pages: 1 })
        assert.equal(data[2].tags, undefined)
        assert.deepEqual((await list(app, '?withTags=True')).data[2].tags, ['x'])
      })

      it('tells its newest change, and nothing of the kind for an empty one', async () => {
        const app = await appWith('a', 'b')
        assert.equal((await list(await newApp())).meta.cursor, undefined)
        h.clock.setOffset(h.clock.offsetSeconds() + 50)
        const { updatedAt } = assertSucceeds(await app.put('/users/a', { name: 'A' })).data
        assert.deepEqual((await list(app)).meta.cursor, { updatedAt, affix: 'prepend' })
      })

      it('filters by role, roles, status, tags and UIDs, and combines them', async () => {
        const app = await newApp()
        for (const role of ['tutor', 'pupil']) assertSucceeds(await app.post('/roles', { role, name: role }))
        await create(app, 'a', { role: 'tutor', tags: ['x'] })
        await create(app, 'b', { role: 'pupil', tags: ['x', 'y'] })
        await create(app, 'c', { tags: ['z'] })
        const sorted = async (query: string) => {
          const page = await list(app, query)
          assert.equal(page.meta.pagination.total, page.data.length, query)
          assert.deepEqual(await list(app, `${query}&count=1`), page, query)
          return page.data
            .map(({ uid }: { uid: string }) => uid)
            .toSorted()
            .join()
        }
        const expected = {
          '?role=tutor': 'a',
          '?role=Tutor': 'a',
          '?role=ghost': '',
          '?roles=tutor,pupil': 'a,b',
          '?roles[]=tutor&role=default': 'a,c',
          '?status=offline': 'a,b,c',
          '?status=available': '',
          '?status=online': '',
          '?status=unheard-of': '',
          '?tags=x': 'a,b',
          '?tags=y,z': 'b,c',
          '?tags=y&tags=z': 'b,c',
          '?tags=X': '',
          '?tags=x&role=pupil': 'b',
          '?tags=x&searchKey=a': 'a,b',
          '?uids=A,c,ghost': 'a,c',
          '?uids=a,c&tags=z': 'c',
        }
        for (const [query, found] of Object.entries(expected)) assert.equal(await sorted(query), found, query)
        const tooMany = Array.from({ length: 26 }, (_, at) => `u${at}`).join()
        const answer = await app.get(`/users?uids=${tooMany}`)
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.ok(answer.body.error.details.uids)
      })

      it('leaves out deactivated users unless asked for them', async () => {
        const app = await appWith('a', 'b', 'c')
        assertSucceeds(await app.delete('/users/b'))
        assert.deepEqual(await uids(app), ['a', 'c'])
        assert.deepEqual(await uids(app, '?withDeactivated=true'), ['a', 'b', 'c'])
        assert.deepEqual(await uids(app, '?onlyDeactivated=1'), ['b'])
        assert.deepEqual(await uids(app, '?onlyDeactivated=true&withDeactivated=true'), ['b'])
        assert.deepEqual(await uids(app, '?searchKey=name'), ['a', 'c'])
        assert.deepEqual(await uids(app, '?searchKey=name&withDeactivated=true'), ['a', 'b', 'c'])
        assert.ok((await list(app, '?onlyDeactivated=true')).data[0].deactivatedAt)
      })

      it('stays the list with count, and tells the number where it always does', async () => {
        const app = await appWith('a', 'b')
        const searches = ['?perPage=1', '?perPage=1&page=2', '?searchKey=zzz']
        for (const search of searches) {
          for (const headers of [undefined, { onBehalfOf: 'a' }]) {
            const plain = await list(app, search, headers)
            for (const count of ['true', 'false', '1', '0']) {
              assert.deepEqual(await list(app, `${search}&count=${count}`, headers), plain)
            }
          }
        }
        const total = async (search: string, headers?: Record<string, string>) =>
          (await list(app, search, headers)).meta.pagination.total
        assert.equal(await total('?count=true&perPage=1'), 2)
        assert.equal(await total('?count=true', { onBehalfOf: 'a' }), 1)
        assert.equal(await total('?count=true&searchKey=zzz'), 0)
      })

      it('leaves out the acting user on whatever page they would be, and tells conversations', async () => {
        const people = Array.from({ length: 7 }, (_, at) => `u${at}`)
        const app = await appWith(...people)
        for (const onBehalfOf of ['u0', 'u3', 'u6']) {
          const seen: string[] = []
          for (const page of [1, 2, 3]) {
            const { data, meta } = await list(app, `?perPage=2&page=${page}`, { onBehalfOf })
            assert.equal(meta.pagination.total, 6)
            assert.equal(data.length, 2)
            for (const { uid, conversationId } of data) {
              assert.equal(conversationId, [uid, onBehalfOf].toSorted().join('_user_'))
              seen.push(uid)
            }
          }
          // Newest first: which that is depends on the second each was created in.
          assert.deepEqual(
            seen.toSorted(),
            people.filter((uid) => uid !== onBehalfOf),
          )
        }
      })

      it('walks every page of a long list exactly once, with and without filters', async () => {
        const app = await newApp()
        assertSucceeds(await app.post('/roles', { role: 'rare', name: 'Rare' }))
        const count = 1_234
        await addMany(app, count, (at) => ({
          uid: `u${String(at).padStart(5, '0')}`,
          name: `Person ${at}`,
          ...(at % 100 === 7 && { role: 'rare' }),
        }))
        assertSucceeds(await app.delete('/users', { uidsToDeactivate: ['u00011', 'u00700'] }))
        for (const [query, total] of [
          ['?withDeactivated=true', count],
          ['', count - 2],
          ['?role=rare', 13],
          ['?searchKey=person', count - 2],
          ['?searchKey=u0070', 9],
        ] as const) {
          for (const perPage of [100, 333]) {
            const seen: string[] = []
            for (let page = 1; page <= Math.ceil(total / perPage); page += 1) {
              const answer = await list(app, `${query || '?'}&perPage=${perPage}&page=${page}`)
              assert.equal(answer.meta.pagination.total, total, query)
              seen.push(...answer.data.map(({ uid }: { uid: string }) => uid))
            }
            assert.equal(seen.length, total, query)
            assert.equal(new Set(seen).size, total, query)
          }
        }
      })
    })

    /** Adds users below the front door, spread over days. */
    async function addMany(app: AppClient, count: number, make: (at: number) => { uid: string; name: string }) {
      const { addMissingUsers } = await import('./index.ts')
      const { workIn } = await import('../../common/work-in.ts')
      await h.service.house.database.write(async (connection) => {
        for (let at = 0; at < count; at += 100) {
          const people = Array.from({ length: Math.min(100, count - at) }, (_, more) => make(at + more))
          await addMissingUsers(workIn(connection, app.id, h.service.house.tools, h.clock.now() - at * 300), people)
        }
      })
    }

    describe('the count of who is connected', () => {
      const count = async (app: AppClient, uid: string) =>
        assertSucceeds(await (await asUser(app, uid)).get('/users/online-count')).data

      it('is that of the list: all who are available, but oneself', async () => {
        const app = await appWith('ada', 'lin', 'max', 'eve')
        assert.deepEqual(await count(app, 'ada'), { count: 0 })
        connectUsers(h, app, 'ada', 'lin', 'max')
        assert.deepEqual(await count(app, 'ada'), { count: 2 })
        assert.deepEqual(await count(app, 'eve'), { count: 3 })
        const listed = await list(app, '?status=available', { onBehalfOf: 'eve' })
        assert.equal(listed.meta.pagination.total, 3)
      })

      it('and their status follow from who is connected, in records and every filter', async () => {
        const app = await appWith('ada', 'lin', 'max', 'eve')
        const uids = async (search: string, headers?: Record<string, string>) => {
          const { data, meta } = await list(app, search, headers)
          assert.equal(meta.pagination.total, data.length, search)
          return data.map(({ uid }: { uid: string }) => uid).toSorted()
        }
        assert.deepEqual(await uids('?status=online'), [])
        assert.deepEqual(await uids('?status=offline'), ['ada', 'eve', 'lin', 'max'])
        connectUsers(h, app, 'lin', 'max', 'nobody')
        assert.deepEqual(await uids('?status=online'), ['lin', 'max'])
        assert.deepEqual(await uids('?status=online&searchKey=lin'), ['lin'])
        assert.deepEqual(await uids('?status=offline'), ['ada', 'eve'])
        assert.deepEqual(await uids('?status=offline&searchKey=lin'), [])
        assert.deepEqual(await uids('?status=offline', { onBehalfOf: 'eve' }), ['ada'])
        assert.deepEqual(await uids('?status=available', { onBehalfOf: 'max' }), ['lin'])
        assert.deepEqual(await uids('?status=away'), [])
        const status = async (uid: string) => assertSucceeds(await app.get(`/users/${uid}`)).data.status
        assert.deepEqual([await status('lin'), await status('ada')], ['available', 'offline'])
        h.service.house.tools.presence.went(app.id, 'lin')
        assert.equal(await status('lin'), 'offline')
      })

      it('changes no row; when somebody was last connected is written down with others, and never earlier', async () => {
        const app = await appWith('ada', 'lin')
        const record = async (uid: string) => assertSucceeds(await app.get(`/users/${uid}`)).data
        const before = await record('lin')
        const { notes } = h.service.house.tools
        const note = (uid: string, at: number) => notes.take(lastActive, app.id, { key: [uid], at })
        for (const [uid, at] of [
          ['ada', 500],
          ['lin', 700],
          ['lin', 600],
          ['nobody', 1],
        ] as const)
          note(uid, at)
        await notes.write()
        note('lin', 650)
        await notes.write()
        assert.deepEqual(await record('lin'), { ...before, lastActiveAt: 700 })
        assert.equal((await record('ada')).lastActiveAt, 500)
      })

      it('holds nobody whom the role may not list, and is refused with the list', async () => {
        const app = await appWith('ada', 'lin', 'max')
        connectUsers(h, app, 'lin', 'max')
        assertSucceeds(await app.post('/users/ada/friends', { accepted: ['lin'] }))
        assertSucceeds(await app.put('/roles/default', { settings: { listUsers: 'friendsOnly' } }))
        assert.deepEqual(await count(app, 'ada'), { count: 1 })
        assertSucceeds(await app.put('/roles/default/permissions', { permissions: { listUsers: 'deny' } }))
        const answer = await (await asUser(app, 'ada')).get('/users/online-count')
        assertFails(answer, 403, 'ERR_PERMISSION_DENIED')
      })

      it('has a path that no user can take', async () => {
        const app = await newApp()
        assertFails(await app.post('/users', { uid: 'Online-Count', name: 'Nobody' }), 400, 'ERR_INVALID_UID')
      })
    })

    describe('search', () => {
      it('finds parts of names and UIDs in any script and letter case', async () => {
        const app = await appWith(
          { uid: 'nora-l', name: 'Nora Lind' },
          { uid: 'tanaka', name: '田中 さくら' },
          { uid: 'odos', name: 'Ὀδὸς ΟΔΟΣ' },
          { uid: 'strasse', name: 'Groß Straße' },
          { uid: 'fatima', name: 'فاطمة الزهراء' },
          { uid: 'emoji', name: 'Zoë 🎈 100%_sure' },
          { uid: 'zalgo', name: 'José' },
        )
        const expected = {
          'ora li': 'nora-l',
          NORA: 'nora-l',
          'ora-l': 'nora-l',
          lind: 'nora-l',
          dnil: '',
          noraa: '',
          田中: 'tanaka',
          中: 'tanaka',
          くら: 'tanaka',
          οδοσ: 'odos',
          ΟΔΟΣ: 'odos',
          GROSS: 'strasse',
          straß: 'strasse',
          طمة: 'fatima',
          '🎈': 'emoji',
          ZOË: 'emoji',
          '0%_s': 'emoji',
          '%': 'emoji',
          'Jose\u0301': 'zalgo',
          ＮＯＲＡ: 'nora-l',
        }
        for (const [key, found] of Object.entries(expected)) {
          assert.equal((await uids(app, `?searchKey=${encodeURIComponent(key)}`)).join(), found, key)
        }
      })

      it('looks where searchIn says, and nowhere for a place that does not exist', async () => {
        const app = await appWith({ uid: 'nora', name: 'Milo' }, { uid: 'milo', name: 'Nora' })
        assert.deepEqual((await uids(app, '?searchKey=nor')).toSorted(), ['milo', 'nora'])
        assert.deepEqual(await uids(app, '?searchKey=nor&searchIn=name'), ['milo'])
        assert.deepEqual(await uids(app, '?searchKey=nor&searchIn=uid'), ['nora'])
        assert.deepEqual((await uids(app, '?searchKey=nor&searchIn[]=uid&searchIn[]=name')).toSorted(), [
          'milo',
          'nora',
        ])
        assert.deepEqual(await uids(app, '?searchKey=nor&searchIn=shoe'), [])
      })

      it('follows renaming and deletion', async () => {
        const app = await appWith({ uid: 'u1', name: 'Nora' })
        assertSucceeds(await app.put('/users/u1', { name: 'Amara' }))
        assert.deepEqual(await uids(app, '?searchKey=nora'), [])
        assert.deepEqual(await uids(app, '?searchKey=mara'), ['u1'])
        assertSucceeds(await app.delete('/users/u1', { permanent: true }))
        assert.deepEqual(await uids(app, '?searchKey=mara&withDeactivated=true'), [])
      })

      it('finds nothing of another app', async () => {
        const [one, other] = [await appWith({ uid: 'nora', name: 'Nora' }), await newApp()]
        assert.deepEqual(await uids(other, '?searchKey=nora'), [])
        assert.deepEqual(await uids(one, '?searchKey=nora'), ['nora'])
      })
    })

    describe('update', () => {
      it('changes what was sent and nothing else', async () => {
        const app = await appWith({
          uid: 'nora',
          name: 'Nora',
          avatar: 'https://e.org/a',
          tags: ['a'],
          metadata: { a: 1 },
        })
        h.clock.setOffset(h.clock.offsetSeconds() + 5)
        const before = await get(app, 'nora')
        const after = assertSucceeds(await app.put('/users/nora', { statusMessage: 'Away' })).data
        const { updatedAt, ...rest } = after
        assert.deepEqual(rest, { ...before, statusMessage: 'Away' })
        assert.ok(updatedAt > before.createdAt)
        assert.deepEqual(await get(app, 'nora'), after)
      })

      it('replaces metadata and tags whole, and clears tags with an empty list', async () => {
        const app = await appWith({ uid: 'nora', tags: ['a', 'b'], metadata: { a: 1, b: 2 } })
        const put = async (body: object) => assertSucceeds(await app.put('/users/nora', body)).data
        assert.deepEqual((await put({ metadata: '{"c":3}', tags: ['c'] })).metadata, { c: 3 })
        assert.deepEqual(await uids(app, '?tags=a'), [])
        assert.deepEqual(await uids(app, '?tags=c'), ['nora'])
        assert.equal((await put({ tags: [] })).tags, undefined)
        assert.deepEqual(await uids(app, '?tags=c'), [])
      })

      it('removes what unset names, even when a value is sent beside it', async () => {
        const app = await appWith({
          uid: 'nora',
          avatar: 'https://e.org/a',
          link: 'https://e.org/l',
          metadata: { a: 1 },
        })
        const { avatar, link, metadata } = assertSucceeds(
          await app.put('/users/nora', { avatar: 'https://e.org/b', unset: ['avatar', 'metadata'] }),
        ).data
        assert.deepEqual([avatar, link, metadata], [undefined, 'https://e.org/l', undefined])
        const answer = await app.put('/users/nora', { unset: ['link', 'name'] })
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.deepEqual(Object.keys(answer.body.error.details), ['unset.1'])
      })

      it('leaves the record and its time alone when nothing is sent, and ignores a UID in the body', async () => {
        const app = await appWith('nora')
        const before = await get(app, 'nora')
        const assertUnchanged = await nothingChanges(h)
        for (const sending of [{}, { raw: '' }, { raw: '{}' }, { body: { uid: 'milo', createdAt: 1 } }]) {
          const answer = await app.send('/users/nora', {
            method: 'PUT',
            ...sending,
            headers: { 'content-type': 'application/json' },
          })
          assert.deepEqual(assertSucceeds(answer).data, before)
        }
        await assertUnchanged('an empty change')
      })

      it('refuses an empty name, an unknown role, and users that are not there', async () => {
        const app = await appWith('nora', 'gone')
        assertSucceeds(await app.delete('/users/gone'))
        const answer = await app.put('/users/nora', { name: ' ' })
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.ok(answer.body.error.details.name)
        assertFails(await app.put('/users/nora', { role: 'ghost' }), 404, 'ERR_ROLE_NOT_FOUND')
        assertFails(await app.put('/users/gone', { name: 'x' }), 404, 'ERR_UID_NOT_FOUND')
        assertFails(await app.put('/users/nobody', { name: ' ' }), 404, 'ERR_UID_NOT_FOUND')
      })

      it('passes over what is no property of a profile, such as whether the user is active', async () => {
        const app = await appWith('nora')
        const before = await get(app, 'nora')
        const odd = { activated: false, uid: 'milo', createdAt: 1, deactivatedAt: 1, email: 'nora@example.org' }
        assert.deepEqual(assertSucceeds(await app.put('/users/nora', odd)).data, before)
        assertSucceeds(await app.delete('/users/nora'))
        assertFails(await app.put('/users/nora', { activated: true }), 404, 'ERR_UID_NOT_FOUND')
      })

      it('moves the user between the totals of roles', async () => {
        const app = await appWith('nora')
        assertSucceeds(await app.post('/roles', { role: 'tutor', name: 'Tutor' }))
        assertSucceeds(await app.put('/users/nora', { role: 'tutor' }))
        assert.equal((await list(app, '?role=default')).meta.pagination.total, 0)
        assert.equal((await list(app, '?role=tutor')).meta.pagination.total, 1)
        assertSucceeds(await app.delete('/roles/tutor'))
        await h.settle()
        const { role, updatedAt } = await get(app, 'nora')
        assert.equal(role, 'default')
        assert.ok(updatedAt)
        assert.equal((await list(app, '?role=default')).meta.pagination.total, 1)
      })
    })

    describe('delete and deactivate', () => {
      it('deactivates by default, says so again, and deletes for good when told to', async () => {
        const app = await appWith('nora')
        assert.deepEqual(assertSucceeds(await app.delete('/users/NORA')), { data: { deactivatedUids: ['nora'] } })
        assert.deepEqual(assertSucceeds(await app.delete('/users/nora', { permanent: false })), {
          data: { alreadyDeactivatedUids: ['nora'] },
        })
        assert.equal(assertSucceeds(await app.delete('/users/nora', { permanent: true })).data.success, true)
        for (const body of [undefined, { permanent: true }]) {
          assertFails(await app.delete('/users/nora', body), 404, 'ERR_UID_NOT_FOUND')
        }
        assert.equal((await create(app, 'nora')).deactivatedAt, undefined)
      })

      it('tells for each of several what became of it, unknown ones in the spelling they were sent in', async () => {
        const app = await appWith('nora', 'milo', 'amara')
        assertSucceeds(await app.delete('/users/milo'))
        const { data } = assertSucceeds(
          await app.delete('/users', { uidsToDeactivate: ['Nora', 'milo', 'Ghost-7', 'nora', 'bad uid'] }),
        )
        assert.deepEqual(data, {
          deactivatedUids: ['nora'],
          alreadyDeactivatedUids: ['milo'],
          notFound: ['Ghost-7', 'bad uid'],
        })
        const back = assertSucceeds(await app.put('/users', { uidsToActivate: ['NORA', 'amara', 'Ghost-7'] })).data
        assert.deepEqual(back, { reactivatedUids: ['nora'], nonDeactivatedUids: ['amara'], notFound: ['Ghost-7'] })
        const nobody = { data: { notFound: ['X'] } }
        assert.deepEqual(assertSucceeds(await app.delete('/users', { uidsToDeactivate: ['X'] })), nobody)
        assert.deepEqual(assertSucceeds(await app.put('/users', { uidsToActivate: ['X'] })), nobody)
      })

      for (const body of [{}, { list: [] }, { list: 'nora' }, { list: [''] }, { list: [5.5] }, { list: [null] }]) {
        it(`refuses the list ${JSON.stringify(body)}`, async () => {
          const app = await newApp()
          const named = (name: string) => ('list' in body ? { [name]: body.list } : {})
          for (const [method, name] of [
            ['delete', 'uidsToDeactivate'],
            ['put', 'uidsToActivate'],
          ] as const) {
            const answer = await app[method]('/users', named(name))
            assertFails(answer, 400, 'ERR_BAD_REQUEST')
            assert.ok(
              Object.keys(answer.body.error.details).some((field) => field.startsWith(name)),
              answer.text,
            )
          }
        })
      }

      it('suspends access while deactivated and restores everything after', async () => {
        const app = await appWith({ uid: 'nora', tags: ['a'] }, 'milo')
        const nora = await asUser(app, 'nora')
        const before = await get(app, 'nora')
        assertSucceeds(await app.delete('/users/nora'))
        assertFails(await nora.get('/me'), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
        assertFails(await app.get('/users/milo', { onBehalfOf: 'nora' }), 404, 'ERR_UID_NOT_FOUND')
        assertSucceeds(await app.put('/users', { uidsToActivate: ['nora'] }))
        const { updatedAt, ...rest } = await get(app, 'nora')
        assert.deepEqual(rest, before)
        assert.ok(updatedAt)
        assertSucceeds(await nora.get('/me'))
      })

      it('leaves no row of a deleted user, and gives the next of that UID nothing of theirs', async () => {
        const app = await appWith({ uid: 'nora-of-before', tags: ['a'] })
        const nora = await asUser(app, 'nora-of-before')
        assertSucceeds(await app.delete('/users/nora-of-before', { permanent: true }))
        assertSucceeds(await app.post('/users', { uid: 'nora-of-before', name: 'Other' }))
        assertFails(await nora.get('/me'), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
        const other = await asUser(app, 'nora-of-before')
        await h.settle()
        assertSucceeds(await other.get('/me'))
        assertFails(await nora.get('/me'), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
        assertSucceeds(await app.delete('/users/nora-of-before', { permanent: true }))
        await h.settle()
        const { events: _, ...tables } = await dump(h)
        assert.deepEqual(
          Object.values(tables)
            .flat()
            .filter((row) => row.includes('nora-of-before')),
          [],
        )
        assert.equal((await list(app, '?withDeactivated=true')).meta.pagination.total, 0)
      })

      it('counts right after a flood of changes at once', async () => {
        const app = await appWith('a', 'b', 'c')
        assertSucceeds(await app.post('/roles', { role: 'tutor', name: 'Tutor' }))
        const answers = await Promise.all(
          Array.from({ length: 60 }, (_, at) => {
            const uid = ['a', 'b', 'c'][at % 3] as string
            if (at % 4 === 0) return app.delete('/users', { uidsToDeactivate: ['c', 'a', 'b'] })
            if (at % 4 === 1) return app.put('/users', { uidsToActivate: ['a', 'b', 'c'] })
            return app.put(`/users/${uid}`, { role: at % 4 === 2 ? 'tutor' : 'default' })
          }),
        )
        assert.deepEqual(
          answers.filter(({ status }) => status !== 200 && status !== 404).map(({ text }) => text),
          [],
        )
        for (const query of ['?withDeactivated=1', '', '?onlyDeactivated=1', '?role=tutor', '?role=default']) {
          const { data, meta } = await list(app, query)
          assert.equal(meta.pagination.total, data.length, query)
        }
        assert.equal((await uids(app, '?withDeactivated=1')).length, 3)
      })
    })

    it('deactivates and reactivates many of many roles at once, in whatever order', async () => {
      const app = await newApp()
      const roles = ['r0', 'r1', 'r2', 'r3', 'r4']
      for (const role of roles) assertSucceeds(await app.post('/roles', { role, name: role }))
      const all = Array.from({ length: 60 }, (_, n) => `u${n}`)
      await Promise.all(all.map((uid, n) => create(app, uid, { role: roles[n % 5] })))
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, n) => {
          const some = all.filter((_, at) => (at * 7 + n) % 3 === 0).toSorted(() => (n % 2 ? 1 : -1))
          return n % 2 ? app.put('/users', { uidsToActivate: some }) : app.delete('/users', { uidsToDeactivate: some })
        }),
      )
      assert.deepEqual(
        answers.filter(({ status }) => status !== 200).map(({ text }) => text),
        [],
      )
      for (const query of ['?withDeactivated=1', '', '?onlyDeactivated=1', ...roles.map((role) => `?role=${role}`)]) {
        const { data, meta } = await list(app, query)
        assert.equal(meta.pagination.total, data.length, query)
      }
    })

    describe('events', () => {
      it('tell every change once, and none for what changed nothing', async () => {
        const app = await appWith('nora')
        assertSucceeds(await app.put('/users/nora', {}))
        assertSucceeds(await app.put('/users/nora', { name: 'Nora' }))
        assertSucceeds(await app.delete('/users/nora'))
        assertSucceeds(await app.delete('/users/nora'))
        assertSucceeds(await app.put('/users', { uidsToActivate: ['nora'] }))
        assertSucceeds(await app.delete('/users/nora', { permanent: true }))
        const told = (await eventsOf(app)).filter(({ name }) => name.startsWith('user.'))
        assert.deepEqual(
          told.map(({ name, payload }) => `${name} ${payload.uid ?? payload.user.uid}`),
          ['user.created', 'user.updated', 'user.deactivated', 'user.reactivated', 'user.deleted'].map(
            (name) => `${name} nora`,
          ),
        )
      })
    })

    describe('what an acting user may see', () => {
      async function restricted(permissions: object) {
        const app = await newApp()
        for (const role of ['tutor', 'pupil']) assertSucceeds(await app.post('/roles', { role, name: role }))
        await create(app, 'nora', { role: 'pupil' })
        await create(app, 'milo', { role: 'tutor' })
        await create(app, 'amara', { role: 'pupil' })
        assertSucceeds(await app.put('/roles/pupil/permissions', { permissions }))
        return app
      }

      it('is refused the list by a permission or a restricted feature, whichever door they come by', async () => {
        const app = await restricted({ listUsers: 'deny' })
        assertFails(await app.get('/users', { onBehalfOf: 'nora' }), 403, 'ERR_PERMISSION_DENIED')
        assertFails(await (await asUser(app, 'nora')).get('/users'), 403, 'ERR_PERMISSION_DENIED')
        assertSucceeds(await app.get('/users', { onBehalfOf: 'milo' }))
        assertSucceeds(await app.get('/users'))
      })

      it('is shown only the roles that the permission allows', async () => {
        const app = await restricted({ 'listUsers.allowedRoles': ['tutor'], 'getUserDetails.allowedRoles': ['tutor'] })
        const onBehalfOf = 'nora'
        assert.deepEqual(await uids(app, '', { onBehalfOf }), ['milo'])
        assert.deepEqual(await uids(app, '?role=pupil', { onBehalfOf }), [])
        assertSucceeds(await app.get('/users/milo', { onBehalfOf }))
        assertSucceeds(await app.get('/users/nora', { onBehalfOf }))
        assertFails(await app.get('/users/amara', { onBehalfOf }), 403, 'ERR_PERMISSION_DENIED')
      })

      it('is shown only friends where the role says so, silently in lists', async () => {
        const app = await restricted({ 'listUsers.mode': 'friends', 'getUserDetails.mode': 'friends' })
        const onBehalfOf = 'nora'
        assert.deepEqual(await list(app, '', { onBehalfOf }).then(({ meta }) => meta.pagination.total), 0)
        assertFails(await app.get('/users/milo', { onBehalfOf }), 403, 'ERR_PERMISSION_DENIED')
        assertSucceeds(await app.post('/users/nora/friends', { accepted: ['milo'] }))
        assert.deepEqual(await uids(app, '', { onBehalfOf }), ['milo'])
        assertSucceeds(await app.get('/users/milo', { onBehalfOf }))
        assert.deepEqual(await uids(app, '?friendsOnly=true', { onBehalfOf: 'milo' }), ['nora'])
      })

      it('is shown blocks in both directions, and may hide whom they concern', async () => {
        const app = await appWith('nora', 'milo', 'amara', 'kenji')
        assertSucceeds(await app.post('/users/nora/blockedusers', { blockedUids: ['milo'] }))
        assertSucceeds(await app.post('/users/amara/blockedusers', { blockedUids: ['nora'] }))
        const onBehalfOf = 'nora'
        const milo = await get(app, 'milo', { onBehalfOf })
        assert.equal(milo.blockedByMe, true)
        assert.equal(milo.blockedAt, milo.blockedByMeAt)
        assert.equal(milo.hasBlockedMe, undefined)
        const amara = await get(app, 'amara', { onBehalfOf })
        assert.equal(amara.hasBlockedMe, true)
        assert.equal(amara.blockedAt, amara.hasBlockedMeAt)
        assert.deepEqual((await uids(app, '', { onBehalfOf })).toSorted(), ['amara', 'kenji', 'milo'])
        for (const query of ['?hideBlockedUsers=true', '?hideBlockedUsers=1&searchKey=name']) {
          const { data, meta } = await list(app, query, { onBehalfOf })
          assert.equal(data.map(({ uid }: { uid: string }) => uid).join(), 'kenji', query)
          assert.equal(meta.pagination.total, 1)
        }
      })
    })

    describe('the own profile', () => {
      it('never loses what a server keeps under @private, whoever writes at the same time', async () => {
        const app = await appWith('nora')
        const nora = await asUser(app, 'nora')
        for (let round = 0; round < 10; round += 1) {
          await Promise.all([
            app.put('/users/nora', { metadata: { '@private': { round } } }),
            ...Array.from({ length: 4 }, (_, n) => nora.put('/me', { metadata: { n } })),
          ])
          assert.deepEqual((await get(app, 'nora')).metadata['@private'], { round })
        }
      })

      it('can be read and changed with a token, except for role and UID', async () => {
        const app = await appWith({ uid: 'nora', metadata: { a: 1, '@private': { email: 'n@example.org' } } })
        assertSucceeds(await app.post('/roles', { role: 'boss', name: 'Boss' }))
        const nora = await asUser(app, 'nora')
        const body = {
          name: 'N.',
          role: 'boss',
          uid: 'milo',
          metadata: { b: 2, '@private': { email: 'x@example.org' } },
        }
        const { data } = assertSucceeds(await nora.put('/me', body))
        assert.deepEqual([data.uid, data.name, data.role, data.metadata], ['nora', 'N.', 'default', { b: 2 }])
        assert.deepEqual((await get(app, 'nora')).metadata, { b: 2, '@private': { email: 'n@example.org' } })
        assert.equal(assertSucceeds(await nora.put('/me', { unset: ['metadata'] })).data.metadata, undefined)
        assert.deepEqual((await get(app, 'nora')).metadata, { '@private': { email: 'n@example.org' } })
        assert.deepEqual(assertSucceeds(await nora.get('/me')).data.name, 'N.')
      })

      it('is not there for API keys, acting for someone or not', async () => {
        const app = await appWith('nora')
        assertFails(await app.get('/me'), 403, 'AUTH_ERR_NO_ACCESS')
        assertFails(await app.get('/me', { onBehalfOf: 'nora' }), 403, 'AUTH_ERR_NO_ACCESS')
      })
    })

    it('keeps apps apart: another app cannot read, change or delete the user', async () => {
      const [one, other] = [await appWith('nora'), await newApp()]
      assertFails(await other.get('/users/nora'), 404, 'ERR_UID_NOT_FOUND')
      assertFails(await other.put('/users/nora', { name: 'x' }), 404, 'ERR_UID_NOT_FOUND')
      assertFails(await other.delete('/users/nora', { permanent: true }), 404, 'ERR_UID_NOT_FOUND')
      assert.deepEqual(assertSucceeds(await other.delete('/users', { uidsToDeactivate: ['nora'] })).data, {
        notFound: ['nora'],
      })
      await create(other, 'nora', { name: 'Another' })
      assert.equal((await get(one, 'nora')).name, 'Name of nora')
    })
  })
}
