import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { beforeSend } from '../server/src/areas/messages/index.ts'
import { placeOfGroup } from '../server/src/areas/timeline/index.ts'
import { doctor } from '../server/src/cli/doctor.ts'
import { area } from '../server/src/kit/area.ts'
import type { TenantTable } from '../server/src/storage/tables.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { databases } from './support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import type { Answer } from './support/http.ts'
import { appWith, as, clientOf, sayIn } from './support/talk.ts'
import { settleUntil, untilOverOrHeldUp } from './support/until.ts'

/** Nothing of a group outlives it, whoever writes into it at the moment it is deleted. */

const groupsAtOnce = 24
const belongings: TenantTable[] = [
  'groups',
  'group_tags',
  'group_members',
  'group_bans',
  'scope_permissions',
  'conversations',
  'conversation_rows',
  'conversation_pins',
  'receipt_marks',
  'messages',
  'message_mentions',
  'message_tags',
  'message_actions',
  'reactions',
]

let next: (() => Promise<void>) | undefined

const holdingUp = area({
  name: 'holding-up',
  about: 'Stops a message just before it is written, when its group has been read.',
  answers: [
    beforeSend.answeredBy(async () => {
      const wait = next
      next = undefined
      await wait?.()
      return 'pass'
    }),
  ],
})

for (const database of databases) {
  describe(`deleted groups on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database, areas: [holdingUp] })
    })
    after(() => h.close())

    async function assertNothingLeft(app: AppClient): Promise<void> {
      await h.settle()
      const db = tenantDb(h.service.house.database.reader, app.id)
      const left = async () => {
        const rows = belongings.map((table) =>
          db
            .select(table as 'groups')
            .selectAll()
            .execute(),
        )
        return (await Promise.all(rows)).flat()
      }
      // A busy database holds back for a while what the log tells.
      await settleUntil(h, 'nothing of the groups is left', async () => (await left()).length === 0)
      const counts = await db.select('tallies').selectAll().where('tallies.list', '!=', 'users').execute()
      assert.deepEqual(
        counts.filter(({ n }) => n !== 0),
        [],
      )
      await assertSound()
    }

    async function assertSound(): Promise<void> {
      const examined = await doctor.run({ config: h.service.house.config, words: [], flags: {}, json: true })
      assert.ok(examined?.ok, examined?.text)
    }

    const create = async (app: AppClient, guid: string) =>
      assertSucceeds(await app.post('/groups', { guid, name: guid, members: { participants: ['lin'] } }, as('ada')))

    it('take with them whatever is written while they are deleted', async () => {
      const app = await appWith(h, 'ada', 'lin', 'bo', 'evil')
      const guids = Array.from({ length: groupsAtOnce }, (_, n) => `g${n}`)
      const client = await clientOf(h, app, 'bo')
      const acts = []
      for (const [n, guid] of guids.entries()) {
        // Every other group has had nobody in it, and so no conversation yet.
        const spoken = n % 2 === 0
        if (spoken) await create(app, guid)
        else assertSucceeds(await app.post('/groups', { guid, name: guid }))
        const message = spoken ? await sayIn(app, guid, 'lin', 'First') : undefined
        const said = { receiver: guid, receiverType: 'group', data: { text: 'Hello <@uid:lin>' }, tags: ['t'] }
        acts.push(
          () => app.post('/messages', said),
          () => app.delete(`/groups/${guid}`),
          () => app.post('/messages', { ...said, muid: 'm' }, as('lin')),
          () => app.post(`/groups/${guid}/members`, { participants: ['bo'], usersToBan: ['evil'] }),
          () => client.post(`/groups/${guid}/join`),
          () => app.post(`/groups/${guid}/bannedusers/evil`),
          () => app.put(`/groups/${guid}/scopes/admin/permissions`, { permissions: { sendMessage: 'deny' } }),
          ...(message
            ? [
                () => app.put(`/messages/${message.id}`, { data: { text: 'Changed' } }),
                () => app.delete(`/messages/${message.id}`, undefined, as('lin')),
                () => app.post(`/messages/${message.id}/reactions/like`, undefined, as('lin')),
              ]
            : []),
          () => app.post('/messages', said),
        )
      }
      const answers = await Promise.all(acts.map((act) => act()))
      for (const { status, text } of answers) assert.ok(status < 500, text)
      await assertNothingLeft(app)
    })

    it('give their GUID to the next, who keeps what is its own', async () => {
      const app = await appWith(h, 'ada', 'lin', 'bo')
      const guids = ['a', 'b', 'c', 'd']
      const turn = async (guid: string, n: number): Promise<Answer[]> => {
        const said = { receiver: guid, receiverType: 'group', data: { text: `Hello ${n}` } }
        // A group without members has no conversation; whoever comes next begins one while the last is cleared away.
        const members = n % 2 === 0 ? { participants: ['lin'] } : undefined
        return Promise.all([
          app.delete(`/groups/${guid}`),
          app.post('/groups', { guid, name: guid, members }),
          app.post('/messages', said),
          app.post(`/groups/${guid}/members`, { participants: ['bo'] }),
        ])
      }
      await Promise.all(
        guids.map(async (guid) => {
          for (let n = 0; n < 8; n += 1) {
            for (const { status, text } of await turn(guid, n)) assert.ok(status < 500, text)
          }
        }),
      )
      for (const guid of guids) await app.post('/groups', { guid, name: guid })
      await h.settle()
      const db = tenantDb(h.service.house.database.reader, app.id)
      const groups = await db.select('groups').selectAll().orderBy('groups.guid').execute()
      const members = await db.select('group_members').selectAll().orderBy('group_members.uid').execute()
      assert.deepEqual(
        groups.map(({ guid }) => guid),
        guids,
      )
      const ids = groups.map(({ id }) => id)
      assert.deepEqual(
        members.filter(({ group_id }) => !ids.includes(group_id)),
        [],
      )
      for (const { guid, id, members_count } of groups) {
        const uids = members.filter(({ group_id }) => group_id === id).map(({ uid }) => uid)
        const { conversationKey } = placeOfGroup(guid)
        const rows = db
          .select('conversation_rows')
          .selectAll()
          .where('conversation_rows.conversation_key', '=', conversationKey)
        assert.deepEqual(
          (await rows.orderBy('conversation_rows.uid').execute()).map(({ uid }) => uid),
          uids,
        )
        assert.equal(uids.length, members_count)
        const stale = db
          .select('messages')
          .innerJoin('conversations', (join) =>
            join
              .onRef('conversations.app_id', '=', 'messages.app_id')
              .onRef('conversations.conversation_key', '=', 'messages.conversation_key'),
          )
          .select('messages.id')
          .whereRef('messages.seq', '<=', 'conversations.purged_seq')
        assert.equal((await stale.execute()).length, 0)
      }
      await assertSound()
    })

    it('wait for a message that is being sent, and refuse the next one', async () => {
      const app = await appWith(h, 'ada', 'lin')
      for (const guid of ['spoken', 'silent']) {
        if (guid === 'spoken') await create(app, guid)
        else assertSucceeds(await app.post('/groups', { guid, name: guid }))
        const send = () => app.post('/messages', { receiver: guid, receiverType: 'group', data: { text: 'Hello' } })
        const { arrived, letGo } = holdUpSending()
        const sending = send()
        await arrived
        const deleting = app.delete(`/groups/${guid}`)
        // Were it not to wait, it would be done by then, and all that was there cleared away.
        await untilOverOrHeldUp(
          h,
          deleting.then(() => h.settle()),
        )
        letGo()
        assertSucceeds(await sending)
        assertSucceeds(await deleting)
        assertFails(await send(), 404, 'ERR_GUID_NOT_FOUND')
      }
      await assertNothingLeft(app)
    })
  })
}

/** Stops the next message. */
function holdUpSending() {
  const arriving = Promise.withResolvers<void>()
  const going = Promise.withResolvers<void>()
  next = () => {
    arriving.resolve()
    return going.promise
  }
  return { arrived: arriving.promise, letGo: going.resolve }
}
