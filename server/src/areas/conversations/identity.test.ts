import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, idsIn, say, sayIn } from '../../../../tests/support/talk.ts'

/** Conversations whose ids read alike on the wire are different conversations, whatever is done with them. */

type Talk = (app: AppClient, text: string, more?: object) => ReturnType<typeof say>

/** Two conversations with one id on the wire: who is in each, how to speak there, and how its messages are read. */
interface Pair {
  users: string[]
  groups?: { guid: string; owner: string }[]
  conversationId: string
  one: { reader: string; path: string; say: Talk }
  other: { reader: string; path: string; say: Talk }
}

const between = (from: string, to: string): Pair['one'] => ({
  reader: to,
  path: `/users/${from}`,
  say: (app, text, more) => say(app, from, to, text, more),
})

const inGroup = (guid: string, owner: string): Pair['one'] => ({
  reader: owner,
  path: `/groups/${guid}`,
  say: (app, text, more) => sayIn(app, guid, owner, text, more),
})

const pairs: Record<string, Pair> = {
  'a group that is called like a private conversation': {
    users: ['group_admin', 'zoe', 'eve'],
    groups: [{ guid: 'admin_user_zoe', owner: 'eve' }],
    conversationId: 'group_admin_user_zoe',
    one: between('group_admin', 'zoe'),
    other: inGroup('admin_user_zoe', 'eve'),
  },
  'two pairs of users whose names are cut at another place': {
    users: ['team_user_zoe', 'yan', 'team', 'zoe_user_yan'],
    conversationId: 'team_user_zoe_user_yan',
    one: between('team_user_zoe', 'yan'),
    other: between('team', 'zoe_user_yan'),
  },
  'a user called group and a group called like a user of theirs': {
    users: ['group', 'zoe', 'eve'],
    groups: [{ guid: 'user_zoe', owner: 'eve' }],
    conversationId: 'group_user_zoe',
    one: between('group', 'zoe'),
    other: inGroup('user_zoe', 'eve'),
  },
}

const textsOf = ({ data }: { data: { category: string; data: { text?: string } }[] }) =>
  data.flatMap(({ data: { text } }) => text ?? [])

for (const database of databases) {
  describe(`conversations that read alike on ${database}`, () => {
    let h: House
    before(async () => {
      // Followers and jobs run when a test says so, and then all of them together.
      h = await house({ database, environment: { PARLEY_ROLES: 'api' } })
    })
    after(() => h.close())

    const opened = async ({ users, groups = [] }: Pair): Promise<AppClient> => {
      const app = await appWith(h, ...users)
      for (const { guid, owner } of groups) assertSucceeds(await app.post('/groups', { guid, name: guid }, as(owner)))
      return app
    }

    for (const [what, pair] of Object.entries(pairs)) {
      const { one, other, conversationId } = pair
      const read = async (app: AppClient, { reader, path }: Pair['one'], rest: string) =>
        textsOf(assertSucceeds(await app.get(`${path}${rest}`, as(reader))))

      it(`keep ${what} apart when they are read, searched, counted and listed`, async () => {
        const app = await opened(pair)
        const first = await one.say(app, 'fox of one')
        const second = await other.say(app, 'fox of the other')
        assert.deepEqual([first.conversationId, second.conversationId], [conversationId, conversationId])
        for (const [side, text] of [
          [one, 'fox of one'],
          [other, 'fox of the other'],
        ] as const) {
          assert.deepEqual(await read(app, side, '/messages'), [text])
          assert.deepEqual(await read(app, side, '/messages?searchKey=fox'), [text])
          const all = assertSucceeds(await app.get('/messages?searchKey=fox', as(side.reader)))
          assert.deepEqual(textsOf(all), [text])
          const named = assertSucceeds(await app.get(`/messages?conversationId=${conversationId}`, as(side.reader)))
          assert.deepEqual(
            textsOf(named).filter((each) => each !== text),
            [],
          )
          const listed = assertSucceeds(await app.get('/conversations', as(side.reader))).data
          assert.deepEqual(listed.length, 1)
          assert.equal(listed[0].lastMessage.data.text, text)
          assert.equal(listed[0].conversationId, conversationId)
        }
        for (const [id, reader] of [
          [first.id, other.reader],
          [second.id, one.reader],
        ]) {
          assertFails(await app.get(`/messages/${id}`, as(reader)), 403, 'ERR_MESSAGE_NO_ACCESS')
        }
      })

      it(`keep ${what} apart when one is deleted for everybody, or for good`, async () => {
        const app = await opened(pair)
        await one.say(app, 'stays')
        await other.say(app, 'goes')
        assertSucceeds(await app.delete(`/conversations/${conversationId}`, {}, as(other.reader)))
        await h.settle()
        assert.deepEqual(await read(app, other, '/messages'), [])
        assert.deepEqual(await read(app, one, '/messages'), ['stays'])
        await other.say(app, 'still there')
        assertSucceeds(
          await app.delete(`${one.path}/conversation`, { deleteMessagesPermanently: true }, as(one.reader)),
        )
        await h.settle()
        assert.deepEqual(await read(app, one, '/messages'), [])
        assert.deepEqual(await read(app, other, '/messages'), ['still there'])
      })

      it(`keep ${what} apart when one is read to its end`, async () => {
        const app = await opened(pair)
        await one.say(app, 'unread here')
        await other.say(app, 'unread there')
        assertSucceeds(await app.post(`${other.path}/conversation/read`, {}, as(other.reader)))
        const { data } = assertSucceeds(await app.get(`${one.path}/conversation`, as(one.reader)))
        assert.equal(data.unreadMessageCount, '1')
      })
    }

    it('keep what the app says apart from what users say', async () => {
      const app = await appWith(h, 'app_system_user_q', 'z', 'q_user_z')
      await say(app, 'app_system_user_q', 'z', 'between the two')
      assertSucceeds(
        await app.post('/messages', { receiver: 'q_user_z', receiverType: 'user', data: { text: 'from the app' } }),
      )
      assert.deepEqual(textsOf(assertSucceeds(await app.get('/messages', as('q_user_z')))), ['from the app'])
      assert.deepEqual(textsOf(assertSucceeds(await app.get('/messages', as('z')))), ['between the two'])
      assert.deepEqual(textsOf(assertSucceeds(await app.get('/users/q_user_z/messages'))), ['from the app'])
    })

    /** Zoe has two: with the user `group_admin`, and in the group `admin_user_zoe`. */
    const inBoth = async (): Promise<AppClient> => {
      const app = await appWith(h, 'group_admin', 'zoe', 'eve')
      const members = { participants: ['zoe'] }
      assertSucceeds(await app.post('/groups', { guid: 'admin_user_zoe', name: 'G', members }, as('eve')))
      return app
    }

    it('do not take one’s message for a repetition of the other’s', async () => {
      const app = await inBoth()
      const first = await say(app, 'zoe', 'group_admin', 'to the user', { muid: 'same' })
      const second = await sayIn(app, 'admin_user_zoe', 'zoe', 'to the group', { muid: 'same' })
      assert.notEqual(first.id, second.id)
      assert.equal(second.data.text, 'to the group')
    })

    it('of one user are told from each other by the paths that name the other side', async () => {
      const app = await inBoth()
      const first = await say(app, 'group_admin', 'zoe', 'of the user')
      const second = await sayIn(app, 'admin_user_zoe', 'eve', 'of the group')
      const path = '/conversations/group_admin_user_zoe'
      for (const answer of [await app.get(path, as('zoe')), await app.delete(path, {}, as('zoe'))]) {
        assertFails(answer, 400, 'ERR_CONVERSATION_ID_AMBIGUOUS')
      }
      const filter = '/messages?conversationId=group_admin_user_zoe&categories=message'
      for (const actor of [{}, as('zoe')]) {
        assert.deepEqual(idsIn(assertSucceeds(await app.get(filter, actor)).data), [first.id, second.id])
        const found = assertSucceeds(await app.get(`${filter}&searchKey=group`, actor))
        assert.deepEqual(idsIn(found.data), [second.id])
        const one = assertSucceeds(await app.get(`${filter}&affix=prepend&limit=1`, actor))
        assert.deepEqual(idsIn(one.data), [second.id])
      }
      const counted = await app.get(`${filter}&unread=true&count=true`, as('zoe'))
      assert.deepEqual(
        assertSucceeds(counted)
          .data.map(({ entityId, count }: { entityId: string; count: number }) => [entityId, count])
          .toSorted(),
        [
          ['admin_user_zoe', 1],
          ['group_admin', 1],
        ],
      )
      assertSucceeds(await app.delete('/groups/admin_user_zoe/conversation', {}, as('zoe')))
      assert.equal(assertSucceeds(await app.get(path, as('zoe'))).data.conversationWith.uid, 'group_admin')
      assertSucceeds(await app.delete(path, {}, as('zoe')))
      await h.settle()
      assert.deepEqual(textsOf(assertSucceeds(await app.get('/messages', as('group_admin')))), [])
      assert.deepEqual(textsOf(assertSucceeds(await app.get('/messages', as('eve')))), ['of the group'])
    })

    it('are both listed for friends for whom that was asked', async () => {
      const app = await appWith(h, 'team_user_zoe', 'yan', 'team', 'zoe_user_yan')
      for (const [uid, friend] of [
        ['team_user_zoe', 'yan'],
        ['team', 'zoe_user_yan'],
      ]) {
        assertSucceeds(await app.post(`/users/${uid}/friends`, { accepted: [friend], addToConversations: true }))
      }
      await h.settle()
      for (const uid of ['team_user_zoe', 'yan', 'team', 'zoe_user_yan']) {
        assert.equal(assertSucceeds(await app.get('/conversations', as(uid))).data.length, 1, uid)
      }
    })

    it('are each shown with their own other side in the list of all', async () => {
      const app = await appWith(h, 'yz', 'z')
      for (const [guid, owner] of [
        ['x', 'yz'],
        ['xy', 'z'],
      ] as const) {
        assertSucceeds(await app.post('/groups', { guid, name: guid }, as(owner)))
        await sayIn(app, guid, owner)
      }
      const { data } = assertSucceeds(await app.get('/conversations'))
      for (const { conversationId, conversationWith } of data) {
        assert.equal(conversationId, `group_${conversationWith.guid}`)
      }
    })

    it('are not there under an id that can be cut in many ways and is nobody’s', async () => {
      const app = await appWith(h, 'ada')
      for (const text of [`group${'_user_user'.repeat(9)}`, `a${'_user'.repeat(19)}_b`]) {
        assertFails(await app.get(`/conversations/${text}`, as('ada')), 404, 'ERR_CONVERSATION_NOT_FOUND')
      }
      for (const text of ['_user_'.repeat(1_000), `a${'_user'.repeat(40)}_b`, '']) {
        for (const actor of [{}, as('ada')]) {
          assert.deepEqual(assertSucceeds(await app.get(`/messages?conversationId=${text}`, actor)).data, [])
        }
      }
    })
  })
}
