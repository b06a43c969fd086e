import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump } from '../../../../tests/support/dump.ts'
import {
  type AppClient,
  assertFails,
  assertSucceeds,
  callerAt,
  type House,
  house,
} from '../../../../tests/support/house.ts'
import { logOf } from '../../../../tests/support/told.ts'

const tokensMax = 100

for (const database of databases) {
  describe(`auth tokens on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await h.app('of tokens')
    })
    after(() => h.close())

    let made = 0
    async function newUser(at: AppClient = app): Promise<string> {
      made += 1
      const uid = `user_${made}`
      assertSucceeds(await at.post('/users', { uid, name: uid }))
      return uid
    }
    const issue = async (uid: string, body?: object) =>
      assertSucceeds(await app.post(`/users/${uid}/auth_tokens`, body)).data
    const list = async (uid: string, query = '') => assertSucceeds(await app.get(`/users/${uid}/auth_tokens${query}`))
    const withToken = (authToken: string, at: AppClient = app) => callerAt(h.client, at.host, '/v3', { authToken })
    const works = async (authToken: string) => (await withToken(authToken).get('/me')).status === 200

    describe('create', () => {
      it('answers a token of the form that clients know', async () => {
        const uid = await newUser()
        const token = await issue(uid)
        assert.deepEqual(Object.keys(token).toSorted(), ['authToken', 'createdAt', 'uid'])
        assert.equal(token.uid, uid)
        const [, rest = ''] = token.authToken.split(`${uid}_`)
        assert.match(rest, /^\d{10}[0-9a-f]{30}$/)
        assert.equal(rest.slice(0, 10), String(token.createdAt))
      })

      it('answers the newest token again, unless forced to issue another', async () => {
        const uid = await newUser()
        const first = await issue(uid)
        const second = await issue(uid, { force: true })
        assert.notEqual(second.authToken, first.authToken)
        for (const body of [undefined, {}, { force: false }]) {
          assert.equal((await issue(uid, body)).authToken, second.authToken)
        }
        assert.ok((await works(first.authToken)) && (await works(second.authToken)))
      })

      it('needs no body, also where its content type is announced', async () => {
        const uid = await newUser()
        for (const raw of [undefined, '', ' ']) {
          const answer = await app.send(`/users/${uid}/auth_tokens`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            ...(raw !== undefined && { raw }),
          })
          assertSucceeds(answer)
        }
      })

      it('refuses a force that is no boolean, and users that are not there', async () => {
        const uid = await newUser()
        for (const force of ['true', 1]) {
          const answer = await app.post(`/users/${uid}/auth_tokens`, { force })
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(answer.body.error.details.force)
        }
        assertFails(await app.post('/users/nobody/auth_tokens'), 404, 'ERR_UID_NOT_FOUND')
        assertSucceeds(await app.delete(`/users/${uid}`))
        assertFails(await app.post(`/users/${uid}/auth_tokens`), 404, 'ERR_UID_NOT_FOUND')
      })

      it('takes the UID in any letter case, and an authOnly key', async () => {
        const uid = await newUser()
        const narrow = app.withKey(app.authKey)
        assert.equal(assertSucceeds(await narrow.post(`/users/${uid.toUpperCase()}/auth_tokens`)).data.uid, uid)
        assertFails(await narrow.get(`/users/${uid}/auth_tokens`), 403, 'AUTH_ERR_NO_ACCESS')
      })

      it('ends the oldest tokens beyond a hundred', async () => {
        const uid = await newUser()
        const tokens: string[] = []
        for (let at = 0; at < tokensMax + 2; at += 1) tokens.push((await issue(uid, { force: true })).authToken)
        const { data, meta } = await list(uid)
        assert.equal(meta.pagination.total, tokensMax)
        assert.deepEqual(
          data.map(({ authToken }: { authToken: string }) => authToken),
          tokens.slice(2).toReversed(),
        )
        for (const ended of tokens.slice(0, 2)) {
          assertFails(await withToken(ended).get('/me'), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
          assertFails(await app.get(`/users/${uid}/auth_tokens/${ended}`), 404, 'ERR_AUTH_TOKEN_NOT_FOUND')
        }
        assert.ok(await works(tokens[2] ?? ''))
      })

      it('of a flood at once, issues one where one is enough and never keeps more than a hundred', async () => {
        const uid = await newUser()
        const calm = await Promise.all(Array.from({ length: 30 }, () => issue(uid)))
        assert.equal(new Set(calm.map(({ authToken }) => authToken)).size, 1)
        const forced = await Promise.all(Array.from({ length: 130 }, () => issue(uid, { force: true })))
        assert.equal(new Set(forced.map(({ authToken }) => authToken)).size, 130)
        assert.equal((await list(uid)).meta.pagination.total, tokensMax)
      })
    })

    describe('list, get, update', () => {
      it('shows tokens in full, newest first, in pages', async () => {
        const uid = await newUser()
        assert.deepEqual((await list(uid)).data, [])
        const tokens = []
        for (let at = 0; at < 3; at += 1) tokens.unshift(await issue(uid, { force: true }))
        assert.deepEqual((await list(uid)).data, tokens)
        const { data, meta } = await list(uid, '?perPage=2&page=2')
        assert.deepEqual(data, tokens.slice(2))
        assert.deepEqual(meta, { pagination: { total: 3, count: 1, per_page: 2, current_page: 2, total_pages: 2 } })
      })

      it('stores what device a token is on and shows it everywhere', async () => {
        const uid = await newUser()
        const token = await issue(uid)
        const path = `/users/${uid}/auth_tokens/${token.authToken}`
        const details = { platform: 'ios', userAgent: 'Parley/2.1', appInfo: { version: '2.1', 名: 'x' } }
        assert.deepEqual(assertSucceeds(await app.put(path, details)).data, { ...token, ...details })
        assert.deepEqual(assertSucceeds(await app.put(path, { appInfo: '{"version":"3"}' })).data.appInfo, {
          version: '3',
        })
        const now = { ...token, ...details, appInfo: { version: '3' } }
        assert.deepEqual(assertSucceeds(await app.put(path, {})).data, now)
        assert.deepEqual(assertSucceeds(await app.put(path)).data, now)
        assert.deepEqual(assertSucceeds(await app.get(path)).data, now)
        assert.deepEqual((await list(uid)).data, [now])
      })

      it('tells nobody of a change without any property', async () => {
        const uid = await newUser()
        const { authToken } = await issue(uid)
        const known = (await logOf(h, app)).length
        for (const body of [undefined, {}, { unheard: 'of' }]) {
          assertSucceeds(await app.put(`/users/${uid}/auth_tokens/${authToken}`, body))
        }
        assert.equal((await logOf(h, app)).length, known)
      })

      for (const [field, values] of Object.entries({
        platform: ['p'.repeat(101), 5],
        userAgent: ['u'.repeat(1_001), 5],
        appInfo: ['text', [1], 5, { big: 'x'.repeat(5_120) }],
      })) {
        it(`refuses a wrong ${field}`, async () => {
          const uid = await newUser()
          const { authToken } = await issue(uid)
          for (const value of values) {
            const answer = await app.put(`/users/${uid}/auth_tokens/${authToken}`, { [field]: value })
            assertFails(answer, 400, 'ERR_BAD_REQUEST')
            assert.ok(answer.body.error.details[field], answer.text)
          }
        })
      }

      it('tests the user first, then whether the token exists, then whose it is', async () => {
        const [uid, other] = [await newUser(), await newUser()]
        const { authToken } = await issue(uid)
        const upper = authToken.toUpperCase()
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const send = (path: string) => app.send(path, { method, ...(method === 'PUT' && { body: {} }) })
          assertFails(await send(`/users/nobody/auth_tokens/${authToken}`), 404, 'ERR_UID_NOT_FOUND')
          assertFails(await send(`/users/${uid}/auth_tokens/unknown`), 404, 'ERR_AUTH_TOKEN_NOT_FOUND')
          assertFails(await send(`/users/${uid}/auth_tokens/${upper}`), 404, 'ERR_AUTH_TOKEN_NOT_FOUND')
          assertFails(await send(`/users/${other}/auth_tokens/${authToken}`), 403, 'ERR_AUTHTOKEN_NOT_ACCESSIBLE')
        }
        assert.ok(await works(authToken))
      })
    })

    describe('delete and flush', () => {
      it('ends one token at once and leaves the others', async () => {
        const uid = await newUser()
        const [first, second] = [await issue(uid), await issue(uid, { force: true })]
        assert.ok(await works(first.authToken))
        const path = `/users/${uid}/auth_tokens/${first.authToken}`
        assert.equal(assertSucceeds(await app.delete(path)).data.success, true)
        assertFails(await withToken(first.authToken).get('/me'), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
        assertFails(await app.delete(path), 404, 'ERR_AUTH_TOKEN_NOT_FOUND')
        assert.ok(await works(second.authToken))
      })

      it('flushes all of them, and succeeds when there are none', async () => {
        const uid = await newUser()
        const tokens = [await issue(uid), await issue(uid, { force: true })]
        for (let twice = 0; twice < 2; twice += 1) {
          assert.equal(assertSucceeds(await app.delete(`/users/${uid}/auth_tokens`)).data.success, true)
        }
        for (const { authToken } of tokens) assert.ok(!(await works(authToken)))
        assert.deepEqual((await list(uid)).data, [])
        assert.ok(!tokens.some(({ authToken }) => authToken === ''))
      })
    })

    describe('the door they open', () => {
      it('acts as the token’s user, whatever onBehalfOf says', async () => {
        const [uid, other] = [await newUser(), await newUser()]
        const client = withToken((await issue(uid)).authToken)
        assert.equal(assertSucceeds(await client.get('/me', { onBehalfOf: other })).data.uid, uid)
        const { conversationId } = assertSucceeds(await client.get(`/users/${other}`, { onBehalfOf: 'nobody' })).data
        assert.equal(conversationId, [uid, other].toSorted().join('_user_'))
      })

      it('lets an API key decide when both are sent', async () => {
        const { authToken } = await issue(await newUser())
        assertSucceeds(await app.get('/apikeys', { authToken }))
        assertFails(await app.get('/me', { authToken }), 403, 'AUTH_ERR_NO_ACCESS')
        const wrongKey = callerAt(h.client, app.host, '/v3', { apikey: 'f'.repeat(40), authToken })
        assertFails(await wrongKey.get('/me'), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
        const blankKey = callerAt(h.client, app.host, '/v3', { apikey: ' ', authToken })
        assertSucceeds(await blankKey.get('/me'))
      })

      it('stays shut to blank, unknown and foreign tokens', async () => {
        const uid = await newUser()
        const { authToken } = await issue(uid)
        const other = await h.app('another')
        assertSucceeds(await other.post('/users', { uid, name: 'The same UID' }))
        assertFails(await withToken('  ').get('/me'), 401, 'AUTH_ERR_EMPTY_AUTH_TOKEN')
        for (const wrong of [`${authToken}0`, authToken.slice(0, -1), authToken.toUpperCase(), app.apiKey, 'x']) {
          assertFails(await withToken(wrong).get('/me'), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
        }
        assertFails(await withToken(authToken, other).get('/me'), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
        assertFails(await withToken(authToken).get('/nowhere'), 404, 'ERR_API_NOT_FOUND')
      })

      it('answers calls, which only the user’s own part is shown of', async () => {
        const uid = await newUser()
        await app.play({ initiator: uid, receiver: 'milo', steps: [{ after: 3, do: 'cancel' }] })
        await app.play({ initiator: 'nora', receiver: 'milo', steps: [{ after: 3, do: 'cancel' }] })
        const answer = await withToken((await issue(uid)).authToken).get('/calls')
        assert.equal(assertSucceeds(answer).meta.pagination.total, 1)
      })
    })

    it('keeps no token readable in the database or in the log', async () => {
      const uid = await newUser()
      const { authToken } = await issue(uid)
      const secret = authToken.slice(uid.length + 1)
      assert.ok(!JSON.stringify(await dump(h)).includes(secret))
    })

    it('keeps apps apart: another app cannot see, change or use the token', async () => {
      const other = await h.app(randomUUID())
      const uid = await newUser()
      const { authToken } = await issue(uid)
      assertSucceeds(await other.post('/users', { uid, name: 'x' }))
      const path = `/users/${uid}/auth_tokens/${authToken}`
      assertFails(await other.get(path), 404, 'ERR_AUTH_TOKEN_NOT_FOUND')
      assertFails(await other.delete(path), 404, 'ERR_AUTH_TOKEN_NOT_FOUND')
      assertSucceeds(await other.delete(`/users/${uid}/auth_tokens`))
      assert.ok(await works(authToken))
    })
  })
}
