import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, clientOf } from '../../../../tests/support/talk.ts'

for (const database of databases) {
  describe(`one member of a group on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    /** A group of `ada` with a moderator, a participant and somebody banned; `out` is not in it. */
    async function crew(type = 'public'): Promise<AppClient> {
      const app = await appWith(h, 'ada', 'mod', 'part', 'out', 'evil')
      const members = { moderators: ['mod'], participants: ['part'], usersToBan: ['evil'] }
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', type, members }, as('ada')))
      return app
    }
    const get = (app: AppClient, uid: string, by?: string) =>
      app.get(`/groups/g/members/${uid}`, by === undefined ? undefined : as(by))
    const entryOf = async (app: AppClient, uid: string, by?: string) =>
      assertSucceeds(await app.get('/groups/g/members', by === undefined ? undefined : as(by))).data.find(
        (entry: { uid: string }) => entry.uid === uid,
      )

    it('is the entry of the list, for whoever looks', async () => {
      const app = await crew()
      const profile = {
        metadata: { team: 'x', '@private': { pin: 1 } },
        tags: ['t'],
        avatar: 'https://a.example/p.png',
      }
      assertSucceeds(await app.put('/users/part', profile))
      assertSucceeds(await app.post('/users/mod/blockedusers', { blockedUids: ['part'] }))
      for (const by of [undefined, 'ada', 'mod', 'part', 'out']) {
        const { data } = assertSucceeds(await get(app, 'PART', by))
        assert.deepEqual(data, await entryOf(app, 'part', by))
        assert.deepEqual([data.scope, typeof data.joinedAt], ['participant', 'number'])
      }
      assert.equal(assertSucceeds(await get(app, 'part', 'mod')).data.blockedByMe, true)
      const client = await clientOf(h, app, 'out')
      assert.deepEqual(assertSucceeds(await client.get('/groups/G/members/ada')).data, await entryOf(app, 'ada', 'out'))
    })

    it('shows of users whom the role may not see what the list shows', async () => {
      const app = await crew()
      const permissions = { 'getUserDetails.mode': 'friends' }
      assertSucceeds(await app.put('/roles/default/permissions', { permissions }))
      const { data } = assertSucceeds(await get(app, 'part', 'mod'))
      assert.deepEqual(data, await entryOf(app, 'part', 'mod'))
      assert.equal(JSON.stringify(data).includes('PART'), false)
    })

    it('is not there where the user is not in the group, or banned from it', async () => {
      const app = await crew()
      for (const uid of ['out', 'evil']) assertFails(await get(app, uid), 404, 'ERR_NOT_A_MEMBER')
      assertSucceeds(await app.delete('/groups/g/members/part'))
      assertFails(await get(app, 'part', 'ada'), 404, 'ERR_NOT_A_MEMBER')
      assertFails(await get(app, 'nobody'), 404, 'ERR_UID_NOT_FOUND')
      assertFails(await app.get('/groups/none/members/ada'), 404, 'ERR_GUID_NOT_FOUND')
      assertFails(await app.get('/groups/none/members/nobody'), 404, 'ERR_GUID_NOT_FOUND')
    })

    it('stays there when deactivated, and goes with the user', async () => {
      const app = await crew()
      for (const uid of ['part', 'out']) assertSucceeds(await app.delete(`/users/${uid}`))
      const { data } = assertSucceeds(await get(app, 'part', 'mod'))
      assert.deepEqual(data, await entryOf(app, 'part', 'mod'))
      assert.equal(typeof data.deactivatedAt, 'number')
      assertFails(await get(app, 'out'), 404, 'ERR_UID_NOT_FOUND')
      assertSucceeds(await app.delete('/users/part', { permanent: true }))
      assertFails(await get(app, 'part'), 404, 'ERR_UID_NOT_FOUND')
      await h.settle()
      assertSucceeds(await app.post('/users', { uid: 'part', name: 'Another' }))
      assertFails(await get(app, 'part'), 404, 'ERR_NOT_A_MEMBER')
    })

    it('is for whoever may list the members', async () => {
      const app = await crew('private')
      for (const by of [undefined, 'ada', 'mod', 'part']) assertSucceeds(await get(app, 'mod', by))
      // Whether the one in question is in it, or not, is not told either.
      for (const uid of ['mod', 'out']) {
        assertFails(await get(app, uid, 'out'), 403, 'ERR_GROUP_NOT_JOINED')
        assertFails(await get(app, uid, 'evil'), 403, 'ERR_BANNED_GROUPMEMBER')
      }
    })
  })
}
