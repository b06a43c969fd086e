import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { migrate } from '../server/src/storage/migrate.ts'
import { databases } from './support/databases.ts'
import { dump, nothingChanges } from './support/dump.ts'
import { assertFails, assertSucceeds, type House, house } from './support/house.ts'
import type { Answer } from './support/http.ts'
import { clientOf } from './support/talk.ts'
import { acrossApps } from './support/tripwire.ts'

const keptSeconds = 24 * 3600

/** Puts the kept replies back into the form they had before callers were told apart, and migrates them again. */
async function beforeCallers({ service }: House): Promise<void> {
  const { database } = service.house
  await acrossApps(async () => {
    await database.writeAlone(async ({ run }) => {
      const statements = [
        `CREATE TABLE old_replies (app_id text NOT NULL, key text NOT NULL, fingerprint text NOT NULL, reply text,
          created_at bigint NOT NULL, PRIMARY KEY (app_id, key))`,
        `INSERT INTO old_replies SELECT app_id, key, max(fingerprint), max(reply), max(created_at)
          FROM idempotent_replies GROUP BY app_id, key HAVING count(*) = 1`,
        'DROP TABLE idempotent_replies',
        'ALTER TABLE old_replies RENAME TO idempotent_replies',
        'CREATE INDEX idempotent_replies_age ON idempotent_replies (created_at)',
        "DELETE FROM migrations WHERE name = '20261120-callers-of-replies'",
      ]
      for (const statement of statements) await run(statement, [])
    })
    const taken = await migrate(database, [])
    assert.deepEqual(taken, ['20261120-callers-of-replies'])
  })
}

for (const database of databases) {
  describe(`idempotency on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const newApp = () => h.app(randomUUID())
    const once = (key: string) => ({ 'Idempotency-Key': key })
    const assertRefused = (answer: Answer) => {
      assertFails(answer, 400, 'ERR_BAD_REQUEST')
      assert.ok(answer.body.error.details['Idempotency-Key']?.length > 0, answer.text)
    }

    it('does a write once and answers it the same each time', async () => {
      const app = await newApp()
      const first = await app.post('/apikeys', { name: 'one' }, once('a'))
      assertSucceeds(first)
      const assertUnchanged = await nothingChanges(h)
      for (let n = 0; n < 3; n += 1) {
        const again = await app.post('/apikeys', { name: 'one' }, once('a'))
        assert.deepEqual([again.status, again.text], [200, first.text])
      }
      await assertUnchanged('repeated requests')
      assert.equal(assertSucceeds(await app.get('/apikeys')).meta.pagination.total, 3)
    })

    it('without a key does it again', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/apikeys', { name: 'one' }))
      assertFails(await app.post('/apikeys', { name: 'one' }), 400, 'ERR_BAD_REQUEST')
    })

    it('takes a blank key for none', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/apikeys', { name: 'one' }, once(' ')))
      assertSucceeds(await app.post('/apikeys', { name: 'two' }, once(' ')))
    })

    it('does a write once under 20 at the same time', async () => {
      const app = await newApp()
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => app.post('/apikeys', { name: 'together' }, once('b'))),
      )
      for (const answer of answers) assertSucceeds(answer)
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
      assert.equal(assertSucceeds(await app.get('/apikeys')).meta.pagination.total, 3)
    })

    it('covers updates and deletions too', async () => {
      const app = await newApp()
      const { apiKey } = assertSucceeds(await app.post('/apikeys', { name: 'short' })).data
      const renamed = await app.put(`/apikeys/${apiKey}`, { name: 'renamed' }, once('c'))
      assert.equal((await app.put(`/apikeys/${apiKey}`, { name: 'renamed' }, once('c'))).text, renamed.text)
      const deleted = await app.delete(`/apikeys/${apiKey}`, undefined, once('d'))
      assertSucceeds(deleted)
      assert.equal((await app.delete(`/apikeys/${apiKey}`, undefined, once('d'))).text, deleted.text)
    })

    it('refuses the key for another body, path or method, and changes nothing', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/apikeys', { name: 'one' }, once('e')))
      const assertUnchanged = await nothingChanges(h)
      assertRefused(await app.post('/apikeys', { name: 'two' }, once('e')))
      assertRefused(await app.put(`/apikeys/${app.authKey}`, { name: 'one' }, once('e')))
      assertRefused(await app.delete(`/apikeys/${app.authKey}`, { name: 'one' }, once('e')))
      assertRefused(await app.post('/apikeys?x=1', { name: 'one' }, once('e')))
      await assertUnchanged('other requests under the same key')
    })

    it('does not remember a write that failed', async () => {
      const app = await newApp()
      assertFails(await app.post('/apikeys', { name: 'Auth Key' }, once('f')), 400, 'ERR_BAD_REQUEST')
      assertSucceeds(await app.delete(`/apikeys/${app.authKey}`))
      const created = assertSucceeds(await app.post('/apikeys', { name: 'Auth Key' }, once('f')))
      assert.equal(created.data.name, 'Auth Key')
    })

    it('remembers for 24 hours and then forgets', async () => {
      const app = await newApp()
      const first = await app.post('/apikeys', { name: 'kept' }, once('g'))
      try {
        h.clock.setOffset(keptSeconds - 60)
        assert.equal((await app.post('/apikeys', { name: 'kept' }, once('g'))).text, first.text)
        assertRefused(await app.post('/apikeys', { name: 'other' }, once('g')))
        h.clock.setOffset(keptSeconds + 60)
        const later = assertSucceeds(await app.post('/apikeys', { name: 'other' }, once('g')))
        assert.equal(later.data.name, 'other')
      } finally {
        h.clock.setOffset(0)
      }
    })

    it('keeps the keys of apps apart', async () => {
      const [app, other] = [await newApp(), await newApp()]
      const one = assertSucceeds(await app.post('/apikeys', { name: 'mine' }, once('h')))
      const two = assertSucceeds(await other.post('/apikeys', { name: 'mine' }, once('h')))
      assert.notEqual(one.data.apiKey, two.data.apiKey)
      assertSucceeds(await other.post('/apikeys', { name: 'theirs' }, once('i')))
      assertSucceeds(await app.post('/apikeys', { name: 'mine too' }, once('i')))
    })

    it('answers a stored reply only to a caller who may make the request', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/apikeys', { name: 'guarded' }, once('j')))
      const body = { name: 'guarded' }
      assertFails(await app.withKey(app.authKey).post('/apikeys', body, once('j')), 403, 'AUTH_ERR_NO_ACCESS')
      assertFails(await app.withKey('wrong').post('/apikeys', body, once('j')), 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
    })

    it('works at the management door', async () => {
      const first = await h.management.post('/apps', { name: 'once' }, once('k'))
      assertSucceeds(first)
      const assertUnchanged = await nothingChanges(h)
      assert.equal((await h.management.post('/apps', { name: 'once' }, once('k'))).text, first.text)
      assertRefused(await h.management.post('/apps', { name: 'twice' }, once('k')))
      await assertUnchanged('a repeated creation')
    })

    it('takes keys of up to 255 characters', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/apikeys', { name: 'long' }, once('x'.repeat(255))))
      const assertUnchanged = await nothingChanges(h)
      assertRefused(await app.post('/apikeys', { name: 'too long' }, once('x'.repeat(256))))
      await assertUnchanged('a key that is too long')
    })

    describe('tells callers apart', () => {
      /** An app with two users, and everyone who may come to it. */
      async function crowd() {
        const app = await newApp()
        for (const uid of ['ada', 'lin']) assertSucceeds(await app.post('/users', { uid, name: uid }))
        const [ada, lin] = [await clientOf(h, app, 'ada'), await clientOf(h, app, 'lin')]
        return { app, ada, lin, narrow: app.withKey(app.authKey) }
      }
      const group = (guid: string) => ({ guid, name: guid })

      it('so that one key of two of them is two keys, and each finds its own reply', async () => {
        const { app, ada, lin, narrow } = await crowd()
        const writes: (() => Promise<Answer>)[] = [
          () => app.post('/groups', group('by-server'), once(app.id)),
          () => ada.post('/groups', group('by-ada'), once(app.id)),
          () => lin.post('/groups', group('by-lin'), once(app.id)),
          () => narrow.post('/users', { uid: 'new', name: 'New' }, once(app.id)),
          () => h.management.post('/apps', { name: `of ${app.id}` }, once(app.id)),
        ]
        const answers: Answer[] = []
        for (const write of writes) answers.push(await write())
        for (const answer of answers) assertSucceeds(answer)
        const assertUnchanged = await nothingChanges(h)
        for (const [n, write] of writes.entries()) assert.equal((await write()).text, answers[n]?.text)
        await assertUnchanged('repeated requests')
      })

      it('so that no client can block, or read, what a server does under its key', async () => {
        const { app, ada, lin, narrow } = await crowd()
        const body = { uid: 'secret', name: 'Secret', withAuthToken: true }
        assertSucceeds(await ada.post('/groups', group('first'), once('wanted')))
        assertSucceeds(await narrow.post('/users', { uid: 'early', name: 'Early' }, once('wanted')))
        const made = await app.post('/users', body, once('wanted'))
        assertSucceeds(made)
        assertFails(await ada.post('/users', body, once('wanted')), 403, 'AUTH_ERR_NO_ACCESS')
        assertFails(await narrow.post('/users', body, once('wanted')), 400, 'ERR_BAD_REQUEST')
        assertFails(await narrow.post('/users', body, once('another')), 400, 'ERR_UID_ALREADY_EXISTS')
        // The same words from another caller are another request.
        const talk = { receiver: 'lin', receiverType: 'user', data: { text: 'Hello' } }
        const said = assertSucceeds(await app.post('/messages', talk, { ...once('said'), onBehalfOf: 'ada' })).data
        assert.notEqual(assertSucceeds(await ada.post('/messages', talk, once('said'))).data.id, said.id)
        assert.notEqual(assertSucceeds(await lin.post('/messages', talk, once('said'))).data.id, said.id)
        assert.equal((await app.post('/users', body, once('wanted'))).text, made.text)
      })

      it('and not API keys of one scope: a key may be replaced between a try and its repeat', async () => {
        const { app } = await crowd()
        const first = await app.post('/groups', group('g'), once('k'))
        assertSucceeds(first)
        const fresh = assertSucceeds(await app.post('/apikeys', { name: 'fresh', scope: 'fullAccess' })).data.apiKey
        assert.equal((await app.withKey(fresh).post('/groups', group('g'), once('k'))).text, first.text)
        assertRefused(await app.withKey(fresh).post('/groups', group('other'), once('k')))
      })

      it('nor the auth tokens of a user, who may log in anew', async () => {
        const { app, ada } = await crowd()
        const first = await ada.post('/groups', group('g'), once('k'))
        assertSucceeds(first)
        const again = await clientOf(h, app, 'ada')
        assert.equal((await again.post('/groups', group('g'), once('k'))).text, first.text)
      })

      it('nor servers by whom they act for: under one key that is another request', async () => {
        const { app } = await crowd()
        assertSucceeds(await app.post('/groups', group('g'), { ...once('k'), onBehalfOf: 'ada' }))
        assertRefused(await app.post('/groups', group('g'), { ...once('k'), onBehalfOf: 'lin' }))
        assertRefused(await app.post('/groups', group('g'), once('k')))
      })

      it('so that a user who has a UID of somebody gone finds nothing of theirs', async () => {
        const { app, ada } = await crowd()
        const talk = { receiver: 'lin', receiverType: 'user', data: { text: 'Hello' } }
        const { id } = assertSucceeds(await ada.post('/messages', talk, once('k'))).data
        assertSucceeds(await app.delete('/users/ada', { permanent: true }))
        assertSucceeds(await app.post('/users', { uid: 'ada', name: 'Another Ada' }))
        const another = await clientOf(h, app, 'ada')
        assert.notEqual(assertSucceeds(await another.post('/messages', talk, once('k'))).data.id, id)
      })
    })

    it('answers what was kept before callers were told apart, to whoever had asked', async () => {
      const app = await newApp()
      assertSucceeds(await app.post('/users', { uid: 'ada', name: 'Ada' }))
      const ada = await clientOf(h, app, 'ada')
      const body = { guid: 'g', name: 'G' }
      const first = await app.post('/groups', body, once('k'))
      assertSucceeds(first)
      await beforeCallers(h)
      const assertUnchanged = await nothingChanges(h)
      assert.equal((await app.post('/groups', body, once('k'))).text, first.text)
      assertFails(await ada.post('/groups', body, once('k')), 400, 'ERR_GUID_ALREADY_EXISTS')
      await assertUnchanged('a repeated request')
      assertSucceeds(await ada.post('/groups', { guid: 'other', name: 'Other' }, once('k')))
    })

    it('keeps no more than some replies an hour for a client', async () => {
      const few = await house({ database, environment: { PARLEY_LIMIT_KEYED_WRITES: '3' } })
      const app = await few.app('few')
      for (const uid of ['ada', 'lin']) assertSucceeds(await app.post('/users', { uid, name: uid }))
      const [ada, lin] = [await clientOf(few, app, 'ada'), await clientOf(few, app, 'lin')]
      const me = { statusMessage: 'Hello' }
      const statuses = new Set<number>()
      // Two windows hold at most six.
      for (let n = 0; n < 7; n += 1) statuses.add((await ada.put('/me', me, once(`k${n}`))).status)
      assert.deepEqual([...statuses].toSorted(), [200, 429])
      for (let n = 0; n < 7; n += 1) {
        assertSucceeds(await ada.put('/me', me))
        assertSucceeds(await ada.get('/me', once(`k${n}`)))
        assertSucceeds(await app.put('/users/ada', { name: 'Ada' }, once(`k${n}`)))
      }
      assertSucceeds(await lin.put('/me', me, once('k')))
      await few.close()
    })

    it('has no meaning for reads', async () => {
      const app = await newApp()
      assert.equal(assertSucceeds(await app.get('/apikeys', once('l'))).meta.pagination.total, 2)
      assertSucceeds(await app.post('/apikeys', { name: 'new' }, once('l')))
      assert.equal(assertSucceeds(await app.get('/apikeys', once('l'))).meta.pagination.total, 3)
    })

    it('keeps stored replies unreadable: no API key stands in the database as plain text', async () => {
      const app = await newApp()
      const { apiKey } = assertSucceeds(await app.post('/apikeys', { name: 'secret' }, once('m'))).data
      const contents = await dump(h)
      assert.ok(contents.idempotent_replies?.some((row) => row.includes(app.id)))
      assert.ok(!JSON.stringify(contents).includes(apiKey))
    })
  })
}
