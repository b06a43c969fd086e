import assert from 'node:assert/strict'
import type { DatabaseName } from './databases.ts'
import { type AppClient, assertSucceeds, type Caller, type House } from './house.ts'
import type { Answer } from './http.ts'
import { Comparison, type Door, doorsFor, isTriedOn, type Line, wordFor, wordForEntry, wordForList } from './matrix.ts'
import { as, say, sayIn } from './talk.ts'

/**
 * An app in which everything can be done that a role can be denied: by `gus` of the role `guest`, by `mel` of the role
 * `member`, and by the app, which does it to what is `own`'s. Everyone else is there to have it done to.
 */

export const guest = 'guest'

/** Does one thing for `me`, who is acting or whose things the app touches; answers the table's word for what came back. */
type Act = (caller: Caller, me: string) => Promise<string>

const picture = { name: 'a.png', url: 'https://files.example.org/a.png', mimeType: 'image/png', extension: 'png' }
const paper = { name: 'a.pdf', url: 'https://files.example.org/a.pdf', mimeType: 'application/pdf', extension: 'pdf' }
const text = { data: { text: 'Hello' } }
const place = { category: 'custom', type: 'place', data: { customData: { at: 'dock' } } }
const form = {
  category: 'interactive',
  type: 'form',
  data: { interactiveData: { title: 'Join us', formFields: [{ elementType: 'label', elementId: 'a', text: 'A' }] } },
}
const media = (file: object, type: string) => ({ type, data: { attachments: [file] } })
const upload = { files: [{ fileId: 'f', name: 'a.png', mimeType: 'image/png', size: 9 }] }

export interface Stage {
  database: DatabaseName
  app: AppClient
  acts: Record<string, Act>
  doors: Record<Part, Door[]>
  /** What came back where the role of the line is not asked: by part, act and door. */
  known: Map<string, string>
}

type Part = 'app' | 'other' | 'guest'
const parts: [Part, string][] = [
  ['app', 'own'],
  ['other', 'mel'],
  ['guest', 'gus'],
]

/** Does what the lines say, by everyone and through every door; what a line cannot change is done once for all lines. */
export async function compare({ database, acts, doors, known }: Stage, lines: Line[], when: string): Promise<void> {
  const comparison = new Comparison()
  for (const { act = '', ...cells } of lines) {
    for (const [who, me] of parts) {
      for (const { name, caller } of doors[who]) {
        if (!isTriedOn(database, cells[who], name)) continue
        const key = `${who} ${act} ${name}`
        const word = known.get(key) ?? (await acts[act]?.(caller, me)) ?? assert.fail(`${act} is no act`)
        comparison.check(cells[who], name, word, `${when}: ${act} by ${who}`)
        if (who !== 'guest') known.set(key, word)
      }
    }
  }
  comparison.end()
}

export async function stage(h: House, database: DatabaseName): Promise<Stage> {
  const app = await h.app(crypto.randomUUID())
  for (const role of [guest, 'member', 'pal']) assertSucceeds(await app.post('/roles', { role, name: role }))
  const people = { gus: guest, mel: 'member', own: 'member', fay: 'pal', bob: 'pal', bea: 'member', sam: 'member' }
  const others = { vic: 'member', new: 'member', pip: 'pal', max: 'member', zed: 'member' }
  for (const [uid, role] of Object.entries({ ...people, ...others })) {
    assertSucceeds(await app.post('/users', { uid, name: uid, role }))
  }
  const talks: Record<string, Record<string, string>> = {}
  const group = (guid: string, members: object, more: object = {}) =>
    app.post('/groups', { guid, name: guid, members, ...more }, as('fay'))
  for (const me of ['gus', 'mel', 'own']) {
    assertSucceeds(await app.post(`/users/${me}/friends`, { accepted: ['fay', 'bob'] }))
    for (const uid of ['bob', 'bea']) {
      assertSucceeds(await app.post(`/users/${uid}/blockedusers`, { blockedUids: [me] }))
    }
    const members = { participants: ['vic'], usersToBan: ['bea'] }
    assertSucceeds(await app.post('/groups', { guid: `${me}-owner`, name: 'G', members }, as(me)))
    assertSucceeds(await group(`${me}-admin`, { admins: [me] }))
    assertSucceeds(await group(`${me}-moderator`, { moderators: [me] }))
    assertSucceeds(await group(`${me}-participant`, { participants: [me] }))
    talks[me] = {
      text: (await say(app, 'fay', me)).id,
      media: (await say(app, 'fay', me, '', media(picture, 'image'))).id,
      custom: (await say(app, 'fay', me, '', place)).id,
      inGroup: (await sayIn(app, `${me}-participant`, 'fay')).id,
      ofStranger: (await say(app, 'sam', me, 'Sesame')).id,
      call: (await app.play({ initiator: me, receiver: 'fay', startAt: 1_767_225_600, steps: [] })).sessionId,
    }
    const parent = `/messages/${talks[me].text}/thread`
    talks[me].answer = assertSucceeds(await app.post(parent, place, as('fay'))).data.id
    // Of the blocked, one is of each of two roles; nobody writes to these two or reads of them.
    assertSucceeds(await app.post(`/users/${me}/blockedusers`, { blockedUids: ['pip', 'max'] }))
  }
  for (const type of ['public', 'private']) assertSucceeds(await group(type, {}, { type }))
  assertSucceeds(await group('password', {}, { type: 'password', password: 'sesame' }))
  assertSucceeds(await app.post('/groups/private/members', { participants: ['gus', 'mel', 'own'] }))

  const idOf = (me: string, what: string) => talks[me]?.[what] ?? ''
  const to = (receiver: string, what: object): Act => {
    return async (caller) => wordFor(await caller.post('/messages', { receiver, receiverType: 'user', ...what }))
  }
  const toGroup = (guidFor: (me: string) => string): Act => {
    return async (caller, me) =>
      wordFor(await caller.post('/messages', { receiver: guidFor(me), receiverType: 'group', ...text }))
  }
  const calls = (receiverFor: (me: string) => string, receiverType: string): Act => {
    return async (caller, me) =>
      wordFor(await caller.post('/calls', { receiver: receiverFor(me), receiverType, type: 'audio' }))
  }
  /** Answers a call by `zed`, who hangs up then. */
  const answersCall: Act = async (caller, me) => {
    const body = { receiver: me, receiverType: 'user', type: 'audio' }
    const { data } = assertSucceeds(await app.post('/calls', body, as('zed')))
    const path = `/calls/${data.data.entities.on.entity.sessionid}`
    const answer = await caller.put(path, { status: 'ongoing' })
    const status = answer.status === 200 ? 'ended' : 'cancelled'
    assertSucceeds(await app.put(path, { status }, as('zed')))
    return wordFor(answer)
  }
  const get = (path: (me: string) => string): Act => {
    return async (caller, me) => wordFor(await caller.get(path(me)))
  }
  const listed = (path: (me: string) => string, id: (me: string) => string, key = 'id'): Act => {
    return async (caller, me) => wordForList(await caller.get(path(me)), (entry) => entry[key] === id(me))
  }
  /** What succeeds is undone, so that it can be done again. */
  const undone = (act: (caller: Caller, me: string) => Promise<Answer>, undo: (me: string) => Promise<Answer>): Act => {
    return async (caller, me) => {
      const answer = await act(caller, me)
      if (answer.status === 200) assertSucceeds(await undo(me))
      return wordFor(answer)
    }
  }
  const create = (more: object): Act =>
    undone(
      (caller) => caller.post('/groups', { guid: 'made', name: 'Made', ...more }),
      () => app.delete('/groups/made'),
    )
  const join = (guid: string): Act =>
    undone(
      (caller) => caller.post(`/groups/${guid}/join`, { password: 'sesame' }),
      (me) => app.delete(`/groups/${guid}/members/${me}`),
    )
  /** A message of one's own, in a group or to Fay, written anew where the last one is deleted. */
  const own = new Map<string, string>()
  const ownIn = (where: string, isDeletion: boolean, change: (caller: Caller, id: string) => Promise<Answer>): Act => {
    return async (caller, me) => {
      const key = `${me}-${where}`
      const id = own.get(key) ?? (where === 'direct' ? await say(app, me, 'fay') : await sayIn(app, key, me)).id
      const answer = await change(caller, id)
      if (isDeletion && answer.status === 200) own.delete(key)
      else own.set(key, id)
      return wordFor(answer)
    }
  }
  /** A reply of one's own to Fay, likewise. */
  const ownReply = (isDeletion: boolean, change: (caller: Caller, id: string) => Promise<Answer>): Act => {
    return async (caller, me) => {
      const key = `${me} reply`
      const parent = idOf(me, 'text')
      const id = own.get(key) ?? assertSucceeds(await app.post(`/messages/${parent}/thread`, text, as(me))).data.id
      const answer = await change(caller, id)
      if (isDeletion && answer.status === 200) own.delete(key)
      else own.set(key, id)
      return wordFor(answer)
    }
  }
  const replying = (to: string, what: object): Act => {
    return async (caller, me) => wordFor(await caller.post(`/messages/${idOf(me, to)}/thread`, what))
  }
  /** What one entry of a conversation list says; the word for an entry that does not say it is `absent`. */
  const talkSays = (isIt: (talk: Record<string, unknown>) => boolean): Act => {
    return async (caller) => {
      const answer = await caller.get('/users/sam/conversation')
      if (answer.status !== 200) return wordFor(answer)
      return isIt(answer.body.data) ? 'ok' : 'absent'
    }
  }
  const entry = (
    act: (caller: Caller, me: string) => Promise<Answer>,
    uid: string,
    undo?: (me: string) => unknown,
  ): Act => {
    return async (caller, me) => {
      const answer = await act(caller, me)
      const word = wordForEntry(answer, (data) => data[uid])
      if (word === 'ok') await undo?.(me)
      return word
    }
  }
  const blocking = (uid: string) =>
    entry(
      (caller, me) => caller.post(`/users/${me}/blockedusers`, { blockedUids: [uid] }),
      uid,
      (me) => app.delete(`/users/${me}/blockedusers`, { blockedUids: [uid] }),
    )
  const unblocking = (uid: string) =>
    entry((caller, me) => caller.delete(`/users/${me}/blockedusers`, { blockedUids: [uid] }), uid)
  const edit = (caller: Caller, id: string) => caller.put(`/messages/${id}`, { data: { text: 'Edited' } })
  const editing = (where: string) => ownIn(where, false, edit)
  const deleting = (where: string) => ownIn(where, true, (caller, id) => caller.delete(`/messages/${id}`))
  const withFay = '/users/fay/messages?limit=100&affix=prepend'
  const members = (me: string) => `/groups/${me}-owner/members`
  const bans = (me: string, uid: string) => `/groups/${me}-owner/bannedusers/${uid}`
  const reset = (end: (me: string) => string): Act => {
    return async (caller, me) => {
      await say(app, 'zed', me)
      return wordFor(await caller.delete(end(me)))
    }
  }
  const pair = (me: string, other: string) => [me, other].toSorted().join('_user_')

  const acts: Record<string, Act> = {
    toFriend: to('fay', text),
    toStranger: to('sam', text),
    toBlockingFriend: to('bob', text),
    toBlockingStranger: to('bea', text),
    toSelf: async (caller, me) => to(me, text)(caller, me),
    toGroup: toGroup((me) => `${me}-participant`),
    toForeignGroup: toGroup(() => 'public'),
    callFriend: calls(() => 'fay', 'user'),
    callStranger: calls(() => 'sam', 'user'),
    callGroup: calls((me) => `${me}-participant`, 'group'),
    answerCall: answersCall,
    sendImage: to('fay', media(picture, 'image')),
    sendPaper: to('fay', media(paper, 'file')),
    sendPaperAsText: to('fay', { data: { text: 'Look', attachments: [paper] } }),
    sendPaperAsPlace: to('fay', { ...place, data: { ...place.data, attachments: [paper] } }),
    sendPlace: to('fay', place),
    sendPoll: to('fay', { ...place, type: 'poll' }),
    sendForm: to('fay', form),
    upload: async (caller) =>
      wordFor(await caller.post('/files', { receiverId: 'fay', receiverType: 'user', ...upload })),
    uploadReply: async (caller, me) => {
      const where = { receiverId: 'fay', receiverType: 'user', parentMessageId: Number(idOf(me, 'text')) }
      return wordFor(await caller.post('/files', { ...where, ...upload }))
    },
    reply: async (caller, me) => wordFor(await caller.post(`/messages/${idOf(me, 'text')}/thread`, text)),
    replyHere: async (caller, me) => {
      const where = { receiver: `${me}-participant`, receiverType: 'group', parentId: idOf(me, 'inGroup') }
      return wordFor(await caller.post('/messages', { ...where, ...text }))
    },
    editDirect: editing('direct'),
    editAsOwner: editing('owner'),
    editAsAdmin: editing('admin'),
    editAsModerator: editing('moderator'),
    editAsParticipant: editing('participant'),
    editAnothers: async (caller, me) => wordFor(await edit(caller, idOf(me, 'inGroup'))),
    deleteDirect: deleting('direct'),
    deleteAsOwner: deleting('owner'),
    deleteAsAdmin: deleting('admin'),
    deleteAsModerator: deleting('moderator'),
    deleteAsParticipant: deleting('participant'),
    listText: listed(
      () => withFay,
      (me) => idOf(me, 'text'),
    ),
    listImage: listed(
      () => withFay,
      (me) => idOf(me, 'media'),
    ),
    listPlace: listed(
      () => withFay,
      (me) => idOf(me, 'custom'),
    ),
    listTextInGroup: listed(
      (me) => `/groups/${me}-participant/messages?limit=100`,
      (me) => idOf(me, 'inGroup'),
    ),
    listTextOfAll: listed(
      () => '/messages?limit=100',
      (me) => idOf(me, 'text'),
    ),
    listPlaceInThread: listed(
      (me) => `/messages/${idOf(me, 'text')}/thread?limit=100`,
      (me) => idOf(me, 'answer'),
    ),
    getMessage: get((me) => `/messages/${idOf(me, 'text')}`),
    getOfStranger: get((me) => `/messages/${idOf(me, 'ofStranger')}`),
    getInGroup: get((me) => `/messages/${idOf(me, 'inGroup')}`),
    listOfStranger: listed(
      () => '/users/sam/messages?limit=100&affix=prepend',
      (me) => idOf(me, 'ofStranger'),
    ),
    search: get(() => '/messages?searchKey=hello'),
    searchOfStranger: listed(
      () => '/messages?searchKey=sesame&limit=100',
      (me) => idOf(me, 'ofStranger'),
    ),
    threads: get(() => '/threads'),
    unreadOfStranger: talkSays(({ unreadMessageCount }) => unreadMessageCount !== '0'),
    lastOfStranger: talkSays(({ lastMessage }) => lastMessage !== undefined),
    lastMessage: talkSays(({ lastMessage }) => lastMessage !== undefined),
    replyToStranger: replying('ofStranger', text),
    replyPlace: replying('text', place),
    replyImage: replying('text', media(picture, 'image')),
    replyPaper: replying('text', media(paper, 'file')),
    replyPaperAsText: replying('text', { data: { text: 'Look', attachments: [paper] } }),
    editReply: ownReply(false, (caller, id) => edit(caller, id)),
    deleteReply: ownReply(true, (caller, id) => caller.delete(`/messages/${id}`)),
    reactions: get((me) => `/messages/${idOf(me, 'text')}/reactions`),
    reactionsOfKind: get((me) => `/messages/${idOf(me, 'text')}/reactions/yes`),
    react: async (caller, me) => wordFor(await caller.post(`/messages/${idOf(me, 'text')}/reactions/yes`)),
    saveMessage: async (caller, me) => wordFor(await caller.post(`/messages/${idOf(me, 'text')}/save`)),
    unsaveMessage: async (caller, me) => wordFor(await caller.delete(`/messages/${idOf(me, 'text')}/save`)),
    unreact: async (caller, me) => wordFor(await caller.delete(`/messages/${idOf(me, 'text')}/reactions/yes`)),
    tagTalk: async (caller) => wordFor(await caller.put('/users/fay/conversation', { tags: ['dear'] })),
    pinTalk: async (caller) => wordFor(await caller.post('/users/fay/conversation/pin')),
    unpinTalk: async (caller) => wordFor(await caller.delete('/users/fay/conversation/pin')),
    readTalk: async (caller) => wordFor(await caller.post('/users/fay/conversation/read')),
    conversations: get(() => '/conversations'),
    conversation: get((me) => `/groups/${me}-participant/conversation`),
    conversationById: get((me) => `/conversations/group_${me}-participant`),
    forget: reset(() => '/users/zed/conversation'),
    forgetById: reset((me) => `/conversations/${pair(me, 'zed')}`),
    listFriend: listed(
      () => '/users',
      () => 'fay',
      'uid',
    ),
    listStranger: listed(
      () => '/users',
      () => 'sam',
      'uid',
    ),
    countOnline: get(() => '/users/online-count'),
    getFriend: get(() => '/users/fay'),
    getStranger: get(() => '/users/sam'),
    getSelf: get((me) => `/users/${me}`),
    me: get(() => '/me'),
    settings: get(() => '/me/settings'),
    block: blocking('vic'),
    blockPal: blocking('fay'),
    unblock: unblocking('vic'),
    unblockPal: unblocking('fay'),
    blockedPal: listed(
      (me) => `/users/${me}/blockedusers`,
      () => 'pip',
      'uid',
    ),
    blockedMember: listed(
      (me) => `/users/${me}/blockedusers`,
      () => 'max',
      'uid',
    ),
    editMe: async (caller) => wordFor(await caller.put('/me', { statusMessage: 'Here' })),
    blocks: get((me) => `/users/${me}/blockedusers`),
    createPublic: create({}),
    createPrivate: create({ type: 'private' }),
    createPassword: create({ type: 'password', password: 'sesame' }),
    createWithOne: create({ members: { participants: ['vic'] } }),
    createWithTwo: create({ members: { participants: ['vic', 'new'] } }),
    createWithBan: create({ members: { usersToBan: ['vic'] } }),
    listPublic: listed(
      () => '/groups',
      () => 'public',
      'guid',
    ),
    listPrivate: listed(
      () => '/groups',
      () => 'private',
      'guid',
    ),
    getGroup: get(() => '/groups/public'),
    getPrivate: get(() => '/groups/private'),
    countedInGroup: async (caller) => {
      const answer = await caller.get('/groups/online-counts?guids=public')
      if (answer.status !== 200) return wordFor(answer)
      return 'public' in answer.body.data ? 'ok' : 'absent'
    },
    countInGroup: get(() => '/groups/online-counts?guids=public'),
    joinPublic: join('public'),
    joinPassword: join('password'),
    joinAsMember: undone(
      (caller, me) => caller.post('/groups/public/members', { participants: [me] }),
      (me) => app.delete(`/groups/public/members/${me}`),
    ),
    leave: undone(
      (caller, me) => caller.post(`/groups/${me}-participant/leave`),
      (me) => app.post(`/groups/${me}-participant/members`, { participants: [me] }),
    ),
    changeGroup: async (caller, me) => wordFor(await caller.put(`/groups/${me}-owner`, { name: 'Another' })),
    handOver: undone(
      (caller, me) => caller.put(`/groups/${me}-owner/owner`, { uid: 'vic' }),
      (me) => app.put(`/groups/${me}-owner`, { owner: me }),
    ),
    deleteGroup: undone(
      (caller, me) => caller.delete(`/groups/${me}-admin`),
      (me) => group(`${me}-admin`, { admins: [me] }),
    ),
    members: get(members),
    getMember: get((me) => `${members(me)}/vic`),
    addOne: undone(
      (caller, me) => caller.post(members(me), { participants: ['new'] }),
      (me) => app.delete(`${members(me)}/new`),
    ),
    addTwo: undone(
      (caller, me) => caller.post(members(me), { participants: ['new', 'sam'] }),
      async (me) => {
        assertSucceeds(await app.delete(`${members(me)}/sam`))
        return app.delete(`${members(me)}/new`)
      },
    ),
    banAhead: undone(
      (caller, me) => caller.post(members(me), { usersToBan: ['new'] }),
      (me) => app.delete(bans(me, 'new')),
    ),
    changeScope: undone(
      (caller, me) => caller.put(`${members(me)}/vic`, { scope: 'moderator' }),
      (me) => app.put(`${members(me)}/vic`, { scope: 'participant' }),
    ),
    kick: undone(
      (caller, me) => caller.delete(`${members(me)}/vic`),
      (me) => app.post(members(me), { participants: ['vic'] }),
    ),
    ban: undone(
      (caller, me) => caller.post(bans(me, 'vic')),
      async (me) => {
        assertSucceeds(await app.delete(bans(me, 'vic')))
        return app.post(members(me), { participants: ['vic'] })
      },
    ),
    unban: undone(
      (caller, me) => caller.delete(bans(me, 'bea')),
      (me) => app.post(members(me), { usersToBan: ['bea'] }),
    ),
    bans: get((me) => `/groups/${me}-owner/bannedusers`),
    calls: get(() => '/calls'),
    call: get((me) => `/calls/${idOf(me, 'call')}`),
    transcriptions: get((me) => `/calls/${idOf(me, 'call')}/transcriptions`),
    explainCall: get((me) => `/calls/${idOf(me, 'call')}/explain`),
  }
  const doors = {
    app: await doorsFor(h, app, undefined),
    other: await doorsFor(h, app, 'mel'),
    guest: await doorsFor(h, app, 'gus'),
  }
  return { database, app, acts, doors, known: new Map() }
}
