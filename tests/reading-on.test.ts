import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { placeOfUsers } from '../server/src/areas/timeline/index.ts'
import { databases } from './support/databases.ts'
import { type AppClient, assertSucceeds, type Caller, callerAt, type House, house } from './support/house.ts'
import { appWith, as, idsIn, say, sayIn } from './support/talk.ts'

/** Lists that are read on from a record neither skip nor repeat what was there all the time, whatever happens meanwhile. */

// biome-ignore lint/suspicious/noExplicitAny: tests look into records freely
type Fields = any

/** Reads a list by the cursors that it answers until a page is empty; `meanwhile` happens after each page. */
async function readAll(
  caller: Caller,
  path: string,
  meanwhile: (page: number) => Promise<unknown> = async () => {},
  side: 'next' | 'previous' = 'next',
): Promise<Fields[]> {
  const all: Fields[] = []
  const join = path.includes('?') ? '&' : '?'
  let cursor = ''
  for (let page = 0; page < 50; page += 1) {
    const { data, meta } = assertSucceeds(await caller.get(`${path}${cursor}`))
    if (data.length === 0) return all
    all.push(...(side === 'next' ? data : data.toReversed()))
    await meanwhile(page)
    cursor = `${join}${new URLSearchParams(meta[side])}`
  }
  throw new Error('The list does not end.')
}

for (const database of databases) {
  describe(`reading on in a list on ${database}`, () => {
    let h: House
    let app: AppClient
    let ada: Caller
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'lin', 'max')
      ada = callerAt(h.client, app.host, '/v3', { apikey: app.apiKey, ...as('ada') })
      const members = { participants: ['ada', 'lin', 'max'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }))
    })
    after(() => h.close())

    for (const side of ['next', 'previous'] as const) {
      it(`of messages by \`${side}\`, while some are sent, edited and deleted`, async () => {
        const sent: string[] = []
        for (let n = 0; n < 12; n += 1) sent.push((await sayIn(app, 'crew', 'lin', `${side} ${n}`)).id)
        const path = `/groups/crew/messages?limit=3&searchKey=${side}${side === 'previous' ? '&affix=prepend' : ''}`
        const edit = (id: string | undefined) =>
          app.put(`/messages/${id}`, { data: { text: `${side} again` } }, as('lin'))
        const seen = await readAll(
          ada,
          path,
          async (page) => {
            if (page > 3) return
            await edit(sent[page])
            await edit(sent[11 - page])
            // What was just read, and where the reader stands: its place stays known.
            if (page === 1) await app.delete(`/messages/${side === 'next' ? sent[5] : sent[6]}`, undefined, as('lin'))
            await sayIn(app, 'crew', 'max', 'something else')
          },
          side,
        )
        assert.deepEqual(idsIn(seen), side === 'next' ? sent : sent.toReversed())
      })
    }

    it('of reactions, while some are given and taken back', async () => {
      const { id } = await sayIn(app, 'crew', 'lin')
      const react = (uid: string, reaction: string) =>
        app.post(`/messages/${id}/reactions/${reaction}`, undefined, as(uid))
      for (let n = 0; n < 9; n += 1) assertSucceeds(await react('lin', `r${n}`))
      const seen = await readAll(ada, `/messages/${id}/reactions?limit=2`, async (page) => {
        if (page > 3) return
        // The last that was read goes, and with it the record that the cursor names.
        await app.delete(`/messages/${id}/reactions/r${2 * page + 1}`, undefined, as('lin'))
        await react('max', `late${page}`)
      })
      const names: string[] = seen.map(({ reaction }) => reaction)
      assert.deepEqual(
        names.filter((name) => name.startsWith('r')),
        ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8'],
      )
      assert.equal(new Set(names).size, names.length)
    })

    it('of threads, also where many were active in one second', async () => {
      const begun: string[] = []
      h.clock.setOffset(h.clock.offsetSeconds() + 10)
      for (let n = 0; n < 7; n += 1) {
        const { id } = await sayIn(app, 'crew', 'lin', `thread ${n}`)
        await sayIn(app, 'crew', 'max', 'reply', { parentId: id })
        begun.push(id)
      }
      // Whatever the seconds were while they were written: these are of one.
      const { updatedAt } = assertSucceeds(await app.get(`/messages/${begun[6]}`)).data
      await h.service.house.database.write(({ query }) =>
        query
          .updateTable('messages')
          .set({ updated_at: updatedAt })
          .where('messages.app_id', '=', app.id)
          .where('messages.id', 'in', begun.map(Number))
          .execute(),
      )
      for (const limit of [2, 3, 7, 8]) {
        const seen = await readAll(ada, `/threads?limit=${limit}`)
        assert.deepEqual(idsIn(seen), begun.toReversed(), `${limit} at a time`)
      }
    })

    it('of pinned messages, while the one that was read last is unpinned or pinned anew', async () => {
      const ids: string[] = []
      for (let n = 0; n < 6; n += 1) ids.push((await sayIn(app, 'crew', 'lin', `pin ${n}`)).id)
      for (const id of ids) {
        h.clock.setOffset(h.clock.offsetSeconds() + 2)
        assertSucceeds(await app.post(`/messages/${id}/pin`))
      }
      const newestFirst = ids.toReversed()
      const seen = await readAll(ada, '/groups/crew/messages?pinned=true&limit=2', async (page) => {
        if (page === 0) assertSucceeds(await app.delete(`/messages/${newestFirst[1]}/pin`))
        h.clock.setOffset(h.clock.offsetSeconds() + 2)
        if (page === 1) assertSucceeds(await app.post(`/messages/${newestFirst[3]}/pin`))
      })
      assert.deepEqual(idsIn(seen), newestFirst)
      // Without the time of the pin nobody knows where that was: the list ends there, and does not begin anew.
      const lost = await ada.get(`/groups/crew/messages?pinned=true&affix=append&id=${newestFirst[1]}`)
      assert.deepEqual(assertSucceeds(lost).data, [])
    })

    const silent: [string, string, () => Promise<unknown>][] = [
      ['all messages', '/messages', () => say(app, 'quiet', 'mute')],
      ['those of two', '/users/mute/messages', () => say(app, 'mute', 'quiet')],
      ['those of a group', '/groups/still/messages', () => sayIn(app, 'still', 'mute')],
      ['saved ones', '/messages?saved=true', async () => save((await say(app, 'mute', 'quiet')).id)],
      ['pinned ones', '/groups/still/messages?pinned=true', async () => pin((await sayIn(app, 'still', 'mute')).id)],
    ]
    const save = (id: string) => app.post(`/messages/${id}/save`, undefined, as('quiet'))
    const pin = (id: string) => app.post(`/messages/${id}/pin`)

    it('of messages that was empty finds what comes in the very same second', async () => {
      for (const [what, path, happen] of silent) {
        for (const uid of ['quiet', 'mute']) {
          await app.delete(`/users/${uid}`, { permanent: true })
          await h.settle()
          assertSucceeds(await app.post('/users', { uid, name: uid }))
        }
        await app.delete('/groups/still')
        const members = { participants: ['quiet', 'mute'] }
        assertSucceeds(await app.post('/groups', { guid: 'still', name: 'Still', members }))
        const quiet = callerAt(h.client, app.host, '/v3', { apikey: app.apiKey, ...as('quiet') })
        const join = path.includes('?') ? '&' : '?'
        const only = `${path}${join}category=message`
        const empty = assertSucceeds(await quiet.get(only))
        const { next, previous, current } = empty.meta
        assert.deepEqual([empty.data, current], [[], { limit: 100, count: 0 }], what)
        assert.deepEqual(Object.keys(next), ['affix', 'sentAt'], what)
        assert.deepEqual(previous, { ...next, affix: 'prepend' }, what)
        await happen()
        // What is saved stands with the newest first, so what is new is before the cursor.
        const way = what === 'saved ones' ? previous : next
        const { data } = assertSucceeds(await quiet.get(`${only}&${new URLSearchParams(way)}`))
        assert.equal(data.length, 1, what)
      }
    })

    it('of threads that was empty finds what comes in the very same second', async () => {
      const own = await appWith(h, 'ada', 'lin')
      const { data, meta } = assertSucceeds(await own.get('/threads', as('ada')))
      assert.deepEqual([data, meta.previous], [[], { ...meta.next, affix: 'prepend' }])
      const { id } = await say(own, 'lin', 'ada')
      await say(own, 'lin', 'ada', 'reply', { parentId: id })
      // The newest thread comes first, so what is new stands before the cursor.
      const newer = assertSucceeds(await own.get(`/threads?${new URLSearchParams(meta.previous)}`, as('ada')))
      assert.deepEqual(idsIn(newer.data), [id])
    })

    it('stays where it is on an empty page, and goes on from there later', async () => {
      const first = await sayIn(app, 'crew', 'lin', 'the last so far')
      const { sentAt } = first
      for (const cursor of [{ id: first.id }, { id: first.id, sentAt: String(sentAt) }]) {
        const page = await ada.get(`/groups/crew/messages?${new URLSearchParams({ affix: 'append', ...cursor })}`)
        const { data, meta } = assertSucceeds(page)
        const keys = { id: first.id, ...('sentAt' in cursor && { sentAt }) }
        assert.deepEqual(data, [])
        assert.deepEqual(meta.next, { affix: 'append', ...keys })
        assert.deepEqual(meta.previous, { affix: 'prepend', ...keys })
      }
      const { id } = await sayIn(app, 'crew', 'lin', 'one more')
      assert.deepEqual(idsIn(assertSucceeds(await ada.get(`/groups/crew/messages?id=${first.id}`)).data), [id])
      const bare = await sayIn(app, 'crew', 'lin', 'no reactions')
      const { meta } = assertSucceeds(await ada.get(`/messages/${bare.id}/reactions`))
      assert.deepEqual([meta.next, meta.previous], [{ affix: 'append' }, { affix: 'prepend' }])
    })

    it('of conversations by time, where several were active in one second', async () => {
      const others = ['a1', 'b1', 'b2', 'c1', 'c2', 'd1']
      const own = await appWith(h, 'ada', ...others)
      const me = callerAt(h.client, own.host, '/v3', { apikey: own.apiKey, ...as('ada') })
      for (const other of others) await say(own, other, 'ada')
      const start = assertSucceeds(await me.get('/conversations')).data[0].updatedAt + 100
      const second = { a: start - 4, b: start - 3, c: start - 2, d: start - 1 }
      await h.service.house.database.write(async ({ query }) => {
        for (const other of others) {
          await query
            .updateTable('conversations')
            .set({ active_at: second[other[0] as 'a'] })
            .where('conversations.app_id', '=', own.id)
            .where('conversations.conversation_key', '=', placeOfUsers('ada', other).conversationKey)
            .execute()
        }
      })
      for (const [affix, from, expected] of [
        ['prepend', start, ['d1', 'c1', 'c2', 'b1', 'b2', 'a1']],
        ['append', 0, ['a1', 'b1', 'b2', 'c1', 'c2', 'd1']],
      ] as const) {
        for (const perPage of [2, 3, 4, 6]) {
          const seen: string[] = []
          for (let at: number | undefined = from; at !== undefined; ) {
            const { data } = assertSucceeds(
              await me.get(`/conversations?affix=${affix}&updatedAt=${at}&perPage=${perPage}`),
            )
            seen.push(...data.map(({ conversationWith }: Fields) => conversationWith.uid))
            at = data.at(-1)?.updatedAt
          }
          assert.deepEqual(seen, expected, `${affix}, ${perPage} at a time`)
        }
      }
      // By pages they are cut where the page is full.
      const page = assertSucceeds(await me.get('/conversations?affix=append&updatedAt=0&perPage=2&page=2')).data
      assert.deepEqual(
        page.map(({ conversationWith }: Fields) => conversationWith.uid),
        ['b2', 'c1'],
      )
    })
  })
}
