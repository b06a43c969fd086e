import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { thorough } from '../../../../tests/support/quick.ts'
import { appWith, as, idsIn, say, sayIn } from '../../../../tests/support/talk.ts'
import { toldTo } from '../../../../tests/support/told.ts'

for (const database of databases) {
  describe(`pins and saves on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const later = (seconds: number) => h.clock.setOffset(h.clock.offsetSeconds() + seconds)
    const act = (app: AppClient, method: 'post' | 'delete', id: string, what: 'pin' | 'save', uid?: string) =>
      app[method](`/messages/${id}/${what}`, undefined, uid === undefined ? undefined : as(uid))
    const get = async (app: AppClient, id: string, uid?: string) =>
      assertSucceeds(await app.get(`/messages/${id}`, uid === undefined ? undefined : as(uid))).data
    const listed = async (app: AppClient, path: string, uid: string) => {
      const { data, meta } = assertSucceeds(await app.get(path, as(uid)))
      return { ids: idsIn(data), meta }
    }

    describe('a pin', () => {
      it('shows to everyone in the conversation, and leaves the time of the message alone', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const { id, updatedAt } = await say(app, 'lin', 'ada')
        later(5)
        const { data } = assertSucceeds(await act(app, 'post', id, 'pin', 'ada'))
        assert.deepEqual([data.pinnedBy, data.pinnedAt > updatedAt, data.updatedAt], ['ada', true, updatedAt])
        assert.equal((await get(app, id, 'lin')).pinnedBy, 'ada')
        const { data: unpinned } = assertSucceeds(await act(app, 'delete', id, 'pin', 'lin'))
        assert.deepEqual(['pinnedBy' in unpinned, 'pinnedAt' in unpinned], [false, false])
        assertSucceeds(await act(app, 'delete', id, 'pin', 'lin'))
      })

      it('is the latest pinner’s, and the app’s where nobody acts', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const { id } = await say(app, 'lin', 'ada')
        const { data: first } = assertSucceeds(await act(app, 'post', id, 'pin', 'ada'))
        later(5)
        const { data: second } = assertSucceeds(await act(app, 'post', id, 'pin'))
        assert.deepEqual([second.pinnedBy, second.pinnedAt > first.pinnedAt], ['app_system', true])
        assertSucceeds(await act(app, 'delete', id, 'pin'))
      })

      it('is for admins and moderators in a group', async () => {
        const app = await appWith(h, 'own', 'adm', 'mod', 'par', 'out')
        const members = { admins: ['adm'], moderators: ['mod'], participants: ['par'] }
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members }, as('own')))
        const { id } = await sayIn(app, 'g', 'par')
        for (const method of ['post', 'delete'] as const) {
          for (const uid of ['own', 'adm', 'mod']) assertSucceeds(await act(app, method, id, 'pin', uid))
          assertFails(await act(app, method, id, 'pin', 'par'), 403, 'ERR_PERMISSION_DENIED')
          assertFails(await act(app, method, id, 'pin', 'out'), 403, 'ERR_MESSAGE_NO_ACCESS')
          assertFails(await act(app, method, '999999', 'pin', 'own'), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
        }
      })

      it('finds its place in the list: the newest first, read on and back', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const ids: string[] = []
        for (let n = 0; n < 5; n += 1) ids.push((await say(app, 'lin', 'ada', `m${n}`)).id)
        const [a = '', b = '', c = '', d = ''] = ids
        for (const id of [c, a, d, b]) {
          later(2)
          assertSucceeds(await act(app, 'post', id, 'pin', 'ada'))
        }
        const path = '/users/lin/messages?pinned=true'
        assert.deepEqual((await listed(app, path, 'ada')).ids, [b, d, a, c])
        const first = await listed(app, `${path}&limit=2`, 'ada')
        assert.deepEqual([first.ids, first.meta.next.id, first.meta.previous.id], [[b, d], d, b])
        const second = await listed(app, `${path}&limit=2&id=${d}`, 'ada')
        assert.deepEqual([second.ids, second.meta.next.id, second.meta.previous.id], [[a, c], c, a])
        assert.deepEqual((await listed(app, `${path}&limit=2&affix=prepend&id=${c}`, 'ada')).ids, [d, a])
      })

      it('is one of a hundred in a conversation', async () => {
        const app = await appWith(h, 'ada', 'lin', 'max')
        const ids: string[] = []
        for (let n = 0; n < 101; n += 1) ids.push((await say(app, 'lin', 'ada', `m${n}`)).id)
        for (const [n, id] of ids.slice(0, 100).entries()) {
          assertSucceeds(await act(app, 'post', id, 'pin', n % 2 ? 'ada' : undefined))
        }
        const [first = '', last = ''] = [ids[0], ids[100]]
        assertFails(await act(app, 'post', last, 'pin', 'ada'), 400, 'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED')
        assertSucceeds(await act(app, 'post', first, 'pin', 'ada'))
        assertSucceeds(await act(app, 'post', (await say(app, 'lin', 'max')).id, 'pin', 'max'))
        assertSucceeds(await act(app, 'delete', first, 'pin', 'ada'))
        assertSucceeds(await act(app, 'post', last, 'pin', 'ada'))
      })

      it(
        'is one of a hundred also when they come at once, and none of what is deleted meanwhile',
        thorough,
        async () => {
          const app = await appWith(h, 'ada', 'lin')
          const ids: string[] = []
          for (let n = 0; n < 104; n += 1) ids.push((await say(app, 'lin', 'ada', `m${n}`)).id)
          for (const id of ids.slice(0, 96)) assertSucceeds(await act(app, 'post', id, 'pin', 'ada'))
          const last = await Promise.all(
            ids.slice(96).map((id, n) => act(app, 'post', id, 'pin', n % 2 ? 'ada' : 'lin')),
          )
          assert.equal(last.filter(({ status }) => status === 200).length, 4)
          for (const answer of last.filter(({ status }) => status !== 200)) {
            assertFails(answer, 400, 'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED')
          }
          await Promise.all(
            ids
              .slice(0, 20)
              .flatMap((id) => [
                app.delete(`/messages/${id}`, undefined, as('lin')),
                act(app, 'post', id, 'pin', 'ada'),
                act(app, 'delete', id, 'pin', 'lin'),
              ]),
          )
          const { data } = assertSucceeds(await app.get('/users/lin/messages?pinned=true&limit=1000', as('ada')))
          assert.deepEqual(
            data.filter(({ deletedAt }: { deletedAt?: number }) => deletedAt),
            [],
          )
          assert.equal(data.length, 80)
        },
      )

      it('is told once, however many unpin at once', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const { id } = await say(app, 'lin', 'ada')
        assertSucceeds(await act(app, 'post', id, 'pin', 'ada'))
        for (const answer of await Promise.all(
          ['ada', 'lin', 'ada'].map((uid) => act(app, 'delete', id, 'pin', uid)),
        )) {
          assertSucceeds(answer)
        }
        const triggers = (await toldTo(h, app)).map(({ trigger }) => trigger)
        assert.equal(triggers.filter((trigger) => trigger === 'message_unpinned').length, 1)
      })

      it('is not for actions and what is deleted; deleting unpins', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const { id } = await say(app, 'lin', 'ada')
        assertSucceeds(await act(app, 'post', id, 'pin', 'ada'))
        const { data: action } = assertSucceeds(await app.delete(`/messages/${id}`, undefined, as('lin')))
        assert.equal('pinnedBy' in (await get(app, id)), false)
        for (const gone of [id, action.id]) {
          for (const what of ['pin', 'save'] as const) {
            assertFails(await act(app, 'post', gone, what, 'ada'), 403, 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
          }
        }
      })
    })

    describe('a save', () => {
      it('is the user’s alone, keeps its first time, and is dropped', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const { id, updatedAt } = await say(app, 'lin', 'ada')
        const { data: first } = assertSucceeds(await act(app, 'post', id, 'save', 'ada'))
        later(5)
        const { data: again } = assertSucceeds(await act(app, 'post', id, 'save', 'ada'))
        assert.deepEqual([again.savedAt, again.updatedAt], [first.savedAt, updatedAt])
        assert.equal('savedAt' in (await get(app, id, 'lin')), false)
        assert.equal('savedAt' in (await get(app, id)), false)
        for (let n = 0; n < 2; n += 1) {
          assert.equal('savedAt' in assertSucceeds(await act(app, 'delete', id, 'save', 'ada')).data, false)
        }
        assertFails(await act(app, 'post', id, 'save'), 400, 'ERR_BAD_REQUEST')
        assertFails(await act(app, 'delete', id, 'save'), 400, 'ERR_BAD_REQUEST')
      })

      it('is for whoever sees the message', async () => {
        const app = await appWith(h, 'ada', 'lin', 'out')
        const { id } = await say(app, 'lin', 'ada')
        assertFails(await act(app, 'post', id, 'save', 'out'), 403, 'ERR_MESSAGE_NO_ACCESS')
        assertFails(await act(app, 'post', id, 'save', 'ghost'), 404, 'ERR_UID_NOT_FOUND')
        assertFails(await act(app, 'post', '999999', 'save', 'ada'), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
      })

      it('is found over all conversations, the newest message first, also once it is deleted', async () => {
        const app = await appWith(h, 'ada', 'lin', 'max')
        const [a, b, c] = [await say(app, 'lin', 'ada'), await say(app, 'max', 'ada'), await say(app, 'lin', 'ada')]
        for (const { id } of [b, c, a]) assertSucceeds(await act(app, 'post', id, 'save', 'ada'))
        const path = '/messages?saved=true'
        assert.deepEqual((await listed(app, path, 'ada')).ids, [c.id, b.id, a.id])
        const first = await listed(app, `${path}&limit=2`, 'ada')
        assert.deepEqual([first.ids, first.meta.next.id], [[c.id, b.id], b.id])
        const second = await listed(app, `${path}&limit=2&id=${b.id}&affix=append`, 'ada')
        assert.deepEqual([second.ids, second.meta.next.id, second.meta.previous.id], [[a.id], a.id, a.id])
        assert.deepEqual((await listed(app, `${path}&limit=2&id=${a.id}&affix=prepend`, 'ada')).ids, [c.id, b.id])
        assertSucceeds(await app.delete(`/messages/${b.id}`, undefined, as('max')))
        assert.deepEqual((await listed(app, path, 'ada')).ids, [c.id, b.id, a.id])
        assert.deepEqual((await listed(app, path, 'lin')).ids, [])
        assertFails(await app.get(path), 400, 'ERR_BAD_REQUEST')
      })

      it('is one of a hundred, also when they come at once', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const ids: string[] = []
        for (let n = 0; n < 104; n += 1) ids.push((await say(app, 'lin', 'ada', `m${n}`)).id)
        for (const id of ids.slice(0, 96)) assertSucceeds(await act(app, 'post', id, 'save', 'ada'))
        const last = await Promise.all(ids.slice(96).map((id) => act(app, 'post', id, 'save', 'ada')))
        assert.equal(last.filter(({ status }) => status === 200).length, 4)
        for (const answer of last.filter(({ status }) => status !== 200)) {
          assertFails(answer, 400, 'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED')
        }
        assertSucceeds(await act(app, 'post', ids[0] ?? '', 'save', 'ada'))
        assertSucceeds(await act(app, 'post', ids[103] ?? '', 'save', 'lin'))
      })

      it('takes no place of the hundred once the user cannot see it any more', thorough, async () => {
        const app = await appWith(h, 'ada', 'lin')
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada', 'lin'] } }))
        for (let n = 0; n < 100; n += 1) {
          const { id } = n < 99 ? await sayIn(app, 'g', 'lin') : await say(app, 'lin', 'ada')
          assertSucceeds(await act(app, 'post', id, 'save', 'ada'))
        }
        const [one, two] = [await say(app, 'lin', 'ada'), await say(app, 'lin', 'ada')]
        assertFails(await act(app, 'post', one.id, 'save', 'ada'), 400, 'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED')
        assertSucceeds(await app.delete('/groups/g/members/ada'))
        for (const { id } of [one, two]) assertSucceeds(await act(app, 'post', id, 'save', 'ada'))
        assert.equal((await listed(app, '/messages?saved=true&limit=1000', 'ada')).ids.length, 3)
      })

      it('goes with a message that is removed for good, in whatever way', async () => {
        const app = await appWith(h, 'ada', 'lin')
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada', 'lin'] } }))
        const direct = await say(app, 'lin', 'ada')
        const reply = await say(app, 'ada', 'lin', 'reply', { parentId: direct.id })
        const said = await sayIn(app, 'g', 'lin')
        for (const { id } of [direct, reply, said]) assertSucceeds(await act(app, 'post', id, 'save', 'ada'))
        const saved = async () => (await dump(h)).saved_messages?.filter((row) => row.includes(app.id)).length
        assertSucceeds(await app.delete(`/messages/${direct.id}`, { permanent: true }))
        await h.settle()
        assert.equal(await saved(), 1)
        assertSucceeds(await app.delete('/groups/g'))
        await h.settle()
        assert.equal(await saved(), 0)
        const other = await say(app, 'lin', 'ada')
        assertSucceeds(await act(app, 'post', other.id, 'save', 'ada'))
        assertSucceeds(await app.delete('/users/lin/conversation', { deleteMessagesPermanently: true }, as('ada')))
        await h.settle()
        assert.equal(await saved(), 0)
      })
    })
  })
}
