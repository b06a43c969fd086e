import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type Caller, type House, house } from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import {
  Comparison,
  doorsFor,
  isTriedOn,
  type Line,
  linesOf,
  wordFor,
  wordForEntry,
  wordForList,
} from '../../../../tests/support/matrix.ts'
import { appWith, as, clientOf, say, sayIn } from '../../../../tests/support/talk.ts'

/** Who may do what with a message and its conversation, by relation and by scope, through which door. */

/**
 * Lin wrote to Ada; Zoe and Ada wrote to each other, and then Ada blocked Zoe; Max has to do with neither. The app writes to
 * Ada in a conversation of its own, so what those two said is nothing that it could answer there. A block stops whatever
 * would reach the other; what one does for oneself, or takes back, it does not.
 */
const betweenTwo = linesOf(`
  act            app         sender        receiver      outsider          blocked       blocking      blockingAuthor
  get            ok          ok            ok            noAccess          ok            ok            ok
  list           ok          ok            ok            absent            ok            ok            ok
  listAll        ok          ok            ok            absent            ok            ok            ok
  edit           ok          ok            notSender     noAccess          blockedMe     notSender     iBlocked
  react          needsActor  ok            ok            noAccess          blockedMe     iBlocked      iBlocked
  unreact        needsActor  ok            ok            noAccess          ok            ok            ok
  reactions      ok          ok            ok            noAccess          ok            ok            ok
  pin            ok          ok            ok            noAccess          blockedMe     iBlocked      iBlocked
  unpin          ok          ok            ok            noAccess          ok            ok            ok
  save           needsActor  ok            ok            noAccess          ok            ok            ok
  unsave         needsActor  ok            ok            noAccess          ok            ok            ok
  receipts       ok          ok            ok            noAccess          ok            ok            ok
  replies        ok          ok            ok            noAccess          ok            ok            ok
  follow         needsActor  ok            ok            noAccess          ok            ok            ok
  unfollow       needsActor  ok            ok            noAccess          ok            ok            ok
  interact       needsActor  notAllowed    ok            noAccess          notAllowed    iBlocked      notAllowed
  delivered      needsActor  ok            ok            noTalk            ok            ok            ok
  read           needsActor  ok            ok            noTalk            ok            ok            ok
  readByMessage  needsActor  ok            ok            noAccess          ok            ok            ok
  unread         needsActor  ok            ok            noTalk            ok            ok            ok
  tag            needsActor  ok            ok            noTalk            ok            ok            ok
  talks          ok          ok            ok            absent            ok            absent        absent
  talk           needsActor  ok            ok            noTalk            ok            ok            ok
  talkById       needsActor  ok            ok            noTalk            ok            ok            ok
  forget         needsActor  ok            ok            noTalk            ok            ok            ok
  reply          needsActor  ok            ok            noAccess          blockedMe     iBlocked      iBlocked
  replyHere      needsActor  ok            ok            wrongThread       blockedMe     iBlocked      iBlocked
  quote          noAccess    ok            ok            noAccess          blockedMe     iBlocked      iBlocked
  send           ok          ok            ok            ok                blockedMe     iBlocked      iBlocked
  sendByPath     ok          ok            ok            ok                blockedMe     iBlocked      iBlocked
  sendToMany     ok          ok            ok            ok                blockedMe     iBlocked      iBlocked
  media          ok          ok            ok            ok                blockedMe     iBlocked      iBlocked
  upload         needsActor  ok            ok            ok                denied        denied        denied
  delete         ok          ok            notSender     noAccess          ok            notSender     ok
  pinTalk        needsActor  ok            ok            ok                ok            ok            ok
  deleteById     needsActor  ok|wrongDoor  ok|wrongDoor  noTalk|wrongDoor  ok|wrongDoor  ok|wrongDoor  ok|wrongDoor
`)

/** A participant said something in a group. Whom one has blocked makes no difference there. */
const inGroup = linesOf(`
  act            app         sender        owner         admin         moderator     participant   outsider             banned
  get            ok          ok            ok            ok            ok            ok            noAccess             noAccess
  list           ok          ok            ok            ok            ok            ok            notJoined            banned
  listAll        ok          ok            ok            ok            ok            ok            absent               absent
  edit           ok          ok            ok            ok            ok            notSender     noAccess             noAccess
  react          needsActor  ok            ok            ok            ok            ok            noAccess             noAccess
  unreact        needsActor  ok            ok            ok            ok            ok            noAccess             noAccess
  reactions      ok          ok            ok            ok            ok            ok            noAccess             noAccess
  pin            ok          denied        ok            ok            ok            denied        noAccess             noAccess
  unpin          ok          denied        ok            ok            ok            denied        noAccess             noAccess
  save           needsActor  ok            ok            ok            ok            ok            noAccess             noAccess
  unsave         needsActor  ok            ok            ok            ok            ok            noAccess             noAccess
  receipts       ok          ok            ok            ok            ok            ok            noAccess             noAccess
  replies        ok          ok            ok            ok            ok            ok            noAccess             noAccess
  follow         needsActor  ok            ok            ok            ok            ok            noAccess             noAccess
  unfollow       needsActor  ok            ok            ok            ok            ok            noAccess             noAccess
  interact       needsActor  notAllowed    ok            ok            ok            ok            noAccess             noAccess
  delivered      needsActor  ok            ok            ok            ok            ok            notJoined            banned
  read           needsActor  ok            ok            ok            ok            ok            notJoined            banned
  readByMessage  needsActor  ok            ok            ok            ok            ok            noAccess             noAccess
  unread         needsActor  ok            ok            ok            ok            ok            notJoined            banned
  tag            needsActor  ok            ok            ok            ok            ok            notJoined            banned
  talks          ok          ok            ok            ok            ok            ok            absent               absent
  talk           needsActor  ok            ok            ok            ok            ok            noTalk               banned
  talkById       needsActor  ok            ok            ok            ok            ok            noTalk               banned
  forget         needsActor  ok            ok            ok            ok            ok            notJoined            banned
  reply          ok          ok            ok            ok            ok            ok            noAccess             noAccess
  replyHere      ok          ok            ok            ok            ok            ok            notJoined            banned
  quote          ok          ok            ok            ok            ok            ok            notJoined            banned
  send           ok          ok            ok            ok            ok            ok            notJoined            banned
  sendByPath     ok          ok            ok            ok            ok            ok            notJoined            banned
  sendToMany     ok          ok            ok            ok            ok            ok            notJoined            banned
  media          ok          ok            ok            ok            ok            ok            notJoined            banned
  upload         needsActor  ok            ok            ok            ok            ok            denied               denied
  delete         ok          ok            ok            ok            ok            notSender     noAccess             noAccess
  pinTalk        needsActor  ok            ok            ok            ok            ok            notJoined            banned
  deleteById     needsActor  ok|wrongDoor  ok|wrongDoor  ok|wrongDoor  ok|wrongDoor  ok|wrongDoor  notJoined|wrongDoor  banned|wrongDoor
`)

/** After these, nothing is left to go on with. */
const spoils = new Set(['delete', 'forget', 'deleteById'])
/** What these answer is by whoever acted, or by the app. */
const signed = new Set(['send', 'sendByPath', 'media', 'replyHere', 'quote', 'edit', 'delete'])

/** A message, an interactive one beside it, and where the one who acts speaks. */
interface Scene {
  id: string
  form: string
  conversationId: string
  to: { receiver: string; receiverType: 'user' | 'group' }
}

const form = {
  category: 'interactive',
  type: 'form',
  data: { interactiveData: { title: 'Join us', formFields: [{ elementType: 'label', elementId: 'a', text: 'A' }] } },
}
const picture = { name: 'a.png', url: 'https://files.example.org/a.png', mimeType: 'image/png', extension: 'png' }

function ask(caller: Caller, act: string, { id, form, conversationId, to }: Scene): Promise<Answer> {
  const path = to.receiverType === 'group' ? `/groups/${to.receiver}` : `/users/${to.receiver}`
  const talk = `${path}/conversation`
  const message = `/messages/${id}`
  const text = { data: { text: 'Hello' } }
  const several = to.receiverType === 'group' ? { guids: [to.receiver] } : { uids: [to.receiver] }
  const file = { fileId: 'f', name: 'a.png', mimeType: 'image/png', size: 9 }
  const asked: Record<string, () => Promise<Answer>> = {
    get: () => caller.get(message),
    list: () => caller.get(`${path}/messages?limit=100&affix=prepend`),
    listAll: () => caller.get('/messages?limit=100&affix=prepend'),
    edit: () => caller.put(message, { data: { text: 'Edited' } }),
    delete: () => caller.delete(message),
    react: () => caller.post(`${message}/reactions/yes`),
    unreact: () => caller.delete(`${message}/reactions/yes`),
    reactions: () => caller.get(`${message}/reactions`),
    pin: () => caller.post(`${message}/pin`),
    unpin: () => caller.delete(`${message}/pin`),
    save: () => caller.post(`${message}/save`),
    unsave: () => caller.delete(`${message}/save`),
    receipts: () => caller.get(`${message}/receipts`),
    replies: () => caller.get(`${message}/thread`),
    follow: () => caller.post(`${message}/thread/subscription`),
    unfollow: () => caller.delete(`${message}/thread/subscription`),
    interact: () => caller.send(`/messages/${form}/interacted`, { method: 'PATCH', body: { interactions: ['a'] } }),
    delivered: () => caller.post(`${talk}/delivered`),
    read: () => caller.post(`${talk}/read`),
    readByMessage: () => caller.post(`${message}/interactions`),
    unread: () => caller.delete(`${talk}/read`, { messageId: id }),
    tag: () => caller.put(talk, { tags: ['a'] }),
    talks: () => caller.get('/conversations'),
    talk: () => caller.get(talk),
    talkById: () => caller.get(`/conversations/${conversationId}`),
    forget: () => caller.delete(talk),
    pinTalk: () => caller.post(`${talk}/pin`),
    deleteById: () => caller.delete(`/conversations/${conversationId}`),
    reply: () => caller.post(`${message}/thread`, text),
    replyHere: () => caller.post('/messages', { ...to, ...text, parentId: id }),
    quote: () => caller.post('/messages', { ...to, ...text, quotedMessageId: id }),
    send: () => caller.post('/messages', { ...to, ...text }),
    sendByPath: () => caller.post(`${path}/messages`, text),
    sendToMany: () => caller.post('/messages', { ...text, multipleReceivers: several }),
    media: () => caller.post('/messages', { ...to, type: 'image', data: { attachments: [picture] } }),
    upload: () => caller.post('/files', { receiverId: to.receiver, receiverType: to.receiverType, files: [file] }),
  }
  return asked[act]?.() ?? assert.fail(`${act} is no act`)
}

function wordOf(act: string, answer: Answer, { id, conversationId, to }: Scene): string {
  if (act === 'list' || act === 'listAll') return wordForList(answer, (message) => message.id === id)
  if (act === 'talks') return wordForList(answer, (talk) => talk.conversationId === conversationId)
  if (act === 'sendToMany') return wordForEntry(answer, ({ uids, guids }) => (uids ?? guids)[to.receiver])
  return wordFor(answer)
}

for (const database of databases) {
  describe(`who may do what with messages on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database, way: 'dispatch' })
    })
    after(() => h.close())

    /** Does every act of a column through every door, and compares. */
    async function run(app: AppClient, who: string, uid: string | undefined, lines: Line[], set: () => Promise<Scene>) {
      const comparison = new Comparison()
      const doors = await doorsFor(h, app, uid)
      let scene = await set()
      for (const { act = '', [who]: cell } of lines) {
        for (const { name, caller } of doors) {
          if (!isTriedOn(database, cell, name)) continue
          const answer = await ask(caller, act, scene)
          const word = wordOf(act, answer, scene)
          comparison.check(cell, name, word, `${who}: ${act}`)
          if (word === 'ok' && signed.has(act)) assert.equal(answer.body.data.sender, uid ?? 'app_system', act)
          if (word === 'ok' && spoils.has(act)) scene = await set()
        }
      }
      comparison.end()
    }

    describe('between two', () => {
      const parts: [string, string | undefined, string, string][] = [
        // who, acting as, whose message, and with whom
        ['app', undefined, 'lin', 'ada'],
        ['sender', 'lin', 'lin', 'ada'],
        ['receiver', 'ada', 'lin', 'lin'],
        ['outsider', 'max', 'lin', 'ada'],
        ['blocked', 'zoe', 'zoe', 'ada'],
        ['blocking', 'ada', 'zoe', 'zoe'],
        ['blockingAuthor', 'ada', 'ada', 'zoe'],
      ]
      let app: AppClient
      before(async () => {
        app = await appWith(h, 'ada', 'lin', 'max', 'zoe')
      })
      for (const [who, uid, author, receiver] of parts) {
        it(who, () =>
          run(app, who, uid, betweenTwo, async () => {
            const blocks = { blockedUids: ['zoe'] }
            const to = author === 'ada' ? 'zoe' : 'ada'
            const isApart = [author, to].includes('zoe')
            if (isApart) assertSucceeds(await app.delete('/users/ada/blockedusers', blocks))
            const { id, conversationId } = await say(app, author, to)
            const { id: formId } = await say(app, author, to, '', form)
            if (isApart) assertSucceeds(await app.post('/users/ada/blockedusers', blocks))
            return { id, form: formId, conversationId, to: { receiver, receiverType: 'user' } }
          }),
        )
      }
    })

    describe('in a group', () => {
      const parts: [string, string | undefined][] = [
        ['app', undefined],
        ['sender', 'lin'],
        ['owner', 'own'],
        ['admin', 'adm'],
        ['moderator', 'mod'],
        ['participant', 'par'],
        ['outsider', 'out'],
        ['banned', 'ban'],
      ]
      let app: AppClient
      before(async () => {
        app = await appWith(h, 'own', 'adm', 'mod', 'par', 'lin', 'out', 'ban')
        const members = { admins: ['adm'], moderators: ['mod'], participants: ['par', 'lin'], usersToBan: ['ban'] }
        assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('own')))
        for (const uid of ['own', 'par']) {
          assertSucceeds(await app.post(`/users/${uid}/blockedusers`, { blockedUids: ['lin'] }))
        }
      })
      for (const [who, uid] of parts) {
        it(who, () =>
          run(app, who, uid, inGroup, async () => {
            const { id, conversationId } = await sayIn(app, 'crew', 'lin')
            const { id: formId } = await sayIn(app, 'crew', 'lin', '', form)
            return { id, form: formId, conversationId, to: { receiver: 'crew', receiverType: 'group' } }
          }),
        )
      }
    })

    it('removing for good is for servers', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const client = await clientOf(h, app, 'lin')
      const { id } = await say(app, 'lin', 'ada')
      for (const refused of [
        await client.delete(`/messages/${id}`, { permanent: true }),
        await client.delete('/users/ada/conversation', { deleteMessagesPermanently: true }),
      ]) {
        assert.deepEqual([refused.status, refused.body.error?.code], [403, 'AUTH_ERR_NO_ACCESS'])
      }
      assertSucceeds(await client.get(`/messages/${id}`))
      const asLin = await app.delete(`/messages/${id}`, { permanent: true }, as('lin'))
      assert.equal(assertSucceeds(asLin).data.data.action, 'deleted')
    })

    it('whoever has left a group has left its messages', async () => {
      const app = await appWith(h, 'ada', 'lin')
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['lin'] } }, as('ada')))
      const { id, conversationId } = await sayIn(app, 'g', 'lin')
      const { id: formId } = await sayIn(app, 'g', 'lin', '', form)
      assertSucceeds(await app.delete('/groups/g/members/lin'))
      const scene: Scene = { id, form: formId, conversationId, to: { receiver: 'g', receiverType: 'group' } }
      await run(app, 'outsider', 'lin', inGroup, async () => scene)
    })
  })
}
