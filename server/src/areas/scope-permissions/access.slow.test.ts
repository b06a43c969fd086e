import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type Caller, type House, house } from '../../../../tests/support/house.ts'
import { Comparison, type Door, doorsFor, linesOf, wordFor, wordForList } from '../../../../tests/support/matrix.ts'
import { appWith, as, sayIn } from '../../../../tests/support/talk.ts'
import { scopeCatalogue } from './catalogue.ts'

/**
 * What becomes of an act in a group when a permission of one scope has a value; an owner is held to what admins are. A
 * call has no operation to begin it yet; who may begin one, and whom it rings for, is in rules.test.ts.
 */
const table = linesOf(`
  permission                   value                  of           act              app         owner   admin   moderator  participant  outsider
  sendMessage                  deny                   admin        send             ok          denied  denied  ok         ok           notJoined
  sendMessage                  deny                   moderator    send             ok          ok      ok      denied     ok           notJoined
  sendMessage                  deny                   participant  send             ok          ok      ok      ok         denied       notJoined
  sendMessage                  deny                   participant  reply            needsActor  ok      ok      ok         denied       noAccess
  sendMessage                  deny                   participant  replyHere        ok          ok      ok      ok         denied       notJoined
  sendMessage                  deny                   participant  upload           needsActor  ok      ok      ok         denied       denied
  sendMessage                  deny                   participant  edit             ok          ok      ok      ok         ok           noAccess
  sendMessage                  deny                   participant  react            needsActor  ok      ok      ok         ok           noAccess
  sendThreadedMessage          deny                   admin        reply            needsActor  denied  denied  ok         ok           noAccess
  sendThreadedMessage          deny                   moderator    reply            needsActor  ok      ok      denied     ok           noAccess
  sendThreadedMessage          deny                   participant  reply            needsActor  ok      ok      ok         denied       noAccess
  sendThreadedMessage          deny                   participant  replyHere        ok          ok      ok      ok         denied       notJoined
  sendThreadedMessage          deny                   participant  uploadReply      needsActor  ok      ok      ok         denied       denied
  sendThreadedMessage          deny                   participant  send             ok          ok      ok      ok         ok           notJoined
  sendThreadedMessage          deny                   participant  upload           needsActor  ok      ok      ok         ok           denied
  editMessage                  deny                   admin        edit             ok          denied  denied  ok         ok           noAccess
  editMessage                  deny                   moderator    edit             ok          ok      ok      denied     ok           noAccess
  editMessage                  deny                   participant  edit             ok          ok      ok      ok         denied       noAccess
  editMessage                  deny                   moderator    editAnothers     ok          ok      ok      denied     notSender    noAccess
  editMessage                  deny                   participant  editAnothers     ok          ok      ok      ok         denied       noAccess
  editMessage                  deny                   participant  delete           ok          ok      ok      ok         ok           noAccess
  addReaction                  deny                   admin        react            needsActor  denied  denied  ok         ok           noAccess
  addReaction                  deny                   moderator    react            needsActor  ok      ok      denied     ok           noAccess
  addReaction                  deny                   participant  react            needsActor  ok      ok      ok         denied       noAccess
  addReaction                  deny                   participant  reactInBody      needsActor  ok      ok      ok         denied       noAccess
  addReaction                  deny                   participant  unreact          needsActor  ok      ok      ok         ok           noAccess
  listReactions                deny                   admin        reactions        ok          denied  denied  ok         ok           noAccess
  listReactions                deny                   moderator    reactions        ok          ok      ok      denied     ok           noAccess
  listReactions                deny                   participant  reactions        ok          ok      ok      ok         denied       noAccess
  listReactions                deny                   participant  reactionsOfKind  ok          ok      ok      ok         denied       noAccess
  listReactions.allowedScopes  admin                  participant  byAdmin          ok          ok      ok      ok         ok           noAccess
  listReactions.allowedScopes  admin                  participant  byModerator      ok          ok      ok      ok         absent       noAccess
  listReactions.allowedScopes  moderator,participant  admin        byAdmin          ok          absent  absent  ok         ok           noAccess
  listReactions.allowedScopes  moderator,participant  admin        byModerator      ok          ok      ok      ok         ok           noAccess
  listMembers                  deny                   admin        members          ok          denied  denied  ok         ok           ok
  listMembers                  deny                   moderator    members          ok          ok      ok      denied     ok           ok
  listMembers                  deny                   participant  members          ok          ok      ok      ok         denied       ok
  listMembers                  deny                   participant  getAdmin         ok          ok      ok      ok         denied       ok
  listMembers.allowedScopes    admin                  participant  listAdmin        ok          ok      ok      ok         ok           ok
  listMembers.allowedScopes    admin                  participant  listModerator    ok          ok      ok      ok         absent       ok
  listMembers.allowedScopes    admin                  participant  getAdmin         ok          ok      ok      ok         ok           ok
  listMembers.allowedScopes    admin                  participant  getModerator     ok          ok      ok      ok         notMember    ok
  listMembers.allowedScopes    admin                  participant  getSelf          ok          ok      ok      ok         ok           ok
  listMembers.allowedScopes    moderator,participant  admin        listAdmin        ok          absent  absent  ok         ok           ok
  listMembers.allowedScopes    moderator,participant  admin        listModerator    ok          ok      ok      ok         ok           ok
`)

describe('the table of scopes', () => {
  it('has every permission, but those of calls', () => {
    const ids = new Set(table.map(({ permission }) => permission))
    const missing = Object.keys(scopeCatalogue).filter((id) => !ids.has(id))
    assert.deepEqual(missing, ['initiateCall', 'initiateCall.allowedScopes', 'initiateCall.allowedType'])
  })
})

const parts = [
  ['app', undefined],
  ['owner', 'own'],
  ['admin', 'adm'],
  ['moderator', 'mod'],
  ['participant', 'par'],
  ['outsider', 'out'],
] as const

for (const database of databases) {
  describe(`what a scope may do on ${database}`, () => {
    let h: House
    let app: AppClient
    let parent: string
    const doors = new Map<string, Door[]>()
    const own = new Map<string, string>()
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'own', 'adm', 'mod', 'par', 'lin', 'out')
      const members = { admins: ['adm'], moderators: ['mod'], participants: ['par', 'lin'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('own')))
      parent = (await sayIn(app, 'crew', 'lin')).id
      for (const uid of ['adm', 'mod']) {
        assertSucceeds(await app.post(`/messages/${parent}/reactions/${uid}`, undefined, as(uid)))
      }
      for (const uid of ['own', 'adm', 'mod', 'par', 'lin']) own.set(uid, (await sayIn(app, 'crew', uid)).id)
      for (const [who, uid] of parts) doors.set(who, await doorsFor(h, app, uid))
    })
    after(() => h.close())

    const to = { receiver: 'crew', receiverType: 'group', data: { text: 'Hello' } }
    const files = [{ fileId: 'f', name: 'a.png', mimeType: 'image/png', size: 9 }]
    const where = { receiverId: 'crew', receiverType: 'group', files }
    const edited = { data: { text: 'Edited' } }
    const listed = async (caller: Caller, path: string, uid: string) =>
      wordForList(await caller.get(path), (entry) => entry.uid === uid)

    /** `me` is who acts, or whose message the app and outsiders are after. */
    const acts: Record<string, (caller: Caller, me: string) => Promise<string>> = {
      send: async (caller) => wordFor(await caller.post('/messages', to)),
      reply: async (caller) => wordFor(await caller.post(`/messages/${parent}/thread`, { data: to.data })),
      replyHere: async (caller) => wordFor(await caller.post('/messages', { ...to, parentId: parent })),
      upload: async (caller) => wordFor(await caller.post('/files', where)),
      uploadReply: async (caller) =>
        wordFor(await caller.post('/files', { ...where, parentMessageId: Number(parent) })),
      edit: async (caller, me) => wordFor(await caller.put(`/messages/${own.get(me)}`, edited)),
      editAnothers: async (caller) => wordFor(await caller.put(`/messages/${parent}`, edited)),
      delete: async (caller, me) => wordFor(await caller.delete(`/messages/${(await sayIn(app, 'crew', me)).id}`)),
      react: async (caller) => wordFor(await caller.post(`/messages/${parent}/reactions/yes`)),
      reactInBody: async (caller) => wordFor(await caller.post(`/messages/${parent}/reactions`, { reaction: 'yes' })),
      unreact: async (caller) => wordFor(await caller.delete(`/messages/${parent}/reactions/yes`)),
      reactions: async (caller) => wordFor(await caller.get(`/messages/${parent}/reactions`)),
      reactionsOfKind: async (caller) => wordFor(await caller.get(`/messages/${parent}/reactions/adm`)),
      byAdmin: (caller) => listed(caller, `/messages/${parent}/reactions`, 'adm'),
      byModerator: (caller) => listed(caller, `/messages/${parent}/reactions`, 'mod'),
      members: async (caller) => wordFor(await caller.get('/groups/crew/members')),
      getAdmin: async (caller) => wordFor(await caller.get('/groups/crew/members/adm')),
      getModerator: async (caller) => wordFor(await caller.get('/groups/crew/members/mod')),
      getSelf: async (caller, me) => wordFor(await caller.get(`/groups/crew/members/${me}`)),
      listAdmin: (caller) => listed(caller, '/groups/crew/members', 'adm'),
      listModerator: (caller) => listed(caller, '/groups/crew/members', 'mod'),
    }

    for (const [key, lines] of Map.groupBy(table, ({ permission, value, of }) => `${permission} ${value} ${of}`)) {
      const [permission = '', value = '', scope] = key.split(' ')
      it(`${permission} ${value} for ${scope}`, async () => {
        const path = `/groups/crew/scopes/${scope}/permissions`
        const permissions = { [permission]: permission.includes('.') ? value.split(',') : value }
        const comparison = new Comparison()
        try {
          assertSucceeds(await app.put(path, { permissions }))
          for (const { act = '', ...cells } of lines) {
            for (const [who, uid] of parts) {
              for (const { name, caller } of doors.get(who) ?? []) {
                const me = uid === undefined || who === 'outsider' ? 'lin' : uid
                const word = (await acts[act]?.(caller, me)) ?? assert.fail(`${act} is no act`)
                comparison.check(cells[who], name, word, `${act} by ${who}`)
              }
            }
          }
        } finally {
          assertSucceeds(await app.delete(`${path}/${permission}`))
        }
        comparison.end()
      })
    }
  })
}
