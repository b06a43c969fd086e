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
 * another role, and for one of that role. A call has no operation to begin it yet; who may begin one is in rules.test.ts.
 */
const table = linesOf(`
  permission                             value               act                  app         other         guest
  listUsers                              deny                listFriend           ok          ok            denied
  listUsers                              deny                countOnline          wrongDoor   wrongDoor|ok  wrongDoor|denied
  listUsers                              deny                getFriend            ok          ok            ok
  listUsers.mode                         friends             listFriend           ok          ok            ok
  listUsers.mode                         friends             listStranger         ok          ok            absent
  listUsers.allowedRoles                 pal                 listFriend           ok          ok            ok
  listUsers.allowedRoles                 pal                 listStranger         ok          ok            absent
  settings.listUsers                     friendsOnly         listFriend           ok          ok            ok
  settings.listUsers                     friendsOnly         listStranger         ok          ok            absent
  getUserDetails.mode                    friends             getFriend            ok          ok            ok
  getUserDetails.mode                    friends             getStranger          ok          ok            denied
  getUserDetails.mode                    friends             getSelf              ok          ok            ok
  getUserDetails.allowedRoles            pal                 getFriend            ok          ok            ok
  getUserDetails.allowedRoles            pal                 getStranger          ok          ok            denied
  getUserDetails.allowedRoles            pal                 getSelf              ok          ok            ok
  sendMessage                            deny                toFriend             ok          ok            denied
  sendMessage                            deny                toSelf               ok          ok            denied
  sendMessage                            deny                toGroup              ok          ok            denied
  sendMessage                            deny                toForeignGroup       ok          notJoined     denied
  sendMessage                            deny                toBlockingStranger   ok          blockedMe     denied
  sendMessage                            deny                reply                needsActor  ok            denied
  sendMessage                            deny                replyHere            ok          ok            denied
  sendMessage                            deny                upload               needsActor  ok            denied
  sendMessage.mode                       friends             toFriend             ok          ok            ok
  sendMessage.mode                       friends             toStranger           ok          ok            denied
  sendMessage.mode                       friends             toBlockingFriend     ok          blockedMe     blockedMe
  sendMessage.mode                       friends             toBlockingStranger   ok          blockedMe     denied
  sendMessage.mode                       friends             toSelf               ok          ok            ok
  sendMessage.mode                       friends             toGroup              ok          ok            ok
  sendMessage.mode                       friends             upload               needsActor  ok            ok
  settings.sendMessagesTo                friendsOnly         toFriend             ok          ok            ok
  settings.sendMessagesTo                friendsOnly         toStranger           ok          ok            denied
  settings.sendMessagesTo                friendsOnly         toGroup              ok          ok            ok
  sendMessage.allowedReceiverTypes       user                toFriend             ok          ok            ok
  sendMessage.allowedReceiverTypes       user                toGroup              ok          ok            denied
  sendMessage.allowedReceiverTypes       user                toForeignGroup       ok          notJoined     denied
  sendMessage.allowedReceiverTypes       group               toFriend             ok          ok            denied
  sendMessage.allowedReceiverTypes       group               toGroup              ok          ok            ok
  sendMessage.allowedReceiverTypes       group               upload               needsActor  ok            denied
  sendMessage.allowedReceiverRoles       pal                 toFriend             ok          ok            ok
  sendMessage.allowedReceiverRoles       pal                 toStranger           ok          ok            denied
  sendMessage.allowedReceiverRoles       pal                 toGroup              ok          ok            ok
  sendMessage.allowedMessageCategories   message             toFriend             ok          ok            ok
  sendMessage.allowedMessageCategories   message             sendPlace            ok          ok            denied
  sendMessage.allowedMessageCategories   message             sendForm             ok          ok            denied
  sendMessage.allowedMessageCategories   custom,interactive  toFriend             ok          ok            denied
  sendMessage.allowedMessageCategories   custom,interactive  sendPlace            ok          ok            ok
  sendMessage.allowedMessageCategories   custom,interactive  sendForm             ok          ok            ok
  sendMessage.allowedMessageCategories   custom,interactive  upload               needsActor  ok            denied
  sendMessage.allowedMessageTypes        image               toFriend             ok          ok            denied
  sendMessage.allowedMessageTypes        image               sendImage            ok          ok            ok
  sendMessage.allowedMessageTypes        image               sendPaper            ok          ok            denied
  sendMessage.allowedMessageTypes        image               sendPlace            ok          ok            ok
  sendMessage.allowedMessageTypes        image               upload               needsActor  ok            ok
  sendMessage.allowedMessageTypes        text                toFriend             ok          ok            ok
  sendMessage.allowedMessageTypes        text                sendImage            ok          ok            denied
  sendMessage.allowedMessageTypes        text                upload               needsActor  ok            denied
  sendMessage.allowedCustomTypes         place               sendPlace            ok          ok            ok
  sendMessage.allowedCustomTypes         place               sendPoll             ok          ok            denied
  sendMessage.allowedCustomTypes         place               toFriend             ok          ok            ok
  sendMessage.allowedMimeTypes           image/*             sendImage            ok          ok            ok
  sendMessage.allowedMimeTypes           image/*             sendPaper            ok          ok            denied
  sendMessage.allowedMimeTypes           image/*             toFriend             ok          ok            ok
  editMessage                            deny                editDirect           ok          ok            denied
  editMessage                            deny                editAsOwner          ok          ok            denied
  editMessage                            deny                editAnothers         ok          notSender     denied
  editMessage                            deny                deleteDirect         ok          ok            ok
  editMessage.denyForScopes              admin               editDirect           ok          ok            ok
  editMessage.denyForScopes              admin               editAsOwner          ok          ok            denied
  editMessage.denyForScopes              admin               editAsAdmin          ok          ok            denied
  editMessage.denyForScopes              admin               editAsModerator      ok          ok            ok
  editMessage.denyForScopes              admin               editAsParticipant    ok          ok            ok
  editMessage.denyForScopes              moderator           editAsOwner          ok          ok            ok
  editMessage.denyForScopes              moderator           editAsAdmin          ok          ok            ok
  editMessage.denyForScopes              moderator           editAsModerator      ok          ok            denied
  editMessage.denyForScopes              moderator           editAsParticipant    ok          ok            ok
  editMessage.denyForScopes              participant         editAsOwner          ok          ok            ok
  editMessage.denyForScopes              participant         editAsModerator      ok          ok            ok
  editMessage.denyForScopes              participant         editAsParticipant    ok          ok            denied
  editMessage.denyForScopes              participant         editAnothers         ok          notSender     denied
  deleteMessage                          deny                deleteDirect         ok          ok            denied
  deleteMessage                          deny                deleteAsOwner        ok          ok            denied
  deleteMessage                          deny                editDirect           ok          ok            ok
  deleteMessage.denyForScopes            admin               deleteDirect         ok          ok            ok
  deleteMessage.denyForScopes            admin               deleteAsOwner        ok          ok            denied
  deleteMessage.denyForScopes            admin               deleteAsAdmin        ok          ok            denied
  deleteMessage.denyForScopes            admin               deleteAsModerator    ok          ok            ok
  deleteMessage.denyForScopes            moderator           deleteAsAdmin        ok          ok            ok
  deleteMessage.denyForScopes            moderator           deleteAsModerator    ok          ok            denied
  deleteMessage.denyForScopes            participant         deleteAsModerator    ok          ok            ok
  deleteMessage.denyForScopes            participant         deleteAsParticipant  ok          ok            denied
  createGroup                            deny                createPublic         ok          ok            denied
  createGroup.allowedGroupTypes          private             createPublic         ok          ok            denied
  createGroup.allowedGroupTypes          private             createPrivate        ok          ok            ok
  createGroup.allowedGroupTypes          private             createPassword       ok          ok            denied
  listGroups                             deny                listPublic           ok          ok            denied
  listGroups                             deny                getGroup             ok          ok            ok
  listGroups.allowedGroupTypes           private             listPublic           ok          ok            absent
  listGroups.allowedGroupTypes           private             listPrivate          ok          ok            ok
  joinGroup                              deny                joinPublic           wrongDoor   wrongDoor|ok  wrongDoor|denied
  joinGroup                              deny                joinAsMember         ok          notJoined|ok  notJoined|denied
  joinGroup.allowedGroupTypes            password            joinPublic           wrongDoor   wrongDoor|ok  wrongDoor|denied
  joinGroup.allowedGroupTypes            password            joinAsMember         ok          notJoined|ok  notJoined|denied
  joinGroup.allowedGroupTypes            password            joinPassword         wrongDoor   wrongDoor|ok  wrongDoor|ok
  listMessages.allowedMessageCategories  custom              listText             ok          ok            absent
  listMessages.allowedMessageCategories  custom              listPlace            ok          ok            ok
  listMessages.allowedMessageCategories  custom              listTextInGroup      ok          ok            absent
  listMessages.allowedMessageCategories  custom              listTextOfAll        ok          ok            absent
  listMessages.allowedMessageCategories  custom              getMessage           ok          ok            ok
  listMessages.allowedMessageCategories  message             listPlace            ok          ok            absent
  listMessages.allowedMessageCategories  message             listPlaceInThread    ok          ok            absent
  listMessages.allowedMessageTypes       image               listText             ok          ok            absent
  listMessages.allowedMessageTypes       image               listImage            ok          ok            ok
  listMessages.allowedMessageTypes       image               listPlace            ok          ok            ok
  listMessages.allowedMessageTypes       image               listTextInGroup      ok          ok            absent
`)

describe('the table of roles', () => {
  it('has every permission, but those of calls', () => {
    const ids = new Set(table.map(({ permission }) => permission))
    const missing = Object.keys(rolePermissions).filter((id) => !ids.has(id))
    assert.deepEqual(missing, ['initiateCall', 'initiateCall.mode', 'initiateCall.allowedReceiverRoles'])
  })
})

for (const database of databases) {
  describe(`what a role may do on ${database}`, () => {
    let h: House
    let built: Stage
    before(async () => {
      h = await house({ database })
      built = await stage(h)
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
    for (const [permission = '', lines] of Map.groupBy(table, (line) => line.permission)) {
      it(permission, async () => {
        for (const [value = '', some] of Map.groupBy(lines, (line) => line.value)) {
          const path = `/roles/${guest}`
          const setting = permission.replace('settings.', '')
          const permissions = { [permission]: lists(permission) ? value.split(',') : value }
          if (setting !== permission) assertSucceeds(await built.app.put(path, { settings: { [setting]: value } }))
          else assertSucceeds(await built.app.put(`${path}/permissions`, { permissions }))
          try {
            await compare(built, some, `${permission} ${value}`)
          } finally {
            if (setting !== permission) assertSucceeds(await built.app.put(path, { unset: ['settings'] }))
            else assertSucceeds(await built.app.delete(`${path}/permissions/${permission}`))
          }
        }
      })
    }
  })
}
