import assert from 'node:assert/strict'
import { after, before, describe, it, mock } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import {
  type AppClient,
  assertFails,
  assertSucceeds,
  type Caller,
  type House,
  house,
} from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import { cheapPasswords, type GatedPasswords, gatedPasswords } from '../../../../tests/support/passwords.ts'
import { appWith, as, clientOf } from '../../../../tests/support/talk.ts'
import { logOf } from '../../../../tests/support/told.ts'
import { quotaReached } from '../../common/refusals.ts'

import { tenantDb } from '../../storage/tenant.ts'

/** The two paths by which a user comes into a group alone: neither leads around what the other has to pass. */
const paths: Record<string, (client: Caller, guid: string, password?: string) => Promise<Answer>> = {
  join: (client, guid, password) => client.post(`/groups/${guid}/join`, { password }),
  members: (client, guid, password) => client.post(`/groups/${guid}/members`, { participants: ['Lin'], password }),
}

interface Situation {
  group?: object
  password?: string
  arrange?: (app: AppClient) => Promise<Answer | undefined>
  /** The status and code of the refusal; none, if the user comes in. */
  refusal?: [number, string]
}

const locked = { type: 'password', password: 'open sesame' }
const setPermissions = (permissions: object) => (app: AppClient) =>
  app.put('/roles/default/permissions', { permissions })
const restrict = (feature: string) => (app: AppClient) =>
  app.post('/roles/default/restrictedfeatures', { featuresToRestrict: [feature] })
const addLin = (list: string) => (app: AppClient) => app.post('/groups/g/members', { [list]: ['lin'] })

for (const database of databases) {
  describe(`joining a group on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const inApp = (app: AppClient, work: (db: ReturnType<typeof tenantDb>) => Promise<unknown>) =>
      h.service.house.database.write((connection) => work(tenantDb(connection, app.id)))

    async function fill(app: AppClient): Promise<undefined> {
      await inApp(app, (db) => db.update('groups').set({ members_count: 100_000 }).where('guid', '=', 'g').execute())
    }

    async function joinTwoThousand(app: AppClient): Promise<undefined> {
      await inApp(app, async (db) => {
        const { id } = await db
          .select('users')
          .select('users.id')
          .where('users.uid', '=', 'lin')
          .executeTakeFirstOrThrow()
        const row = { user_id: id, uid: 'lin', scope: 'participant' as const, joined_at: 1 }
        const rows = Array.from({ length: 2_000 }, (_, n) => ({ group_id: `other-${n}`, ...row }))
        for (let n = 0; n < rows.length; n += 500) await db.insert('group_members', rows.slice(n, n + 500)).execute()
      })
    }

    const situations: Record<string, Situation> = {
      'a public group': {},
      'a public group, with a password that nobody asked for': { password: 'x' },
      'a password group': { group: locked, password: 'open sesame' },
      'a password group without a password': { group: locked, refusal: [400, 'ERR_EMPTY_GROUP_PASS'] },
      'a password group with an empty one': { group: locked, password: '', refusal: [400, 'ERR_EMPTY_GROUP_PASS'] },
      'a password group with another one': {
        group: locked,
        password: 'sesame',
        refusal: [403, 'ERR_WRONG_GROUP_PASS'],
      },
      'a password group with a blank': { group: locked, password: ' ', refusal: [403, 'ERR_WRONG_GROUP_PASS'] },
      'a group whose password is a blank': { group: { ...locked, password: ' ' }, password: ' ' },
      'a private group': { group: { type: 'private' }, refusal: [403, 'ERR_GROUP_JOIN_NOT_ALLOWED'] },
      'a group that they are banned from': {
        arrange: addLin('usersToBan'),
        refusal: [403, 'ERR_BANNED_GROUPMEMBER'],
      },
      'a password group that they are banned from': {
        group: locked,
        password: 'open sesame',
        arrange: addLin('usersToBan'),
        refusal: [403, 'ERR_BANNED_GROUPMEMBER'],
      },
      'a group that they are in': { arrange: addLin('participants'), refusal: [409, 'ERR_ALREADY_JOINED'] },
      'a group that they are an admin of': { arrange: addLin('admins'), refusal: [409, 'ERR_ALREADY_JOINED'] },
      'a group that is full': { arrange: fill, refusal: [403, 'ERR_NO_VACANCY'] },
      'one group more than there may be': {
        arrange: joinTwoThousand,
        refusal: [quotaReached.status, quotaReached.code],
      },
      'a group where the role may join none': {
        arrange: setPermissions({ joinGroup: 'deny' }),
        refusal: [403, 'ERR_PERMISSION_DENIED'],
      },
      'a public group where the role may join others': {
        arrange: setPermissions({ 'joinGroup.allowedGroupTypes': ['password'] }),
        refusal: [403, 'ERR_PERMISSION_DENIED'],
      },
      'a password group where the role may join others': {
        group: locked,
        password: 'open sesame',
        arrange: setPermissions({ 'joinGroup.allowedGroupTypes': ['public'] }),
        refusal: [403, 'ERR_PERMISSION_DENIED'],
      },
      'a group where joining is restricted': {
        arrange: restrict('joinGroup'),
        refusal: [403, 'ERR_PERMISSION_DENIED'],
      },
      'a group where adding others is restricted': { arrange: restrict('addMember') },
    }

    for (const [what, { group, password, arrange, refusal }] of Object.entries(situations)) {
      it(`is the same by both paths: ${what}`, async () => {
        const outcomes = []
        for (const send of Object.values(paths)) {
          const app = await appWith(h, 'ada', 'lin')
          assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', ...group }, as('ada')))
          const arranged = await arrange?.(app)
          if (arranged) assertSucceeds(arranged)
          const known = (await logOf(h, app)).length
          const answer = await send(await clientOf(h, app, 'lin'), 'g', password)
          if (refusal) assertFails(answer, ...refusal)
          else assertSucceeds(answer)
          const events = (await logOf(h, app)).slice(known).filter(({ name }) => !name.startsWith('authToken.'))
          outcomes.push({
            status: answer.status,
            error: answer.body.error,
            events: events.map(({ name, audience, told, payload }) => [
              ...[name, audience, told?.trigger, Object.keys(told?.data ?? {})],
              ...[payload.user?.uid, payload.message?.sender, payload.message?.data.action],
            ]),
            members: await membersIn(app),
          })
        }
        assert.deepEqual(outcomes[1], outcomes[0])
      })
    }

    async function membersIn(app: AppClient) {
      const { data } = assertSucceeds(await app.get('/groups/g/members'))
      return data.map(({ uid, scope }: { uid: string; scope: string }) => [uid, scope]).toSorted()
    }

    it('through the list of members is answered as adding is, with the message of the group', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G' }, as('ada')))
      const client = await clientOf(h, app, 'lin')
      const { data } = assertSucceeds(
        await client.post('/groups/G/members', { participants: ['LIN', 'lin'], admins: [] }),
      )
      assert.deepEqual([Object.keys(data), Object.keys(data.participants)], [['participants'], ['lin']])
      const { success, data: message } = data.participants.lin
      assert.deepEqual([success, message.sender, message.receiver, message.data.action], [true, 'lin', 'g', 'joined'])
      assert.equal(message.data.entities.for.entity.membersCount, 2)
      assert.deepEqual(assertSucceeds(await client.get(`/messages/${message.id}`)).data.data, message.data)
      const again = await client.post('/groups/g/members', { participants: ['lin'] })
      assertFails(again, 409, 'ERR_ALREADY_JOINED')
      assert.match(again.body.error.message, /already joined/)
    })

    it('through the list of members may name the user as the list does', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G' }, as('ada')))
      const [lin, max] = [await clientOf(h, app, 'lin'), await clientOf(h, app, 'max')]
      const participants = [{ uid: 'lin', scope: 'participant' }]
      assertSucceeds(await lin.post('/groups/g/members', { participants }))
      assertSucceeds(await max.post('/groups/g/members', { participants: [{ uid: 'max' }] }))
      assertSucceeds(await app.put('/groups/g/members/lin', { scope: 'admin' }))
      for (const entry of [
        { uid: 'ada' },
        { uid: 'lin', scope: 'admin' },
        { scope: 'participant' },
        { uid: ' ' },
        7.5,
      ]) {
        const answer = await lin.post('/groups/g/members', { participants: [entry] })
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.match(Object.keys(answer.body.error.details).join(), /^participants\.0/)
      }
      assertFails(await app.post('/groups/g/members', { participants }), 400, 'ERR_BAD_REQUEST')
    })

    it('is nothing that somebody else can be named beside, nor another scope', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G' }, as('ada')))
      const client = await clientOf(h, app, 'lin')
      for (const body of [
        { participants: ['lin', 'max'] },
        { participants: ['max'] },
        { admins: ['lin'] },
        { moderators: ['lin'] },
        { participants: ['lin'], admins: ['lin'] },
        { participants: ['lin'], usersToBan: ['max'] },
      ]) {
        assertFails(await client.post('/groups/g/members', body), 403, 'ERR_GROUP_NOT_JOINED')
      }
      assert.deepEqual(await membersIn(app), [['ada', 'admin']])
    })

    it('is for clients: a server that acts for somebody outside cannot add them', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G' }, as('ada')))
      const add = (uid: string) => app.post('/groups/g/members', { participants: [uid] }, as(uid))
      assertFails(await add('lin'), 403, 'ERR_GROUP_NOT_JOINED')
      assert.equal(assertSucceeds(await add('ada')).data.participants.ada.error.code, 'ERR_ALREADY_JOINED')
    })

    it('by both paths at once is joining once', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G' }, as('ada')))
      const client = await clientOf(h, app, 'lin')
      const sends = Array.from({ length: 5 }, () => Object.values(paths)).flat()
      const answers = await Promise.all(sends.map((send) => send(client, 'g')))
      assert.equal(answers.filter(({ status }) => status === 200).length, 1)
      for (const answer of answers.filter(({ status }) => status !== 200))
        assertFails(answer, 409, 'ERR_ALREADY_JOINED')
      assert.equal(assertSucceeds(await app.get('/groups/g')).data.membersCount, 2)
    })
  })

  describe(`joining a group under a limit on ${database}`, () => {
    let h: House
    let passwords: GatedPasswords
    const ofApp = 20
    before(async () => {
      // Windows are whole minutes of real time: all of this is in one.
      mock.timers.enable({ apis: ['Date'], now: Date.now() })
      passwords = gatedPasswords()
      h = await house({ database, passwords, environment: { PARLEY_LIMIT_CORE: String(ofApp) } })
    })
    after(async () => {
      await h.close()
      mock.timers.reset()
    })

    it('counts as what it is, whichever path it comes by; adding others does not', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G' }, as('ada')))
      const [ada, lin] = [await clientOf(h, app, 'ada'), await clientOf(h, app, 'lin')]
      const statuses = []
      for (let n = 0; n < ofApp; n += 1) statuses.push((await paths.members?.(lin, 'g'))?.status)
      assert.deepEqual([statuses.includes(429), statuses[0], statuses[1]], [true, 200, 409])
      for (const send of Object.values(paths)) assertFails(await send(lin, 'g'), 429, 'ERR_TOO_MANY_REQUESTS')
      for (let n = 0; n < ofApp; n += 1) assertSucceeds(await ada.post('/groups/g/members', { participants: ['lin'] }))
    })

    it('counts once, also where it has to be prepared again', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', ...locked }, as('ada')))
      const lin = await clientOf(h, app, 'lin')
      const remaining = async () => Number((await app.post('/users', {})).headers['x-ratelimit-remaining'])
      const before = await remaining()
      const compared = passwords.count()
      passwords.close('compare')
      const joining = paths.members?.(lin, 'g', locked.password)
      await passwords.waiting()
      // As another node does it, and under another hash: what was compared is not the password any more.
      const password = await cheapPasswords().hash(locked.password)
      await h.service.house.database.write((connection) =>
        tenantDb(connection, app.id).update('groups').set({ password }).where('guid', '=', 'g').execute(),
      )
      passwords.open()
      assertSucceeds((await joining) as Answer)
      assert.equal(passwords.count() - compared, 2)
      assert.equal(before - (await remaining()), 2, 'the joining, and this question')
    })
  })
}
