import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import type { Sending } from './support/http.ts'
import { wire } from './support/wire.ts'

/** The names by which clients reach an app beside its own: whichever they use, it is the same app behind the same doors. */

const standardMax = 1_000

for (const database of databases) {
  describe(`host names on ${database}`, () => {
    let h: House
    let app: AppClient
    let other: AppClient
    let clientHost: string
    let noraToken: string
    const regionHost = 'api-us.localhost'

    before(async () => {
      h = await house({ database, environment: { PARLEY_LIMIT_STANDARD: String(standardMax) } })
      app = await h.app('a')
      other = await h.app('b')
      clientHost = `${app.id}.apiclient-us.localhost`
      assertSucceeds(await app.post('/users', { uid: 'nora', name: 'Nora' }))
      noraToken = assertSucceeds(await app.post('/users/nora/auth_tokens')).data.authToken
    })
    after(() => h.close())

    const at = (host: string, path: string, headers: Record<string, string>, sending: Sending = {}) =>
      h.client.send(host, path, { ...sending, headers })

    describe('that end users’ clients have', () => {
      it('let a token in, with and without the header appid', async () => {
        for (const headers of [{}, { appid: app.id }, { appId: app.id }]) {
          for (const path of ['/v3/me', '/v3.0/me']) {
            const { data } = assertSucceeds(await at(clientHost, path, { authToken: noraToken, ...headers }))
            assert.equal(data.uid, 'nora')
          }
        }
      })

      it('let API keys of either scope in, to what they open and to nothing else', async () => {
        assertSucceeds(await at(clientHost, '/v3/apikeys', { apikey: app.apiKey }))
        assertSucceeds(await at(clientHost, '/v3/calls', { apikey: app.apiKey }))
        const login = { method: 'POST' }
        assertSucceeds(await at(clientHost, '/v3/users/nora/auth_tokens', { apikey: app.authKey }, login))
        assertFails(await at(clientHost, '/v3/apikeys', { apikey: app.authKey }), 403, 'AUTH_ERR_NO_ACCESS')
        assertFails(await at(clientHost, '/v3/apikeys', { authToken: noraToken }), 403, 'AUTH_ERR_NO_ACCESS')
      })

      it('are no way around a door: no credentials, foreign ones, another region, an app that is not there', async () => {
        assertFails(await at(clientHost, '/v3/me', {}), 401, 'AUTH_ERR_EMPTY_APIKEY')
        assertFails(await at(clientHost, '/v3/users', { apikey: other.apiKey }), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
        const foreign = `${other.id}.apiclient-us.localhost`
        assertFails(await at(foreign, '/v3/me', { authToken: noraToken }), 401, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
        for (const host of [`${app.id}.apiclient-eu.localhost`, '0000.apiclient-us.localhost']) {
          assertFails(await at(host, '/v3/me', { authToken: noraToken }), 401, 'AUTH_ERR_INVALID_APPID')
        }
        const { key, secret } = h.management
        assertFails(await at(clientHost, '/v3/apps', { key, secret }), 401, 'AUTH_ERR_EMPTY_APIKEY')
      })

      it('answer as the chat host does, failures included', async () => {
        for (const path of ['/v3/apikeys/unknown', '/v3/nothing', '/v4/users', '/nothing']) {
          const [alias, own] = [
            await at(clientHost, path, { apikey: app.apiKey }),
            await at(app.host, path, { apikey: app.apiKey }),
          ]
          assert.deepEqual([alias.status, alias.body], [own.status, own.body])
          assert.equal(alias.body.error.source, 'chat-api')
        }
      })
    })

    describe('of a region alone', () => {
      it('serve the app that the header appid names, in any letter case', async () => {
        for (const name of ['appid', 'appId', 'APPID']) {
          const { data } = assertSucceeds(await at(regionHost, '/v3/me', { authToken: noraToken, [name]: app.id }))
          assert.equal(data.uid, 'nora')
          assertSucceeds(await at(regionHost, '/v3/users', { apikey: other.apiKey, [name]: other.id.toUpperCase() }))
        }
      })

      it('serve no app without it, unless there is only one', async () => {
        for (const headers of [{}, { appid: ' ' }] as Record<string, string>[]) {
          const answer = await at(regionHost, '/v3/users', { apikey: app.apiKey, ...headers })
          assertFails(answer, 401, 'AUTH_ERR_EMPTY_APPID')
        }
        const alone = await house({ database })
        const only = await alone.app('only')
        const headers = { apikey: only.apiKey }
        assertSucceeds(await alone.client.send(regionHost, '/v3/users', { headers }))
        const elsewhere = await alone.client.send('api-eu.localhost', '/v3/users', { headers })
        assertFails(elsewhere, 401, 'AUTH_ERR_INVALID_APPID')
        await alone.close()
      })

      it('refuse an app of another region, and what is no app id', async () => {
        const elsewhere = await at('api-eu.localhost', '/v3/users', { apikey: app.apiKey, appid: app.id })
        assertFails(elsewhere, 401, 'AUTH_ERR_INVALID_APPID')
        const odd = [
          'unknown',
          `${app.id}.api-us.localhost`,
          `../${app.id}`,
          `${app.id} or 1=1`,
          'a'.repeat(33),
          'é',
          '*',
        ]
        for (const appid of odd) {
          assertFails(await at(regionHost, '/v3/users', { apikey: app.apiKey, appid }), 401, 'AUTH_ERR_INVALID_APPID')
        }
      })

      it('refuse the header appid sent twice, even with one and the same value', async () => {
        for (const second of [other.id, app.id]) {
          const head = ['GET /v3/users HTTP/1.1', `host: ${regionHost}`, `apikey: ${app.apiKey}`]
          const line = await wire(h.service.port)
          line.say([...head, `appid: ${app.id}`, `appId: ${second}`, '', ''].join('\r\n'))
          assert.match(await line.hears(/\}$/), /^HTTP\/1\.1 401 [\s\S]*AUTH_ERR_INVALID_APPID/)
          line.socket.destroy()
        }
      })
    })

    it('win over a header appid that names another app, or none', async () => {
      for (const host of [app.host, app.callsHost, clientHost]) {
        for (const appid of [other.id, 'unknown', '', `${app.id}, ${other.id}`]) {
          assertSucceeds(await at(host, '/v3/users', { apikey: app.apiKey, appid }))
          const foreign = await at(host, '/v3/users', { apikey: other.apiKey, appid })
          assertFails(foreign, 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
        }
      }
    })

    it('need no header appid where they name the app', async () => {
      for (const host of [app.host, app.callsHost, clientHost]) {
        assertSucceeds(await at(host, '/v3/me', { authToken: noraToken }))
        assertSucceeds(await at(host, '/v3/users', { apikey: app.apiKey }))
      }
    })

    it('count against the same app, whichever is used', async () => {
      const left = async (host: string, appid: string) => {
        const { headers } = await at(host, '/v3/apikeys', { apikey: other.apiKey, appid })
        return Number(headers['x-ratelimit-remaining'])
      }
      // A minute may end in between, and what is left is then more again.
      const counted = async () => {
        const own = await left(other.host, '')
        const aliases = [
          await left(`${other.id}.apiclient-us.localhost`, ''),
          await left(regionHost, other.id),
          await left('localhost', other.id),
          await left(other.callsHost, ''),
        ]
        return aliases.map((each) => own - each)
      }
      const steps = [1, 2, 3, 4]
      const first = await counted()
      assert.deepEqual(first.every((step) => step > 0) ? first : await counted(), steps)
    })

    it('repeat a write under one Idempotency-Key once, whichever is used', async () => {
      const headers = { apikey: app.apiKey, appid: app.id, 'Idempotency-Key': 'one-attempt' }
      const sending = { method: 'POST', body: { uid: 'once', name: 'Once' } }
      const first = assertSucceeds(await at(app.host, '/v3/users', headers, sending))
      for (const host of [clientHost, regionHost]) {
        assert.deepEqual(assertSucceeds(await at(host, '/v3/users', headers, sending)), first)
      }
    })

    it('answer management under /mgmt to a pair, and to nothing else', async () => {
      const { key, secret } = h.management
      for (const host of [clientHost, regionHost]) {
        assertSucceeds(await at(host, '/mgmt/apps', { key, secret }))
        const answer = await at(host, '/mgmt/apps', { apikey: app.apiKey, appid: app.id })
        assertFails(answer, 401, 'AUTH_ERR_EMPTY_AUTH_HEADER')
        assert.equal(answer.body.error.source, 'mgmt-api')
      }
    })
  })

  describe(`headers of clients on ${database}`, () => {
    it('are read in any letter case where they count, and ignored where not', async () => {
      const h = await house({ database })
      const app = await h.app('a')
      assertSucceeds(await app.post('/users', { uid: 'nora', name: 'Nora' }))
      const { authToken } = assertSucceeds(await app.post('/users/nora/auth_tokens')).data
      const host = `${app.id}.apiclient-us.localhost`
      const besides = {
        ...{ dnt: '1', origin: 'https://shop.example.org', referer: 'https://shop.example.org/', sdk: 'web@4' },
        ...{ resource: 'WEB-4_0-made-up', Authorization: 'Bearer something-else', accept: 'text/html' },
      }
      for (const name of ['authToken', 'authtoken', 'AUTHTOKEN', 'AuthToken']) {
        const headers = { ...besides, [name]: authToken, appId: app.id }
        assert.equal(assertSucceeds(await h.client.send(host, '/v3/me', { headers })).data.uid, 'nora')
      }
      const alone = await h.client.send(host, '/v3/me', { headers: { Authorization: `Bearer ${authToken}` } })
      assertFails(alone, 401, 'AUTH_ERR_EMPTY_APIKEY')
      await h.close()
    })
  })
}
