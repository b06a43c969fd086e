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
import { appWith, as, clientOf, say, sayIn } from '../../../../tests/support/talk.ts'
import { tenantDb } from '../../storage/tenant.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into records freely
type Fields = any

/** With whom each conversation of an answer is, in its order. */
const partners = (rows: Fields[]): string[] => rows.map(({ conversationWith: { uid, guid } }: Fields) => uid ?? guid)

for (const database of databases) {
  describe(`the list of conversations on ${database}`, () => {
    let h: House
    let app: AppClient
    let ada: Caller
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin', 'max', 'zoe')
      ada = callerAt(h.client, app.host, '/v3', { apikey: app.apiKey, ...as('ada') })
      await makeAgent('bot')
      assertSucceeds(await app.put('/users/lin', { tags: ['vip', 'red'] }))
      const groups = [
        { guid: 'crew', name: 'Crew', tags: ['boats'] },
        { guid: 'club', name: 'Lindy Club' },
      ]
      // Each a second after the one before, so that their order is known.
      const later = () => h.clock.setOffset(h.clock.offsetSeconds() + 2)
      for (const group of groups) {
        later()
        assertSucceeds(await app.post('/groups', { ...group, members: { participants: ['lin'] } }, as('ada')))
      }
      for (const from of ['zoe', 'max', 'lin', 'bot']) {
        later()
        await say(app, from, 'ada')
      }
      later()
      await sayIn(app, 'crew', 'lin')
      assertSucceeds(await ada.post('/groups/club/conversation/read'))
      assertSucceeds(await ada.post('/users/max/conversation/read'))
      assertSucceeds(await ada.put('/users/max/conversation', { tags: ['work', 'late, maybe'] }))
      assertSucceeds(await ada.put('/groups/club/conversation', { tags: ['fun'] }))
      assertSucceeds(await ada.post('/users/ada/blockedusers', { blockedUids: ['zoe'] }))
      assertSucceeds(await ada.post('/users/max/conversation/pin'))
      assertSucceeds(
        await app.put('/conversations/pinned', { pinnedConversations: [{ guid: 'club' }, { uid: 'ada' }] }),
      )
    })
    after(() => h.close())

    /** Until agents are made through the API, tests say who is one. */
    async function makeAgent(uid: string): Promise<void> {
      assertSucceeds(await app.post('/users', { uid, name: 'Helper' }))
      await h.service.house.database.write((connection) =>
        tenantDb(connection, app.id).update('users').set({ role: '@agentic' }).where('uid', '=', uid).execute(),
      )
    }

    const all = ['club', 'max', 'crew', 'bot', 'lin']
    const filters: [string, string[]][] = [
      ['', all],
      ['searchKey=lin', ['club', 'lin']],
      ['searchKey=LINDY', ['club']],
      ['searchKey=nobody', []],
      ['conversationType=user', ['max', 'bot', 'lin']],
      ['conversationType=group', ['club', 'crew']],
      ['conversationType=other', []],
      ['unread=true', ['crew', 'bot', 'lin']],
      ['unread=1', ['crew', 'bot', 'lin']],
      ['unread=True', ['crew', 'bot', 'lin']],
      ['unread=false', all],
      ['unread=0', all],
      ['tags=work', ['max']],
      ['tags=work,fun', ['club', 'max']],
      ['tags=work&tags=fun', ['club', 'max']],
      ['tags[]=work&tags[]=fun', ['club', 'max']],
      ['tags[0]=late,%20maybe', ['max']],
      ['tags=wor', []],
      ['userTags=red,blue', ['lin']],
      ['userTags=blue', []],
      ['groupTags=boats', ['crew']],
      ['userTags=vip&groupTags=boats', []],
      ['includeBlockedUsers=true', ['club', 'max', 'crew', 'bot', 'lin', 'zoe']],
      ['hideAgentic=true', ['club', 'max', 'crew', 'lin']],
      ['onlyAgentic=true', ['bot']],
      ['hideAgentic=false&onlyAgentic=true', ['bot']],
      ['pinnedBy=me', ['max']],
      ['pinnedBy=system', ['club']],
      ['pinnedBy=me,system', ['club', 'max']],
      ['pinnedBy=nobody', []],
      ['affix=sideways', []],
      ['conversationType=user&unread=true&hideAgentic=true', ['lin']],
      ['perPage=2', ['club', 'max']],
      ['perPage=2&page=3', ['lin']],
      ['perPage=2&page=4', []],
      ['perPage=5000', all],
      ['unheardOf=1', all],
    ]
    it('is what its filters ask for: pins for everyone, own pins, then the latest', async () => {
      for (const [query, expected] of filters) {
        assert.deepEqual(partners(assertSucceeds(await ada.get(`/conversations?${query}`)).data), expected, query)
      }
    })

    it('refuses what makes no sense, and says which field', async () => {
      const refused: [string, Record<string, string>, string][] = [
        ['hideAgentic=true&onlyAgentic=true', as('ada'), 'onlyAgentic'],
        ['hideAgentic=true&onlyAgentic=true', {}, 'onlyAgentic'],
        ['unique=1', as('ada'), 'unique'],
        ['page=0', as('ada'), 'page'],
        ['perPage=0', as('ada'), 'perPage'],
        ['perPage=x', as('ada'), 'perPage'],
        ['updatedAt=soon', as('ada'), 'updatedAt'],
      ]
      for (const [query, headers, field] of refused) {
        const answer = await app.get(`/conversations?${query}`, headers)
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.deepEqual(Object.keys(answer.body.error.details), [field], query)
      }
      assertFails(await app.get('/conversations', as('nobody')), 404, 'ERR_UID_NOT_FOUND')
    })

    it('shows more of each where that is asked for', async () => {
      const row = async (query: string, who: string): Promise<Fields> => {
        const { data } = assertSucceeds(await ada.get(`/conversations?includeBlockedUsers=true&${query}`))
        return data.find(({ conversationWith: { uid, guid } }: Fields) => (uid ?? guid) === who)
      }
      assert.deepEqual(
        [(await row('', 'max')).tags, (await row('withTags=true', 'max')).tags],
        [undefined, ['work', 'late, maybe']],
      )
      assert.equal('tags' in (await row('withTags=true', 'lin')), false)
      for (const [who, tags] of [
        ['lin', ['vip', 'red']],
        ['crew', ['boats']],
      ] as const) {
        assert.equal((await row('', who)).conversationWith.tags, undefined)
        assert.deepEqual((await row('withUserAndGroupTags=true', who)).conversationWith.tags, tags)
      }
      const { blockedByMe, hasBlockedMe, blockedByMeAt } = (await row('withBlockedInfo=true', 'zoe')).conversationWith
      assert.deepEqual([blockedByMe, hasBlockedMe, typeof blockedByMeAt], [true, undefined, 'number'])
      assert.equal('blockedByMe' in (await row('', 'zoe')).conversationWith, false)
      const { pinnedBy, pinnedAt } = await row('', 'club')
      assert.deepEqual([pinnedBy, typeof pinnedAt], ['app_system', 'number'])
      assert.equal((await row('', 'max')).pinnedBy, 'ada')
    })

    it('tells how many there are and how fresh the page is', async () => {
      const { data, meta } = assertSucceeds(await ada.get('/conversations?perPage=2'))
      const newest = Math.max(...data.map(({ updatedAt }: Fields) => updatedAt))
      assert.deepEqual(meta, {
        pagination: { total: 5, count: 2, per_page: 2, current_page: 1, total_pages: 3 },
        cursor: { updatedAt: newest, affix: 'prepend' },
      })
      const cursorOf = async (query: string) => assertSucceeds(await ada.get(`/conversations?${query}`)).meta.cursor
      assert.equal(await cursorOf('useCursoredIndex=0'), undefined)
      assert.equal((await cursorOf('useCursoredIndex=1')).affix, 'prepend')
      assert.equal(await cursorOf('searchKey=nobody'), undefined)
    })

    it('is read on from a time, in its order', async () => {
      const byTime: Fields[] = assertSucceeds(await ada.get('/conversations')).data.toSorted(
        (a: Fields, b: Fields) => b.updatedAt - a.updatedAt,
      )
      assert.deepEqual(partners(byTime), ['crew', 'bot', 'lin', 'max', 'club'])
      const { updatedAt } = byTime[2]
      const at = async (affix: string) =>
        partners(assertSucceeds(await ada.get(`/conversations?updatedAt=${updatedAt}${affix}`)).data)
      assert.deepEqual(await at('&affix=prepend'), ['max', 'club'])
      assert.deepEqual(await at('&affix=append'), ['bot', 'crew'])
      assert.deepEqual(await at(''), ['bot', 'crew'])
    })

    it('is shorter for clients', async () => {
      const client = await clientOf(h, app, 'ada')
      const sizes = async (query: string) =>
        assertSucceeds(await client.get(`/conversations${query}`)).meta.pagination.per_page
      assert.deepEqual([await sizes(''), await sizes('?perPage=7'), await sizes('?perPage=1000')], [30, 7, 50])
    })

    describe('without an acting user', () => {
      const rows = async (query = '') => {
        const { data } = assertSucceeds(await app.get(`/conversations?perPage=1000${query}`))
        return data.map(
          ({ uid, conversationWith }: Fields) => `${uid} ${conversationWith.uid ?? conversationWith.guid}`,
        )
      }
      const cases: [string, string[]][] = [
        [
          '',
          [
            ...['ada crew', 'ada bot', 'ada lin', 'ada max', 'ada zoe', 'ada club'],
            ...['bot ada', 'lin crew', 'lin ada', 'lin club', 'max ada', 'zoe ada'],
          ],
        ],
        ['&unique=1', ['ada crew', 'ada bot', 'ada lin', 'ada max', 'ada zoe', 'ada club']],
        ['&unique=0&conversationType=group', ['ada crew', 'ada club', 'lin crew', 'lin club']],
        ['&conversationType=group&searchKey=crew', ['ada crew', 'lin crew']],
        ['&userTags=vip', ['ada lin']],
        ['&tags=fun,work', ['ada max', 'ada club']],
        ['&tags=un', []],
        ['&onlyAgentic=1', ['ada bot']],
        // Those of somebody whom the reader has blocked do not wait.
        ['&unread=1&conversationType=user', ['ada bot', 'ada lin']],
        ['&pinnedBy=me', ['ada max']],
        // Nobody's conversation with themself is pinned for everyone.
        ['&pinnedBy=system', ['ada club', 'bot ada', 'lin ada', 'lin club', 'max ada', 'zoe ada']],
        ['&affix=sideways', []],
      ]
      it('is of every side, by UID and then the latest', async () => {
        for (const [query, expected] of cases) assert.deepEqual(await rows(query), expected, query)
      })

      it('is read on from a time as well, and leaves out what a reset has hidden', async () => {
        const { data } = assertSucceeds(await app.get('/conversations?perPage=1000'))
        const { updatedAt } = data.find(
          ({ uid, conversationWith }: Fields) => `${uid} ${conversationWith.uid}` === 'ada lin',
        )
        assert.deepEqual(await rows(`&conversationType=user&updatedAt=${updatedAt}&affix=append`), [
          'ada bot',
          'bot ada',
        ])
        const before = ['ada max', 'ada zoe', 'max ada', 'zoe ada']
        assert.deepEqual(await rows(`&conversationType=user&updatedAt=${updatedAt}&affix=prepend`), before)
        assertSucceeds(await ada.delete('/users/zoe/conversation'))
        assert.deepEqual((await rows('&searchKey=zoe')).length, 0)
        assert.deepEqual(await rows('&conversationType=user&searchKey=ada&unique=1'), ['zoe ada'])
      })
    })
  })
}
