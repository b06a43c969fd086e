import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import {
  type AppClient,
  assertSucceeds,
  type Caller,
  callerAt,
  type House,
  house,
} from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import { appWith, as, clientOf, say, sayIn } from '../../../../tests/support/talk.ts'

/** Who may do what with a message, through which door: every cell is written out. */

const acts = ['send', 'get', 'edit', 'delete', 'react', 'pin', 'list'] as const
type Act = (typeof acts)[number]

/** Short names for answers; a cell says what must come back. */
const codes: Record<string, string> = {
  noAccess: 'ERR_MESSAGE_NO_ACCESS',
  notSender: 'ERR_MESSAGE_NOT_A_SENDER',
  notJoined: 'ERR_GROUP_NOT_JOINED',
  banned: 'ERR_BANNED_GROUPMEMBER',
  denied: 'ERR_PERMISSION_DENIED',
  iBlocked: 'ERR_BLOCKED_RECEIVER',
  blockedMe: 'ERR_BLOCKED_SENDER',
  needsActor: 'ERR_BAD_REQUEST',
}

type Row = Record<Act, string>
const row = (
  send: string,
  get: string,
  edit: string,
  remove: string,
  react: string,
  pin: string,
  list: string,
): Row => ({
  send,
  get,
  edit,
  delete: remove,
  react,
  pin,
  list,
})

/** Lin wrote to Ada; Zoe wrote to Ada and was blocked after that; Max has to do with neither. */
const betweenTwo: Record<string, Row> = {
  app: row('ok', 'ok', 'ok', 'ok', 'needsActor', 'ok', 'ok'),
  sender: row('ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'),
  receiver: row('ok', 'ok', 'notSender', 'notSender', 'ok', 'ok', 'ok'),
  outsider: row('ok', 'noAccess', 'noAccess', 'noAccess', 'noAccess', 'noAccess', 'nothing'),
  blocked: row('blockedMe', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'),
  blocking: row('iBlocked', 'ok', 'notSender', 'notSender', 'ok', 'ok', 'ok'),
}

/** A participant said something in a group. */
const inGroup: Record<string, Row> = {
  app: row('ok', 'ok', 'ok', 'ok', 'needsActor', 'ok', 'ok'),
  sender: row('ok', 'ok', 'ok', 'ok', 'ok', 'denied', 'ok'),
  owner: row('ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'),
  admin: row('ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'),
  moderator: row('ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'),
  participant: row('ok', 'ok', 'notSender', 'notSender', 'ok', 'denied', 'ok'),
  outsider: row('notJoined', 'noAccess', 'noAccess', 'noAccess', 'noAccess', 'noAccess', 'notJoined'),
  banned: row('banned', 'noAccess', 'noAccess', 'noAccess', 'noAccess', 'noAccess', 'banned'),
}

for (const database of databases) {
  describe(`who may do what with messages on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    /** One way for a user to call: a server that acts for him, or his own client. */
    async function callersFor(app: AppClient, uid: string | undefined): Promise<[string, Caller][]> {
      if (uid === undefined) return [['server', app]]
      const server = callerAt(h.client, app.host, '/v3', { apikey: app.apiKey, ...as(uid) })
      return [
        ['server on behalf', server],
        ['client', await clientOf(h, app, uid)],
      ]
    }

    function ask(
      caller: Caller,
      act: Act,
      id: string,
      to: { receiver: string; receiverType: string },
    ): Promise<Answer> {
      const list = to.receiverType === 'group' ? `/groups/${to.receiver}/messages` : `/users/${to.receiver}/messages`
      switch (act) {
        case 'send':
          return caller.post('/messages', { ...to, data: { text: 'Hello' } })
        case 'get':
          return caller.get(`/messages/${id}`)
        case 'edit':
          return caller.put(`/messages/${id}`, { data: { text: 'Edited' } })
        case 'delete':
          return caller.delete(`/messages/${id}`)
        case 'react':
          return caller.post(`/messages/${id}/reactions/yes`)
        case 'pin':
          return caller.post(`/messages/${id}/pin`)
        case 'list':
          return caller.get(`${list}?limit=100&affix=prepend`)
      }
    }

    function assertCell(answer: Answer, cell: string, id: string, act: Act, where: string): void {
      if (cell !== 'ok' && cell !== 'nothing') {
        assert.equal(answer.body.error?.code, codes[cell], `${where}: ${answer.text}`)
        return
      }
      assert.equal(answer.status, 200, `${where}: ${answer.text}`)
      if (act !== 'list') return
      const listed = answer.body.data.map((message: { id: string }) => message.id)
      assert.equal(listed.includes(id), cell === 'ok', where)
    }

    it('between two', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max', 'zoe')
      const roles: [string, string | undefined, string, string][] = [
        // who, acting as, whose message, and with whom
        ['app', undefined, 'lin', 'ada'],
        ['sender', 'lin', 'lin', 'ada'],
        ['receiver', 'ada', 'lin', 'lin'],
        ['outsider', 'max', 'lin', 'ada'],
        ['blocked', 'zoe', 'zoe', 'ada'],
        ['blocking', 'ada', 'zoe', 'zoe'],
      ]
      for (const [who, uid, author, other] of roles) {
        for (const [door, caller] of await callersFor(app, uid)) {
          for (const act of acts) {
            await app.delete('/users/ada/blockedusers', { blockedUids: ['zoe'] })
            const { id } = await say(app, author, 'ada')
            assertSucceeds(await app.post('/users/ada/blockedusers', { blockedUids: ['zoe'] }))
            const answer = await ask(caller, act, id, { receiver: other, receiverType: 'user' })
            assertCell(answer, betweenTwo[who]?.[act] ?? '', id, act, `${who}, ${door}: ${act}`)
          }
        }
      }
    })

    it('in a group', async () => {
      const app = await appWith(h, 'own', 'adm', 'mod', 'par', 'lin', 'out', 'ban')
      const members = { admins: ['adm'], moderators: ['mod'], participants: ['par', 'lin'], usersToBan: ['ban'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('own')))
      const roles: [string, string | undefined][] = [
        ['app', undefined],
        ['sender', 'lin'],
        ['owner', 'own'],
        ['admin', 'adm'],
        ['moderator', 'mod'],
        ['participant', 'par'],
        ['outsider', 'out'],
        ['banned', 'ban'],
      ]
      for (const [who, uid] of roles) {
        for (const [door, caller] of await callersFor(app, uid)) {
          for (const act of acts) {
            const { id } = await sayIn(app, 'crew', 'lin')
            const answer = await ask(caller, act, id, { receiver: 'crew', receiverType: 'group' })
            assertCell(answer, inGroup[who]?.[act] ?? '', id, act, `${who}, ${door}: ${act}`)
          }
        }
      }
    })

    it('removing for good is for servers', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const client = await clientOf(h, app, 'lin')
      const { id } = await say(app, 'lin', 'ada')
      for (const refused of [
        await client.delete(`/messages/${id}`, { permanent: true }),
        await client.delete('/users/ada/conversation', { deleteMessagesPermanently: true }),
      ]) {
        assert.deepEqual([refused.status, refused.body.error?.code], [403, 'AUTH_ERR_NO_ACCESS'])
      }
      assertSucceeds(await client.get(`/messages/${id}`))
      const asLin = await app.delete(`/messages/${id}`, { permanent: true }, as('lin'))
      assert.equal(assertSucceeds(asLin).data.data.action, 'deleted')
    })

    it('whoever has left a group has left its messages', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['lin'] } }, as('ada')))
      const { id } = await sayIn(app, 'g', 'lin')
      assertSucceeds(await app.delete('/groups/g/members/lin'))
      const client = await clientOf(h, app, 'lin')
      for (const act of ['get', 'edit', 'delete', 'react', 'pin'] as const) {
        const answer = await ask(client, act, id, { receiver: 'g', receiverType: 'group' })
        assertCell(answer, 'noAccess', id, act, act)
      }
      assert.deepEqual(assertSucceeds(await client.get('/messages')).data, [])
    })

    it('what a role may not do is refused, whatever the message', async () => {
      const app = await appWith(h, 'ada')
      assertSucceeds(await app.post('/roles', { role: 'guest', name: 'Guest' }))
      assertSucceeds(await app.post('/users', { uid: 'gus', name: 'Gus', role: 'guest' }))
      const { id } = await say(app, 'gus', 'ada')
      const permissions = { sendMessage: 'deny', editMessage: 'deny', deleteMessage: 'deny' }
      assertSucceeds(await app.put('/roles/guest/permissions', { permissions }))
      const client = await clientOf(h, app, 'gus')
      for (const act of ['send', 'edit', 'delete'] as const) {
        const answer = await ask(client, act, id, { receiver: 'ada', receiverType: 'user' })
        assertCell(answer, 'denied', id, act, act)
      }
    })
  })
}
