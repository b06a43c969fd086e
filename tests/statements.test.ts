import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { type AppClient, assertSucceeds, type Caller, type House, house } from './support/house.ts'
import { appWith, as, clientOf, say, sayIn } from './support/talk.ts'
import { statementsDuring } from './support/tripwire.ts'

for (const database of databases) {
  describe(`statements on ${database}`, () => {
    let h: House
    let app: AppClient
    let client: Caller
    let parent = ''
    before(async () => {
      h = await house({ database, way: 'dispatch' })
      const others = Array.from({ length: 8 }, (_, n) => `u${n}`)
      app = await appWith(h, 'ann', 'bob', ...others)
      client = await clientOf(h, app, 'ann')
      for (const uid of [...others, 'bob']) {
        await say(app, 'ann', uid)
        const { id } = await say(app, uid, 'ann', `Hi <@uid:ann>`)
        if (uid !== 'bob') assertSucceeds(await app.post(`/messages/${id}/reactions/x`, {}, as(uid)))
        await say(app, uid, 'ann', 'again', { quotedMessageId: id })
        await say(app, uid, 'ann', 'reply', { parentId: id })
        if (uid === 'bob') parent = id
      }
      for (let n = 0; n < 25; n += 1) {
        const guid = `g${n}`
        assertSucceeds(
          await app.post('/groups', {
            guid,
            name: guid,
            type: 'public',
            owner: 'ann',
            members: { participants: ['bob'] },
          }),
        )
        await sayIn(app, guid, 'ann')
        await sayIn(app, guid, 'bob')
        if (n % 2) assertSucceeds(await app.post(`/groups/${guid}/conversation/read`, {}, as('ann')))
      }
      await h.settle()
    })
    after(() => h.close())

    const asked: [string, () => Promise<unknown>][] = [
      ...[
        '/conversations',
        '/messages',
        '/users/bob/messages',
        '/groups/g3/messages',
        '/threads',
        '/users',
        '/groups',
        '/groups/g3/members',
      ].flatMap((path): [string, () => Promise<unknown>][] => [
        [`client GET ${path}`, async () => assertSucceeds(await client.get(path))],
        [`server GET ${path}`, async () => assertSucceeds(await app.get(path))],
        [`acting GET ${path}`, async () => assertSucceeds(await app.get(path, as('ann')))],
      ]),
      ['client GET thread', async () => assertSucceeds(await client.get(`/messages/${parent}/thread`))],
      ['client GET unread', async () => assertSucceeds(await client.get('/messages?unread=true&count=true'))],
      [
        'client POST to user',
        async () =>
          assertSucceeds(
            await client.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'Hello' } }),
          ),
      ],
      [
        'client POST to group',
        async () =>
          assertSucceeds(
            await client.post('/messages', { receiver: 'g3', receiverType: 'group', data: { text: 'Hello' } }),
          ),
      ],
      [
        'server POST to user',
        async () =>
          assertSucceeds(
            await app.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'Hello' } }),
          ),
      ],
    ]
    it('counts', async () => {
      for (const [name, work] of asked) {
        h.service.house
        const statements = await statementsDuring(work)
        console.log(`## ${database} ${statements.length} ${name}`)
        if (process.env.SHOW)
          for (const [n, text] of statements.entries())
            console.log(`   ${n + 1}. ${text.replaceAll(/\s+/g, ' ').slice(0, Number(process.env.SHOW))}`)
      }
      assert.ok(true)
    })
  })
}
