import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import { clientOf, sayIn } from '../../../../tests/support/talk.ts'
import { toldTo } from '../../../../tests/support/told.ts'

const as = (uid: string) => ({ onBehalfOf: uid })
const uidsIn = (list: { uid: string }[]) => list.map(({ uid }) => uid)

for (const database of databases) {
  describe(`banned users on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    /** A group of `ada`, with an admin, a moderator, a participant and somebody outside. */
    async function crew(): Promise<AppClient> {
      const app = await h.app(randomUUID())
      for (const uid of ['ada', 'admin', 'mod', 'part', 'out']) {
        assertSucceeds(await app.post('/users', { uid, name: `Name of ${uid}` }))
      }
      const members = { admins: ['admin'], moderators: ['mod'], participants: ['part'] }
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members }, as('ada')))
      return app
    }
    const ban = (app: AppClient, uid: string, by?: string) =>
      app.post(`/groups/g/bannedusers/${uid}`, undefined, by ? as(by) : undefined)
    const banAhead = (app: AppClient, uid: string) => app.post('/groups/g/members', { usersToBan: [uid] })
    const unban = (app: AppClient, uid: string, by?: string) =>
      app.delete(`/groups/g/bannedusers/${uid}`, undefined, by ? as(by) : undefined)
    const list = async (app: AppClient, search = '', headers?: Record<string, string>) =>
      assertSucceeds(await app.get(`/groups/g/bannedusers${search}`, headers))
    const group = async (app: AppClient) => assertSucceeds(await app.get('/groups/g')).data

    it('ends the membership and shuts the door', async () => {
      const app = await crew()
      assert.equal(assertSucceeds(await ban(app, 'PART', 'mod')).data.success, true)
      assert.equal((await group(app)).membersCount, 3)
      const told = (await toldTo(h, app)).at(-1)
      assert.deepEqual(
        [told?.trigger, Object.keys(told?.data.members), told?.data.by.uid, told?.data.group.guid],
        ['group_member_banned', ['part'], 'mod', 'g'],
      )
      assertFails(await app.put('/groups/g', {}, as('part')), 403, 'ERR_BANNED_GROUPMEMBER')
      const { participants } = assertSucceeds(await app.post('/groups/g/members', { participants: ['part'] })).data
      assert.equal(participants.part.error.code, 'ERR_BANNED_GROUPMEMBER')
      assertFails(await ban(app, 'part'), 409, 'ERR_ALREADY_BANNED')
    })

    it('leaves nothing in the group to do or see, whatever its type', async () => {
      const app = await crew()
      const before = await sayIn(app, 'g', 'part')
      assertSucceeds(await app.put('/groups/g', { type: 'private' }))
      assertSucceeds(await app.post('/groups/g/bannedusers/part', { uid: 7, scope: 'is ignored' }))
      const said = { receiver: 'g', receiverType: 'group', data: { text: 'Hello' } }
      const user = await clientOf(h, app, 'part')
      const tried: [string, Promise<Answer>][] = [
        ['get', app.get('/groups/g', as('part'))],
        ['change', app.put('/groups/g', { name: 'X' }, as('part'))],
        ['delete', app.delete('/groups/g', undefined, as('part'))],
        ['members', app.get('/groups/g/members', as('part'))],
        ['add', app.post('/groups/g/members', { participants: ['out'] }, as('part'))],
        ['kick', app.delete('/groups/g/members/mod', undefined, as('part'))],
        ['rescope', app.put('/groups/g/members/mod', { scope: 'admin' }, as('part'))],
        ['ban', app.post('/groups/g/bannedusers/out', undefined, as('part'))],
        ['banned', app.get('/groups/g/bannedusers', as('part'))],
        ['send', app.post('/messages', said, as('part'))],
        ['read', app.get('/groups/g/messages', as('part'))],
        ['conversation', app.get('/groups/g/conversation', as('part'))],
        ['join', user.post('/groups/g/join')],
        ['leave', user.post('/groups/g/leave')],
        ['hand over', user.put('/groups/g/owner', { uid: 'mod' })],
      ]
      for (const [what, answer] of tried) {
        assert.deepEqual([what, (await answer).body.error?.code], [what, 'ERR_BANNED_GROUPMEMBER'])
      }
      assertFails(await app.get(`/messages/${before.id}`, as('part')), 403, 'ERR_MESSAGE_NO_ACCESS')
      assert.deepEqual(assertSucceeds(await app.get('/conversations', as('part'))).data, [])
    })

    it('lists the banned, newest first, with what they were', async () => {
      const app = await crew()
      assertSucceeds(await ban(app, 'part'))
      h.clock.setOffset(h.clock.offsetSeconds() + 5)
      assertSucceeds(await banAhead(app, 'out'))
      const { data, meta } = await list(app)
      assert.deepEqual(uidsIn(data), ['out', 'part'])
      assert.equal(meta.pagination.total, 2)
      assert.equal(meta.cursor.affix, 'prepend')
      const [out, part] = data
      assert.deepEqual([out.isBanned, 'scope' in out, 'joinedAt' in out], [true, false, false])
      assert.deepEqual([part.isBanned, part.scope], [true, 'participant'])
      assert.ok(part.joinedAt <= part.bannedAt)
      assert.ok(out.bannedAt >= part.bannedAt + 5)
      assert.deepEqual(uidsIn((await list(app, '?searchKey=OF%20PAR')).data), ['part'])
      assert.deepEqual(uidsIn((await list(app, '?perPage=1&page=2')).data), ['part'])
      const past = (await list(app, '?perPage=5000&page=2')).meta
      assert.deepEqual([past.pagination.per_page, past.pagination.count, 'cursor' in past], [1000, 0, false])
      for (const search of ['perPage=0', 'page=x']) {
        assertFails(await app.get(`/groups/g/bannedusers?${search}`), 400, 'ERR_BAD_REQUEST')
      }
      const { scope, joinedAt, isBanned, bannedAt, ...user } = part
      assert.deepEqual(user, assertSucceeds(await app.get('/users/part')).data)
      for (const uid of ['mod', 'admin']) assertSucceeds(await ban(app, uid))
      assert.deepEqual(uidsIn((await list(app)).data), ['admin', 'mod', 'out', 'part'])
      for (const uid of ['mod', 'admin']) assertSucceeds(await unban(app, uid))
      assertSucceeds(await app.post('/groups/g/members', { moderators: ['mod'] }))
      assertSucceeds(await app.post('/users/mod/blockedusers', { blockedUids: ['out'] }))
      const seen = (await list(app, '', as('mod'))).data[0]
      assert.deepEqual([seen.conversationId, seen.blockedByMe], ['mod_user_out', true])
    })

    it('shows the list to moderators and admins', async () => {
      const app = await crew()
      for (const uid of ['ada', 'admin', 'mod']) await list(app, '', as(uid))
      const listing = (uid: string) => app.get('/groups/g/bannedusers', as(uid))
      assertFails(await listing('part'), 403, 'ERR_GROUP_NO_MODERATOR_SCOPE')
      assertFails(await listing('out'), 403, 'ERR_GROUP_NOT_JOINED')
      assertSucceeds(await ban(app, 'mod'))
      assertFails(await listing('mod'), 403, 'ERR_BANNED_GROUPMEMBER')
      assertFails(await app.get('/groups/none/bannedusers'), 404, 'ERR_GUID_NOT_FOUND')
    })

    it('lifts a ban without bringing the user back', async () => {
      const app = await crew()
      assertSucceeds(await ban(app, 'mod'))
      assertFails(await unban(app, 'out'), 404, 'ERR_NOT_A_BANNED_USER')
      assertSucceeds(await unban(app, 'MOD', 'admin'))
      const told = (await toldTo(h, app)).at(-1)
      assert.deepEqual([told?.trigger, told?.data.by.uid], ['group_member_unbanned', 'admin'])
      assert.equal((await group(app)).membersCount, 3)
      assert.equal((await list(app)).meta.pagination.total, 0)
      const { participants } = assertSucceeds(await app.post('/groups/g/members', { participants: ['mod'] })).data
      assert.equal(participants.mod.success, true)
    })

    it('refuses, each in its own way', async () => {
      const app = await crew()
      assertFails(await ban(app, 'nobody'), 404, 'ERR_UID_NOT_FOUND')
      assertFails(await app.post('/groups/none/bannedusers/part'), 404, 'ERR_GUID_NOT_FOUND')
      assertFails(await ban(app, 'mod', 'mod'), 403, 'ERR_GROUP_NO_SELF_ACTION')
      assertFails(await ban(app, 'ada', 'admin'), 403, 'ERR_GROUP_NO_CLEARANCE')
      assertFails(await ban(app, 'admin', 'mod'), 403, 'ERR_GROUP_NO_CLEARANCE')
      assertFails(await ban(app, 'mod', 'part'), 403, 'ERR_GROUP_NO_CLEARANCE')
      assertFails(await ban(app, 'part', 'out'), 403, 'ERR_GROUP_NOT_JOINED')
      assertSucceeds(await banAhead(app, 'out'))
      const again = await ban(app, 'out')
      assertFails(again, 409, 'ERR_ALREADY_BANNED')
      assert.match(again.body.error.message, /already/)
      assertFails(await unban(app, 'out', 'part'), 403, 'ERR_GROUP_NO_CLEARANCE')
      assertFails(await unban(app, 'out', 'out'), 403, 'ERR_BANNED_GROUPMEMBER')
      assertFails(await unban(app, 'nobody'), 404, 'ERR_UID_NOT_FOUND')
    })

    it('is for members: whoever is not in the group is banned ahead, by `usersToBan`', async () => {
      const app = await crew()
      for (const by of [undefined, 'ada', 'mod', 'part']) {
        assertFails(await ban(app, 'out', by), 404, 'ERR_NOT_A_MEMBER')
      }
      assert.equal((await list(app)).meta.pagination.total, 0)
      assert.equal(
        (await toldTo(h, app)).some(({ trigger }) => trigger === 'group_member_banned'),
        false,
      )
      assert.equal(assertSucceeds(await banAhead(app, 'out')).data.usersToBan.out.success, true)
      assertFails(await ban(app, 'out'), 409, 'ERR_ALREADY_BANNED')
      assertSucceeds(await app.delete('/groups/g/members/part'))
      assertFails(await ban(app, 'part'), 404, 'ERR_NOT_A_MEMBER')
    })

    it('hands the group of a banned owner to the oldest admin', async () => {
      const app = await crew()
      assertSucceeds(await ban(app, 'ada'))
      const { owner, membersCount } = await group(app)
      assert.deepEqual([owner, membersCount], ['admin', 3])
    })

    it('answers to its other name, which points to this one', async () => {
      const app = await crew()
      const banned = await app.post('/groups/g/banned_members/part', { ignored: true })
      assertSucceeds(banned)
      assert.equal(banned.headers.deprecation, 'true')
      assert.match(String(banned.headers.link), /^<\/v3\/groups\/g\/bannedusers\/part>/)
      assert.deepEqual(uidsIn(assertSucceeds(await app.get('/groups/g/banned_members')).data), ['part'])
      assertSucceeds(await app.delete('/groups/g/banned_members/part'))
      assert.equal((await list(app)).meta.pagination.total, 0)
    })

    it('bans once where several ban at once', async () => {
      const app = await crew()
      const answers = await Promise.all(Array.from({ length: 10 }, () => ban(app, 'part')))
      assert.equal(answers.filter(({ status }) => status === 200).length, 1)
      for (const answer of answers.filter(({ status }) => status !== 200))
        assertFails(answer, 409, 'ERR_ALREADY_BANNED')
      assert.equal((await group(app)).membersCount, 3)
      assert.equal((await list(app)).meta.pagination.total, 1)
    })
  })
}
