import assert from 'node:assert/strict'
import { randomBytes, scryptSync } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { nothingChanges } from '../../../../tests/support/dump.ts'
import {
  type AppClient,
  assertFails,
  assertSucceeds,
  type Caller,
  type House,
  house,
} from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import { cheap, cheapPasswords, type GatedPasswords, gatedPasswords } from '../../../../tests/support/passwords.ts'
import { appWith, as, clientOf, say } from '../../../../tests/support/talk.ts'
import { until } from '../../../../tests/support/until.ts'
import type { Passwords } from '../../kit/ports.ts'
import { tenantDb } from '../../storage/tenant.ts'

const lock = { type: 'password', password: 'open sesame' }

for (const database of databases) {
  describe(`passwords of groups on ${database}`, () => {
    let h: House
    let passwords: GatedPasswords
    let bystander: AppClient
    before(async () => {
      passwords = gatedPasswords()
      const environment = { PARLEY_LIMIT_PASSWORDS: '1000', PARLEY_LIMIT_GUESSES: '1000' }
      h = await house({ database, passwords, environment })
      bystander = await appWith(h, 'bea', 'bob')
    })
    after(() => h.close())

    /** A password group of `ada`, with a member, somebody outside and somebody banned. */
    async function crew(...more: string[]): Promise<AppClient> {
      const app = await appWith(h, 'ada', 'part', 'out', 'evil', ...more)
      const members = { participants: ['part'], usersToBan: ['evil'] }
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', ...lock, members }, as('ada')))
      return app
    }
    const join = async (app: AppClient, uid: string, password?: string, headers?: Record<string, string>) =>
      (await clientOf(h, app, uid)).post('/groups/g/join', password === undefined ? {} : { password }, headers)
    const hashOf = async (app: AppClient) => {
      const { database: storage } = h.service.house
      const rows = tenantDb(storage.reader, app.id).select('groups').select('groups.password')
      return (await rows.executeTakeFirstOrThrow()).password ?? ''
    }
    /** As another node would do it; on this one, hashing waits for what is being compared. */
    const changeTo = async (app: AppClient, password: string | null, at = h) => {
      const hash = password === null ? null : await cheapPasswords().hash(password)
      const columns = { password: hash, ...(hash === null && { type: 'public' as const }) }
      await at.service.house.database.write((connection) =>
        tenantDb(connection, app.id).update('groups').set(columns).where('guid', '=', 'g').execute(),
      )
    }
    const hasJoined = async (app: AppClient, uid: string) =>
      assertSucceeds(await app.get('/groups/g', as(uid))).data.hasJoined

    describe('hold up nobody while they are hashed', () => {
      async function whileHeld(act: 'hash' | 'compare', request: () => Promise<Answer>): Promise<Answer> {
        passwords.close(act)
        let isAnswered = false
        const answering = request().finally(() => {
          isAnswered = true
        })
        await passwords.waiting()
        const { id } = await say(bystander, 'bea', 'bob', 'Meanwhile')
        assertSucceeds(await bystander.get(`/messages/${id}`))
        assert.equal(isAnswered, false)
        passwords.open()
        return answering
      }

      it('whoever joins', async () => {
        const app = await crew()
        assertSucceeds(await whileHeld('compare', () => join(app, 'out', 'open sesame')))
        assert.equal(await hasJoined(app, 'out'), true)
      })

      it('whoever guesses wrong', async () => {
        const app = await crew()
        assertFails(await whileHeld('compare', () => join(app, 'out', 'x')), 403, 'ERR_WRONG_GROUP_PASS')
      })

      it('whoever creates or changes a group', async () => {
        const app = await appWith(h, 'ada')
        const ada = await clientOf(h, app, 'ada')
        assertSucceeds(await whileHeld('hash', () => ada.post('/groups', { guid: 'g', name: 'G', ...lock })))
        assertSucceeds(await whileHeld('hash', () => app.put('/groups/g', { password: 'another' })))
      })
    })

    it('are hashed once, right or wrong', async () => {
      const app = await crew()
      const before = passwords.count()
      assertFails(await join(app, 'out', 'wrong'), 403, 'ERR_WRONG_GROUP_PASS')
      assert.equal(passwords.count() - before, 1)
      assertSucceeds(await join(app, 'out', 'open sesame'))
      assert.equal(passwords.count() - before, 2)
    })

    it('are not hashed for whoever is refused anyway, nor where none is asked for', async () => {
      const app = await crew('nora', 'max')
      assertSucceeds(await app.post('/groups', { guid: 'open', name: 'Open' }, as('ada')))
      assertSucceeds(await app.post('/groups', { guid: 'shut', name: 'Shut', type: 'private' }, as('ada')))
      assertSucceeds(await app.post('/roles', { role: 'narrow', name: 'Narrow' }))
      const permissions = { 'joinGroup.allowedGroupTypes': ['public'], 'createGroup.allowedGroupTypes': ['public'] }
      assertSucceeds(await app.put('/roles/narrow/permissions', { permissions }))
      assertSucceeds(await app.put('/users/nora', { role: 'narrow' }))
      assertSucceeds(await app.post('/roles', { role: 'none', name: 'None' }))
      const featuresToRestrict = ['joinGroup', 'createGroup', 'updateGroup']
      assertSucceeds(await app.post('/roles/none/restrictedfeatures', { featuresToRestrict }))
      assertSucceeds(await app.put('/users/max', { role: 'none' }))
      const client = (uid: string) => clientOf(h, app, uid)
      const [out, evil, part] = [await client('out'), await client('evil'), await client('part')]
      const [nora, max, ada] = [await client('nora'), await client('max'), await client('ada')]
      const password = { password: 'open sesame' }
      const joinAsMember = (caller: Caller, uid: string, guid = 'g') =>
        caller.post(`/groups/${guid}/members`, { participants: [uid], ...password })
      const made = { guid: 'made', name: 'Made', ...lock }
      const key = { 'Idempotency-Key': 'used' }
      assertSucceeds(await out.post('/groups/open/join', password, key))
      const count = passwords.count()
      const assertUnchanged = await nothingChanges(h)
      const refused: [Answer, number, string][] = [
        [await out.post('/groups/unknown/join', password), 404, 'ERR_GUID_NOT_FOUND'],
        [await evil.post('/groups/g/join', password), 403, 'ERR_BANNED_GROUPMEMBER'],
        [await part.post('/groups/g/join', password), 409, 'ERR_ALREADY_JOINED'],
        [await out.post('/groups/shut/join', password), 403, 'ERR_GROUP_JOIN_NOT_ALLOWED'],
        [await out.post('/groups/g/join', {}), 400, 'ERR_EMPTY_GROUP_PASS'],
        [await out.post('/groups/g/join', { password: '' }), 400, 'ERR_EMPTY_GROUP_PASS'],
        [await out.post('/groups/g/join', { password: ['open sesame'] }), 400, 'ERR_BAD_REQUEST'],
        [await out.post('/groups/g/join', { password: 'x'.repeat(101) }), 400, 'ERR_BAD_REQUEST'],
        [await out.post('/groups/g/join', password, key), 400, 'ERR_BAD_REQUEST'],
        [await nora.post('/groups/g/join', password), 403, 'ERR_PERMISSION_DENIED'],
        [await max.post('/groups/g/join', password), 403, 'ERR_PERMISSION_DENIED'],
        [await joinAsMember(evil, 'evil'), 403, 'ERR_BANNED_GROUPMEMBER'],
        [await joinAsMember(part, 'part'), 409, 'ERR_ALREADY_JOINED'],
        [await joinAsMember(out, 'out', 'shut'), 403, 'ERR_GROUP_JOIN_NOT_ALLOWED'],
        [await joinAsMember(nora, 'nora'), 403, 'ERR_PERMISSION_DENIED'],
        [await joinAsMember(max, 'max'), 403, 'ERR_PERMISSION_DENIED'],
        [await joinAsMember(out, 'part'), 403, 'ERR_GROUP_NOT_JOINED'],
        [await out.post('/groups', { ...made, guid: 'G' }), 400, 'ERR_GUID_ALREADY_EXISTS'],
        [await out.post('/groups', { ...made, password: '' }), 400, 'ERR_EMPTY_GROUP_PASS'],
        [await out.post('/groups', { ...made, name: ' ' }), 400, 'ERR_BAD_REQUEST'],
        [await nora.post('/groups', made), 403, 'ERR_PERMISSION_DENIED'],
        [await max.post('/groups', made), 403, 'ERR_PERMISSION_DENIED'],
        [await app.post('/groups', { ...made, owner: 'nobody' }), 404, 'ERR_UID_NOT_FOUND'],
        [await app.post('/groups', made, as('nobody')), 404, 'ERR_UID_NOT_FOUND'],
        [await ada.put('/groups/g', password), 403, 'AUTH_ERR_NO_ACCESS'],
        [await app.put('/groups/g', password, as('part')), 403, 'ERR_GROUP_NO_MODERATOR_SCOPE'],
        [await app.put('/groups/g', password, as('out')), 403, 'ERR_GROUP_NOT_JOINED'],
        [await app.put('/groups/g', password, as('evil')), 403, 'ERR_BANNED_GROUPMEMBER'],
        [await app.put('/groups/g', password, as('max')), 403, 'ERR_PERMISSION_DENIED'],
        [await app.put('/groups/g', { ...password, owner: 'nobody' }), 404, 'ERR_UID_NOT_FOUND'],
        [await app.put('/groups/unknown', password), 404, 'ERR_GUID_NOT_FOUND'],
      ]
      for (const [answer, status, code] of refused) assertFails(answer, status, code)
      await assertUnchanged('what was refused')
      assertSucceeds(await nora.post('/groups/open/join', password))
      assertSucceeds(await app.put('/groups/open', password))
      assert.equal(passwords.count(), count)
    })

    it('answer a repeated request without hashing again', async () => {
      const app = await crew('max')
      const key = { 'Idempotency-Key': 'once' }
      const count = passwords.count()
      const first = await join(app, 'out', 'open sesame', key)
      assertSucceeds(first)
      assert.equal((await join(app, 'out', 'open sesame', key)).text, first.text)
      assert.equal(passwords.count() - count, 1)
      const together = await Promise.all([1, 2, 3].map(() => join(app, 'max', 'open sesame', key)))
      for (const answer of together) assertSucceeds(answer)
      assert.equal(new Set(together.map(({ text }) => text)).size, 1)
      const change = await app.put('/groups/g', { password: 'another' }, key)
      const known = passwords.count()
      assert.equal((await app.put('/groups/g', { password: 'another' }, key)).text, change.text)
      assert.equal(passwords.count(), known)
    })

    describe('that change while they are compared', () => {
      it('let nobody in with the old one', async () => {
        const app = await crew()
        passwords.close('compare')
        const joining = join(app, 'out', 'open sesame')
        await passwords.waiting()
        await changeTo(app, 'another')
        passwords.open()
        assertFails(await joining, 403, 'ERR_WRONG_GROUP_PASS')
        assert.equal(await hasJoined(app, 'out'), false)
      })

      it('are compared again, and let in whoever knows the new one as well', async () => {
        const app = await crew()
        passwords.close('compare')
        const joining = join(app, 'out', 'open sesame')
        await passwords.waiting()
        // The same word, under another hash.
        await changeTo(app, 'open sesame')
        passwords.open()
        assertSucceeds(await joining)
      })

      it('keep nobody out of a group that has none any more', async () => {
        const app = await crew()
        passwords.close('compare')
        const joining = join(app, 'out', 'open sesame')
        await passwords.waiting()
        await changeTo(app, null)
        passwords.open()
        assertSucceeds(await joining)
      })

      it('are not believed, however often they change', async () => {
        const real = cheapPasswords()
        let change = async (): Promise<void> => {}
        const compare: Passwords['compare'] = async (password, hash) => {
          const compared = await real.compare(password, hash)
          await change()
          return compared
        }
        const changing = await house({ database, passwords: { ...real, compare } })
        const app = await appWith(changing, 'ada', 'out')
        change = () => changeTo(app, lock.password, changing)
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', ...lock }, as('ada')))
        const out = await clientOf(changing, app, 'out')
        const answer = await out.post('/groups/g/join', { password: lock.password })
        assertFails(answer, 429, 'ERR_TOO_MANY_REQUESTS')
        assert.ok(Number(answer.headers['retry-after']) > 0)
        assert.equal(assertSucceeds(await app.get('/groups/g', as('out'))).data.hasJoined, false)
        await changing.close()
      })
    })

    describe('hashed at a lower cost', () => {
      async function withDatedHash(): Promise<AppClient> {
        const app = await crew('max')
        const salt = randomBytes(16)
        const N = cheap.N / 2
        const key = scryptSync('open sesame', salt, 32, { N })
        const hash = ['scrypt', N, salt.toString('base64'), key.toString('base64')].join('$')
        await h.service.house.database.write((connection) =>
          tenantDb(connection, app.id).update('groups').set({ password: hash }).where('guid', '=', 'g').execute(),
        )
        return app
      }

      it('stay valid, and are hashed anew with the next right password', async () => {
        const app = await withDatedHash()
        const dated = await hashOf(app)
        assertFails(await join(app, 'out', 'Open Sesame'), 403, 'ERR_WRONG_GROUP_PASS')
        assert.equal(await hashOf(app), dated)
        assertSucceeds(await join(app, 'out', 'open sesame'))
        const renewed = await hashOf(app)
        assert.ok(renewed.startsWith(`scrypt$${cheap.N}$${cheap.r}$${cheap.p}$`), renewed)
        assertFails(await join(app, 'max', 'Open Sesame'), 403, 'ERR_WRONG_GROUP_PASS')
        assertSucceeds(await join(app, 'max', 'open sesame'))
        assert.equal(await hashOf(app), renewed)
      })

      it('are hashed anew without a trace in the record', async () => {
        const app = await withDatedHash()
        assertFails(await join(app, 'out', 'no'), 403, 'ERR_WRONG_GROUP_PASS')
        const { updatedBy } = assertSucceeds(await app.get('/groups/g')).data
        assertSucceeds(await join(app, 'out', 'open sesame'))
        assert.equal(assertSucceeds(await app.get('/groups/g')).data.updatedBy, updatedBy)
      })
    })

    it('wait in a line of bounded length, each app in its own', async () => {
      const many = Array.from({ length: 30 }, (_, n) => `u${n}`)
      const app = await crew(...many)
      const other = await crew()
      const clients = await Promise.all(many.map((uid) => clientOf(h, app, uid)))
      passwords.close('compare')
      const refused: Answer[] = []
      const joining = clients.map(async (client) => {
        const answer = await client.post('/groups/g/join', { password: 'open sesame' })
        if (answer.status === 429) refused.push(answer)
        return answer
      })
      await passwords.waiting()
      // Refused at once, while all others wait.
      await until('some are refused', () => refused.length > 0)
      const [first] = refused
      assertFails(first as Answer, 429, 'ERR_TOO_MANY_REQUESTS')
      assert.ok(Number(first?.headers['retry-after']) > 0)
      const elsewhere = join(other, 'out', 'open sesame')
      passwords.open()
      assertSucceeds(await elsewhere)
      const answers = await Promise.all(joining)
      assert.deepEqual([...new Set(answers.map(({ status }) => status))].toSorted(), [200, 429])
    })

    it('wait in a line that no user of an app can fill for the others', async () => {
      const app = await crew('flood')
      const flood = await clientOf(h, app, 'flood')
      passwords.close('compare')
      let refused = 0
      const joining = Array.from({ length: 30 }, async () => {
        const { status } = await flood.post('/groups/g/join', { password: 'wrong' })
        if (status === 429) refused += 1
        return status
      })
      await until('all but a few are refused', () => refused >= joining.length - 3)
      const other = join(app, 'out', 'open sesame')
      await passwords.waiting()
      passwords.open()
      assertSucceeds(await other)
      assert.deepEqual([...new Set(await Promise.all(joining))].toSorted(), [403, 429])
    })
  })
}
