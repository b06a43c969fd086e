import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { doctor } from '../server/src/cli/doctor.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { databases, freshDatabase } from './support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import { parley } from './support/parley.ts'
import { as } from './support/talk.ts'

/**
 * An install from the time when conversations were stored under their id on the wire, which several can have. It was
 * filled through the front door, with no worker running: what was deleted is still waiting to be cleared away.
 */

const earlier = join(import.meta.dirname, 'fixtures/ids-as-keys.jsonl.gz')
const PARLEY_MASTER_KEY = 'ab'.repeat(32)

for (const database of databases) {
  describe(`an upgrade of conversations that shared an id, on ${database}`, () => {
    let h: House
    let app: AppClient

    before(async () => {
      const on = await freshDatabase(database)
      Object.assign(on.environment, { PARLEY_MASTER_KEY })
      const restored = await parley(['restore', '--from', earlier], on.environment)
      assert.equal(restored.code, 0, restored.stderr)
      h = await house({ database, on, environment: { PARLEY_ROLES: 'api' } })
      app = await h.appOf('fd757d152c1a0a54')
    })
    after(() => h.close())

    const read = async (path: string, uid: string): Promise<string[]> => {
      const { data } = assertSucceeds(await app.get(`${path}?limit=100&categories=message`, as(uid)))
      return data.map((message: { data: { text?: string } }) => message.data.text ?? '-')
    }
    const unread = async (path: string, uid: string) =>
      assertSucceeds(await app.get(`${path}/conversation`, as(uid))).data.unreadMessageCount
    const examine = async () => {
      const outcome = await doctor.run({ config: h.service.house.config, words: [], flags: {}, json: true })
      assert.ok(outcome?.ok, outcome?.text)
    }

    it('gives each its own messages, for everyone who is in it', async () => {
      const said = ['private one', 'private two for <@uid:group_admin>', 'private three edited by the app', '-']
      const inPair = [...said, 'private reply', 'private last']
      assert.deepEqual(await read('/users/group_admin/messages', 'zoe'), inPair)
      assert.deepEqual(await read('/users/zoe/messages', 'group_admin'), inPair)
      const inGroup = ['group one for <@uid:zoe>', 'group two', 'group reply', 'group last']
      for (const uid of ['eve', 'bob', 'zoe']) {
        assert.deepEqual(await read('/groups/admin_user_zoe/messages', uid), inGroup, uid)
      }
      assert.deepEqual(await read('/messages', 'group_admin'), inPair)
      assert.deepEqual(await read('/messages', 'eve'), inGroup)
    })

    it('counts for each what is not read there', async () => {
      assert.deepEqual(
        [
          await unread('/users/group_admin', 'zoe'),
          await unread('/users/zoe', 'group_admin'),
          await unread('/groups/admin_user_zoe', 'zoe'),
          await unread('/groups/admin_user_zoe', 'bob'),
          await unread('/groups/admin_user_zoe', 'eve'),
        ],
        ['1', '0', '1', '1', '0'],
      )
    })

    it('lists each where it belongs, with its own last message', async () => {
      const listed = async (uid: string) => {
        const { data } = assertSucceeds(await app.get('/conversations', as(uid)))
        type Listed = { conversationWith: { uid?: string; guid?: string }; lastMessage?: { data: { text: string } } }
        return data.map(({ conversationWith: { uid: other, guid }, lastMessage }: Listed) =>
          [other ?? guid, lastMessage?.data.text].join(': '),
        )
      }
      assert.deepEqual((await listed('zoe')).toSorted(), ['admin_user_zoe: group last', 'group_admin: private last'])
      assert.deepEqual(await listed('group_admin'), ['zoe: private last'])
      assert.deepEqual((await listed('eve')).toSorted(), ['admin_user_zoe: group last', 'x_user_y: '])
      assert.deepEqual(await listed('team'), ['zoe_user_yan: second pair again'])
      assert.deepEqual(await listed('team_user_zoe'), ['yan: first pair again'])
      assert.deepEqual(await listed('yan'), [], 'it was reset')
      // Nothing was said in it; it was pinned.
      assert.deepEqual(await listed('group_x'), ['y: '])
    })

    it('finds in each what was said there, and nothing else', async () => {
      const found = async (path: string, uid: string) => {
        const { data } = assertSucceeds(await app.get(`${path}/messages?searchKey=private&limit=100`, as(uid)))
        return data.length
      }
      assert.deepEqual([await found('/users/group_admin', 'zoe'), await found('/groups/admin_user_zoe', 'eve')], [5, 0])
      assert.equal((await read('/groups/crew/messages', 'kim')).length, 1)
      const fox = assertSucceeds(await app.get('/groups/crew/messages?searchKey=fox', as('kim')))
      assert.equal(fox.data.length, 1)
    })

    it('keeps receipts, reactions, threads, pins and the ids of senders', async () => {
      const { data: said } = assertSucceeds(await app.get('/users/group_admin/messages?limit=100', as('zoe')))
      const [first, second] = said
      assert.deepEqual([first.replyCount, first.data.reactions[0].reaction], [1, 'yes'])
      const receipts = assertSucceeds(await app.get(`/messages/${first.id}/receipts`, as('group_admin'))).data
      assert.deepEqual(
        receipts.map(({ sender }: { sender: { uid: string } }) => sender.uid),
        ['zoe'],
      )
      assert.ok(second.readAt !== undefined)
      const pinned = assertSucceeds(await app.get('/groups/admin_user_zoe/messages?pinned=true', as('bob'))).data
      assert.equal(pinned.length, 1)
      const again = { receiver: 'group_admin', receiverType: 'user', muid: 'm1', data: { text: 'again' } }
      assert.equal(assertSucceeds(await app.post('/messages', again, as('zoe'))).data.id, second.id)
      assert.deepEqual(await read('/users/app_system_user_q/messages', 'z'), ['q to z', 'z to q'])
      assert.deepEqual(await read('/messages', 'q_user_z'), ['from the app'])
    })

    it('goes on with what was under way: what was deleted is cleared away, and nothing else', async () => {
      const after = async () => [
        await read('/users/group/messages', 'kim'),
        await read('/users/ada/messages', 'lin'),
        await read('/users/ada/messages', 'bob'),
      ]
      const left = [['after the group'], ['after the deletion'], ['after the emptying']]
      assert.deepEqual(await after(), left)
      await h.settle()
      assert.deepEqual(await after(), left)
      const { rows } = await sql<{ data: string }>`SELECT data FROM messages WHERE app_id = ${app.id}`.execute(
        h.service.house.database.reader.query,
      )
      const text = rows.map(({ data }) => data).join()
      for (const gone of ['lost with the group', 'doomed', 'gone for everybody', 'gone for good']) {
        assert.ok(!text.includes(gone), gone)
      }
      assert.ok(text.includes('private one') && text.includes('plain group fox'))
      const friends = assertSucceeds(await app.get('/conversations', as('kim'))).data
      assert.ok(friends.some(({ conversationId }: { conversationId: string }) => conversationId === 'ada_user_kim'))
      const jobs = await tenantDb(h.service.house.database.reader, app.id).select('jobs').selectAll().execute()
      assert.equal(jobs.length, 0)
    })

    it('leaves nothing for the doctor to find', examine)
  })
}
