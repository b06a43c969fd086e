import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, type House, house } from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'

const as = (uid: string) => ({ onbehalfof: uid })
const text = (receiver: string, words: string, more: object = {}) => ({
  receiver,
  receiverType: 'user',
  data: { text: words },
  ...more,
})

function assertFails({ status, body }: Answer, expected: number, code: string): void {
  assert.deepEqual([status, body.error?.code], [expected, code], JSON.stringify(body))
}

for (const database of databases) {
  describe(`messages on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await h.app('one')
      for (const [uid, name] of [
        ['ada', 'Ada Bek'],
        ['lin', 'Lin Oke'],
        ['max', 'Max Weiß'],
        ['out', 'Outsider'],
      ]) {
        await app.post('/users', { uid, name })
      }
      await app.post(
        '/groups',
        { guid: 'crew', name: 'Crew', type: 'public', members: { participants: ['lin', 'max'] } },
        as('ada'),
      )
    })
    after(() => h.close())

    describe('send', () => {
      it('answers the record of the contract', async () => {
        const { status, body } = await app.post(
          '/messages',
          text('ada', 'Boat at nine, <@uid:ada>?', {
            muid: 'c7f1',
            tags: ['plan', 'plan'],
            data: { text: 'Boat at nine, <@uid:ADA> and <@uid:nobody>?', metadata: '{"mood":"calm"}', extra: [1] },
          }),
          as('lin'),
        )
        assert.equal(status, 200, JSON.stringify(body))
        const { data } = body
        assert.match(data.id, /^\d+$/)
        assert.deepEqual(
          { ...data, id: '', sentAt: 0, updatedAt: 0, data: undefined },
          {
            id: '',
            muid: 'c7f1',
            conversationId: 'ada_user_lin',
            sender: 'lin',
            receiver: 'ada',
            receiverType: 'user',
            category: 'message',
            type: 'text',
            data: undefined,
            sentAt: 0,
            updatedAt: 0,
            threadSubscribed: true,
            tags: ['plan'],
          },
        )
        assert.equal(data.data.text, 'Boat at nine, <@uid:ADA> and <@uid:nobody>?')
        assert.deepEqual(data.data.metadata, { mood: 'calm' })
        assert.deepEqual(Object.keys(data.data.mentions), ['ada'])
        assert.equal(data.data.entities.sender.entity.uid, 'lin')
        assert.equal(data.data.entities.receiver.entity.conversationId, 'ada_user_lin')
        assert.deepEqual(data.data.extra, [1])
      })

      it('speaks as the app where nobody acts', async () => {
        const { body } = await app.post('/messages', text('ada', 'Maintenance at ten'))
        assert.equal(body.data.sender, 'app_system')
        assert.equal(body.data.conversationId, 'ada_user_app_system')
      })

      it('goes to many receivers, and tells each outcome', async () => {
        const { status, body } = await app.post(
          '/messages',
          { multipleReceivers: { uids: ['ada', 'ghost'], guids: ['crew', 'none'] }, data: { text: 'All hands' } },
          as('lin'),
        )
        assert.equal(status, 200)
        assert.equal(body.data.uids.ada.data.receiver, 'ada')
        assert.equal(body.data.uids.ghost.error.code, 'ERR_UID_NOT_FOUND')
        assert.equal(body.data.guids.crew.data.receiverType, 'group')
        assert.equal(body.data.guids.none.error.code, 'ERR_GUID_NOT_FOUND')
      })

      it('goes to many receivers as long as all of it together is little, where a user speaks', async () => {
        const uids = Array.from({ length: 8 }, (_, n) => `ghost-${n}`)
        const toSome = (some: string[]) => ({ multipleReceivers: { uids: some }, data: { text: 'x'.repeat(2_500) } })
        const refused = await app.post('/messages', toSome(uids), as('lin'))
        assertFails(refused, 400, 'ERR_BAD_REQUEST')
        assert.deepEqual(Object.keys(refused.body.error.details), ['multipleReceivers'])
        assert.equal((await app.post('/messages', toSome(uids.slice(0, 6)), as('lin'))).status, 200)
        assert.equal((await app.post('/messages', toSome(uids))).status, 200)
      })

      it('makes one message of a muid, however often and at once it is sent', async () => {
        const sends = await Promise.all(
          Array.from({ length: 100 }, () => app.post('/messages', text('max', 'once', { muid: 'same' }), as('lin'))),
        )
        assert.equal(new Set(sends.map(({ body }) => body.data.id)).size, 1)
        const other = await app.post('/messages', text('lin', 'once', { muid: 'same' }), as('max'))
        assert.notEqual(other.body.data.id, sends[0]?.body.data.id)
      })

      it('numbers messages upwards, also at once', async () => {
        const sends = await Promise.all(
          Array.from({ length: 60 }, (_, n) => app.post('/messages', text(n % 2 ? 'ada' : 'max', `n${n}`), as('lin'))),
        )
        const ids = sends.map(({ body }) => Number(body.data.id))
        assert.equal(new Set(ids).size, 60)
      })

      it('asks for membership in a group, and for the absence of blocks between two', async () => {
        const toCrew = { receiver: 'crew', receiverType: 'group', data: { text: 'hello' } }
        assertFails(await app.post('/messages', toCrew, as('out')), 403, 'ERR_GROUP_NOT_JOINED')
        await app.post('/users/max/blockedusers', { blockedUids: ['out'] })
        assertFails(await app.post('/messages', text('out', 'x'), as('max')), 403, 'ERR_BLOCKED_RECEIVER')
        assertFails(await app.post('/messages', text('max', 'x'), as('out')), 403, 'ERR_BLOCKED_SENDER')
        assert.equal((await app.post('/messages', text('max', 'from the app'))).status, 200)
        await app.delete('/users/max/blockedusers', { blockedUids: ['out'] })
      })
    })

    describe('files', () => {
      it('come with the message in a form, are shown by signed addresses, and go with it', async () => {
        const boundary = 'xyz'
        const part = (name: string, value: string, more = '') =>
          `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
        const raw = [
          part('receiver', 'ada'),
          part('receiverType', 'user'),
          part('data', JSON.stringify({ text: 'the plan' })),
          part('file', 'rows of oak', '; filename="../plan.txt"'),
          `--${boundary}--\r\n`,
        ].join('')
        const headers = { ...as('lin'), 'content-type': `multipart/form-data; boundary=${boundary}` }
        const { status, body } = await app.send('/messages', { method: 'POST', raw, headers })
        assert.equal(status, 200, JSON.stringify(body))
        const [attachment] = body.data.data.attachments
        assert.deepEqual([body.data.type, attachment.name, attachment.size], ['file', 'plan.txt', 11])
        assert.equal(body.data.data.url, attachment.url)
        const { pathname, host } = new URL(attachment.url)
        const fetched = await h.client.send(host.split(':')[0] ?? '', pathname)
        assert.deepEqual([fetched.status, fetched.text], [200, 'rows of oak'])
        const again = await app.post(
          '/messages',
          { receiver: 'max', receiverType: 'user', type: 'file', data: { attachments: [attachment] } },
          as('lin'),
        )
        assert.equal(again.status, 200, again.text)
        const forged = [{ ...attachment, url: `parley-file:${'a'.repeat(20)}` }]
        assertFails(
          await app.post(
            '/messages',
            { receiver: 'ada', receiverType: 'user', type: 'file', data: { attachments: forged } },
            as('lin'),
          ),
          400,
          'ERR_INVALID_MEDIA_MESSAGE',
        )
        for (const { id } of [body.data, again.body.data]) await app.delete(`/messages/${id}`, undefined, as('lin'))
        await h.settle()
        assert.equal((await h.client.send(host.split(':')[0] ?? '', pathname)).status, 404)
      })
    })

    describe('bots and receipts', () => {
      it('speak through a server, in groups they are no part of', async () => {
        await app.post('/roles', { role: 'bot', name: 'Bots' })
        await app.post('/users', { uid: 'robo', name: 'Robo', role: 'bot' })
        const body = { receiver: 'crew', receiverType: 'group', data: { text: 'beep' } }
        const { status, body: sent } = await app.post('/bots/robo/messages', body)
        assert.deepEqual([status, sent.data?.sender], [200, 'robo'], JSON.stringify(sent))
        assertFails(await app.post('/bots/ada/messages', body), 404, 'ERR_BOT_NOT_FOUND')
        assertFails(await app.post('/bots/ghost/messages', body), 404, 'ERR_UID_NOT_FOUND')
      })

      it('tell who has received and read a message', async () => {
        const { body: sent } = await app.post(
          '/messages',
          { receiver: 'crew', receiverType: 'group', data: { text: 'all' } },
          as('ada'),
        )
        await app.post('/groups/crew/conversation/delivered', undefined, as('lin'))
        await app.post('/groups/crew/conversation/read', undefined, as('max'))
        const { body } = await app.get(`/messages/${sent.data.id}/receipts`, as('ada'))
        const told = body.data.map(({ sender, receiptType }: { sender: { uid: string }; receiptType: string }) => [
          sender.uid,
          receiptType,
        ])
        assert.deepEqual(told, [
          ['lin', 'delivery'],
          ['max', 'read'],
        ])
        const path = `/messages/${sent.data.id}/receipts`
        const uids = ({ body: { data } }: Answer) => data.map(({ sender }: { sender: { uid: string } }) => sender.uid)
        const first = await app.get(`${path}?limit=1`)
        assert.deepEqual(first.body.meta, {
          current: { limit: 1, count: 1 },
          next: { affix: 'append', id: 'lin' },
          previous: { affix: 'prepend', id: 'lin' },
        })
        const second = await app.get(`${path}?limit=1&affix=append&id=LIN`)
        assert.deepEqual([uids(second), second.body.meta.next], [['max'], { affix: 'append', id: 'max' }])
        assert.deepEqual(second.body.meta.previous, { affix: 'prepend', id: 'max' })
        assert.deepEqual(uids(await app.get(`${path}?limit=5&affix=prepend&id=max`)), ['lin'])
        assert.equal((await app.get(`${path}?limit=5000`)).body.meta.current.limit, 1000)
        assert.equal((await app.get(path)).body.meta.current.limit, 100)
      })
    })

    describe('edit and delete', () => {
      it('answers the action message, with the edited one inside', async () => {
        const { body: sent } = await app.post('/messages', text('ada', 'Boat at nine'), as('lin'))
        const { status, body } = await app.put(
          `/messages/${sent.data.id}`,
          { data: { text: 'Boat at ten <@uid:max>' }, tags: ['new'] },
          as('lin'),
        )
        assert.equal(status, 200, JSON.stringify(body))
        const { data } = body
        assert.deepEqual(
          [data.category, data.type, data.data.action, data.sender],
          ['action', 'message', 'edited', 'lin'],
        )
        const { entity } = data.data.entities.on
        assert.deepEqual(
          [entity.id, entity.data.text, entity.editedBy],
          [sent.data.id, 'Boat at ten <@uid:max>', 'lin'],
        )
        const { body: now } = await app.get(`/messages/${sent.data.id}`, as('ada'))
        assert.equal(now.data.data.text, 'Boat at ten <@uid:max>')
        assert.deepEqual(Object.keys(now.data.data.mentions), ['max'])
        assert.deepEqual(now.data.tags, ['new'])
      })

      it('takes the content away, and then nothing more can be done', async () => {
        const { body: sent } = await app.post('/messages', text('ada', 'Oops'), as('lin'))
        const { body } = await app.delete(`/messages/${sent.data.id}`, undefined, as('lin'))
        assert.equal(body.data.data.action, 'deleted')
        const { body: now } = await app.get(`/messages/${sent.data.id}`, as('ada'))
        assert.deepEqual(Object.keys(now.data.data), ['entities'])
        assert.equal(now.data.deletedBy, 'lin')
        assertFails(
          await app.put(`/messages/${sent.data.id}`, { data: { text: 'x' } }, as('lin')),
          403,
          'ERR_MESSAGE_ACTION_NOT_ALLOWED',
        )
        assertFails(
          await app.delete(`/messages/${sent.data.id}`, undefined, as('lin')),
          403,
          'ERR_MESSAGE_ACTION_NOT_ALLOWED',
        )
      })

      it('removes for good what is to be gone, with its thread', async () => {
        const { body: sent } = await app.post('/messages', text('ada', 'Secret'), as('lin'))
        const { body: reply } = await app.post('/messages', text('lin', 'Reply', { parentId: sent.data.id }), as('ada'))
        const { body } = await app.delete(`/messages/${sent.data.id}`, { permanent: true }, as('lin'))
        assert.equal(body.data.data.action, 'deleted')
        await h.settle()
        for (const id of [sent.data.id, reply.data.id])
          assertFails(await app.get(`/messages/${id}`), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
      })

      it('is for the sender, and for admins and moderators of the group', async () => {
        const { body: direct } = await app.post('/messages', text('ada', 'mine'), as('lin'))
        assertFails(
          await app.put(`/messages/${direct.data.id}`, { data: { text: 'x' } }, as('ada')),
          403,
          'ERR_MESSAGE_NOT_A_SENDER',
        )
        assertFails(
          await app.put(`/messages/${direct.data.id}`, { data: { text: 'x' } }, as('max')),
          403,
          'ERR_MESSAGE_NO_ACCESS',
        )
        const { body: said } = await app.post(
          '/messages',
          { receiver: 'crew', receiverType: 'group', data: { text: 'hi' } },
          as('lin'),
        )
        assertFails(
          await app.delete(`/messages/${said.data.id}`, undefined, as('max')),
          403,
          'ERR_MESSAGE_NOT_A_SENDER',
        )
        assert.equal((await app.delete(`/messages/${said.data.id}`, undefined, as('ada'))).status, 200)
        const { body: other } = await app.post('/messages', text('ada', 'again'), as('lin'))
        assert.equal(
          (await app.put(`/messages/${other.data.id}`, { data: { text: 'by the app' } })).body.data.sender,
          'app_system',
        )
      })
    })

    describe('list', () => {
      it('reads on and back without a gap', async () => {
        await app.post('/users', { uid: 'p1', name: 'P1' })
        await app.post('/users', { uid: 'p2', name: 'P2' })
        const sent: string[] = []
        for (let n = 0; n < 25; n += 1)
          sent.push((await app.post('/messages', text('p2', `m${n}`), as('p1'))).body.data.id)
        const ids = ({ body }: Answer) => body.data.map(({ id }: { id: string }) => id)
        const first = await app.get('/users/p2/messages?limit=10', as('p1'))
        assert.deepEqual(ids(first), sent.slice(0, 10))
        assert.equal(first.body.meta.next.id, sent[9])
        assert.equal(first.body.meta.previous.id, sent[0])
        const second = await app.get(`/users/p2/messages?limit=10&id=${sent[9]}&affix=append`, as('p1'))
        assert.deepEqual(ids(second), sent.slice(10, 20))
        const newest = await app.get('/users/p2/messages?limit=10&affix=prepend', as('p1'))
        assert.deepEqual(ids(newest), sent.slice(15))
        assert.equal(newest.body.meta.next.id, sent[24])
        const all = await app.get('/users/p2/messages?perPage=10&page=3')
        assert.deepEqual(ids(all), sent.slice(20))
        assert.equal(all.body.meta.pagination.total, 25)
        const mine = await app.get('/messages?limit=100', as('p2'))
        assert.deepEqual(ids(mine), sent)
        assert.deepEqual(ids(await app.get('/messages?limit=3&affix=prepend', as('p2'))), sent.slice(22))
      })
    })
  })
}
