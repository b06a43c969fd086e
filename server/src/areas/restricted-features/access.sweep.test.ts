import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { linesOf } from '../../../../tests/support/matrix.ts'
import { compare, guest, type Stage, stage } from '../../../../tests/support/stage.ts'
import { areas } from '../index.ts'
import { features } from './catalogue.ts'

/**
 * What becomes of an act when a feature is restricted for the role `guest`: for the app itself, for a user of another
 * role, and for one of that role. Blocks are the path user's through the server's door, and nobody acts there.
 */
const table = linesOf(`
  feature                    act                app         other         guest
  addMember                  addOne             ok          ok            denied
  addMember                  banAhead           ok          ok            denied
  addMember                  createWithOne      ok          ok            denied
  addMember                  joinAsMember       ok          notJoined|ok  denied|ok
  addMember                  createWithBan      ok          ok            ok
  ban                        ban                ok          ok            denied
  ban                        banAhead           ok          ok            denied
  ban                        createWithBan      ok          ok            denied
  ban                        addOne             ok          ok            ok
  ban                        unban              ok          ok            ok
  blockUser                  block              ok          ok            ok|denied
  blockUser                  unblock            ok          ok            ok
  changeScope                changeScope        ok          ok            denied
  createGroup                createPublic       ok          ok            denied
  createMessage              toFriend           ok          ok            denied
  createMessage              toGroup            ok          ok            denied
  createMessage              sendImage          ok          ok            denied
  createMessage              upload             needsActor  ok            denied
  createMessage              reply              needsActor  ok            ok
  createMessage              uploadReply        needsActor  ok            ok
  createMessageThread        reply              needsActor  ok            denied
  createMessageThread        replyHere          ok          ok            denied
  createMessageThread        uploadReply        needsActor  ok            denied
  createMessageThread        toFriend           ok          ok            ok
  createCall                 callFriend         needsActor  ok            denied
  createCall                 answerCall         needsActor  ok            ok
  updateCall                 answerCall         needsActor  ok            denied
  updateCall                 callFriend         needsActor  ok            ok
  deleteConversationForUser  forget             needsActor  ok            denied
  deleteConversationForUser  forgetById         needsActor  ok|wrongDoor  denied|wrongDoor
  deleteGroup                deleteGroup        ok          ok            denied
  deleteMessage              deleteDirect       ok          ok            denied
  getBlockedUsers            blocks             ok          ok            ok|denied
  getCall                    call               ok          ok            denied
  getCall                    transcriptions     ok          ok|wrongDoor  denied|wrongDoor
  getCall                    explainCall        ok          ok|wrongDoor  denied|wrongDoor
  getConversation            conversation       needsActor  ok            denied
  getConversation            conversationById   needsActor  ok            denied
  getConversation            conversations      ok          ok            ok
  getGroup                   getGroup           ok          ok            denied
  getGroup                   countInGroup       wrongDoor   wrongDoor|ok  wrongDoor|denied
  getGroupMessages           listTextInGroup    ok          ok            denied
  getMember                  getMember          ok          ok            denied
  getMember                  members            ok          ok            ok
  getMessage                 getMessage         ok          ok            denied
  getMyDetails               me                 wrongDoor   wrongDoor|ok  wrongDoor|denied
  getMyDetails               getSelf            ok          ok            ok
  getUser                    getFriend          ok          ok            denied
  getUser                    getSelf            ok          ok            ok
  getUserMessages            listText           ok          ok            denied
  joinGroup                  joinPublic         wrongDoor   wrongDoor|ok  wrongDoor|denied
  joinGroup                  joinAsMember       ok          notJoined|ok  notJoined|denied
  kickMember                 kick               ok          ok            denied
  leaveGroup                 leave              wrongDoor   wrongDoor|ok  wrongDoor|denied
  listBannedUsers            bans               ok          ok            denied
  listCalls                  calls              ok          ok            denied
  listConversations          conversations      ok          ok            denied
  listGroupMembers           members            ok          ok            denied
  listGroupMembers           getMember          ok          ok            denied
  listGroups                 listPublic         ok          ok            denied
  listMessages               listTextOfAll      ok          ok            denied
  listMessages               listText           ok          ok            ok
  listSettings               settings           needsActor  ok            denied
  listThreadedMessages       listPlaceInThread  ok          ok            denied
  listUsers                  listFriend         ok          ok            denied
  listUsers                  countOnline        wrongDoor   wrongDoor|ok  wrongDoor|denied
  massMemberOperate          addTwo             ok          ok            denied
  massMemberOperate          createWithTwo      ok          ok            denied
  massMemberOperate          addOne             ok          ok            ok
  patchOwner                 handOver           wrongDoor   wrongDoor|ok  wrongDoor|denied
  unban                      unban              ok          ok            denied
  unban                      ban                ok          ok            ok
  unblockUser                unblock            ok          ok            ok|denied
  updateGroup                changeGroup        ok          ok            denied
  updateMessage              editDirect         ok          ok            denied
`)

/** What nobody can do yet, so that there is nothing to restrict. Whoever brings one of these brings its line. */
const withoutOperation = [...['deleteCall', 'deleteGroupMessages', 'logout', 'updateAuthToken']]

describe('the table of restricted features', () => {
  it('has every feature for which there is something to do', () => {
    const tabled = new Set(table.map(({ feature }) => feature))
    const missing = [...features.keys()].filter((feature) => !tabled.has(feature))
    assert.deepEqual(missing, withoutOperation)
    const asked = new Set(areas.flatMap(({ operations }) => operations.map(({ may }) => may)))
    assert.deepEqual(
      withoutOperation.filter((feature) => asked.has(feature)),
      [],
    )
  })
})

for (const database of databases) {
  describe(`restricted features where users act on ${database}`, () => {
    let h: House
    let built: Stage
    before(async () => {
      h = await house({ database, way: 'dispatch' })
      built = await stage(h, database)
    })
    after(() => h.close())

    for (const [feature = '', lines] of Map.groupBy(table, (line) => line.feature)) {
      it(feature, async () => {
        const path = `/roles/${guest}/restrictedfeatures`
        assertSucceeds(await built.app.post(path, { featuresToRestrict: [feature] }))
        try {
          await compare(built, lines, feature)
        } finally {
          assertSucceeds(await built.app.delete(path, { allowAll: true }))
        }
      })
    }
  })
}
