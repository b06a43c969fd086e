import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import {
  type AppClient,
  assertFails,
  assertSucceeds,
  type Caller,
  callerAt,
  type House,
  house,
} from '../../../../tests/support/house.ts'
import { thorough } from '../../../../tests/support/quick.ts'
import { appWith, as, clientOf, say, sayIn } from '../../../../tests/support/talk.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { findSide, placeOfGroup, unreadOf } from '../timeline/index.ts'

/** What is unread is told in many places. Whatever happens, they all tell the same. */

// biome-ignore lint/suspicious/noExplicitAny: tests look into records freely
type Fields = any

interface Unread {
  user: number | undefined
  group: number | undefined
}

for (const database of databases) {
  describe(`unread counts on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    /** What Ada has not read with Lin and in the crew, by the place that tells it. */
    async function everywhere(app: AppClient, ada: Caller, client: Caller): Promise<Record<string, Unread>> {
      const get = async (caller: Caller, path: string) => assertSucceeds(await caller.get(path)).data as Fields
      const ofRows = (rows: Fields[]): Unread => {
        const row = (type: string) => rows.find((each) => each.conversationType === type)
        const count = (type: string) => row(type) && Number(row(type).unreadMessageCount)
        return { user: count('user'), group: count('group') }
      }
      const listed = ofRows(await get(ada, '/conversations?includeBlockedUsers=true'))
      const known = (counts: Partial<Unread>): Unread => ({
        user: listed.user === undefined ? undefined : (counts.user ?? 0),
        group: listed.group === undefined ? undefined : (counts.group ?? 0),
      })
      const counted = (counts: Fields[]) =>
        known(Object.fromEntries(counts.map(({ entityType, count }) => [entityType, count])))
      const fetched = (messages: Fields[]) =>
        known({
          user: messages.filter(({ receiverType }) => receiverType === 'user').length,
          group: messages.filter(({ receiverType }) => receiverType === 'group').length,
        })
      const [one, other] = [await ada.get('/users/lin/conversation'), await ada.get('/groups/crew/conversation')]
      const byKind = await get(client, '/messages?unread=true&count=true')
      const ofEveryone: Fields[] = await get(app, '/conversations?perPage=1000')
      const onlyUnread = (rows: Fields[]) => known(ofRows(rows))
      const inGroup = listed.group === undefined ? '/users/lin' : '/groups/crew'
      return {
        list: listed,
        'one conversation': ofRows([one, other].flatMap(({ body }) => body.data ?? [])),
        counts: counted(await get(ada, '/messages?unread=true&count=true')),
        'counts for clients': known({ user: byKind.users.lin, group: byKind.groups.crew }),
        'counts of each': counted([
          ...(await get(ada, '/users/lin/messages?unread=true&count=true')),
          ...(inGroup === '/groups/crew' ? await get(ada, '/groups/crew/messages?unread=true&count=true') : []),
        ]),
        messages: fetched(await get(ada, '/messages?unread=true&limit=1000')),
        'messages of each': fetched([
          ...(await get(ada, '/users/lin/messages?unread=true&limit=1000')),
          ...(inGroup === '/groups/crew' ? await get(ada, '/groups/crew/messages?unread=true&limit=1000') : []),
        ]),
        'every side': ofRows(ofEveryone.filter(({ uid }) => uid === 'ada')),
        'unread ones': onlyUnread(await get(ada, '/conversations?includeBlockedUsers=true&unread=true')),
        'unread ones of all': onlyUnread(
          ((await get(app, '/conversations?perPage=1000&unread=true')) as Fields[]).filter(({ uid }) => uid === 'ada'),
        ),
      }
    }

    it('are the same in every place, after everything that can happen to them', thorough, async () => {
      const app = await appWith(h, 'ada', 'lin', 'max', 'zoe')
      const ada = callerAt(h.client, app.host, '/v3', { apikey: app.apiKey, ...as('ada') })
      const client = await clientOf(h, app, 'ada')
      const members = { participants: ['ada', 'lin', 'max'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('zoe')))
      const said: Record<string, string> = {}
      const direct = async (name: string) => {
        said[name] = (await say(app, 'lin', 'ada', name)).id
      }
      const inGroup = async (name: string, from: string, more: object = {}) => {
        said[name] = (await sayIn(app, 'crew', from, name, more)).id
      }
      const done = async (answer: ReturnType<Caller['get']>) => assertSucceeds(await answer)
      const steps: [string, () => Promise<unknown>, Unread | undefined][] = [
        ['all is read', () => done(ada.post('/groups/crew/conversation/read')), { user: undefined, group: 0 }],
        ['a first message', () => direct('one'), { user: 1, group: 0 }],
        ['another', () => direct('two'), { user: 2, group: 0 }],
        ['in the group', () => inGroup('three', 'lin'), { user: 2, group: 1 }],
        ['by another', () => inGroup('four', 'max'), { user: 2, group: 2 }],
        ['and another', () => inGroup('five', 'lin'), { user: 2, group: 3 }],
        ['a reply', () => inGroup('reply', 'lin', { parentId: said.three }), { user: 2, group: 3 }],
        [
          'a quiet custom message',
          () =>
            inGroup('quiet', 'lin', {
              category: 'custom',
              type: 'sign',
              data: { customData: { a: 1 }, updateConversation: false },
            }),
          { user: 2, group: 3 },
        ],
        [
          'an edit',
          () => done(app.put(`/messages/${said.five}`, { data: { text: 'V' } }, as('lin'))),
          { user: 2, group: 3 },
        ],
        ['a deletion', () => done(app.delete(`/messages/${said.three}`, {}, as('lin'))), { user: 2, group: 2 }],
        [
          'the same, for good',
          () => done(app.delete(`/messages/${said.two}`, { permanent: true })),
          { user: 1, group: 2 },
        ],
        ['a block', () => done(ada.post('/users/ada/blockedusers', { blockedUids: ['max'] })), { user: 1, group: 1 }],
        ['a second', () => done(ada.post('/users/ada/blockedusers', { blockedUids: ['lin'] })), { user: 0, group: 0 }],
        [
          'both lifted',
          () => done(ada.delete('/users/ada/blockedusers', { blockedUids: ['max', 'lin'] })),
          { user: 1, group: 2 },
        ],
        [
          'read up to one',
          () => done(ada.post('/groups/crew/conversation/read', { messageId: said.four })),
          { user: 1, group: 1 },
        ],
        ['read', () => done(ada.post('/groups/crew/conversation/read')), { user: 1, group: 0 }],
        [
          'unread again',
          () => done(ada.delete('/groups/crew/conversation/read', { messageId: said.four })),
          { user: 1, group: 1 },
        ],
        ['delivered', () => done(ada.post('/groups/crew/conversation/delivered')), { user: 1, group: 1 }],
        ['an answer', () => say(app, 'ada', 'lin'), { user: 0, group: 1 }],
        ['one more', () => direct('six'), { user: 1, group: 1 }],
        ['a reset', () => done(ada.delete('/users/lin/conversation')), { user: undefined, group: 1 }],
        ['after it', () => direct('seven'), { user: 1, group: 1 }],
        [
          'marked before the reset',
          async () => {
            const answer = await ada.delete('/users/lin/conversation/read', { messageId: said.one })
            assertFails(answer, 404, 'ERR_MESSAGE_ID_NOT_FOUND')
          },
          { user: 1, group: 1 },
        ],
        ['read once more', () => done(ada.post('/users/lin/conversation/read')), { user: 0, group: 1 }],
        [
          'unread from the beginning, which the reset has set',
          () => done(ada.delete('/users/lin/conversation/read', { messageId: 0 })),
          { user: 1, group: 1 },
        ],
        [
          'a reset in place',
          () => done(ada.delete('/groups/crew/conversation', { preserveOrder: true })),
          { user: 1, group: 0 },
        ],
        ['in the group again', () => inGroup('eight', 'max'), { user: 1, group: 1 }],
        ['a kick', () => done(app.delete('/groups/crew/members/ada')), { user: 1, group: undefined }],
        ['unseen', () => inGroup('nine', 'max'), { user: 1, group: undefined }],
        // That she was added is news for her too.
        ['back', () => done(app.post('/groups/crew/members', { participants: ['ada'] })), { user: 1, group: 1 }],
        ['seen', () => inGroup('ten', 'max'), { user: 1, group: 2 }],
        [
          'deleted for everyone',
          () => done(app.delete('/conversations/group_crew', undefined, as('zoe'))),
          { user: 1, group: undefined },
        ],
        ['and the messages with it', () => h.settle(), { user: 1, group: undefined }],
        ['anew', () => inGroup('eleven', 'max'), { user: 1, group: 1 }],
        [
          'emptied for good',
          () => done(ada.delete('/users/lin/conversation', { deleteMessagesPermanently: true })),
          { user: undefined, group: 1 },
        ],
        ['and removed', () => h.settle(), { user: undefined, group: 1 }],
        ['the group deleted', () => done(app.delete('/groups/crew')), { user: undefined, group: undefined }],
      ]
      for (const [what, happens, expected] of steps) {
        await happens()
        for (const [place, told] of Object.entries(await everywhere(app, ada, client))) {
          assert.deepEqual(told, expected, `${what}: ${place}`)
        }
      }
    })

    it('of mentions and of threads agree as well', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      const ada = callerAt(h.client, app.host, '/v3', { apikey: app.apiKey, ...as('ada') })
      const members = { participants: ['lin', 'max'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('ada')))
      const { id } = await sayIn(app, 'crew', 'ada')
      await sayIn(app, 'crew', 'lin', 'Hello <@uid:ada>')
      const replies = [
        await sayIn(app, 'crew', 'lin', 'Look <@uid:ada>', { parentId: id }),
        await sayIn(app, 'crew', 'max', 'Yes <@uid:ada>', { parentId: id }),
        await sayIn(app, 'crew', 'lin', 'So?', { parentId: id }),
      ]
      const told = async () => {
        const get = async (path: string) => assertSucceeds(await ada.get(path)).data
        const [thread] = await get('/threads?withUnreadReplyCount=true&withMentionCount=true')
        return {
          mentions: (await get('/groups/crew/conversation')).unreadMentionsCount,
          mentionsListed: (await get('/groups/crew/messages?unread=true&myMentionsOnly=true')).length,
          replies: (await get(`/messages/${id}`)).unreadRepliesCount,
          repliesInThread: thread.unreadReplyCount,
          repliesListed: (await get(`/messages/${id}/thread?unread=true`)).length,
          mentionsInThread: thread.unreadMentionCount,
          mentionsInThreadListed: (await get(`/messages/${id}/thread?unread=true&myMentionsOnly=true`)).length,
        }
      }
      const expected = (mentions: number, unread: number, inThread: number) => ({
        mentions,
        mentionsListed: mentions,
        replies: unread,
        repliesInThread: unread,
        repliesListed: unread,
        mentionsInThread: inThread,
        mentionsInThreadListed: inThread,
      })
      // Replies are unread in their thread, and nowhere else.
      assert.deepEqual(await told(), expected(1, 3, 2))
      assertSucceeds(await ada.post('/users/ada/blockedusers', { blockedUids: ['max'] }))
      assert.deepEqual(await told(), expected(1, 2, 1))
      assertSucceeds(await app.delete(`/messages/${replies[0].id}`, undefined, as('lin')))
      assert.deepEqual(await told(), expected(1, 1, 0))
      assertSucceeds(await ada.post('/groups/crew/conversation/read'))
      assert.deepEqual(await told(), expected(0, 0, 0))
    })

    it('are those of the moment at which the conversation was read, whatever comes while they are counted', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/users/ada/blockedusers', { blockedUids: ['lin'] }))
      assertSucceeds(
        await app.post('/groups', { guid: 'crew', name: 'Crew', members: { participants: ['lin'] } }, as('ada')),
      )
      await sayIn(app, 'crew', 'lin')
      const db = tenantDb(h.service.house.database.reader, app.id)
      const { conversationKey } = placeOfGroup('crew')
      const side = await findSide(db, conversationKey, 'ada')
      for (let n = 0; n < 3; n += 1) await sayIn(app, 'crew', 'lin')
      const unread = await unreadOf(db, side ? [side] : [], ['lin'])
      assert.deepEqual(unread.get(conversationKey), { messages: 0, mentions: 0 })
    })
  })
}
