import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { type Door, doorsFor } from '../../../../tests/support/matrix.ts'
import { statementsOf } from '../../../../tests/support/plans.ts'
import { appWith, as } from '../../../../tests/support/talk.ts'
import { selectOwn } from './user-log.ts'
import { shownTo } from './user-log-record.ts'

/** The call log of an end user: which calls stand in it, by each filter, and what a record tells beyond a server's. */

const startAt = 1_767_225_600
const recording = [
  { after: 5, do: 'startRecording', rid: 'r1' },
  { after: 9, do: 'stopRecording', rid: 'r1', url: 'https://media.example.org/r1.mp4' },
]
const talk = (...uids: string[]) => uids.map((uid, n) => ({ after: 2 + n, do: 'join', uid, deviceId: `d-${uid}` }))
const end = { after: 20, do: 'end' }
const group = { receiver: 'team', receiverType: 'group' }

/** Oldest first; what Ada sees of them stands below. Lin's call to Max is none of hers. */
const scripts: Record<string, object> = {
  toLin: { initiator: 'ada', receiver: 'lin', type: 'video', steps: [...talk('ada', 'lin'), ...recording, end] },
  fromLin: { initiator: 'lin', receiver: 'ada', steps: [...talk('lin', 'ada'), end] },
  missed: { initiator: 'lin', receiver: 'ada', steps: [] },
  unheard: { initiator: 'ada', receiver: 'max', steps: [] },
  declined: { initiator: 'max', receiver: 'ada', steps: [{ after: 4, do: 'reject', uid: 'ada' }] },
  busy: { initiator: 'ada', receiver: 'max', steps: [{ after: 4, do: 'reject', uid: 'max' }] },
  givenUp: { initiator: 'max', receiver: 'ada', steps: [{ after: 4, do: 'cancel' }] },
  ofOthers: { initiator: 'lin', receiver: 'max', steps: [...talk('lin', 'max'), end] },
  team: { initiator: 'lin', ...group, invited: ['ada', 'max'], steps: [...talk('lin', 'max'), end] },
  meeting: { initiator: 'ada', ...group, receiver: 'crew', mode: 'meet', steps: [...talk('ada', 'lin'), end] },
}
const everything = ['meeting', 'team', 'givenUp', 'busy', 'declined', 'unheard', 'missed', 'fromLin', 'toLin']

const filters: [query: string, names: string[]][] = [
  ['', everything],
  ['?type=video', ['toLin']],
  ['?status=ended', ['meeting', 'team', 'fromLin', 'toLin']],
  ['?status=unanswered', ['unheard', 'missed']],
  ['?status=missed', ['missed']],
  ['?status=missed&direction=outgoing', []],
  ['?status=missed&direction=incoming', ['missed']],
  ['?status=rejected', ['busy', 'declined']],
  ['?status=busy', ['busy', 'declined']],
  ['?status=canceled', ['givenUp']],
  ['?status=cancelled', ['givenUp']],
  ['?status=initiated', []],
  ['?status=ongoing', []],
  ['?status=Missed', []],
  ['?status=toString', []],
  ['?hasRecording=true', ['toLin']],
  ['?hasRecording=false&type=video', []],
  ['?category=meet', ['meeting']],
  ['?category=call&guid=team', ['team']],
  ['?category=presenter', []],
  ['?category=party', []],
  ['?category=meet&mode=meet', ['meeting']],
  ['?category=meet&mode=call', []],
  ['?direction=outgoing', ['meeting', 'busy', 'unheard', 'toLin']],
  ['?direction=incoming', ['team', 'givenUp', 'declined', 'missed', 'fromLin']],
  ['?direction=sideways', []],
  ['?direction=toString', []],
  ['?direction=incoming&status=ended', ['team', 'fromLin']],
  ['?direction=', everything],
  ['?uid=LIN', ['meeting', 'team', 'missed', 'fromLin', 'toLin']],
  ['?uid=ada', everything],
  ['?uid=nobody', []],
  ['?uid=lin&direction=outgoing', ['meeting', 'toLin']],
  ['?uid=lin&status=missed', ['missed']],
  ['?uid=max&guid=team', ['team']],
  ['?guid=TEAM', ['team']],
  ['?guid=crew&direction=outgoing', ['meeting']],
  ['?guid=nowhere', []],
  ['?guid=lin', []],
  [`?startedAt=${startAt + 800}`, ['meeting', 'team']],
  [`?endedAt=${startAt + 20}`, ['toLin']],
  [`?startedAt=${startAt + 100}&endedAt=${startAt + 400}&direction=incoming`, ['missed', 'fromLin']],
]

for (const database of databases) {
  describe(`the call log of a user on ${database}`, () => {
    let h: House
    let app: AppClient
    let doors: Door[]
    const ids: Record<string, string> = {}

    before(async () => {
      h = await house({ database })
      app = await appWith(h)
      for (const [uid, avatar] of Object.entries({ ada: 'a.png', lin: 'l.png', max: undefined })) {
        const picture = avatar && { avatar: `https://img.example.org/${avatar}` }
        assertSucceeds(await app.post('/users', { uid, name: `The ${uid}`, ...picture }))
      }
      const team = { guid: 'team', name: 'Team', icon: 'https://img.example.org/t.png', type: 'private' }
      assertSucceeds(await app.post('/groups', { ...team, members: { participants: ['ada', 'max'] } }, as('lin')))
      let at = startAt
      for (const [name, script] of Object.entries(scripts)) {
        ids[name] = (await app.play({ ...script, startAt: at })).sessionId
        at += 100
      }
      doors = await doorsFor(h, app, 'ada')
    })
    after(() => h.close())

    type Listed = { sessionId: string; participants: { uid: string }[] }
    const namesOf = (calls: Listed[]) =>
      calls.map(({ sessionId }) => Object.keys(ids).find((name) => ids[name] === sessionId))
    const get = async (name: string, uid: string) => assertSucceeds(await app.get(`/calls/${ids[name]}`, as(uid))).data

    for (const [query, expected] of filters) {
      it(`holds by ${query || 'no filter'}: ${expected.join(', ') || 'nothing'}`, async () => {
        for (const { caller, name } of doors) {
          const { data, meta } = assertSucceeds(await caller.get(`/calls${query}`))
          assert.deepEqual([namesOf(data), meta.pagination.total], [expected, expected.length], name)
        }
      })
    }

    it('comes in pages that together are the list, each with the same total', async () => {
      const [, incoming = []] = filters.find(([query]) => query === '?direction=incoming') ?? []
      for (const { caller } of doors) {
        const found = []
        for (const page of [1, 2, 3]) {
          const { data, meta } = assertSucceeds(await caller.get(`/calls?direction=incoming&perPage=2&page=${page}`))
          const pagination = { total: 5, count: data.length, per_page: 2, current_page: page, total_pages: 3 }
          assert.deepEqual(meta, { pagination })
          found.push(...namesOf(data))
        }
        assert.deepEqual(found, incoming)
        assert.deepEqual(assertSucceeds(await caller.get('/calls?direction=incoming&perPage=2&page=4')).data, [])
      }
    })

    it('refuses what is no boolean or number', async () => {
      for (const { caller } of doors) {
        for (const query of ['hasRecording=maybe', 'startedAt=now', 'page=0', 'perPage=x']) {
          assertFails(await caller.get(`/calls?direction=incoming&${query}`), 400, 'ERR_BAD_REQUEST')
        }
      }
    })

    it('tells who they were, beside the ids', async () => {
      for (const { caller } of doors) {
        const { data } = assertSucceeds(await caller.get(`/calls/${ids.toLin}`))
        const server = assertSucceeds(await app.get(`/calls/${ids.toLin}`)).data
        const [ada, lin] = server.participants
        const avatarOf = (letter: string) => ({ avatar: `https://img.example.org/${letter}.png` })
        assert.deepEqual(data, {
          ...server,
          callCategory: 'call',
          participants: [
            { ...ada, name: 'The ada', ...avatarOf('a'), hasJoined: true },
            { ...lin, name: 'The lin', ...avatarOf('l'), hasJoined: true },
          ],
          entities: {
            initiator: { uid: 'ada', name: 'The ada', ...avatarOf('a') },
            receiver: { uid: 'lin', name: 'The lin', ...avatarOf('l') },
          },
        })
        assert.deepEqual([data.initiator, data.receiver, data.initiatedAt], ['ada', 'lin', data.startedAt])
        assert.equal(data.recordings.length, 1)
        assert.deepEqual([data.participants[0].mid, data.participants[1].mid], [data.mid, data.mid])
        const { metaData: _, tags: __, ...listed } = data
        assert.deepEqual(assertSucceeds(await caller.get('/calls?type=video')).data, [listed])
      }
    })

    it('tells of a group and of whom it rang for, who have no picture and did not come', async () => {
      const { entities, participants } = await get('team', 'ada')
      const icon = 'https://img.example.org/t.png'
      assert.deepEqual(entities.receiver, { guid: 'team', name: 'Team', icon })
      const [own] = participants.filter(({ uid }: { uid: string }) => uid === 'ada')
      assert.deepEqual([own.name, own.hasJoined, own.isJoined], ['The ada', false, false])
      const [max] = participants.filter(({ uid }: { uid: string }) => uid === 'max')
      assert.deepEqual([max.name, 'avatar' in max], ['The max', false])
    })

    it('tells a server that acts for nobody what it always did', async () => {
      const { data } = assertSucceeds(await app.get('/calls'))
      assert.equal(data.length, Object.keys(scripts).length)
      const all = JSON.stringify([data, assertSucceeds(await app.get(`/calls/${ids.team}`)).data])
      for (const word of ['entities', 'callCategory', 'hasJoined', 'The ada', '"name"']) assert.ok(!all.includes(word))
      for (const query of ['direction=incoming', 'guid=team', 'category=meet']) {
        assert.deepEqual(assertSucceeds(await app.get(`/calls?${query}`)).data, data, query)
      }
      for (const status of ['missed', 'busy', 'cancelled']) {
        assert.deepEqual(assertSucceeds(await app.get(`/calls?status=${status}`)).data, [], status)
      }
    })

    it('shows a private group by its GUID alone to who is no longer in it', async () => {
      assertSucceeds(await app.delete('/groups/team/members/max'))
      assert.deepEqual((await get('team', 'max')).entities.receiver, { guid: 'team' })
      assert.equal((await get('team', 'lin')).entities.receiver.name, 'Team')
    })

    it('shows any group by its GUID alone to whom it has banned', async () => {
      assert.equal((await get('meeting', 'lin')).entities.receiver.name, 'crew')
      assertSucceeds(await app.post('/groups/crew/members', { participants: ['lin'] }))
      assertSucceeds(await app.post('/groups/crew/bannedusers/lin'))
      assert.deepEqual((await get('meeting', 'lin')).entities.receiver, { guid: 'crew' })
    })

    it('shows nothing but the id of users and groups that are deleted, and still finds their calls', async () => {
      assertSucceeds(await app.delete('/users/lin', { permanent: true }))
      assertSucceeds(await app.delete('/groups/crew'))
      await h.settle()
      const { entities, participants } = await get('toLin', 'ada')
      assert.deepEqual([entities.receiver, entities.initiator.name], [{ uid: 'lin' }, 'The ada'])
      assert.deepEqual(['name' in participants[1], participants[1].hasJoined], [false, true])
      assert.deepEqual((await get('meeting', 'ada')).entities.receiver, { guid: 'crew' })
      const { data } = assertSucceeds(await app.get('/calls?uid=lin&status=missed', as('ada')))
      assert.deepEqual(namesOf(data), ['missed'])
    })

    it('reads all names of a page with two statements', async () => {
      const actor = { uid: 'ada', role: 'default', roleId: null }
      const { data } = assertSucceeds(await app.get('/calls?uid=ada'))
      const documents = data.map((call: object) => JSON.stringify(call))
      const statements = await statementsOf(h, app, async ({ db }) => shownTo(db, actor)(documents))
      const naming = statements.filter((text) => /users\.name|groups\.name/.test(text))
      assert.deepEqual([documents.length, naming.length], [everything.length, 2])
    })

    it('reads no call to count those of one side, in a group or with somebody', async () => {
      for (const query of [{ direction: 'incoming' }, { guid: 'team' }, { uid: 'max' }] as const) {
        const statements = await statementsOf(h, app, async ({ db }) =>
          selectOwn(db, 'ada', query, { limit: 1, offset: 1_000 }),
        )
        assert.ok(statements.some((text) => text.includes('count(*)')))
        assert.ok(!statements.some((text) => /\bcalls\./.test(text)), statements.join('\n'))
      }
    })
  })
}
