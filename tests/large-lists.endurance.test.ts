import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { readStretch } from '../server/src/areas/messages/list.ts'
import type { MessageListQuery } from '../server/src/areas/messages/schemas.ts'
import { openRows, placeOfGroup, placeOfUsers } from '../server/src/areas/timeline/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { TakesLong } from '../server/src/storage/connection.ts'
import type { TenantDb } from '../server/src/storage/tenant.ts'
import { databases } from './support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import { appWith, as, asking, clientOf, say, sayIn } from './support/talk.ts'

/** Beyond some thousand messages, replies, members or conversations, lists go other ways to the same answers. */

const guid = 'plenty'
const copies = 12_000

for (const database of databases) {
  describe(`lists of what is very much, on ${database}`, () => {
    let h: House
    let app: AppClient
    let parent: string
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'bo', 'eve', 'zed')
      const members = { participants: ['bo', 'eve', 'zed'] }
      assertSucceeds(await app.post('/groups', { guid, name: 'Plenty', type: 'public', owner: 'ada', members }))
      parent = (await sayIn(app, guid, 'bo', 'The beginning')).id
      await sayIn(app, guid, 'bo', 'Over and over')
      await within((db) => repeatLast(db))
      await sayIn(app, guid, 'bo', 'The end')
    })
    after(() => h.close())

    const within = <T>(work: (db: TenantDb) => Promise<T>): Promise<T> =>
      h.service.house.database.write((connection) => work(workIn(connection, app.id, h.service.house.tools).db))

    /** Says the last message of the group very often: now ada, now eve, some of it deleted, some naming ada. */
    async function repeatLast(db: TenantDb): Promise<void> {
      const {
        id: _id,
        app_id: _app,
        ...last
      } = await db
        .select('messages')
        .selectAll()
        .where('messages.receiver', '=', guid)
        .orderBy('messages.id', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow()
      for (let first = 1; first <= copies; first += 500) {
        const rows = Array.from({ length: 500 }, (_, more) => {
          const n = first + more
          const deleted = n % 7 === 0 ? { deleted_at: last.sent_at, deleted_by: 'ada' } : {}
          return {
            ...last,
            ...deleted,
            seq: last.seq + n,
            counted: last.counted + n,
            sender: n % 3 === 0 ? 'ada' : 'eve',
            type: n % 4_000 === 0 ? 'image' : 'text',
          }
        })
        await db.insert('messages', rows).execute()
      }
      await db.sql`INSERT INTO message_mentions (app_id, uid, conversation_key, seq, message_id)
        SELECT messages.app_id, 'ada', messages.conversation_key, messages.seq, messages.id FROM messages
        WHERE messages.app_id = ${db.appId} AND messages.receiver = ${guid} AND messages.seq % 5 = 0`.execute()
      const more = (column: 'last_seq' | 'last_counted') => sql<number>`${sql.ref(column)} + ${copies}`
      await db
        .update('conversations')
        .set({ last_seq: more('last_seq'), shown_seq: more('last_seq'), last_counted: more('last_counted') })
        .where('first', '=', guid)
        .execute()
      await db
        .update('conversation_rows')
        .set({ read_seq: 0, read_counted: 0, delivered_seq: 0 })
        .where('uid', '=', 'ada')
        .execute()
    }

    const messagesOfGroup = (db: TenantDb) =>
      db.select('messages').selectAll().where('messages.receiver', '=', guid).orderBy('messages.id').execute()

    it('count what is unread exactly, whether somebody looks or changes something', async () => {
      const all = await within(messagesOfGroup)
      const unread = all.filter(
        ({ sender, counts, deleted_at }) => sender !== 'ada' && counts === 1 && deleted_at === null,
      )
      const named = unread.filter(({ seq, sender }) => seq % 5 === 0 && sender !== 'ada')
      assert.ok(unread.length > 6_000)
      const seen = assertSucceeds(await app.get(`/groups/${guid}/conversation`, as('ada'))).data
      const tagged = assertSucceeds(await app.put(`/groups/${guid}/conversation`, { tags: ['x'] }, as('ada'))).data
      const [listed] = assertSucceeds(await app.get('/conversations', as('ada'))).data
      for (const each of [seen, tagged, listed]) {
        assert.equal(each.unreadMessageCount, String(unread.length))
        assert.equal(each.unreadMentionsCount, named.length)
      }
      const [counted] = assertSucceeds(await app.get('/messages?unread=true&count=true', as('ada'))).data
      assert.deepEqual(counted, { entityType: 'group', entityId: guid, count: unread.length })
      const ofKind = assertSucceeds(await app.get('/messages?unread=true&count=true&type=image', as('ada'))).data
      assert.equal(ofKind[0]?.count, unread.filter(({ type }) => type === 'image').length)
    })

    it('find what filters leave over, near and far, from either end', async () => {
      const actor = { uid: 'ada', role: 'default', roleId: null }
      const all = await within(messagesOfGroup)
      const scope = {
        kind: 'conversation' as const,
        conversationKey: placeOfGroup(guid).conversationKey,
        clearedSeq: 0,
      }
      const { database: storage, tools } = h.service.house
      const shared = workIn({ ...storage.reader, isShared: true }, app.id, tools).db
      const asked: [MessageListQuery, (row: (typeof all)[number]) => boolean, 'near' | 'far'][] = [
        [{ types: ['text'], hideReplies: true }, ({ type }) => type === 'text', 'near'],
        [{ senders: ['eve'] }, ({ sender }) => sender === 'eve', 'near'],
        [{ hideDeleted: true }, ({ deleted_at }) => deleted_at === null, 'near'],
        [{ unread: true }, ({ sender, deleted_at }) => sender !== 'ada' && deleted_at === null, 'near'],
        [{ type: 'image' }, ({ type }) => type === 'image', 'far'],
        [{ category: 'custom' }, ({ category }) => category === 'custom', 'far'],
      ]
      for (const [query, isWanted, where] of asked) {
        const wanted = all.filter((row) => row.purged === 0 && isWanted(row)).map(({ id }) => String(id))
        for (const affix of ['append', 'prepend'] as const) {
          const name = JSON.stringify({ ...query, affix })
          const expected = affix === 'append' ? wanted.slice(0, 10) : wanted.slice(-10)
          const parameters = new URLSearchParams({ affix, limit: '10' })
          for (const [key, value] of Object.entries(query)) parameters.set(key, String(value))
          const { data } = assertSucceeds(await app.get(`/groups/${guid}/messages?${parameters}`, as('ada')))
          assert.deepEqual(
            data.map(({ id }: { id: string }) => id),
            expected,
            name,
          )
          const there = readStretch(shared, scope, { ...query, affix, limit: 10 }, asking(actor))
          if (where === 'near') assert.equal((await there).rows.length, 10, name)
          else await assert.rejects(there, TakesLong, name)
        }
      }
    })

    it('count unread replies exactly, whether somebody looks or changes something', async () => {
      await within(async (db) => {
        const replies = await db
          .update('messages')
          .set({ parent_id: Number(parent) })
          .where('receiver', '=', guid)
          .where('sender', '=', 'eve')
          .where('seq', '>', 10)
          .returning('id')
          .execute()
        await db.update('messages').set({ reply_count: replies.length }).where('id', '=', Number(parent)).execute()
      })
      const replies = (await within(messagesOfGroup)).filter((row) => row.parent_id === Number(parent))
      const unread = replies.filter(({ deleted_at }) => deleted_at === null).length
      assert.ok(unread > 5_000)
      const ada = await clientOf(h, app, 'ada')
      const seen = assertSucceeds(await ada.get(`/messages/${parent}`)).data
      const saved = assertSucceeds(await ada.post(`/messages/${parent}/save`)).data
      assert.deepEqual([seen.unreadRepliesCount, saved.unreadRepliesCount], [unread, unread])
    })

    it('show who has read something also behind hundreds who came later', async () => {
      assertSucceeds(await app.post(`/groups/${guid}/conversation/read`, {}, as('zed')))
      const { id } = (await within(messagesOfGroup)).at(-1) ?? {}
      const late = Array.from({ length: 1_200 }, (_, n) => `late-${String(n).padStart(4, '0')}`)
      const now = h.clock.now()
      await within((db) => openRows(db, placeOfGroup(guid), late, now))
      const uids = (receipts: { sender: { uid: string } }[]) => receipts.map(({ sender }) => sender.uid)
      const listed = assertSucceeds(await app.get(`/messages/${id}/receipts`, as('ada'))).data
      assert.deepEqual(uids(listed), ['zed'])
      const [conversation] = assertSucceeds(await app.get('/conversations', as('eve'))).data
      assert.deepEqual(uids(conversation.lastMessage.receipts.data), ['zed'])
    })

    it('are complete for a user with thousands of conversations', async () => {
      const partners = Array.from({ length: 3_200 }, (_, n) => `p${n}`)
      await say(app, 'bo', 'eve', 'One of very many')
      await within(async (db) => {
        const now = h.clock.now()
        const place = (uid: string) => {
          const { conversationKey: conversation_key, first, second } = placeOfUsers('bo', uid)
          return { conversation_key, first, second }
        }
        for (let first = 0; first < partners.length; first += 400) {
          const some = partners.slice(first, first + 400)
          const numbers = { last_seq: 0, last_counted: 0, shown_seq: 0, active_at: now, last_at: now, created_at: now }
          await db
            .insert(
              'conversations',
              some.map((uid) => ({ ...place(uid), type: 'user' as const, ...numbers })),
            )
            .execute()
          const cursors = { delivered_seq: 0, read_seq: 0, read_counted: 0, kept: 1, created_at: now }
          await db
            .insert(
              'conversation_rows',
              some.map((uid) => ({ uid: 'bo', conversation_key: place(uid).conversation_key, ...cursors })),
            )
            .execute()
        }
      })
      const { meta } = assertSucceeds(await app.get('/conversations?perPage=1000&page=4', as('bo')))
      assert.equal(meta.pagination.total, partners.length + 2)
      const { data } = assertSucceeds(await app.get('/messages?affix=prepend&limit=1', as('bo')))
      assert.equal(data[0].data.text, 'One of very many')
      const { data: found } = assertSucceeds(await app.get('/messages?searchKey=very%20many', as('bo')))
      assert.equal(found.length, 1)
    })
  })
}
