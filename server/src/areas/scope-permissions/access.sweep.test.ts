import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DatabaseName, databases } from '../../../../tests/support/databases.ts'
import { type House, house } from '../../../../tests/support/house.ts'
import { Comparison, isTriedOn, linesOf } from '../../../../tests/support/matrix.ts'
import { type Part, Ship } from '../../../../tests/support/ship.ts'
import { scopeCatalogues } from './catalogue.ts'

/**
 * What becomes of an act in a group when a permission of one scope has a value; an owner is held to what admins are. Every
 * act that changes something is done in a group of its own, so that no line can change what another finds.
 */
const table = linesOf(`
  permission                                    value                                       of           act              app         owner             admin             moderator         participant       outsider
  editGroup                                     deny                                        admin        editGroup        ok          ok                denied            ok                notMod            notJoined
  editGroup                                     deny                                        moderator    editGroup        ok          ok                ok                denied            notMod            notJoined
  editGroup                                     deny                                        participant  editGroup        ok          ok                ok                ok                denied            notJoined
  editGroup                                     allow                                       participant  editGroup        ok          ok                ok                ok                ok                notJoined
  editGroup                                     allow                                       moderator    editGroup        ok          ok                ok                ok                notMod            notJoined
  deleteGroup                                   deny                                        admin        deleteGroup      ok          ok                denied            notAdmin          notAdmin          notJoined
  deleteGroup                                   deny                                        moderator    deleteGroup      ok          ok                ok                denied            notAdmin          notJoined
  deleteGroup                                   deny                                        participant  deleteGroup      ok          ok                ok                notAdmin          denied            notJoined
  deleteGroup                                   allow                                       moderator    deleteGroup      ok          ok                ok                ok                notAdmin          notJoined
  deleteGroup                                   allow                                       participant  deleteGroup      ok          ok                ok                notAdmin          ok                notJoined
  leaveGroup                                    deny                                        admin        leave            wrongDoor   wrongDoor|denied  wrongDoor|denied  wrongDoor|ok      wrongDoor|ok      wrongDoor|notJoined
  leaveGroup                                    deny                                        moderator    leave            wrongDoor   wrongDoor|noSelf  wrongDoor|ok      wrongDoor|denied  wrongDoor|ok      wrongDoor|notJoined
  leaveGroup                                    deny                                        participant  leave            wrongDoor   wrongDoor|noSelf  wrongDoor|ok      wrongDoor|ok      wrongDoor|denied  wrongDoor|notJoined
  listMembers                                   deny                                        admin        members          ok          denied            denied            ok                ok                ok
  listMembers                                   deny                                        moderator    members          ok          ok                ok                denied            ok                ok
  listMembers                                   deny                                        participant  members          ok          ok                ok                ok                denied            ok
  listMembers.allowedScopes                     admin                                       participant  listAdmin        ok          ok                ok                ok                ok                ok
  listMembers.allowedScopes                     admin                                       participant  listModerator    ok          ok                ok                ok                absent            ok
  listMembers.allowedScopes                     moderator,participant                       admin        listAdmin        ok          absent            absent            ok                ok                ok
  listMembers.allowedScopes                     moderator,participant                       admin        listModerator    ok          ok                ok                ok                ok                ok
  listMembers                                   deny                                        participant  getAdmin         ok          ok                ok                ok                denied            ok
  listMembers.allowedScopes                     admin                                       participant  getAdmin         ok          ok                ok                ok                ok                ok
  listMembers.allowedScopes                     admin                                       participant  getModerator     ok          ok                ok                ok                notMember         ok
  listMembers.allowedScopes                     admin                                       participant  getSelf          ok          ok                ok                ok                ok                ok
  addMembers                                    deny                                        admin        addParticipant   ok          denied            denied            notAdmin          notAdmin          notJoined
  addMembers                                    deny                                        moderator    addParticipant   ok          ok                ok                denied            notAdmin          notJoined
  addMembers                                    deny                                        participant  addParticipant   ok          ok                ok                notAdmin          denied            notJoined
  addMembers                                    deny                                        admin        banAhead         ok          denied            denied            notAdmin          notAdmin          notJoined
  addMembers                                    allow                                       moderator    addParticipant   ok          ok                ok                ok                notAdmin          notJoined
  addMembers                                    allow                                       participant  addParticipant   ok          ok                ok                notAdmin          ok                notJoined
  addMembers                                    allow                                       participant  addModerator     ok          ok                ok                notAdmin          ok                notJoined
  addMembers                                    allow                                       participant  banAhead         ok          ok                ok                notAdmin          noClear           notJoined
  addMembers.allowedScopes                      participant                                 admin        addParticipant   ok          ok                ok                notAdmin          notAdmin          notJoined
  addMembers.allowedScopes                      participant                                 admin        addModerator     ok          denied            denied            notAdmin          notAdmin          notJoined
  addMembers.allowedScopes                      admin                                       participant  addModerator     ok          ok                ok                notAdmin          notAdmin          notJoined
  kickMembers                                   deny                                        admin        kickParticipant  ok          denied            denied            ok                noClear           notJoined
  kickMembers                                   deny                                        moderator    kickParticipant  ok          ok                ok                denied            noClear           notJoined
  kickMembers                                   deny                                        participant  kickParticipant  ok          ok                ok                ok                denied            notJoined
  kickMembers                                   allow                                       participant  kickParticipant  ok          ok                ok                ok                ok                notJoined
  kickMembers                                   allow                                       participant  kickModerator    ok          ok                ok                noClear           noClear           notJoined
  kickMembers                                   allow                                       moderator    kickModerator    ok          ok                ok                noClear           noClear           notJoined
  kickMembers.allowedScopes                     moderator                                   admin        kickParticipant  ok          denied            denied            ok                noClear           notJoined
  kickMembers.allowedScopes                     moderator                                   admin        kickModerator    ok          ok                ok                noClear           noClear           notJoined
  kickMembers.allowedScopes                     moderator                                   moderator    kickParticipant  ok          ok                ok                denied            noClear           notJoined
  kickMembers.allowedScopes                     moderator                                   moderator    kickModerator    ok          ok                ok                noClear           noClear           notJoined
  listBannedUsers                               deny                                        admin        bans             ok          denied            denied            ok                notMod            notJoined
  listBannedUsers                               deny                                        moderator    bans             ok          ok                ok                denied            notMod            notJoined
  listBannedUsers                               deny                                        participant  bans             ok          ok                ok                ok                denied            notJoined
  listBannedUsers                               allow                                       participant  bans             ok          ok                ok                ok                ok                notJoined
  ban                                           deny                                        admin        banParticipant   ok          denied            denied            ok                noClear           notJoined
  ban                                           deny                                        moderator    banParticipant   ok          ok                ok                denied            noClear           notJoined
  ban                                           deny                                        participant  banParticipant   ok          ok                ok                ok                denied            notJoined
  ban                                           allow                                       participant  banParticipant   ok          ok                ok                ok                ok                notJoined
  ban                                           allow                                       participant  banModerator     ok          ok                ok                noClear           noClear           notJoined
  ban                                           allow                                       moderator    banModerator     ok          ok                ok                noClear           noClear           notJoined
  ban                                           deny                                        admin        banAhead         ok          denied            denied            notAdmin          notAdmin          notJoined
  ban.allowedScopes                             moderator                                   admin        banParticipant   ok          denied            denied            ok                noClear           notJoined
  ban.allowedScopes                             moderator                                   admin        banModerator     ok          ok                ok                noClear           noClear           notJoined
  ban.allowedScopes                             moderator                                   moderator    banParticipant   ok          ok                ok                denied            noClear           notJoined
  ban.allowedScopes                             moderator                                   moderator    banModerator     ok          ok                ok                noClear           noClear           notJoined
  ban.allowedScopes                             moderator                                   admin        banAhead         ok          denied            denied            notAdmin          notAdmin          notJoined
  ban.allowedScopes                             participant                                 admin        banAhead         ok          ok                ok                notAdmin          notAdmin          notJoined
  unban                                         deny                                        admin        unban            ok          denied            denied            ok                noClear           notJoined
  unban                                         deny                                        moderator    unban            ok          ok                ok                denied            noClear           notJoined
  unban                                         deny                                        participant  unban            ok          ok                ok                ok                denied            notJoined
  unban                                         allow                                       participant  unban            ok          ok                ok                ok                ok                notJoined
  listMessages.allowedMessageCategories         custom                                      admin        listText         ok          absent            absent            ok                ok                notJoined
  listMessages.allowedMessageCategories         custom                                      moderator    listText         ok          ok                ok                absent            ok                notJoined
  listMessages.allowedMessageCategories         custom                                      participant  listText         ok          ok                ok                ok                absent            notJoined
  listMessages.allowedMessageCategories         custom                                      participant  listPlace        ok          ok                ok                ok                ok                notJoined
  listMessages.allowedMessageCategories         custom                                      participant  searchText       ok          ok                ok                ok                absent            absent
  listMessages.allowedMessageCategories         custom                                      participant  getText          ok          ok                ok                ok                ok                noAccess
  listMessages.allowedMessageCategories         custom                                      participant  lastText         needsActor  ok                ok                ok                absent            noTalk
  listMessages.allowedMessageCategories         custom                                      participant  unreadText       needsActor  ok                ok                ok                absent            noTalk
  listMessages.allowedMessageCategories         custom                                      participant  quotedText       ok          ok                ok                ok                absent            notJoined
  listMessages.allowedMessageTypes              image                                       admin        listText         ok          absent            absent            ok                ok                notJoined
  listMessages.allowedMessageTypes              image                                       moderator    listText         ok          ok                ok                absent            ok                notJoined
  listMessages.allowedMessageTypes              image                                       participant  listText         ok          ok                ok                ok                absent            notJoined
  listMessages.allowedMessageTypes              image                                       participant  listImage        ok          ok                ok                ok                ok                notJoined
  listMessages.allowedMessageTypes              image                                       participant  listPlace        ok          ok                ok                ok                ok                notJoined
  listMessages.allowedMessageTypes              image                                       participant  searchText       ok          ok                ok                ok                absent            absent
  listMessages.historyBeforeJoin                deny                                        admin        listOld          ok          ok                absent            ok                ok                notJoined
  listMessages.historyBeforeJoin                deny                                        moderator    listOld          ok          ok                ok                absent            ok                notJoined
  listMessages.historyBeforeJoin                deny                                        participant  listOld          ok          ok                ok                ok                absent            notJoined
  listMessages.historyBeforeJoin                deny                                        participant  listText         ok          ok                ok                ok                ok                notJoined
  listMessages.historyBeforeJoin                deny                                        participant  searchOld        ok          ok                ok                ok                absent            absent
  listMessages.historyBeforeJoin                deny                                        participant  getOld           ok          ok                ok                ok                noAccess          noAccess
  listMessages.historyBeforeJoin                deny                                        participant  listOldReply     ok          ok                ok                ok                noAccess          noAccess
  listMessages.historyBeforeJoin                deny                                        participant  reactToOld       needsActor  ok                ok                ok                noAccess          noAccess
  listMessages.historyBeforeJoin                deny                                        participant  replyToOld       ok          ok                ok                ok                noAccess          noAccess
  listMessages.historyBeforeJoin                deny                                        participant  quoteOld         ok          ok                ok                ok                noAccess          notJoined
  listMessages.historyBeforeJoin                deny                                        participant  quotedOld        ok          ok                ok                ok                absent            notJoined
  listMessages.historyBeforeJoin                deny                                        participant  editOfOld        ok          ok                ok                ok                absent            notJoined
  sendMessage                                   deny                                        admin        send             ok          denied            denied            ok                ok                notJoined
  sendMessage                                   deny                                        moderator    send             ok          ok                ok                denied            ok                notJoined
  sendMessage                                   deny                                        participant  send             ok          ok                ok                ok                denied            notJoined
  sendMessage                                   deny                                        participant  reply            ok          ok                ok                ok                denied            noAccess
  sendMessage                                   deny                                        participant  replyHere        ok          ok                ok                ok                denied            notJoined
  sendMessage                                   deny                                        participant  upload           needsActor  ok                ok                ok                denied            denied
  sendMessage                                   deny                                        participant  editOwn          ok          ok                ok                ok                ok                noAccess
  sendMessage                                   deny                                        participant  react            needsActor  ok                ok                ok                ok                noAccess
  sendMessage.allowedMessageCategories          custom                                      participant  send             ok          ok                ok                ok                denied            notJoined
  sendMessage.allowedMessageCategories          custom                                      participant  sendPlace        ok          ok                ok                ok                ok                notJoined
  sendMessage.allowedMessageTypes               image                                       participant  send             ok          ok                ok                ok                denied            notJoined
  sendMessage.allowedMessageTypes               image                                       participant  sendImage        ok          ok                ok                ok                ok                notJoined
  sendMessage.allowedMessageTypes               text                                        participant  upload           needsActor  ok                ok                ok                denied            denied
  sendMessage.allowedMessageTypes               image                                       participant  reply            ok          ok                ok                ok                denied            noAccess
  sendMessage.allowedCustomTypes                poll                                        participant  sendPlace        ok          ok                ok                ok                denied            notJoined
  sendMessage.allowedCustomTypes                poll                                        participant  send             ok          ok                ok                ok                ok                notJoined
  sendMessage.allowedCustomTypes                poll,place                                  participant  sendPlace        ok          ok                ok                ok                ok                notJoined
  sendMessage.mimeTypeAccessControl             deny+sendMessage.mimeTypes=image/*          participant  sendImage        ok          ok                ok                ok                denied            notJoined
  sendMessage.mimeTypeAccessControl             deny+sendMessage.mimeTypes=image/*          participant  sendPaper        ok          ok                ok                ok                ok                notJoined
  sendMessage.mimeTypes                         image/*                                     participant  sendPaper        ok          ok                ok                ok                denied            notJoined
  sendMessage.mimeTypes                         image/*                                     participant  sendPaperAsText  ok          ok                ok                ok                denied            notJoined
  sendMessage.mimeTypes                         image/*                                     participant  sendImage        ok          ok                ok                ok                ok                notJoined
  editMessage                                   deny                                        admin        editOwn          ok          denied            denied            ok                ok                noAccess
  editMessage                                   deny                                        moderator    editOwn          ok          ok                ok                denied            ok                noAccess
  editMessage                                   deny                                        participant  editOwn          ok          ok                ok                ok                denied            noAccess
  editMessage                                   deny                                        moderator    editAnothers     ok          ok                ok                denied            notSender         noAccess
  editMessage                                   deny                                        participant  editAnothers     ok          ok                ok                ok                denied            noAccess
  editMessage                                   deny                                        participant  editReply        ok          ok                ok                ok                denied            noAccess
  editMessage                                   deny                                        participant  deleteOwn        ok          ok                ok                ok                ok                noAccess
  deleteMessage                                 deny                                        admin        deleteOwn        ok          denied            denied            ok                ok                noAccess
  deleteMessage                                 deny                                        moderator    deleteOwn        ok          ok                ok                denied            ok                noAccess
  deleteMessage                                 deny                                        participant  deleteOwn        ok          ok                ok                ok                denied            noAccess
  deleteMessage                                 deny                                        participant  deleteReply      ok          ok                ok                ok                denied            noAccess
  deleteMessage                                 deny                                        participant  editOwn          ok          ok                ok                ok                ok                noAccess
  listThreadedMessages                          deny                                        admin        replies          ok          denied            denied            ok                ok                noAccess
  listThreadedMessages                          deny                                        moderator    replies          ok          ok                ok                denied            ok                noAccess
  listThreadedMessages                          deny                                        participant  replies          ok          ok                ok                ok                denied            noAccess
  listThreadedMessages                          deny                                        participant  threads          ok          ok                ok                ok                denied            notJoined
  listThreadedMessages                          deny                                        participant  amongThreads     ok          ok                ok                ok                absent            absent
  listThreadedMessages                          deny                                        participant  listText         ok          ok                ok                ok                ok                notJoined
  sendThreadedMessage                           deny                                        admin        reply            ok          denied            denied            ok                ok                noAccess
  sendThreadedMessage                           deny                                        moderator    reply            ok          ok                ok                denied            ok                noAccess
  sendThreadedMessage                           deny                                        participant  reply            ok          ok                ok                ok                denied            noAccess
  sendThreadedMessage                           deny                                        participant  replyHere        ok          ok                ok                ok                denied            notJoined
  sendThreadedMessage                           deny                                        participant  uploadReply      needsActor  ok                ok                ok                denied            denied
  sendThreadedMessage                           deny                                        participant  send             ok          ok                ok                ok                ok                notJoined
  sendThreadedMessage                           deny                                        participant  upload           needsActor  ok                ok                ok                ok                denied
  sendThreadedMessage.allowedMessageCategories  custom                                      participant  reply            ok          ok                ok                ok                denied            noAccess
  sendThreadedMessage.allowedMessageCategories  custom                                      participant  replyPlace       ok          ok                ok                ok                ok                noAccess
  sendThreadedMessage.allowedMessageTypes       image                                       participant  reply            ok          ok                ok                ok                denied            noAccess
  sendThreadedMessage.allowedMessageTypes       image                                       participant  replyImage       ok          ok                ok                ok                ok                noAccess
  sendThreadedMessage.allowedMessageTypes       text                                        participant  uploadReply      needsActor  ok                ok                ok                denied            denied
  sendThreadedMessage.allowedMessageTypes       image                                       participant  send             ok          ok                ok                ok                ok                notJoined
  sendThreadedMessage.allowedCustomTypes        poll                                        participant  replyPlace       ok          ok                ok                ok                denied            noAccess
  sendThreadedMessage.allowedCustomTypes        poll                                        participant  reply            ok          ok                ok                ok                ok                noAccess
  sendThreadedMessage.allowedCustomTypes        poll,place                                  participant  replyPlace       ok          ok                ok                ok                ok                noAccess
  sendThreadedMessage.mimeTypeAccessControl     deny+sendThreadedMessage.mimeTypes=image/*  participant  replyImage       ok          ok                ok                ok                denied            noAccess
  sendThreadedMessage.mimeTypeAccessControl     deny+sendThreadedMessage.mimeTypes=image/*  participant  replyPaper       ok          ok                ok                ok                ok                noAccess
  sendThreadedMessage.mimeTypes                 image/*                                     participant  replyPaper       ok          ok                ok                ok                denied            noAccess
  sendThreadedMessage.mimeTypes                 image/*                                     participant  replyImage       ok          ok                ok                ok                ok                noAccess
  editThreadedMessage                           deny                                        admin        editReply        ok          denied            denied            ok                ok                noAccess
  editThreadedMessage                           deny                                        moderator    editReply        ok          ok                ok                denied            ok                noAccess
  editThreadedMessage                           deny                                        participant  editReply        ok          ok                ok                ok                denied            noAccess
  editThreadedMessage                           deny                                        participant  editOwn          ok          ok                ok                ok                ok                noAccess
  deleteThreadedMessage                         deny                                        admin        deleteReply      ok          denied            denied            ok                ok                noAccess
  deleteThreadedMessage                         deny                                        moderator    deleteReply      ok          ok                ok                denied            ok                noAccess
  deleteThreadedMessage                         deny                                        participant  deleteReply      ok          ok                ok                ok                denied            noAccess
  deleteThreadedMessage                         deny                                        participant  deleteOwn        ok          ok                ok                ok                ok                noAccess
  listReactions                                 deny                                        admin        reactions        ok          denied            denied            ok                ok                noAccess
  listReactions                                 deny                                        moderator    reactions        ok          ok                ok                denied            ok                noAccess
  listReactions                                 deny                                        participant  reactions        ok          ok                ok                ok                denied            noAccess
  listReactions                                 deny                                        participant  reactionsOfKind  ok          ok                ok                ok                denied            noAccess
  listReactions                                 deny                                        participant  react            needsActor  ok                ok                ok                ok                noAccess
  addReaction                                   deny                                        admin        react            needsActor  denied            denied            ok                ok                noAccess
  addReaction                                   deny                                        moderator    react            needsActor  ok                ok                denied            ok                noAccess
  addReaction                                   deny                                        participant  react            needsActor  ok                ok                ok                denied            noAccess
  addReaction                                   deny                                        participant  reactInBody      needsActor  ok                ok                ok                denied            noAccess
  addReaction                                   deny                                        participant  unreact          needsActor  ok                ok                ok                denied            noAccess
  addReaction                                   deny                                        participant  reactions        ok          ok                ok                ok                ok                noAccess
  listReactions.allowedScopes                   admin                                       participant  byAdmin          ok          ok                ok                ok                ok                noAccess
  listReactions.allowedScopes                   admin                                       participant  byModerator      ok          ok                ok                ok                absent            noAccess
  listReactions.allowedScopes                   moderator,participant                       admin        byAdmin          ok          absent            absent            ok                ok                noAccess
  listReactions.allowedScopes                   moderator,participant                       admin        byModerator      ok          ok                ok                ok                ok                noAccess
  initiateCall                                  deny                                        admin        call             needsActor  denied            denied            ok                ok                notJoined
  initiateCall                                  deny                                        moderator    call             needsActor  ok                ok                denied            ok                notJoined
  initiateCall                                  deny                                        participant  call             needsActor  ok                ok                ok                denied            notJoined
  initiateCall                                  deny                                        participant  answerCall       needsActor  ok                ok                ok                ok                noPart
  initiateCall.allowedType                      video                                       participant  call             needsActor  ok                ok                ok                denied            notJoined
  initiateCall.allowedType                      audio                                       participant  call             needsActor  ok                ok                ok                ok                notJoined
  initiateCall.allowedScopes                    moderator                                   participant  ringParticipant  needsActor  ok                ok                ok                absent            notJoined
  initiateCall.allowedScopes                    moderator                                   participant  ringModerator    needsActor  ok                ok                ok                ok                notJoined
  joinCall                                      deny                                        admin        answerCall       needsActor  denied            denied            ok                ok                noPart
  joinCall                                      deny                                        moderator    answerCall       needsActor  ok                ok                denied            ok                noPart
  joinCall                                      deny                                        participant  answerCall       needsActor  ok                ok                ok                denied            noPart
  joinCall                                      deny                                        participant  call             needsActor  ok                ok                ok                ok                notJoined
`)

const parts: Part[] = ['app', 'owner', 'admin', 'moderator', 'participant', 'outsider']
const catalogue = scopeCatalogues.admin

describe('the table of scopes', () => {
  const linesFor = (id: string) => table.filter(({ permission }) => permission === id)
  const ids = Object.keys(catalogue)

  it('has every permission', () => {
    assert.deepEqual(
      ids.filter((id) => linesFor(id).length === 0),
      [],
    )
  })

  it('shows of each what it refuses or leaves out to its scope, and what it leaves to others', () => {
    const isStopped = (cell = '') => /denied|absent|noAccess/.test(cell)
    for (const id of ids) {
      assert.ok(
        linesFor(id).some((line) => isStopped(line[line.of ?? ''])),
        `${id} stops something`,
      )
      assert.ok(
        linesFor(id).some((line) => !isStopped(line.owner) || !isStopped(line.participant)),
        `${id} lets pass`,
      )
    }
  })
})

const lists = (id: string) => Array.isArray(Object(catalogue)[id]?.kind.defaultValue)

/** A value, and with `+id=value` what else is set so that it means something. */
function valuesIn(permission: string, cell: string): Record<string, string | string[]> {
  const pairs = `${permission}=${cell}`.split('+').map((each) => {
    const [id = '', value = ''] = each.split('=')
    return [id, lists(id) ? value.split(',') : value]
  })
  return Object.fromEntries(pairs)
}

/** All lines, and where statements are only spelled differently those of one value of each permission. */
function linesOn(database: DatabaseName): typeof table {
  if (database === 'sqlite') return table
  const first = new Map(table.toReversed().map(({ permission, value, of }) => [permission, `${value} ${of}`]))
  return table.filter(({ permission, value, of }) => first.get(permission) === `${value} ${of}`)
}

for (const database of databases) {
  describe(`what a scope may do on ${database}`, () => {
    let h: House
    /** What came back where the scope of the line is not asked: by part, act and door. It is done once for all lines. */
    const known = new Map<string, string>()
    before(async () => {
      h = await house({ database, way: 'dispatch' })
    })
    after(() => h.close())

    for (const [key, lines] of Map.groupBy(
      linesOn(database),
      ({ permission, value, of }) => `${permission} ${value} ${of}`,
    )) {
      const [permission = '', value = '', scope = ''] = key.split(' ')
      it(`${permission} ${value} for ${scope}`, async () => {
        const ship = await Ship.build(h)
        const comparison = new Comparison()
        for (const { act = '', ...cells } of lines) {
          for (const part of parts) {
            for (const { name, caller } of ship.doorsOf(part)) {
              if (!isTriedOn(database, cells[part], name)) continue
              const isAsked = part === scope || (part === 'owner' && scope === 'admin')
              const key = `${part} ${act} ${name}`
              const word =
                (isAsked ? undefined : known.get(key)) ??
                (await ship.does(act, part, caller, scope, valuesIn(permission, value)))
              comparison.check(cells[part], name, word, `${act} by ${part}`)
              if (!isAsked) known.set(key, word)
            }
          }
        }
        comparison.end()
      })
    }
  })
}
