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
  notAdmin: 'ERR_GROUP_NO_ADMIN_SCOPE',
  notModerator: 'ERR_GROUP_NO_MODERATOR_SCOPE',
  noClearance: 'ERR_GROUP_NO_CLEARANCE',
  noScope: 'ERR_GROUP_NO_SCOPE_CLEARANCE',
}

type Cells<Act extends string> = Record<string, Record<Act, string>>

/** A table as it is read: who down the side, acts along the top, in every cell what is answered. */
function cellsOf<Act extends string>(acts: readonly Act[], table: string): Cells<Act> {
  const [head = [], ...rows] = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  assert.deepEqual(head, [...acts], 'every act has a column')
  return Object.fromEntries(
    rows.map(([who = '', ...cells]) => {
      assert.equal(cells.length, acts.length, `${who} has a cell for every act`)
      return [who, Object.fromEntries(acts.map((act, n) => [act, cells[n] ?? '']))]
    }),
  ) as Cells<Act>
}

const acts = [
  ...(['send', 'reply', 'get', 'edit', 'delete', 'react', 'unreact', 'reactions'] as const),
  ...(['pin', 'unpin', 'save', 'receipts', 'replies', 'read', 'list'] as const),
]
type Act = (typeof acts)[number]

/** Lin wrote to Ada; Zoe wrote to Ada and was blocked after that; Max has to do with neither. */
const betweenTwo = cellsOf(
  acts,
  `
           send      reply      get      edit      delete    react      unreact    reactions pin      unpin    save       receipts replies  read       list
  app      ok        needsActor ok       ok        ok        needsActor needsActor ok        ok       ok       needsActor ok       ok       needsActor ok
  sender   ok        ok         ok       ok        ok        ok         ok         ok        ok       ok       ok         ok       ok       ok         ok
  receiver ok        ok         ok       notSender notSender ok         ok         ok        ok       ok       ok         ok       ok       ok         ok
  outsider ok        noAccess   noAccess noAccess  noAccess  noAccess   noAccess   noAccess  noAccess noAccess noAccess   noAccess noAccess ok         nothing
  blocked  blockedMe blockedMe  ok       ok        ok        ok         ok         ok        ok       ok       ok         ok       ok       ok         ok
  blocking iBlocked  iBlocked   ok       notSender notSender ok         ok         ok        ok       ok       ok         ok       ok       ok         ok
`,
)

/** A participant said something in a group. */
const inGroup = cellsOf(
  acts,
  `
              send      reply      get      edit      delete    react      unreact    reactions pin      unpin    save       receipts replies  read       list
  app         ok        needsActor ok       ok        ok        needsActor needsActor ok        ok       ok       needsActor ok       ok       needsActor ok
  sender      ok        ok         ok       ok        ok        ok         ok         ok        denied   denied   ok         ok       ok       ok         ok
  owner       ok        ok         ok       ok        ok        ok         ok         ok        ok       ok       ok         ok       ok       ok         ok
  admin       ok        ok         ok       ok        ok        ok         ok         ok        ok       ok       ok         ok       ok       ok         ok
  moderator   ok        ok         ok       ok        ok        ok         ok         ok        ok       ok       ok         ok       ok       ok         ok
  participant ok        ok         ok       notSender notSender ok         ok         ok        denied   denied   ok         ok       ok       ok         ok
  outsider    notJoined noAccess   noAccess noAccess  noAccess  noAccess   noAccess   noAccess  noAccess noAccess noAccess   noAccess noAccess notJoined  notJoined
  banned      banned    noAccess   noAccess noAccess  noAccess  noAccess   noAccess   noAccess  noAccess noAccess noAccess   noAccess noAccess banned     banned
`,
)

const deeds = [
  'add',
  'kick',
  'kickMod',
  'scope',
  'ban',
  'banMod',
  'unban',
  'bans',
  'members',
  'change',
  'remove',
] as const
type Deed = (typeof deeds)[number]

/** What can be done to a private group and its members: a participant, or a moderator where the deed says so. */
const toGroup = cellsOf(
  deeds,
  `
              add       kick        kickMod     scope     ban         banMod      unban       bans         members   change       remove
  app         ok        ok          ok          ok        ok          ok          ok          ok           ok        ok         ok
  owner       ok        ok          ok          ok        ok          ok          ok          ok           ok        ok         ok
  admin       ok        ok          ok          ok        ok          ok          ok          ok           ok        ok         ok
  moderator   notAdmin  ok          noClearance ok        ok          noClearance ok          ok           ok        ok           notAdmin
  participant notAdmin  noClearance noClearance noScope   noClearance noClearance noClearance notModerator ok        notModerator notAdmin
  outsider    notJoined notJoined   notJoined   notJoined notJoined   notJoined   notJoined   notJoined    notJoined notJoined    notJoined
  banned      banned    banned      banned      banned    banned      banned      banned      banned       banned    banned       banned
`,
)

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
      const other = to.receiverType === 'group' ? `/groups/${to.receiver}` : `/users/${to.receiver}`
      const asked: Record<Act, () => Promise<Answer>> = {
        send: () => caller.post('/messages', { ...to, data: { text: 'Hello' } }),
        reply: () => caller.post(`/messages/${id}/thread`, { data: { text: 'Hello' } }),
        get: () => caller.get(`/messages/${id}`),
        edit: () => caller.put(`/messages/${id}`, { data: { text: 'Edited' } }),
        delete: () => caller.delete(`/messages/${id}`),
        react: () => caller.post(`/messages/${id}/reactions/yes`),
        unreact: () => caller.delete(`/messages/${id}/reactions/yes`),
        reactions: () => caller.get(`/messages/${id}/reactions`),
        pin: () => caller.post(`/messages/${id}/pin`),
        unpin: () => caller.delete(`/messages/${id}/pin`),
        save: () => caller.post(`/messages/${id}/save`),
        receipts: () => caller.get(`/messages/${id}/receipts`),
        replies: () => caller.get(`/messages/${id}/thread`),
        read: () => caller.post(`${other}/conversation/read`),
        list: () => caller.get(`${other}/messages?limit=100&affix=prepend`),
      }
      return asked[act]()
    }

    function assertCell(answer: Answer, cell: string, id: string, act: string, where: string): void {
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
            const blocks = { blockedUids: ['zoe'] }
            if (author === 'zoe') assertSucceeds(await app.delete('/users/ada/blockedusers', blocks))
            const { id } = await say(app, author, 'ada')
            if (author === 'zoe') assertSucceeds(await app.post('/users/ada/blockedusers', blocks))
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

    it('to a group and its members', async () => {
      const uids = ['own', 'adm', 'mod', 'par', 'out', 'ban', 'vic', 'sub', 'new']
      const roles: [string, string | undefined][] = [
        ['app', undefined],
        ['owner', 'own'],
        ['admin', 'adm'],
        ['moderator', 'mod'],
        ['participant', 'par'],
        ['outsider', 'out'],
        ['banned', 'ban'],
      ]
      const app = await appWith(h, ...uids)
      const asked: Record<Deed, (caller: Caller) => Promise<Answer>> = {
        add: (caller) => caller.post('/groups/crew/members', { participants: ['new'] }),
        kick: (caller) => caller.delete('/groups/crew/members/vic'),
        kickMod: (caller) => caller.delete('/groups/crew/members/sub'),
        scope: (caller) => caller.put('/groups/crew/members/vic', { scope: 'moderator' }),
        ban: (caller) => caller.post('/groups/crew/bannedusers/vic'),
        banMod: (caller) => caller.post('/groups/crew/banned_members/sub'),
        unban: (caller) => caller.delete('/groups/crew/bannedusers/ban'),
        bans: (caller) => caller.get('/groups/crew/bannedusers'),
        members: (caller) => caller.get('/groups/crew/members'),
        change: (caller) => caller.put('/groups/crew', { name: 'Another' }),
        remove: (caller) => caller.delete('/groups/crew'),
      }
      const admins = ['adm']
      const moderators = ['mod', 'sub']
      const members = { admins, moderators, participants: ['par', 'vic'], usersToBan: ['ban'] }
      const group = { guid: 'crew', name: 'Crew', type: 'private', members }
      for (const [who, uid] of roles) {
        for (const [door, caller] of await callersFor(app, uid)) {
          let changed = true
          for (const deed of deeds) {
            if (changed) {
              await app.delete('/groups/crew')
              assertSucceeds(await app.post('/groups', group, as('own')))
            }
            const answer = await asked[deed](caller)
            assertCell(answer, toGroup[who]?.[deed] ?? '', '', deed, `${who}, ${door}: ${deed}`)
            changed = answer.status === 200
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
      const cells = Object.entries(inGroup.outsider ?? {}).filter(([, cell]) => cell === 'noAccess')
      for (const [act] of cells as [Act, string][]) {
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
