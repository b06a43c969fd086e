import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { linesOf } from '../../../../tests/support/matrix.ts'
import { compare, guest, type Stage, stage } from '../../../../tests/support/stage.ts'
import { features } from '../restricted-features/index.ts'
import { rolePermissions } from './catalogue.ts'

/**
 * What becomes of an act when a permission or setting of the role `guest` has a value: for the app itself, for a user of
 * another role, and for one of that role.
 */
const table = linesOf(`
  permission                                    value                                       act                  app         other         guest
  listUsers                                     deny                                        listFriend           ok          ok            denied
  listUsers                                     deny                                        countOnline          wrongDoor   wrongDoor|ok  wrongDoor|denied
  listUsers                                     deny                                        getFriend            ok          ok            ok
  listUsers.mode                                friends                                     listFriend           ok          ok            ok
  listUsers.mode                                friends                                     listStranger         ok          ok            absent
  listUsers.allowedRoles                        pal                                         listFriend           ok          ok            ok
  listUsers.allowedRoles                        pal                                         listStranger         ok          ok            absent
  settings.listUsers                            friendsOnly                                 listFriend           ok          ok            ok
  settings.listUsers                            friendsOnly                                 listStranger         ok          ok            absent
  getUserDetails                                deny                                        getFriend            ok          ok            denied
  getUserDetails                                deny                                        getSelf              ok          ok            ok
  getUserDetails                                deny                                        listFriend           ok          ok            ok
  getUserDetails.mode                           friends                                     getFriend            ok          ok            ok
  getUserDetails.mode                           friends                                     getStranger          ok          ok            denied
  getUserDetails.mode                           friends                                     getSelf              ok          ok            ok
  getUserDetails.allowedRoles                   pal                                         getFriend            ok          ok            ok
  getUserDetails.allowedRoles                   pal                                         getStranger          ok          ok            denied
  getUserDetails.allowedRoles                   pal                                         getSelf              ok          ok            ok
  blockUser                                     deny                                        block                ok          ok            ok|denied
  blockUser                                     deny                                        unblock              ok          ok            ok
  blockUser.allowedRoles                        pal                                         blockPal             ok          ok            ok
  blockUser.allowedRoles                        pal                                         block                ok          ok            ok|denied
  listBlockedUser                               deny                                        blocks               ok          ok            ok|denied
  listBlockedUser.allowedRoles                  pal                                         blockedPal           ok          ok            ok
  listBlockedUser.allowedRoles                  pal                                         blockedMember        ok          ok            ok|absent
  unblockedUser                                 deny                                        unblock              ok          ok            ok|denied
  unblockedUser                                 deny                                        block                ok          ok            ok
  unblockedUser.allowedRoles                    pal                                         unblockPal           ok          ok            ok
  unblockedUser.allowedRoles                    pal                                         unblock              ok          ok            ok|denied
  editProfile                                   deny                                        editMe               wrongDoor   wrongDoor|ok  wrongDoor|denied
  editProfile                                   deny                                        me                   wrongDoor   wrongDoor|ok  wrongDoor|ok
  listMessages                                  deny                                        listText             ok          ok            denied
  listMessages                                  deny                                        listTextInGroup      ok          ok            denied
  listMessages                                  deny                                        listTextOfAll        ok          ok            denied
  listMessages                                  deny                                        search               ok          ok            denied
  listMessages                                  deny                                        listPlaceInThread    ok          ok            denied
  listMessages                                  deny                                        threads              ok          ok            denied
  listMessages                                  deny                                        getMessage           ok          ok            ok
  listMessages                                  deny                                        lastMessage          needsActor  ok            absent
  listMessages.mode                             friends                                     listText             ok          ok            ok
  listMessages.mode                             friends                                     listOfStranger       ok          ok            absent
  listMessages.mode                             friends                                     searchOfStranger     ok          ok            absent
  listMessages.mode                             friends                                     listTextInGroup      ok          ok            ok
  listMessages.mode                             friends                                     getOfStranger        ok          ok            ok
  listMessages.mode                             friends                                     unreadOfStranger     needsActor  ok            absent
  listMessages.mode                             friends                                     lastOfStranger       needsActor  ok            absent
  listMessages.allowedReceiverTypes             group                                       listText             ok          ok            absent
  listMessages.allowedReceiverTypes             group                                       listTextInGroup      ok          ok            ok
  listMessages.allowedReceiverTypes             user                                        listText             ok          ok            ok
  listMessages.allowedReceiverTypes             user                                        listTextInGroup      ok          ok            absent
  listMessages.allowedSenderRoles               pal                                         listText             ok          ok            ok
  listMessages.allowedSenderRoles               pal                                         listOfStranger       ok          ok            absent
  listMessages.allowedSenderRoles               pal                                         unreadOfStranger     needsActor  ok            absent
  listMessages.allowedSenderRoles               member                                      listText             ok          ok            absent
  listMessages.allowedSenderRoles               member                                      listOfStranger       ok          ok            ok
  listMessages.allowedMessageCategories         custom                                      listText             ok          ok            absent
  listMessages.allowedMessageCategories         custom                                      listPlace            ok          ok            ok
  listMessages.allowedMessageCategories         custom                                      listTextInGroup      ok          ok            absent
  listMessages.allowedMessageCategories         custom                                      listTextOfAll        ok          ok            absent
  listMessages.allowedMessageCategories         custom                                      getMessage           ok          ok            ok
  listMessages.allowedMessageCategories         message                                     listPlace            ok          ok            absent
  listMessages.allowedMessageCategories         message                                     listPlaceInThread    ok          ok            absent
  listMessages.allowedMessageTypes              image                                       listText             ok          ok            absent
  listMessages.allowedMessageTypes              image                                       listImage            ok          ok            ok
  listMessages.allowedMessageTypes              image                                       listPlace            ok          ok            ok
  listMessages.allowedMessageTypes              image                                       listTextInGroup      ok          ok            absent
  listMessages.allowedMessageTypes              image                                       unreadOfStranger     needsActor  ok            absent
  listMessages.allowedMessageTypes              image                                       lastOfStranger       needsActor  ok            absent
  getMessageDetails                             deny                                        getMessage           ok          ok            denied
  getMessageDetails                             deny                                        react                needsActor  ok            denied
  getMessageDetails                             deny                                        unreact              needsActor  ok            denied
  getMessageDetails                             deny                                        saveMessage          needsActor  ok            denied
  getMessageDetails                             deny                                        unsaveMessage        needsActor  ok            denied
  getMessageDetails                             deny                                        listText             ok          ok            ok
  getMessageDetails.mode                        friends                                     getMessage           ok          ok            ok
  getMessageDetails.mode                        friends                                     getOfStranger        ok          ok            denied
  getMessageDetails.mode                        friends                                     getInGroup           ok          ok            ok
  sendMessage                                   deny                                        toFriend             ok          ok            denied
  sendMessage                                   deny                                        toSelf               ok          ok            denied
  sendMessage                                   deny                                        toGroup              ok          ok            denied
  sendMessage                                   deny                                        toForeignGroup       ok          notJoined     denied
  sendMessage                                   deny                                        toBlockingStranger   ok          blockedMe     denied
  sendMessage                                   deny                                        reply                needsActor  ok            denied
  sendMessage                                   deny                                        replyHere            ok          ok            denied
  sendMessage                                   deny                                        upload               needsActor  ok            denied
  sendMessage.mode                              friends                                     toFriend             ok          ok            ok
  sendMessage.mode                              friends                                     toStranger           ok          ok            denied
  sendMessage.mode                              friends                                     toBlockingFriend     ok          blockedMe     blockedMe
  sendMessage.mode                              friends                                     toBlockingStranger   ok          blockedMe     denied
  sendMessage.mode                              friends                                     toSelf               ok          ok            ok
  sendMessage.mode                              friends                                     toGroup              ok          ok            ok
  sendMessage.mode                              friends                                     upload               needsActor  ok            ok
  sendMessage.mode                              friends                                     replyToStranger      needsActor  ok            denied
  settings.sendMessagesTo                       friendsOnly                                 toFriend             ok          ok            ok
  settings.sendMessagesTo                       friendsOnly                                 toStranger           ok          ok            denied
  settings.sendMessagesTo                       friendsOnly                                 toGroup              ok          ok            ok
  sendMessage.allowedReceiverTypes              user                                        toFriend             ok          ok            ok
  sendMessage.allowedReceiverTypes              user                                        toGroup              ok          ok            denied
  sendMessage.allowedReceiverTypes              user                                        toForeignGroup       ok          notJoined     denied
  sendMessage.allowedReceiverTypes              group                                       toFriend             ok          ok            denied
  sendMessage.allowedReceiverTypes              group                                       toGroup              ok          ok            ok
  sendMessage.allowedReceiverTypes              group                                       upload               needsActor  ok            denied
  sendMessage.allowedReceiverRoles              pal                                         toFriend             ok          ok            ok
  sendMessage.allowedReceiverRoles              pal                                         toStranger           ok          ok            denied
  sendMessage.allowedReceiverRoles              pal                                         toGroup              ok          ok            ok
  sendMessage.allowedMessageCategories          message                                     toFriend             ok          ok            ok
  sendMessage.allowedMessageCategories          message                                     sendPlace            ok          ok            denied
  sendMessage.allowedMessageCategories          message                                     sendForm             ok          ok            denied
  sendMessage.allowedMessageCategories          custom,interactive                          toFriend             ok          ok            denied
  sendMessage.allowedMessageCategories          custom,interactive                          sendPlace            ok          ok            ok
  sendMessage.allowedMessageCategories          custom,interactive                          sendForm             ok          ok            ok
  sendMessage.allowedMessageCategories          custom,interactive                          upload               needsActor  ok            denied
  sendMessage.allowedMessageTypes               image                                       toFriend             ok          ok            denied
  sendMessage.allowedMessageTypes               image                                       sendImage            ok          ok            ok
  sendMessage.allowedMessageTypes               image                                       sendPaper            ok          ok            denied
  sendMessage.allowedMessageTypes               image                                       sendPlace            ok          ok            ok
  sendMessage.allowedMessageTypes               image                                       upload               needsActor  ok            ok
  sendMessage.allowedMessageTypes               text                                        toFriend             ok          ok            ok
  sendMessage.allowedMessageTypes               text                                        sendImage            ok          ok            denied
  sendMessage.allowedMessageTypes               text                                        upload               needsActor  ok            denied
  sendMessage.allowedCustomTypes                place                                       sendPlace            ok          ok            ok
  sendMessage.allowedCustomTypes                place                                       sendPoll             ok          ok            denied
  sendMessage.allowedCustomTypes                place                                       toFriend             ok          ok            ok
  sendMessage.mimeTypeAccessControl             deny                                        sendPaper            ok          ok            ok
  sendMessage.mimeTypeAccessControl             deny+sendMessage.mimeTypes=image/*          sendImage            ok          ok            denied
  sendMessage.mimeTypeAccessControl             deny+sendMessage.mimeTypes=image/*          sendPaper            ok          ok            ok
  sendMessage.mimeTypeAccessControl             allow+sendMessage.mimeTypes=image/*         sendPaper            ok          ok            denied
  sendMessage.mimeTypes                         image/*                                     sendImage            ok          ok            ok
  sendMessage.mimeTypes                         image/*                                     sendPaper            ok          ok            denied
  sendMessage.mimeTypes                         image/*                                     replyPaper           needsActor  ok            denied
  sendMessage.mimeTypes                         image/*                                     sendPaperAsText      ok          ok            denied
  sendMessage.mimeTypes                         image/*                                     sendPaperAsPlace     ok          ok            denied
  sendMessage.mimeTypes                         image/*                                     toFriend             ok          ok            ok
  editMessage                                   deny                                        editDirect           ok          ok            denied
  editMessage                                   deny                                        editAsOwner          ok          ok            denied
  editMessage                                   deny                                        editAnothers         ok          notSender     denied
  editMessage                                   deny                                        deleteDirect         ok          ok            ok
  editMessage                                   deny                                        editReply            ok          ok            denied
  deleteMessage                                 deny                                        deleteDirect         ok          ok            denied
  deleteMessage                                 deny                                        deleteAsOwner        ok          ok            denied
  deleteMessage                                 deny                                        editDirect           ok          ok            ok
  deleteMessage                                 deny                                        deleteReply          ok          ok            denied
  listThreadedMessages                          deny                                        listPlaceInThread    ok          ok            denied
  listThreadedMessages                          deny                                        threads              ok          ok            denied
  listThreadedMessages                          deny                                        listText             ok          ok            ok
  sendThreadedMessage                           deny                                        reply                needsActor  ok            denied
  sendThreadedMessage                           deny                                        replyHere            ok          ok            denied
  sendThreadedMessage                           deny                                        uploadReply          needsActor  ok            denied
  sendThreadedMessage                           deny                                        toFriend             ok          ok            ok
  sendThreadedMessage.allowedReceiverTypes      user                                        reply                needsActor  ok            ok
  sendThreadedMessage.allowedReceiverTypes      user                                        replyHere            ok          ok            denied
  sendThreadedMessage.allowedReceiverTypes      group                                       reply                needsActor  ok            denied
  sendThreadedMessage.allowedReceiverTypes      group                                       replyHere            ok          ok            ok
  sendThreadedMessage.allowedReceiverTypes      group                                       toFriend             ok          ok            ok
  sendThreadedMessage.allowedReceiverRoles      pal                                         reply                needsActor  ok            ok
  sendThreadedMessage.allowedReceiverRoles      pal                                         replyToStranger      needsActor  ok            denied
  sendThreadedMessage.allowedMessageCategories  message                                     reply                needsActor  ok            ok
  sendThreadedMessage.allowedMessageCategories  message                                     replyPlace           needsActor  ok            denied
  sendThreadedMessage.allowedMessageCategories  custom                                      reply                needsActor  ok            denied
  sendThreadedMessage.allowedMessageTypes       image                                       reply                needsActor  ok            denied
  sendThreadedMessage.allowedMessageTypes       image                                       replyImage           needsActor  ok            ok
  sendThreadedMessage.allowedMessageTypes       text                                        uploadReply          needsActor  ok            denied
  sendThreadedMessage.allowedCustomTypes        place                                       replyPlace           needsActor  ok            ok
  sendThreadedMessage.allowedCustomTypes        poll                                        replyPlace           needsActor  ok            denied
  sendThreadedMessage.mimeTypeAccessControl     deny+sendThreadedMessage.mimeTypes=image/*  replyImage           needsActor  ok            denied
  sendThreadedMessage.mimeTypeAccessControl     deny+sendThreadedMessage.mimeTypes=image/*  replyPaper           needsActor  ok            ok
  sendThreadedMessage.mimeTypes                 image/*                                     replyImage           needsActor  ok            ok
  sendThreadedMessage.mimeTypes                 image/*                                     replyPaper           needsActor  ok            denied
  sendThreadedMessage.mimeTypes                 image/*                                     replyPaperAsText     needsActor  ok            denied
  sendThreadedMessage.mimeTypes                 image/*                                     sendPaper            ok          ok            ok
  editThreadedMessage                           deny                                        editReply            ok          ok            denied
  editThreadedMessage                           deny                                        editDirect           ok          ok            ok
  deleteThreadedMessage                         deny                                        deleteReply          ok          ok            denied
  deleteThreadedMessage                         deny                                        deleteDirect         ok          ok            ok
  listReactions                                 deny                                        reactions            ok          ok            denied
  listReactions                                 deny                                        reactionsOfKind      ok          ok            denied
  listReactions                                 deny                                        react                needsActor  ok            ok
  addReaction                                   deny                                        react                needsActor  ok            denied
  addReaction                                   deny                                        unreact              needsActor  ok            denied
  addReaction                                   deny                                        reactions            ok          ok            ok
  listConversations                             deny                                        conversations        ok          ok            denied
  listConversations                             deny                                        conversation         needsActor  ok            denied
  listConversations                             deny                                        conversationById     needsActor  ok            denied
  listConversations                             deny                                        tagTalk              needsActor  ok            ok
  updateConversation                            deny                                        tagTalk              needsActor  ok            denied
  updateConversation                            deny                                        pinTalk              needsActor  ok            denied
  updateConversation                            deny                                        unpinTalk            needsActor  ok            denied
  updateConversation                            deny                                        readTalk             needsActor  ok            ok
  deleteConversation                            deny                                        forget               needsActor  ok            denied
  deleteConversation                            deny                                        conversations        ok          ok            ok
  listGroups                                    deny                                        listPublic           ok          ok            denied
  listGroups                                    deny                                        getGroup             ok          ok            ok
  listGroups.allowedGroupTypes                  private                                     listPublic           ok          ok            absent
  listGroups.allowedGroupTypes                  private                                     listPrivate          ok          ok            ok
  getGroupDetails                               deny                                        getGroup             ok          ok            denied
  getGroupDetails                               deny                                        countInGroup         wrongDoor   wrongDoor|ok  wrongDoor|denied
  getGroupDetails                               deny                                        listPublic           ok          ok            ok
  getGroupDetails.allowedGroupTypes             private                                     getGroup             ok          ok            denied
  getGroupDetails.allowedGroupTypes             private                                     getPrivate           ok          ok            ok
  getGroupDetails.allowedGroupTypes             private                                     countedInGroup       wrongDoor   wrongDoor|ok  wrongDoor|absent
  createGroup                                   deny                                        createPublic         ok          ok            denied
  createGroup.allowedGroupTypes                 private                                     createPublic         ok          ok            denied
  createGroup.allowedGroupTypes                 private                                     createPrivate        ok          ok            ok
  createGroup.allowedGroupTypes                 private                                     createPassword       ok          ok            denied
  joinGroup                                     deny                                        joinPublic           wrongDoor   wrongDoor|ok  wrongDoor|denied
  joinGroup.allowedGroupTypes                   password                                    joinPublic           wrongDoor   wrongDoor|ok  wrongDoor|denied
  joinGroup.allowedGroupTypes                   password                                    joinPassword         wrongDoor   wrongDoor|ok  wrongDoor|ok
  joinGroup                                     deny                                        joinAsMember         ok          notJoined|ok  notJoined|denied
  joinGroup.allowedGroupTypes                   password                                    joinAsMember         ok          notJoined|ok  notJoined|denied
  sendMessage.allowedMimeTypes                  image/*                                     sendImage            ok          ok            ok
  sendMessage.allowedMimeTypes                  image/*                                     sendPaper            ok          ok            denied
  sendMessage.allowedMimeTypes                  image/*                                     sendPaperAsText      ok          ok            denied
  sendMessage.allowedMimeTypes                  image/*                                     toFriend             ok          ok            ok
  editMessage.denyForScopes                     admin                                       editDirect           ok          ok            ok
  editMessage.denyForScopes                     admin                                       editAsOwner          ok          ok            denied
  editMessage.denyForScopes                     admin                                       editAsAdmin          ok          ok            denied
  editMessage.denyForScopes                     admin                                       editAsModerator      ok          ok            ok
  editMessage.denyForScopes                     admin                                       editAsParticipant    ok          ok            ok
  editMessage.denyForScopes                     moderator                                   editAsOwner          ok          ok            ok
  editMessage.denyForScopes                     moderator                                   editAsAdmin          ok          ok            ok
  editMessage.denyForScopes                     moderator                                   editAsModerator      ok          ok            denied
  editMessage.denyForScopes                     moderator                                   editAsParticipant    ok          ok            ok
  editMessage.denyForScopes                     participant                                 editAsOwner          ok          ok            ok
  editMessage.denyForScopes                     participant                                 editAsModerator      ok          ok            ok
  editMessage.denyForScopes                     participant                                 editAsParticipant    ok          ok            denied
  editMessage.denyForScopes                     participant                                 editAnothers         ok          notSender     denied
  deleteMessage.denyForScopes                   admin                                       deleteDirect         ok          ok            ok
  deleteMessage.denyForScopes                   admin                                       deleteAsOwner        ok          ok            denied
  deleteMessage.denyForScopes                   admin                                       deleteAsAdmin        ok          ok            denied
  deleteMessage.denyForScopes                   admin                                       deleteAsModerator    ok          ok            ok
  deleteMessage.denyForScopes                   moderator                                   deleteAsAdmin        ok          ok            ok
  deleteMessage.denyForScopes                   moderator                                   deleteAsModerator    ok          ok            denied
  deleteMessage.denyForScopes                   participant                                 deleteAsModerator    ok          ok            ok
  deleteMessage.denyForScopes                   participant                                 deleteAsParticipant  ok          ok            denied
  initiateCall                                  deny                                        callFriend           needsActor  ok            denied
  initiateCall                                  deny                                        callGroup            needsActor  ok            denied
  initiateCall                                  deny                                        answerCall           needsActor  ok            ok
  initiateCall.mode                             friends                                     callFriend           needsActor  ok            ok
  initiateCall.mode                             friends                                     callStranger         needsActor  ok            denied
  initiateCall.mode                             friends                                     callGroup            needsActor  ok            ok
  initiateCall.allowedReceiverTypes             group                                       callFriend           needsActor  ok            denied
  initiateCall.allowedReceiverTypes             group                                       callGroup            needsActor  ok            ok
  initiateCall.allowedReceiverTypes             user                                        callGroup            needsActor  ok            denied
  initiateCall.allowedReceiverRoles             pal                                         callFriend           needsActor  ok            ok
  initiateCall.allowedReceiverRoles             pal                                         callStranger         needsActor  ok            denied
  initiateCall.allowedReceiverRoles             pal                                         callGroup            needsActor  ok            ok
  joinCall                                      deny                                        answerCall           needsActor  ok            denied
  joinCall                                      deny                                        callFriend           needsActor  ok            ok
`)

describe('the table of roles', () => {
  const ids = Object.keys(rolePermissions)
  const linesFor = (id: string) => table.filter(({ permission }) => permission === id)

  it('has every permission', () => {
    assert.deepEqual(
      ids.filter((id) => linesFor(id).length === 0),
      [],
    )
  })

  it('shows of each what it refuses or leaves out, and what it lets pass', () => {
    const isStopped = (cell = '') => /denied|absent/.test(cell)
    for (const id of ids) {
      const cells = linesFor(id).map(({ guest: cell }) => cell)
      assert.ok(cells.some(isStopped), `${id} stops something`)
      assert.ok(cells.some((cell) => !isStopped(cell)) || linesFor(id).every(({ other }) => !isStopped(other)), id)
    }
  })
})

for (const database of databases) {
  describe(`what a role may do on ${database}`, () => {
    let h: House
    let built: Stage
    before(async () => {
      h = await house({ database, way: 'dispatch' })
      built = await stage(h, database)
      await denyAll(built.app)
    })
    after(() => h.close())

    /** The app acts as a user of the role `default`, and what that role may not do is nothing to it. */
    async function denyAll(app: AppClient): Promise<void> {
      const switches = Object.entries(rolePermissions).filter(([, { kind }]) => kind.availableValues?.includes('deny'))
      const permissions = Object.fromEntries(switches.map(([id]) => [id, 'deny']))
      assertSucceeds(await app.put('/roles/default/permissions', { permissions }))
      const featuresToRestrict = [...features.keys()]
      assertSucceeds(await app.post('/roles/default/restrictedfeatures', { featuresToRestrict }))
    }

    const lists = (permission: string) => Array.isArray(Object(rolePermissions)[permission]?.kind.defaultValue)
    /** A value, and with `+id=value` what else is set so that it means something. */
    const valuesIn = (permission: string, cell: string): Record<string, string | string[]> =>
      Object.fromEntries(
        `${permission}=${cell}`.split('+').map((each) => {
          const [id = '', value = ''] = each.split('=')
          return [id, lists(id) ? value.split(',') : value]
        }),
      )
    for (const [permission = '', lines] of Map.groupBy(table, (line) => line.permission)) {
      it(permission, async () => {
        for (const [value = '', some] of Map.groupBy(lines, (line) => line.value)) {
          const path = `/roles/${guest}`
          const setting = permission.replace('settings.', '')
          const permissions = valuesIn(permission, value)
          if (setting !== permission) assertSucceeds(await built.app.put(path, { settings: { [setting]: value } }))
          else assertSucceeds(await built.app.put(`${path}/permissions`, { permissions }))
          try {
            await compare(built, some, `${permission} ${value}`)
          } finally {
            if (setting !== permission) assertSucceeds(await built.app.put(path, { unset: ['settings'] }))
            else
              for (const id of Object.keys(permissions)) {
                assertSucceeds(await built.app.delete(`${path}/permissions/${id}`))
              }
          }
        }
      })
    }
  })
}
