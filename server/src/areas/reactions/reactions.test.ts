import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, clientOf, idsIn, say, sayIn } from '../../../../tests/support/talk.ts'
import { logOf, toldTo } from '../../../../tests/support/told.ts'

for (const database of databases) {
  describe(`reactions on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const path = (id: string, reaction: string) => `/messages/${id}/reactions/${encodeURIComponent(reaction)}`
    const react = (app: AppClient, id: string, uid: string, reaction: string) =>
      app.post(path(id, reaction), undefined, as(uid))
    const listed = async (app: AppClient, id: string, search = '', headers?: Record<string, string>) =>
      assertSucceeds(await app.get(`/messages/${id}/reactions${search}`, headers))

    it('show on the message: how many of each, and which are one’s own', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id, updatedAt } = await say(app, 'lin', 'ada')
      assertSucceeds(await react(app, id, 'ada', '🚣'))
      assertSucceeds(await react(app, id, 'lin', ':boat:'))
      const { data: message } = assertSucceeds(await react(app, id, 'lin', '🚣'))
      assert.deepEqual(message.data.reactions, [
        { reaction: '🚣', count: 2, reactedByMe: true },
        { reaction: ':boat:', count: 1, reactedByMe: true },
      ])
      assert.equal(message.updatedAt, updatedAt)
      const { data: seen } = assertSucceeds(await app.get(`/messages/${id}`, as('ada')))
      assert.deepEqual(seen.data.reactions, [
        { reaction: '🚣', count: 2, reactedByMe: true },
        { reaction: ':boat:', count: 1 },
      ])
      const { data: plain } = assertSucceeds(await app.get(`/messages/${id}`))
      assert.deepEqual(plain.data.reactions, [
        { reaction: '🚣', count: 2 },
        { reaction: ':boat:', count: 1 },
      ])
    })

    it('are taken back, and both are done once however often they are asked for', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      assertSucceeds(await app.delete(path(id, '👍'), undefined, as('ada')))
      assertSucceeds(await react(app, id, 'ada', '👍'))
      const { data: twice } = assertSucceeds(await react(app, id, 'ada', '👍'))
      assert.deepEqual(twice.data.reactions, [{ reaction: '👍', count: 1, reactedByMe: true }])
      for (let n = 0; n < 2; n += 1) {
        const { data: none } = assertSucceeds(await app.delete(path(id, '👍'), undefined, as('ada')))
        assert.equal('reactions' in none.data, false)
      }
      const triggers = (await toldTo(h, app)).map(({ trigger }) => trigger)
      assert.deepEqual(
        triggers.filter((trigger) => trigger.includes('reaction')),
        ['message_reaction_added', 'message_reaction_removed'],
      )
    })

    it('are listed with who gave them, all or of one kind', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      assertSucceeds(await react(app, id, 'ada', '🚣'))
      assertSucceeds(await react(app, id, 'lin', '👍'))
      const { data, meta } = await listed(app, id, '', as('lin'))
      assert.deepEqual(
        data.map(({ messageId, reaction, uid }: Record<string, string>) => [messageId, reaction, uid]),
        [
          [id, '🚣', 'ada'],
          [id, '👍', 'lin'],
        ],
      )
      const [first, last] = idsIn(data).map(Number)
      assert.deepEqual(meta, {
        current: { limit: 100, count: 2 },
        next: { affix: 'append', id: last },
        previous: { affix: 'prepend', id: first },
      })
      assert.deepEqual(Object.keys(data[0]).toSorted(), [
        'id',
        'messageId',
        'reactedAt',
        'reactedBy',
        'reaction',
        'uid',
      ])
      // Seen by another, the one who reacted has a conversation with them; seen by themself they have none.
      assert.equal(data[0].reactedBy.conversationId, 'ada_user_lin')
      assert.equal('conversationId' in data[1].reactedBy, false)
      const { data: boats } = assertSucceeds(await app.get(path(id, '🚣')))
      assert.deepEqual(idsIn(boats), [data[0].id])
      assert.equal('conversationId' in boats[0].reactedBy, false)
      assert.deepEqual(assertSucceeds(await app.get(path(id, '🦑'))).data, [])
    })

    it('are read on and back, a hundred at a time', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      for (let n = 0; n < 7; n += 1) assertSucceeds(await react(app, id, 'ada', `:r${n}:`))
      const all = idsIn((await listed(app, id)).data)
      const first = await listed(app, id, '?limit=3')
      assert.deepEqual(idsIn(first.data), all.slice(0, 3))
      assert.deepEqual(first.meta, {
        current: { limit: 3, count: 3 },
        next: { affix: 'append', id: Number(all[2]) },
        previous: { affix: 'prepend', id: Number(all[0]) },
      })
      const second = await listed(app, id, `?limit=3&affix=append&id=${all[2]}`)
      assert.deepEqual(idsIn(second.data), all.slice(3, 6))
      const back = await listed(app, id, `?limit=3&affix=prepend&id=${all[3]}`)
      assert.deepEqual(idsIn(back.data), all.slice(0, 3))
      assert.equal((await listed(app, id, '?limit=5000')).meta.current.limit, 1000)
      const client = await clientOf(h, app, 'ada')
      assert.equal(assertSucceeds(await client.get(`/messages/${id}/reactions?limit=500`)).meta.current.limit, 100)
    })

    it('have 1 to 45 characters, and a message has 25 kinds of them', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      for (const reaction of ['x'.repeat(46), ' ', '👨‍👩‍👧'.repeat(6)]) {
        assertFails(await react(app, id, 'ada', reaction), 400, 'ERR_BAD_REQUEST')
        const inBody = await app.post(`/messages/${id}/reactions`, { reaction }, as('ada'))
        assertFails(inBody, 400, 'ERR_BAD_REQUEST')
      }
      assertFails(await app.post(`/messages/${id}/reactions`, {}, as('ada')), 400, 'ERR_BAD_REQUEST')
      assertSucceeds(await app.post(`/messages/${id}/reactions`, { reaction: '👨‍👩‍👧' }, as('ada')))
      for (let n = 1; n < 25; n += 1) assertSucceeds(await react(app, id, n % 2 ? 'ada' : 'lin', `r${n}`))
      assertFails(await react(app, id, 'ada', 'one too many'), 400, 'ERR_BAD_REQUEST')
      assertSucceeds(await react(app, id, 'lin', 'r1'))
      assertSucceeds(await app.delete(path(id, 'r2'), undefined, as('lin')))
      assertSucceeds(await react(app, id, 'ada', 'in its place'))
    })

    it('are kept as they are given, each apart from all others', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      const forms = [
        ...['👍', '👍🏽', '👩‍👩‍👧‍👦', '👩🏿‍🚀', '❤', '❤️', '1️⃣', '🇳🇴', '🏴󠁧󠁢󠁷󠁬󠁳󠁿', 'é', 'é'.normalize('NFD')],
        ...[':boat:', '+1', 'a/b', '50%', '%41', '?&=#', '.', '..', 'two words', '__proto__'],
        ...['x'.repeat(45), `${'👍'.repeat(22)}x`],
      ]
      assert.ok(forms.length <= 25)
      for (const [n, form] of forms.entries()) {
        assertSucceeds(
          n % 2
            ? await react(app, id, 'ada', form)
            : await app.post(`/messages/${id}/reactions`, { reaction: form }, as('ada')),
        )
      }
      const { data } = assertSucceeds(await app.get(`/messages/${id}`))
      assert.deepEqual(
        data.data.reactions,
        forms.map((reaction) => ({ reaction, count: 1 })),
      )
      for (const [n, form] of forms.entries()) {
        const { data: given } = assertSucceeds(await app.get(path(id, form)))
        assert.deepEqual([given.length, given[0]?.reaction], [1, form])
        const { data: left } = assertSucceeds(await app.delete(path(id, form), undefined, as('ada')))
        assert.equal(left.data.reactions?.length ?? 0, forms.length - n - 1, form)
      }
    })

    it('stand in the path as encoded UTF-8', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      for (const written of ['%f0%9f%91%8d', '%F0%9F%91%8D']) {
        assertSucceeds(await app.post(`/messages/${id}/reactions/${written}`, undefined, as('ada')))
      }
      assert.deepEqual(assertSucceeds(await app.get(`/messages/${id}`)).data.data.reactions, [
        { reaction: '👍', count: 1 },
      ])
      for (const broken of ['%', '%zz', '%ff', '%ed%a0%80', '%00', '%20']) {
        for (const method of ['post', 'delete'] as const) {
          const { status } = await app[method](`/messages/${id}/reactions/${broken}`, undefined, as('ada'))
          assert.ok([200, 400, 404].includes(status) && !(method === 'post' && status === 200), `${method} ${broken}`)
        }
      }
      assert.equal((await listed(app, id)).data.length, 1)
    })

    it('say what is wrong with a request, and where', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      const details = async (answer: Promise<{ body: { error?: { code: string; details?: object } } }>) => {
        const { error } = (await answer).body
        return [error?.code, ...Object.keys(error?.details ?? {})]
      }
      const bad = 'ERR_BAD_REQUEST'
      assert.deepEqual(await details(react(app, id, 'ada', 'x'.repeat(46))), [bad, 'reaction'])
      assert.deepEqual(await details(app.post(`/messages/${id}/reactions`, {}, as('ada'))), [bad, 'reaction'])
      assert.deepEqual(await details(app.post(path(id, 'x'))), [bad, 'onBehalfOf'])
      assert.deepEqual(await details(app.delete(path(id, 'x'))), [bad, 'onBehalfOf'])
      for (const search of ['limit=0', 'limit=x', 'id=x', 'id=-1']) {
        const [name = ''] = search.split('=')
        assert.deepEqual(await details(app.get(`/messages/${id}/reactions?${search}`)), [bad, name])
      }
      assert.deepEqual((await listed(app, id)).data, [])
    })

    it('are counted as they are listed, whatever is given and taken back at once', async () => {
      const uids = Array.from({ length: 6 }, (_, n) => `u${n}`)
      const app = await appWith(h, ...uids)
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: uids } }))
      const { id } = await sayIn(app, 'g', 'u0')
      const kinds = ['yes', 'no', '👍']
      const acts = uids.flatMap((uid, n) =>
        kinds.flatMap((kind, at) => [
          react(app, id, uid, kind),
          ...((n + at) % 2 ? [app.delete(path(id, kind), undefined, as(uid)), react(app, id, uid, kind)] : []),
          ...((n + at) % 3 ? [] : [app.delete(path(id, kind), undefined, as(uid))]),
        ]),
      )
      for (const answer of await Promise.all(acts)) assertSucceeds(answer)
      const { data } = assertSucceeds(await app.get(`/messages/${id}`))
      const counts = Object.fromEntries(
        (data.data.reactions ?? []).map(({ reaction, count }: never) => [reaction, count]),
      )
      for (const kind of kinds) {
        assert.equal(assertSucceeds(await app.get(path(id, kind))).data.length, counts[kind] ?? 0, kind)
      }
      const triggers = (await toldTo(h, app)).map(({ trigger }) => trigger)
      const told = (name: string) => triggers.filter((trigger) => trigger === `message_reaction_${name}`).length
      assert.equal(told('added') - told('removed'), (await listed(app, id)).data.length)
    })

    it('are told with the counts that come of them', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'ada', 'lin')
      for (const uid of ['ada', 'lin']) assertSucceeds(await app.post(path(id, 'yes'), undefined, as(uid)))
      for (const uid of ['ada', 'lin']) assertSucceeds(await app.delete(path(id, 'yes'), undefined, as(uid)))
      const events = (await logOf(h, app)).filter(({ name }) => name.startsWith('reaction.'))
      assert.deepEqual(
        events.map(({ payload }) => payload.message.data.reactions),
        [[{ reaction: 'yes', count: 1 }], [{ reaction: 'yes', count: 2 }], [{ reaction: 'yes', count: 1 }], undefined],
      )
    })

    it('go with a user who is deleted for good, and are no later one’s', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      assertSucceeds(
        await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada', 'lin', 'max'] } }),
      )
      const { id } = await sayIn(app, 'g', 'ada')
      for (const [uid, kind] of [
        ['lin', 'yes'],
        ['max', 'yes'],
        ['max', 'no'],
      ] as const) {
        assertSucceeds(await react(app, id, uid, kind))
      }
      assertSucceeds(await app.delete('/users/max', { permanent: true }))
      await h.settle()
      h.clock.setOffset(h.clock.offsetSeconds() + 5)
      assertSucceeds(await app.post('/users', { uid: 'max', name: 'Another' }))
      assertSucceeds(await app.post('/groups/g/members', { participants: ['max'] }))
      const { data } = assertSucceeds(await app.get(`/messages/${id}`, as('max')))
      assert.deepEqual(data.data.reactions, [{ reaction: 'yes', count: 1 }])
      const { data: rows, meta } = await listed(app, id)
      assert.deepEqual([rows.map(({ uid }: { uid: string }) => uid), meta.current.count], [['lin'], 1])
    })

    it('count right when many react at once', async () => {
      const uids = Array.from({ length: 12 }, (_, n) => `u${n}`)
      const app = await appWith(h, ...uids)
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: uids } }))
      const { id } = await sayIn(app, 'g', 'u0')
      const given = await Promise.all(uids.flatMap((uid) => [react(app, id, uid, '👍'), react(app, id, uid, '👍')]))
      for (const answer of given) assertSucceeds(answer)
      await Promise.all(uids.slice(0, 4).map((uid) => app.delete(path(id, '👍'), undefined, as(uid))))
      const { data } = assertSucceeds(await app.get(`/messages/${id}`))
      assert.deepEqual(data.data.reactions, [{ reaction: '👍', count: 8 }])
      assert.equal((await listed(app, id)).data.length, 8)
    })

    it('hold no more than 25 kinds when these come at once', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      const kinds = Array.from({ length: 40 }, (_, n) => `k${n}`)
      const given = await Promise.all(kinds.map((kind, n) => react(app, id, n % 2 ? 'ada' : 'lin', kind)))
      assert.equal(given.filter(({ status }) => status === 200).length, 25)
      const { data } = assertSucceeds(await app.get(`/messages/${id}`))
      assert.equal(data.data.reactions.length, 25)
    })

    it('are for what people say: not for actions, nor for what is deleted', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const custom = await say(app, 'lin', 'ada', '', {
        category: 'custom',
        type: 'place',
        data: { customData: { a: 1 } },
      })
      assertSucceeds(await react(app, custom.id, 'ada', '👍'))
      const { id } = await say(app, 'lin', 'ada')
      assertSucceeds(await react(app, id, 'ada', '👍'))
      const { data: action } = assertSucceeds(await app.delete(`/messages/${id}`, undefined, as('lin')))
      for (const gone of [id, action.id]) {
        assertFails(await react(app, gone, 'ada', '👍'), 403, 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
      }
      await h.settle()
      assert.deepEqual((await listed(app, id)).data, [])
      assert.equal('reactions' in assertSucceeds(await app.get(`/messages/${id}`)).data.data, false)
    })

    it('are for those who see the message', async () => {
      const app = await appWith(h, 'ada', 'lin', 'out')
      const { id } = await say(app, 'lin', 'ada')
      assertFails(await react(app, id, 'out', '👍'), 403, 'ERR_MESSAGE_NO_ACCESS')
      assertFails(await app.get(`/messages/${id}/reactions`, as('out')), 403, 'ERR_MESSAGE_NO_ACCESS')
      assertFails(await app.get(path(id, '👍'), as('out')), 403, 'ERR_MESSAGE_NO_ACCESS')
      assertFails(await react(app, '999999', 'ada', '👍'), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
      assertFails(await app.post(path(id, '👍')), 400, 'ERR_BAD_REQUEST')
      assertFails(await react(app, id, 'ghost', '👍'), 404, 'ERR_UID_NOT_FOUND')
    })

    it('follow what a group allows its members', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['lin'] } }, as('ada')))
      const { id } = await sayIn(app, 'g', 'ada')
      const permissions = '/groups/g/scopes/participant/permissions'
      assertSucceeds(await app.put(permissions, { permissions: { addReaction: 'deny', listReactions: 'deny' } }))
      assertFails(await react(app, id, 'lin', '👍'), 403, 'ERR_PERMISSION_DENIED')
      assertFails(await app.get(`/messages/${id}/reactions`, as('lin')), 403, 'ERR_PERMISSION_DENIED')
      assertSucceeds(await react(app, id, 'ada', '👍'))
      const uids = async (uid: string) =>
        (await listed(app, id, '', as(uid))).data.map((each: { uid: string }) => each.uid)
      assert.deepEqual(await uids('ada'), ['ada'])
      const some = { addReaction: 'allow', listReactions: 'allow', 'listReactions.allowedScopes': ['participant'] }
      assertSucceeds(await app.put(permissions, { permissions: some }))
      assertSucceeds(await react(app, id, 'lin', '👍'))
      assert.deepEqual([await uids('ada'), await uids('lin')], [['ada', 'lin'], ['lin']])
    })

    it('survive an edit, and go with what is removed for good', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'lin', 'ada')
      assertSucceeds(await react(app, id, 'ada', '👍'))
      const { data: action } = assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'x' } }, as('lin')))
      assert.deepEqual(action.data.entities.on.entity.data.reactions, [{ reaction: '👍', count: 1 }])
      const found = async () => idsIn(assertSucceeds(await app.get('/messages?hasReactions=true')).data)
      assert.deepEqual(await found(), [id])
      const reply = await say(app, 'ada', 'lin', 'reply', { parentId: id })
      assertSucceeds(await react(app, reply.id, 'ada', '👍'))
      assertSucceeds(await app.delete(`/messages/${id}`, { permanent: true }))
      await h.settle()
      assert.deepEqual(await found(), [])
      const rows = (await dump(h)).reactions?.filter((row) => row.includes(app.id))
      assert.deepEqual(rows, [])
    })
  })
}
