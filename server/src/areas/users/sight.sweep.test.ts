import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type Caller, type House, house } from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import { doorsFor, linesOf } from '../../../../tests/support/matrix.ts'
import { appWith, as, say, sayIn } from '../../../../tests/support/talk.ts'
import { documentedPath } from '../../http/openapi.ts'
import { areas } from '../index.ts'

/**
 * Nobody is shown inside another record whom the same caller could not get with `GET /users/{uid}`. Gus is of the role
 * `guest`; Fay is a friend of theirs, Pal is of the role `pal`, Sam is neither.
 */
const others = ['fay', 'pal', 'sam']

/** Whom Gus may see, when something is set for the role `guest`. */
const table = linesOf(`
  rule                                value    fay     pal     sam
  nothing                             -        seen    seen    seen
  getUserDetails.mode                 friends  seen    hidden  hidden
  getUserDetails.allowedRoles         pal      hidden  seen    hidden
  restricted                          getUser  hidden  hidden  hidden
`)

/** Where another user appears. Each answers what Gus is told of one of the others. */
type Place = (gus: Caller, uid: string, scene: Scene) => Promise<Answer>

/** What was said and done before anything was forbidden: ids of messages, by who said them. */
interface Scene {
  said: Record<string, string>
  own: string
  naming: Record<string, string>
  call: string
}

const text = (words: string) => ({ data: { text: words } })
const toCrew = { receiver: 'crew', receiverType: 'group' }

const places: Record<string, Place> = {
  'the receiver of a message that is sent': (gus, uid) =>
    gus.post('/messages', { receiver: uid, receiverType: 'user', ...text('Hello') }),
  'several receivers': (gus, uid) => gus.post('/messages', { ...text('Hello'), multipleReceivers: { uids: [uid] } }),
  'a mention in a message that is sent': (gus, uid) => gus.post('/messages', { ...toCrew, ...text(`<@uid:${uid}>`) }),
  'a mention in a reply': (gus, uid, { own }) => gus.post(`/messages/${own}/thread`, text(`<@uid:${uid}>`)),
  'a mention in a message that is edited': (gus, uid, { own }) => gus.put(`/messages/${own}`, text(`<@uid:${uid}>`)),
  'an action in the history': async (gus, uid) => {
    const { id } = assertSucceeds(await gus.post('/messages', { ...toCrew, ...text(`<@uid:${uid}>`) })).data
    assertSucceeds(await gus.put(`/messages/${id}`, text(`again <@uid:${uid}>`)))
    return gus.get('/groups/crew/messages?affix=prepend&limit=2')
  },
  'the sender of a message': (gus, uid, { said }) => gus.get(`/messages/${said[uid]}`),
  'a mention in a message': (gus, uid, { naming }) => gus.get(`/messages/${naming[uid]}`),
  'a mention with tags': (gus, uid, { naming }) =>
    gus.get(`/groups/crew/messages?id=${Number(naming[uid]) - 1}&limit=1&mentionsWithTagInfo=true`),
  'a list of messages': (gus, uid, { said }) => gus.get(`/groups/crew/messages?id=${Number(said[uid]) - 1}&limit=1`),
  'a message that is quoted': (gus, uid, { said }) =>
    gus.post('/messages', { ...toCrew, ...text('Yes'), quotedMessageId: said[uid] }),
  'the message that a reply is to': async (gus, uid, { said }) => {
    const { id } = assertSucceeds(await gus.post(`/messages/${said[uid]}/thread`, text('Yes'))).data
    return gus.get(`/messages/${said[uid]}/thread?withParent=true&id=${id - 1}`)
  },
  'a list of threads': (gus) => gus.get('/threads?guid=crew'),
  'a message that is reacted to': (gus, uid, { said }) => gus.post(`/messages/${said[uid]}/reactions/yes`),
  'a message that is pinned': (gus, uid, { said }) => gus.post(`/messages/${said[uid]}/pin`),
  'a message that is saved': (gus, uid, { said }) => gus.post(`/messages/${said[uid]}/save`),
  'who reacted': (gus, _uid, { own }) => gus.get(`/messages/${own}/reactions`),
  'who has read': (gus, _uid, { own }) => gus.get(`/messages/${own}/receipts`),
  'a list of conversations': (gus) => gus.get('/conversations'),
  'a conversation': (gus, uid) => gus.get(`/users/${uid}/conversation`),
  'the members of a group': (gus) => gus.get('/groups/crew/members'),
  'those banned from a group': (gus) => gus.get('/groups/shut/bannedusers'),
  'a group with members': (gus, uid) =>
    gus.post('/groups', {
      guid: `new-${Math.random()}`.replace('.', ''),
      name: 'New',
      members: { participants: [uid] },
    }),
  'members that are added': async (gus, uid) => {
    assertSucceeds(await gus.delete(`/groups/crew/members/${uid}`))
    return gus.post('/groups/crew/members', { participants: [uid] })
  },
  'a call': (gus, _uid, { call }) => gus.get(`/calls/${call}`),
  'a list of calls': (gus) => gus.get('/calls'),
  'a list of blocked users': (gus) => gus.get('/users/gus/blockedusers'),
}

/** Lists that find users by what their records tell. */
const searches: Record<string, (uid: string) => string> = {
  'members by name': (uid) => `/groups/crew/members?searchKey=name-of-${uid}`,
  'members by status': () => '/groups/crew/members?status=offline',
  'members by name and status': (uid) => `/groups/crew/members?searchKey=name-of-${uid}&status=offline`,
  'banned users by name': (uid) => `/groups/shut/bannedusers?searchKey=name-of-${uid}`,
  'conversations by name': (uid) => `/conversations?searchKey=name-of-${uid}&conversationType=user`,
  'conversations by tag': (uid) => `/conversations?userTags=tag-of-${uid}`,
  'blocked users by name': (uid) => `/users/gus/blockedusers?searchKey=name-of-${uid}`,
}

/** Whatever a user can read, now or later. The list of all users has rules of its own. */
const reads = areas
  .flatMap((area) => area.operations.map((operation) => ({ operation, path: documentedPath(area, operation) })))
  .filter(({ operation: { id, method, doors, onBehalfOf } }) => {
    const isForUsers = doors.includes('client') || onBehalfOf !== 'unsupported'
    return method === 'GET' && isForUsers && id !== 'listUsers'
  })

/** The path of a read about one of the others; a parameter that is not known here fails the test. */
function pathOf({ operation: { id }, path }: (typeof reads)[number], uid: string, { said, call }: Scene): string {
  const known: Record<string, string | undefined> = {
    ...{ uid: id === 'listBlockedUsers' ? 'gus' : uid, guid: id.includes('Banned') ? 'shut' : 'crew', id: said[uid] },
    ...{ conversationId: [uid, 'gus'].toSorted().join('_user_'), reaction: 'yes', sessionId: call },
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => known[name] ?? assert.fail(`${name} is not known`))
  return `${filled.replace('/v3', '')}${id === 'countOnlineMembers' ? '?guids=crew' : ''}`
}

/** What a record of a user tells beyond the UID. */
const told = (uid: string) => new RegExp(`(name|secret|picture|tag|words)-of-${uid}`)

for (const database of databases) {
  describe(`users inside other records on ${database}`, () => {
    let h: House
    let app: AppClient
    let scene: Scene
    before(async () => {
      h = await house({ database, way: 'dispatch' })
      app = await appWith(h)
      for (const role of ['guest', 'pal']) assertSucceeds(await app.post('/roles', { role, name: role }))
      for (const uid of ['gus', 'fay', 'pal', 'sam']) await addUser(uid)
      assertSucceeds(await app.post('/users/gus/friends', { accepted: ['fay'] }))
      scene = await setScene()
    })
    after(() => h.close())

    /** By both of them, PostgreSQL would only be asked the same twice. */
    const doorsOfGus = async () =>
      (await doorsFor(h, app, 'gus')).filter(({ name }) => database === 'sqlite' || name === 'client')

    async function addUser(uid: string): Promise<void> {
      const profile = {
        ...{ uid, name: `name-of-${uid}`, tags: [`tag-of-${uid}`], metadata: { secret: `secret-of-${uid}` } },
        ...{ avatar: `https://img.example.org/picture-of-${uid}.png`, statusMessage: `words-of-${uid}` },
        role: { gus: 'guest', pal: 'pal' }[uid] ?? 'default',
      }
      assertSucceeds(await app.post('/users', profile))
    }

    async function setScene(): Promise<Scene> {
      const members = { participants: others }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('gus')))
      const usersToBan = others
      assertSucceeds(await app.post('/groups', { guid: 'shut', name: 'Shut', members: { usersToBan } }, as('gus')))
      const { id: own } = await sayIn(app, 'crew', 'gus')
      const { id: root } = await sayIn(app, 'crew', 'gus', 'Who?')
      const [said, naming]: Record<string, string>[] = [{}, {}]
      for (const uid of others) {
        Object.assign(said ?? {}, { [uid]: (await sayIn(app, 'crew', uid)).id })
        Object.assign(naming ?? {}, { [uid]: (await sayIn(app, 'crew', 'gus', `Is it <@uid:${uid}>?`)).id })
        await say(app, uid, 'gus', 'Directly')
        assertSucceeds(await app.post(`/messages/${own}/reactions/yes`, undefined, as(uid)))
        assertSucceeds(await app.post(`/messages/${root}/thread`, text('I am'), as(uid)))
        assertSucceeds(await app.post('/groups/crew/conversation/read', {}, as(uid)))
      }
      const steps = [{ after: 3, do: 'cancel' }]
      for (const uid of others) await app.play({ initiator: uid, receiver: 'gus', steps })
      const toAll = { initiator: 'gus', receiver: 'crew', receiverType: 'group', invited: others }
      const { sessionId: call } = await app.play({ ...toAll, steps })
      return { said: said ?? {}, naming: naming ?? {}, own, call }
    }

    const setRule = async (rule: string, value: string) => {
      if (rule === 'nothing') return
      if (rule === 'restricted') {
        assertSucceeds(await app.post('/roles/guest/restrictedfeatures', { featuresToRestrict: [value] }))
        return
      }
      const permissions = { [rule]: rule.endsWith('allowedRoles') ? [value] : value }
      assertSucceeds(await app.put('/roles/guest/permissions', { permissions }))
    }
    const unsetRule = async (rule: string, value: string) => {
      if (rule === 'nothing') return
      if (rule === 'restricted') {
        const body = { featuresToAllow: [value] }
        assertSucceeds(await app.delete('/roles/guest/restrictedfeatures', body))
      } else assertSucceeds(await app.delete(`/roles/guest/permissions/${rule}`))
    }

    for (const { rule = '', value = '', ...seen } of table) {
      describe(`with ${rule} ${value}`, () => {
        before(() => setRule(rule, value))
        after(() => unsetRule(rule, value))
        const wanted = (uid: string) => seen[uid] === 'seen'

        it('are got by UID as the table says', async () => {
          for (const { caller } of await doorsOfGus()) {
            for (const uid of others) {
              const { status, text: body } = await caller.get(`/users/${uid}`)
              assert.deepEqual([status, told(uid).test(body)], wanted(uid) ? [200, true] : [403, false], uid)
            }
            assert.match(assertSucceeds(await caller.get('/users/gus')).data.name, told('gus'))
          }
        })

        for (const [place, ask] of Object.entries(places)) {
          it(`are shown alike: ${place}`, async () => {
            const isBlocks = place.includes('blocked')
            if (isBlocks) assertSucceeds(await app.post('/users/gus/blockedusers', { blockedUids: others }))
            for (const { name, caller } of await doorsOfGus()) {
              for (const uid of others) {
                // Whose client it is comes from the path; a server asks about everyone.
                if (isBlocks && name === 'server') continue
                const answer = await ask(caller, uid, scene)
                assertSucceeds(answer)
                for (const other of others) {
                  if (!answer.text.includes(other)) continue
                  assert.equal(told(other).test(answer.text), wanted(other), `${name}, ${other}: ${answer.text}`)
                }
                assert.ok(answer.text.includes(`"${uid}"`), answer.text)
              }
            }
            if (isBlocks) assertSucceeds(await app.delete('/users/gus/blockedusers', { blockedUids: others }))
          })
        }

        for (const [what, path] of Object.entries(searches)) {
          it(`are found alike: ${what}`, async () => {
            const isBlocks = what.includes('blocked')
            if (isBlocks) assertSucceeds(await app.post('/users/gus/blockedusers', { blockedUids: others }))
            for (const { name, caller } of await doorsOfGus()) {
              if (isBlocks && name === 'server') continue
              for (const uid of others) {
                const { data, meta } = assertSucceeds(await caller.get(path(uid)))
                const found = JSON.stringify(data).includes(`"${uid}"`)
                assert.equal(found, wanted(uid), `${name}: ${uid}`)
                assert.equal(meta.pagination.total, data.length)
              }
            }
            if (isBlocks) assertSucceeds(await app.delete('/users/gus/blockedusers', { blockedUids: others }))
          })
        }

        it('are found by name alike, where messages mention them, and the messages by their other words', async () => {
          for (const uid of others) await sayIn(app, 'crew', 'pal', `Where is <@uid:${uid}>?`)
          for (const { name, caller } of await doorsOfGus()) {
            for (const uid of others) {
              const found = async (query: string) => {
                const { data } = assertSucceeds(await caller.get(`/groups/crew/messages?${query}`))
                return data.some(({ id }: { id: string }) => id === scene.naming[uid])
              }
              const past = Number(scene.naming[uid]) - 1
              for (const words of [`name-of-${uid}`, `is+name-of-${uid}`]) {
                assert.equal(await found(`searchKey=${words}&id=${past}&limit=1`), wanted(uid), `${name}: ${words}`)
              }
              assert.ok(await found(`searchKey=is+it&id=${past}&limit=1`), name)
              const unread = await caller.get(`/groups/crew/messages?unread=true&count=true&searchKey=name-of-${uid}`)
              assertSucceeds(unread)
              assert.equal(unread.text.includes('crew'), wanted(uid), `${name}: unread messages that name ${uid}`)
            }
          }
        })

        it('are shown alike by all that can be read, by whichever operation', async () => {
          assertSucceeds(await app.post('/users/gus/blockedusers', { blockedUids: ['sam'] }))
          for (const { name, caller } of await doorsFor(h, app, 'gus')) {
            for (const read of reads.filter(({ operation }) => operation.doors.includes(name))) {
              const { id, onBehalfOf } = read.operation
              if (name === 'server' && onBehalfOf === 'unsupported') continue
              for (const uid of others) {
                const { status, text: body } = await caller.get(pathOf(read, uid, scene))
                assert.equal(status, id === 'getUser' && !wanted(uid) ? 403 : 200, `${id}: ${body}`)
                for (const other of others) {
                  assert.ok(wanted(other) || !told(other).test(body), `${id} shows ${other}: ${body}`)
                }
              }
            }
          }
          assertSucceeds(await app.delete('/users/gus/blockedusers', { blockedUids: ['sam'] }))
        })

        it('are shown to the app in any case, and to whoever may see them', async () => {
          for (const uid of others) {
            assert.match((await app.get(`/messages/${scene.naming[uid]}`)).text, told(uid))
            assert.match((await app.get(`/messages/${scene.naming[uid]}`, as('fay'))).text, told(uid))
            assert.match((await app.get('/groups/crew/members', as('sam'))).text, told(uid))
          }
        })
      })
    }
  })
}
