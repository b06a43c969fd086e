import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type Caller, type House, house } from '../../../../tests/support/house.ts'
import {
  Comparison,
  doorsFor,
  isTriedOn,
  linesOf,
  wordFor,
  wordForEntry,
  wordForList,
} from '../../../../tests/support/matrix.ts'
import { appWith, as } from '../../../../tests/support/talk.ts'

/** Who may do what to a group and its members, by scope, through which door. */

/** Members join, leave and hand over by themselves alone: servers have no call for it. */
const toPrivateGroup = linesOf(`
  act       app        owner             admin              moderator          participant        outsider             banned
  get       ok         ok                ok                 ok                 ok                 notJoined            banned
  listed    ok         ok                ok                 ok                 ok                 absent               absent
  members   ok         ok                ok                 ok                 ok                 notJoined            banned
  member    ok         ok                ok                 ok                 ok                 notJoined            banned
  noMember  notMember  notMember         notMember          notMember          notMember          notJoined            banned
  bans      ok         ok                ok                 ok                 notMod             notJoined            banned
  change    ok         ok                ok                 ok                 notMod             notJoined            banned
  unlock    ok         ok|wrongDoor      ok|wrongDoor       ok|wrongDoor       notMod|wrongDoor   notJoined|wrongDoor  banned|wrongDoor
  add       ok         ok                ok                 notAdmin           notAdmin           notJoined            banned
  banAhead  ok         ok                ok                 notAdmin           notAdmin           notJoined            banned
  scope     ok         ok                ok                 ok                 noScope            notJoined            banned
  scopeUp   ok         ok                ok                 noScope            noScope            notJoined            banned
  scopeMod  ok         ok                ok                 noScope            noScope            notJoined            banned
  scopeAdm  ok         ok                noScope            noScope            noScope            notJoined            banned
  kick      ok         ok                ok                 ok                 noClear            notJoined            banned
  kickMod   ok         ok                ok                 noClear            noClear            notJoined            banned
  kickAdm   ok         ok                ok                 noClear            noClear            notJoined            banned
  ban       ok         ok                ok                 ok                 noClear            notJoined            banned
  banMod    ok         ok                ok                 noClear            noClear            notJoined            banned
  banOut    notMember  notMember         notMember          notMember          notMember          notJoined            banned
  unban     ok         ok                ok                 ok                 noClear            notJoined            banned
  join      wrongDoor  wrongDoor|joined  wrongDoor|joined   wrongDoor|joined   wrongDoor|joined   wrongDoor|closed     wrongDoor|banned
  addSelf   ok         joined            joined             notAdmin|joined    notAdmin|joined    notJoined|closed     banned
  handOver  wrongDoor  wrongDoor|ok      wrongDoor|noClear  wrongDoor|noClear  wrongDoor|noClear  wrongDoor|notJoined  wrongDoor|banned
  leave     wrongDoor  wrongDoor|noSelf  wrongDoor|ok       wrongDoor|ok       wrongDoor|ok       wrongDoor|notJoined  wrongDoor|banned
  remove    ok         ok                ok                 notAdmin           notAdmin           notJoined            banned
`)

/** A group that all may join, and one that asks for a password. */
const toOpenGroups = linesOf(`
  act         app        member            outsider             banned
  create      ok         ok                ok                   ok
  get         ok         ok                ok                   banned
  listed      ok         ok                ok                   ok
  members     ok         ok                ok                   banned
  member      ok         ok                ok                   banned
  joinOpen    wrongDoor  wrongDoor|joined  wrongDoor|ok         wrongDoor|banned
  guess       wrongDoor  wrongDoor|joined  wrongDoor|wrongPass  wrongDoor|banned
  joinLocked  wrongDoor  wrongDoor|joined  wrongDoor|ok         wrongDoor|banned
`)

const wasCrew = (group: Record<string, unknown>) => group.guid === 'crew'

type Acts = Record<string, (caller: Caller, uid?: string) => Promise<string>>
const onCrew: Acts = {
  get: async (caller) => wordFor(await caller.get('/groups/crew')),
  listed: async (caller) => wordForList(await caller.get('/groups'), wasCrew),
  members: async (caller) => wordFor(await caller.get('/groups/crew/members')),
  member: async (caller) => wordFor(await caller.get('/groups/crew/members/vic')),
  noMember: async (caller) => wordFor(await caller.get('/groups/crew/members/new')),
  bans: async (caller) => wordFor(await caller.get('/groups/crew/bannedusers')),
  change: async (caller) => wordFor(await caller.put('/groups/crew', { name: 'Another' })),
  unlock: async (caller) => wordFor(await caller.put('/groups/crew', { type: 'public' })),
  add: async (caller) => wordFor(await caller.post('/groups/crew/members', { participants: ['new'] })),
  banAhead: async (caller) => wordFor(await caller.post('/groups/crew/members', { usersToBan: ['new'] })),
  scope: async (caller) => wordFor(await caller.put('/groups/crew/members/vic', { scope: 'moderator' })),
  scopeUp: async (caller) => wordFor(await caller.put('/groups/crew/members/vic', { scope: 'admin' })),
  scopeMod: async (caller) => wordFor(await caller.put('/groups/crew/members/sub', { scope: 'participant' })),
  scopeAdm: async (caller) => wordFor(await caller.put('/groups/crew/members/top', { scope: 'participant' })),
  kick: async (caller) => wordFor(await caller.delete('/groups/crew/members/vic')),
  kickMod: async (caller) => wordFor(await caller.delete('/groups/crew/members/sub')),
  kickAdm: async (caller) => wordFor(await caller.delete('/groups/crew/members/top')),
  ban: async (caller) => wordFor(await caller.post('/groups/crew/bannedusers/vic')),
  banMod: async (caller) => wordFor(await caller.post('/groups/crew/banned_members/sub')),
  banOut: async (caller) => wordFor(await caller.post('/groups/crew/bannedusers/new')),
  unban: async (caller) => wordFor(await caller.delete('/groups/crew/bannedusers/ban')),
  join: async (caller) => wordFor(await caller.post('/groups/crew/join')),
  addSelf: async (caller, uid = 'new') =>
    wordForEntry(await caller.post('/groups/crew/members', { participants: [uid] }), (data) => data.participants[uid]),
  handOver: async (caller) => wordFor(await caller.put('/groups/crew/owner', { uid: 'vic' })),
  leave: async (caller) => wordFor(await caller.post('/groups/crew/leave')),
  remove: async (caller) => wordFor(await caller.delete('/groups/crew')),
}
const reading = new Set(['get', 'listed', 'members', 'member', 'bans', 'change'])

for (const database of databases) {
  describe(`who may do what in groups on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database, way: 'dispatch' })
      app = await appWith(h, 'own', 'adm', 'mod', 'par', 'out', 'ban', 'vic', 'sub', 'top', 'new')
    })
    after(() => h.close())

    const crew = {
      guid: 'crew',
      name: 'Crew',
      type: 'private',
      members: {
        admins: ['adm', 'top'],
        moderators: ['mod', 'sub'],
        participants: ['par', 'vic'],
        usersToBan: ['ban'],
      },
    }
    const parts = [
      ['app', undefined],
      ['owner', 'own'],
      ['admin', 'adm'],
      ['moderator', 'mod'],
      ['participant', 'par'],
      ['outsider', 'out'],
      ['banned', 'ban'],
    ] as const
    for (const [who, uid] of parts) {
      it(`to a private one: ${who}`, async () => {
        const comparison = new Comparison()
        let isFresh = false
        for (const { act = '', [who]: cell } of toPrivateGroup) {
          for (const { name, caller } of await doorsFor(h, app, uid)) {
            if (!isTriedOn(database, cell, name)) continue
            if (!isFresh) {
              await app.delete('/groups/crew')
              assertSucceeds(await app.post('/groups', crew, as('own')))
            }
            const word = (await onCrew[act]?.(caller, uid)) ?? assert.fail(`${act} is no act`)
            comparison.check(cell, name, word, `${who}: ${act}`)
            isFresh = word !== 'ok' || reading.has(act)
          }
        }
        comparison.end()
      })
    }

    it('to open ones', async () => {
      const lock = { guid: 'lock', name: 'Lock', type: 'password', password: 'sesame' }
      const members = { participants: ['par'], usersToBan: ['ban'] }
      assertSucceeds(await app.post('/groups', { ...lock, members }, as('own')))
      assertSucceeds(await app.post('/groups', { guid: 'open', name: 'Open', members }, as('own')))
      const acts: Acts = {
        create: async (caller) => {
          const word = wordFor(await caller.post('/groups', { guid: 'mine', name: 'Mine' }))
          if (word === 'ok') assertSucceeds(await app.delete('/groups/mine'))
          return word
        },
        get: async (caller) => wordFor(await caller.get('/groups/lock')),
        listed: async (caller) => wordForList(await caller.get('/groups'), ({ guid }) => guid === 'open'),
        members: async (caller) => wordFor(await caller.get('/groups/open/members')),
        member: async (caller) => wordFor(await caller.get('/groups/open/members/par')),
        joinOpen: async (caller) => wordFor(await caller.post('/groups/open/join')),
        guess: async (caller) => wordFor(await caller.post('/groups/lock/join', { password: 'salami' })),
        joinLocked: async (caller) => wordFor(await caller.post('/groups/lock/join', { password: 'sesame' })),
      }
      const comparison = new Comparison()
      for (const [who, uid] of [
        ['app', undefined],
        ['member', 'par'],
        ['outsider', 'out'],
        ['banned', 'ban'],
      ] as const) {
        for (const { act = '', [who]: cell } of toOpenGroups) {
          for (const { name, caller } of await doorsFor(h, app, uid)) {
            if (!isTriedOn(database, cell, name)) continue
            const word = (await acts[act]?.(caller)) ?? assert.fail(`${act} is no act`)
            comparison.check(cell, name, word, `${who}: ${act}`)
          }
        }
      }
      comparison.end()
    })
  })
}
