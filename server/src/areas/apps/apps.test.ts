import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump, nothingChanges, rowsOfApp } from '../../../../tests/support/dump.ts'
import {
  type AppClient,
  assertFails,
  assertSucceeds,
  callerAt,
  type House,
  house,
} from '../../../../tests/support/house.ts'
import { thorough } from '../../../../tests/support/quick.ts'
import { logOf } from '../../../../tests/support/told.ts'
import { tenantDb } from '../../storage/tenant.ts'

interface Failure {
  code: string
  source: string
  details: Record<string, string[]>
}

const managementHost = 'apimgmt.localhost'
const graceSeconds = 30 * 24 * 3600
const keyForm = /^[0-9a-f]{40}$/

for (const database of databases) {
  describe(`apps on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const newApp = () => h.app(randomUUID())
    const createApp = async (body: object) => assertSucceeds(await h.management.post('/apps', body)).data
    const list = async (query: string) => assertSucceeds(await h.management.get(`/apps${query}`))

    /** A management pair of another account, which no operation makes yet. */
    async function strangerAccount() {
      const { database: storage, tools } = h.service.house
      const [key, secret] = ['a'.repeat(40), 'b'.repeat(40)]
      await storage.write(async ({ query }) => {
        await query.insertInto('accounts').values({ id: 2, name: 'Second', email: 'second@localhost' }).execute()
        const hash = tools.secrets.fingerprint(secret)
        await query
          .insertInto('management_keys')
          .values({ key, account_id: 2, secret_hash: hash, created_at: 1 })
          .execute()
      })
      return callerAt(h.client, managementHost, '', { key, secret })
    }

    describe('settings', () => {
      const replies = 'core.conversations.updateOnReplies'
      const calls = 'core.conversations.updateOnCallActivity'
      const usual = {
        'core.conversations.updateOnGroupActions': true,
        'core.conversations.updateOnReplies': true,
        'core.conversations.updateOnMessageActions': false,
        'core.conversations.updateOnCallActivity': false,
        'core.conversations.updateOnCustomMessage': true,
        'core.threads.updateOnMessageActions': false,
        'core.notifications.push.enabled': false,
        'core.notifications.push.accessible': true,
        'core.notifications.push.advanced.enabled': true,
        'core.notifications.push.advanced.included': ['preferences', 'templates', 'providers.multiple'],
      }
      const pathOf = ({ id }: { id: string }) => `/apps/${id}/settings`
      const settingsOf = async (app: { id: string }) => assertSucceeds(await h.management.get(pathOf(app))).data
      const set = async (app: { id: string }, settings: object) =>
        assertSucceeds(await h.management.post(pathOf(app), { settings })).data
      const told = async (app: AppClient) =>
        (await logOf(h, app))
          .filter(({ name }) => name === 'app.settingsChanged')
          .map(({ payload }) => payload.settings)

      it('are the usual ones until somebody sets them, and then those, in that app alone', async () => {
        const [app, other] = [await newApp(), await newApp()]
        assert.deepEqual(await settingsOf(app), usual)
        const outcomes = await set(app, { [replies]: false, [calls]: true })
        assert.deepEqual(Object.keys(outcomes), [replies, calls])
        for (const { success, message } of Object.values(outcomes) as { success: boolean; message: string }[]) {
          assert.deepEqual([success, typeof message], [true, 'string'])
        }
        assert.deepEqual(await settingsOf(app), { ...usual, [replies]: false, [calls]: true })
        await set(app, { [calls]: false })
        assert.deepEqual(await settingsOf(app), { ...usual, [replies]: false })
        assert.deepEqual(await settingsOf(other), usual)
      })

      it('come with an empty `meta`', async () => {
        const { meta } = assertSucceeds(await h.management.get(pathOf(await newApp())))
        assert.deepEqual(meta, {})
      })

      it('answer for each key: what is unknown, read-only or no switch fails alone', async () => {
        const app = await newApp()
        const sent = {
          [replies]: false,
          'core.flying': true,
          'core.notifications.push.accessible': false,
          'core.notifications.push.advanced.included': [],
          [calls]: 'true',
          'core.threads.updateOnMessageActions': null,
        }
        const outcomes = await set(app, sent)
        assert.deepEqual(Object.keys(outcomes), Object.keys(sent))
        const { [replies]: good, ...bad } = outcomes
        assert.equal(good.success, true)
        for (const [key, { success, error }] of Object.entries(bad) as [
          string,
          { success: boolean; error: Failure },
        ][]) {
          assert.deepEqual([success, error.code, error.source], [false, 'ERR_BAD_REQUEST', 'mgmt-api'], key)
          assert.ok(Array.isArray(error.details[key]), key)
        }
        assert.deepEqual(await settingsOf(app), { ...usual, [replies]: false })
      })

      it('take a key like a hidden name of objects for what it is: unknown', async () => {
        const app = await newApp()
        const raw = '{"settings": {"__proto__": true, "constructor": true}}'
        const answer = await h.management.send(pathOf(app), { method: 'POST', raw })
        const outcomes = assertSucceeds(answer).data
        assert.deepEqual(
          Object.entries(outcomes).map(([key, each]) => [key, (each as { success: boolean }).success]),
          [
            ['__proto__', false],
            ['constructor', false],
          ],
        )
      })

      it('return to the usual ones, some or all', async () => {
        const app = await newApp()
        const reset = async (body?: object) => {
          const { data } = assertSucceeds(await h.management.delete(pathOf(app), body))
          assert.deepEqual([data.success, typeof data.message], [true, 'string'])
          return settingsOf(app)
        }
        await set(app, { [replies]: false, [calls]: true })
        assert.deepEqual(await reset({ settings: [replies] }), { ...usual, [calls]: true })
        await set(app, { [replies]: false })
        assert.deepEqual(await reset(), usual)
        assert.deepEqual(await reset({}), usual)
      })

      it('are told in the log where something has changed, and only then', async () => {
        const app = await newApp()
        await set(app, { [replies]: false, [calls]: false })
        await set(app, { [replies]: false })
        await set(app, { nothing: true })
        assertSucceeds(await h.management.delete(pathOf(app)))
        assertSucceeds(await h.management.delete(pathOf(app)))
        assert.deepEqual(await told(app), [{ [replies]: false }, { [replies]: true }])
      })

      it('refuse bad input, naming the field and changing nothing', async () => {
        const app = await newApp()
        const unchanged = await nothingChanges(h)
        for (const body of [
          undefined,
          {},
          { settings: {} },
          { settings: [] },
          { settings: null },
          { settings: replies },
        ]) {
          const answer = await h.management.post(pathOf(app), body)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(Array.isArray(answer.body.error.details.settings), answer.text)
        }
        const pushed = 'core.notifications.push.accessible'
        for (const settings of [[], [replies, 'core.flying'], [pushed], [7], replies, { [replies]: true }]) {
          const answer = await h.management.delete(pathOf(app), { settings })
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(
            Object.keys(answer.body.error.details).every((field) => field.startsWith('settings')),
            answer.text,
          )
        }
        await unchanged('refused settings')
      })

      it('lose nothing when they are set at once', async () => {
        const app = await newApp()
        const switches = Object.entries(usual).slice(0, 7)
        await Promise.all(switches.map(([key, value]) => set(app, { [key]: !value })))
        assert.deepEqual(await settingsOf(app), {
          ...usual,
          ...Object.fromEntries(switches.map(([key, value]) => [key, !value])),
        })
      })

      it('are there for active apps of the account only', async () => {
        const app = await newApp()
        assertFails(await h.management.get('/apps/none/settings'), 404, 'ERR_APP_NOT_FOUND')
        assertSucceeds(await h.management.delete(`/apps/${app.id}`))
        assertFails(await h.management.get(pathOf(app)), 409, 'ERR_APP_ARCHIVED')
        assertFails(await h.management.post(pathOf(app), { settings: { [calls]: true } }), 409, 'ERR_APP_ARCHIVED')
        assertFails(await h.management.delete(pathOf(app)), 409, 'ERR_APP_ARCHIVED')
      })
    })

    describe('create', () => {
      it('answers the whole record with the two keys every app begins with', async () => {
        const app = await createApp({ name: 'Shop chat', region: 'eu' })
        assert.match(app.id, /^[0-9a-f]{16}$/)
        assert.deepEqual(Object.keys(app).toSorted(), [
          'apiKeys',
          'appOwner',
          'appRegion',
          'createdAt',
          'id',
          'name',
          'owner',
          'plan',
          'region',
          'state',
        ])
        assert.deepEqual(
          [app.name, app.region, app.plan, app.state, app.owner],
          ['Shop chat', 'eu', 'self-hosted', 'active', 1],
        )
        assert.equal(app.appOwner.id, '1')
        for (const text of ['name', 'email']) assert.equal(typeof app.appOwner[text], 'string')
        assert.equal(app.appRegion.id, 'eu')
        for (const text of ['name', 'description']) assert.equal(typeof app.appRegion[text], 'string')
        assert.ok(Math.abs(app.createdAt - h.clock.now()) <= 2)
        const keys = Object.entries<{ apiKey: string; name: string; scope: string; createdBy: string }>(app.apiKeys)
        for (const [value, { apiKey, createdBy }] of keys) {
          assert.match(apiKey, keyForm)
          assert.deepEqual([value, createdBy], [apiKey, 'app_system'])
        }
        const shown = keys.map(([, { name, scope }]) => `${name}: ${scope}`).toSorted()
        assert.deepEqual(shown, ['Auth Key: authOnly', 'Rest API Key: fullAccess'])
      })

      it('takes the region of the install unless another is given, and version 3 as text or number', async () => {
        assert.equal((await createApp({ name: 'plain' })).region, 'us')
        assert.equal((await createApp({ name: 'indian', region: 'in', version: '3' })).region, 'in')
        assert.equal((await createApp({ name: 'numbered', version: 3 })).region, 'us')
      })

      it('makes an app that answers in its region only', async () => {
        const { id, apiKeys } = await createApp({ name: 'regional', region: 'eu' })
        const [apikey = ''] = Object.values<{ apiKey: string; scope: string }>(apiKeys)
          .filter(({ scope }) => scope === 'fullAccess')
          .map(({ apiKey }) => apiKey)
        const at = (region: string) =>
          h.client.send(`${id}.api-${region}.localhost`, '/v3/apikeys', { headers: { apikey } })
        assertSucceeds(await at('eu'))
        assertFails(await at('us'), 401, 'AUTH_ERR_INVALID_APPID')
      })

      it('starts empty, and with sample users and a group only when asked not to skip them', async () => {
        const sampled = await createApp({ name: 'sampled', skipSampleData: false })
        const empty = [await createApp({ name: 'silent' }), await createApp({ name: 'skipped', skipSampleData: true })]
        await h.settle()
        const { users = [], groups = [] } = await dump(h)
        const peopleOf = (id: string) => [...users, ...groups].filter((row) => row.includes(id)).length
        assert.ok(peopleOf(sampled.id) >= 2)
        for (const { id } of empty) assert.equal(peopleOf(id), 0)
      })

      const refused = [
        ['no name', { region: 'us' }, 'name'],
        ['a blank name', { name: ' ' }, 'name'],
        ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name'],
        ['a name of 51 emoji, which count two each', { name: '🔑'.repeat(51) }, 'name'],
        ['an unknown region', { name: 'x', region: 'mars' }, 'region'],
        ['a region in upper case', { name: 'x', region: 'US' }, 'region'],
        ['another version', { name: 'x', version: '2' }, 'version'],
        ['skipSampleData that is no boolean', { name: 'x', skipSampleData: 'no' }, 'skipSampleData'],
      ] as const
      for (const [what, body, field] of refused) {
        it(`refuses ${what} and changes nothing`, async () => {
          const assertUnchanged = await nothingChanges(h)
          const answer = await h.management.post('/apps', body)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.equal(answer.body.error.source, 'mgmt-api')
          assert.ok(answer.body.error.details[field], answer.text)
          await assertUnchanged(what)
        })
      }

      it('takes names of 100 UTF-16 units, and the same name twice', async () => {
        for (const name of ['x'.repeat(100), '🔑'.repeat(50), 'twin', 'twin']) {
          assert.equal((await createApp({ name })).name, name)
        }
      })
    })

    describe('list', () => {
      it('shows full records, newest first, in pages', async () => {
        const mark = randomUUID()
        for (const n of [1, 2, 3]) {
          h.clock.setOffset(h.clock.offsetSeconds() + 10)
          await createApp({ name: `${mark} ${n}` })
        }
        h.clock.setOffset(0)
        const all = await list(`?searchKey=${mark}`)
        assert.deepEqual(
          all.data.map(({ name }: { name: string }) => name.at(-1)),
          ['3', '2', '1'],
        )
        assert.deepEqual(all.meta.pagination, { total: 3, count: 3, per_page: 100, current_page: 1, total_pages: 1 })
        const { data, meta } = await list(`?searchKey=${mark}&perPage=2&page=2`)
        assert.deepEqual(data, all.data.slice(2))
        assert.deepEqual(meta.pagination, { total: 3, count: 1, per_page: 2, current_page: 2, total_pages: 2 })
      })

      it('searches part of id or name in any letter case', async () => {
        const { id } = await createApp({ name: 'Größenwahn 50%' })
        const find = async (part: string) => {
          const { data } = await list(`?searchKey=${encodeURIComponent(part)}`)
          return data.map((app: { id: string }) => app.id)
        }
        for (const part of ['RÖßEN', '50%', id.slice(3, 14), id.toUpperCase()]) assert.deepEqual(await find(part), [id])
        assert.deepEqual(await find('5_%'), [])
      })

      it('shows archived apps as such', async () => {
        const { id } = await newApp()
        assertSucceeds(await h.management.delete(`/apps/${id}`))
        const { data } = await list(`?searchKey=${id}`)
        assert.deepEqual([data.length, data[0].state], [1, 'archived'])
      })
    })

    describe('get', () => {
      it('answers the record with the keys the app has now', async () => {
        const app = await newApp()
        const { apiKey } = assertSucceeds(await app.post('/apikeys', { name: 'added', scope: 'fullAccess' })).data
        const record = assertSucceeds(await h.management.get(`/apps/${app.id}`)).data
        assert.equal(record.id, app.id)
        assert.equal(Object.keys(record.apiKeys).length, 3)
        assert.equal(record.apiKeys[apiKey].name, 'added')
        assert.notEqual(record.apiKeys[apiKey].createdBy, 'app_system')
      })

      it('does not know an unknown app', async () => {
        assertFails(await h.management.get('/apps/0000000000000000'), 404, 'ERR_APP_NOT_FOUND')
      })
    })

    describe('delete', () => {
      it('archives at once and answers when the app will be gone; again, the same date', async () => {
        const app = await newApp()
        const { data } = assertSucceeds(await h.management.delete(`/apps/${app.id}`))
        assert.deepEqual(Object.keys(data).toSorted(), ['scheduledToDeleteAt', 'success'])
        assert.equal(data.success, true)
        assert.ok(Math.abs(data.scheduledToDeleteAt - h.clock.now() - graceSeconds) <= 2)
        h.clock.setOffset(3600)
        assert.deepEqual(assertSucceeds(await h.management.delete(`/apps/${app.id}`)).data, data)
        h.clock.setOffset(0)
      })

      it('closes the app’s doors at once, whichever key', async () => {
        const app = await newApp()
        assertSucceeds(await app.get('/apikeys'))
        assertSucceeds(await h.management.delete(`/apps/${app.id}`))
        for (const caller of [app, app.withKey(app.authKey)]) {
          assertFails(await caller.get('/apikeys'), 401, 'AUTH_ERR_INVALID_APPID')
        }
        assertFails(await h.client.send(app.callsHost, '/v3/calls', {}), 401, 'AUTH_ERR_INVALID_APPID')
        assertFails(await h.management.get(`/apps/${app.id}`), 409, 'ERR_APP_ARCHIVED')
      })

      it('does not know an unknown app', async () => {
        const assertUnchanged = await nothingChanges(h)
        assertFails(await h.management.delete('/apps/0000000000000000'), 404, 'ERR_APP_NOT_FOUND')
        await assertUnchanged('the deletion of an unknown app')
      })

      it('schedules one deletion under ten requests at once', async () => {
        const { id } = await newApp()
        const answers = await Promise.all(Array.from({ length: 10 }, () => h.management.delete(`/apps/${id}`)))
        assert.equal(new Set(answers.map((answer) => assertSucceeds(answer).data.scheduledToDeleteAt)).size, 1)
        const { jobs = [], events = [] } = await dump(h)
        assert.equal(jobs.filter((row) => row.includes(id)).length, 1)
        assert.equal(events.filter((row) => row.includes(id) && row.includes('app.archived')).length, 1)
      })

      it('purges every row of the app after 30 days, and no other', thorough, async () => {
        const [gone, stays] = [await newApp(), await newApp()]
        for (const app of [gone, stays]) {
          await fill(app)
          assertSucceeds(await h.management.post(`/apps/${app.id}/collaborators`, { admins: ['ana@acme.example'] }))
        }
        assertSucceeds(await h.management.delete(`/apps/${gone.id}`))
        h.clock.setOffset(graceSeconds - 60)
        await h.settle()
        await leaveSign(h, gone)
        const before = await dump(h)
        for (const table of h.service.house.tools.tenantTables) {
          assert.ok(
            before[table]?.some((row) => row.includes(gone.id)),
            `fill() leaves no row in ${table}`,
          )
        }
        h.clock.setOffset(graceSeconds + 60)
        await h.settle()
        // Its files go first, and rows only once these are gone.
        h.clock.setOffset(graceSeconds + 120)
        await h.settle()
        const after = await dump(h)
        assert.deepEqual(rowsOfApp(after, gone.id), [])
        assert.deepEqual(rowsOfApp(after, stays.id), rowsOfApp(before, stays.id))
        assertFails(await h.management.get(`/apps/${gone.id}`), 404, 'ERR_APP_NOT_FOUND')
        assertFails(await h.management.delete(`/apps/${gone.id}`), 404, 'ERR_APP_NOT_FOUND')
        h.clock.setOffset(0)
        assertSucceeds(await stays.get('/calls'))
      })
    })

    describe('the management door', () => {
      it('takes the pair as HTTP Basic too', async () => {
        const { key, secret } = h.management
        const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
        const get = (headers: Record<string, string>) => h.client.send(managementHost, '/apps', { headers })
        assertSucceeds(await get(basic(`${key}:${secret}`)))
        assertFails(await get(basic(`${key}:wrong`)), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
        assertFails(await get(basic(key)), 401, 'AUTH_ERR_EMPTY_AUTH_HEADER')
        assertFails(await get({ authorization: `Bearer ${secret}` }), 401, 'AUTH_ERR_EMPTY_AUTH_HEADER')
      })

      it('keeps accounts apart: another one sees, gets and deletes none of these apps', async () => {
        const app = await newApp()
        const stranger = await strangerAccount()
        const assertUnchanged = await nothingChanges(h)
        assert.deepEqual(assertSucceeds(await stranger.get('/apps')).data, [])
        assertFails(await stranger.get(`/apps/${app.id}`), 404, 'ERR_APP_NOT_FOUND')
        assertFails(await stranger.delete(`/apps/${app.id}`), 404, 'ERR_APP_NOT_FOUND')
        await assertUnchanged('a stranger’s requests')
        assertSucceeds(await app.get('/apikeys'))
        const theirs = assertSucceeds(await stranger.post('/apps', { name: 'theirs' })).data
        assert.equal(theirs.owner, 2)
        assertFails(await h.management.get(`/apps/${theirs.id}`), 404, 'ERR_APP_NOT_FOUND')
      })

      it('keeps no secret readable in the database', async () => {
        const app = await newApp()
        const contents = JSON.stringify(await dump(h))
        for (const secret of [h.management.secret, app.apiKey, app.authKey]) assert.ok(!contents.includes(secret))
      })
    })
  })

  describe(`a new app of an install in Europe on ${database}`, () => {
    it('is there too, unless another region is given', async () => {
      const h = await house({ database, environment: { PARLEY_REGION: 'eu' } })
      const regionOf = async (body: object) => assertSucceeds(await h.management.post('/apps', body)).data.region
      assert.equal(await regionOf({ name: 'Without' }), 'eu')
      assert.equal(await regionOf({ name: 'With', region: 'in' }), 'in')
      assertFails(await h.management.post('/apps', { name: 'Wrong', region: 'mars' }), 400, 'ERR_BAD_REQUEST')
      await h.close()
    })
  })

  describe(`the app limit of an account on ${database}`, () => {
    it('is exact, also at once, and an archived app makes room', async () => {
      const h = await house({ database, environment: { PARLEY_APPS_MAX: '3' } })
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, n) => h.management.post('/apps', { name: `app ${n}` })),
      )
      assert.equal(answers.filter(({ status }) => status === 200).length, 3)
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        assertFails(answer, 403, 'ERR_APP_CREATION_FAILED_MAX_LIMIT')
      }
      const [app] = assertSucceeds(await h.management.get('/apps')).data
      assertSucceeds(await h.management.delete(`/apps/${app.id}`))
      assertSucceeds(await h.management.post('/apps', { name: 'one more' }))
      assertFails(await h.management.post('/apps', { name: 'too many' }), 403, 'ERR_APP_CREATION_FAILED_MAX_LIMIT')
      await h.close()
    })
  })
}

/** Calls end long before an app is purged, and their signs with them; a purge must not rely on it. */
async function leaveSign({ service }: House, { id }: AppClient): Promise<void> {
  await service.house.database.write(async (connection) => {
    const db = tenantDb(connection, id)
    await db.insert('call_signs', { session_id: 'left over', uid: 'nora', device_id: 'web', seen_at: 1 }).execute()
    // Where one transaction writes at a time nobody queues up any more, but once did.
    await db
      .insert('locks', { name: 'left over' })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  })
}

/** Leaves rows of an app in as many tables as there are. */
async function fill(app: AppClient): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    await app.play({
      initiator: 'nora',
      receiver: 'team',
      receiverType: 'group',
      invited: ['milo'],
      steps: [{ after: 1, do: 'join', uid: 'milo', deviceId: 'web' }],
    })
  }
  assertSucceeds(await app.post('/apikeys', { name: 'kept reply' }, { 'Idempotency-Key': 'once' }))
  assertSucceeds(await app.post('/users', { uid: 'ana', name: 'Ana', tags: ['beta'], withAuthToken: true }))
  assertSucceeds(await app.post('/roles', { role: 'tutor', name: 'Tutor' }))
  assertSucceeds(await app.post('/roles/tutor/restrictedfeatures', { featuresToRestrict: ['createGroup'] }))
  const permissions = { listUsers: 'deny', 'listUsers.allowedRoles': ['tutor'] }
  assertSucceeds(await app.put('/roles/tutor/permissions', { permissions }))
  assertSucceeds(await app.put('/groups/team/scopes/admin/permissions', { permissions: { sendMessage: 'deny' } }))
  assertSucceeds(await app.post('/users/ana/friends', { accepted: ['nora'] }))
  assertSucceeds(await app.post('/users/ana/blockedusers', { blockedUids: ['milo'] }))
  await fillTalk(app)
}

async function fillTalk(app: AppClient): Promise<void> {
  const ana = { onBehalfOf: 'ana' }
  const members = { participants: ['nora'], usersToBan: ['milo'] }
  assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', tags: ['crew'], members }, ana))
  const text = { receiver: 'nora', receiverType: 'user', data: { text: 'Hello <@uid:nora>' }, tags: ['greeting'] }
  const { id } = assertSucceeds(await app.post('/messages', text, ana)).data
  assertSucceeds(await app.post(`/messages/${id}/thread`, { data: { text: 'And more' } }, ana))
  assertSucceeds(await app.post(`/messages/${id}/reactions/${encodeURIComponent('👋')}`, undefined, ana))
  assertSucceeds(await app.post(`/messages/${id}/save`, undefined, ana))
  assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'Hello, edited' } }, ana))
  assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'Hello <@uid:nora>' } }, ana))
  assertSucceeds(await app.post('/users/ana/conversation/read', undefined, { onBehalfOf: 'nora' }))
  assertSucceeds(await app.put('/conversations/pinned', { pinnedConversations: [{ guid: 'crew' }] }))
  const interactiveData = { text: 'Yes or no?', cardActions: [{ elementType: 'button', elementId: 'yes' }] }
  const card = { ...text, category: 'interactive', type: 'card', data: { interactiveData } }
  const asked = assertSucceeds(await app.post('/messages', card, ana)).data
  const interacted = { method: 'PATCH', body: { interactions: ['yes'] }, headers: { onBehalfOf: 'nora' } }
  assertSucceeds(await app.send(`/messages/${asked.id}/interacted`, interacted))
  const boundary = 'parts'
  const part = (name: string, value: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; ${name}\r\n\r\n${value}\r\n`
  const raw = `${part('name="receiver"', 'nora')}${part('name="receiverType"', 'user')}${part('name="file"; filename="a.txt"', 'a')}--${boundary}--\r\n`
  const headers = { ...ana, 'content-type': `multipart/form-data; boundary=${boundary}` }
  assertSucceeds(await app.send('/messages', { method: 'POST', raw, headers }))
}
