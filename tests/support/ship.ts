import assert from 'node:assert/strict'
import { type AppClient, assertSucceeds, type Caller, type House } from './house.ts'
import type { Answer } from './http.ts'
import { type Door, doorsFor, wordFor, wordForEntry, wordForList } from './matrix.ts'
import { appWith, as, sayIn } from './talk.ts'

/**
 * An app in whose groups everything can be done that a scope can be denied. Each act is done in a group that is made for it,
 * by somebody of every scope; `lin` and `mo2` are there to have it done to.
 */

const uids = { owner: 'own', admin: 'adm', moderator: 'mod', participant: 'par', outsider: 'out' } as const

export type Part = 'app' | keyof typeof uids

const text = { data: { text: 'Hello' } }
const place = { category: 'custom', type: 'place', data: { customData: { at: 'dock' } } }
const file = (name: string, mimeType: string, type: string) => {
  const [, extension = ''] = name.split('.')
  return { type, data: { attachments: [{ name, url: `https://files.example.org/${name}`, mimeType, extension }] } }
}
const image = file('a.png', 'image/png', 'image')
const paper = file('a.pdf', 'application/pdf', 'file')
const files = [{ fileId: 'f', name: 'a.png', mimeType: 'image/png', size: 9 }]

/** Where an act is done, and by whom, or whose things the app and outsiders are after. */
interface Scene {
  app: AppClient
  guid: string
  me: string
  /** What Lin said, before and after the others came. */
  old: string
  parent: string
}

/** Lays out what an act needs, while everything is allowed, and answers what is then to be done. */
type Act = (scene: Scene) => Promise<(caller: Caller) => Promise<string>> | ((caller: Caller) => Promise<string>)

const answers = (send: (caller: Caller, scene: Scene) => Promise<Answer>): Act => {
  return (scene) => async (caller) => wordFor(await send(caller, scene))
}
const entryOf = (list: string, uid: string): Act => {
  return ({ guid }) =>
    async (caller) =>
      wordForEntry(await caller.post(`/groups/${guid}/members`, { [list]: [uid] }), (data) => data[list][uid])
}
const lists = (
  path: (scene: Scene) => string,
  isIt: (entry: Record<string, unknown>, scene: Scene) => boolean,
): Act => {
  return (scene) => async (caller) => wordForList(await caller.get(path(scene)), (entry) => isIt(entry, scene))
}
const messagesOf = ({ guid }: Scene) => `/groups/${guid}/messages?limit=100`
const listsMade = (more: object): Act => {
  return async (scene) => {
    const { id } = await sayIn(scene.app, scene.guid, 'lin', '', more)
    return async (caller) => wordForList(await caller.get(messagesOf(scene)), (entry) => entry.id === id)
  }
}
const sends = (what: object): Act =>
  answers((caller, { guid }) => caller.post('/messages', { receiver: guid, receiverType: 'group', ...what }))
const replies = (what: object): Act => answers((caller, { parent }) => caller.post(`/messages/${parent}/thread`, what))
const uploads = (isReply: boolean): Act =>
  answers((caller, { guid, parent }) => {
    const where = { receiverId: guid, receiverType: 'group', files }
    return caller.post('/files', isReply ? { ...where, parentMessageId: Number(parent) } : where)
  })
const edited = { data: { text: 'Edited' } }
const withOwn = (isReply: boolean, change: (caller: Caller, path: string) => Promise<Answer>): Act => {
  return async ({ app, guid, me, parent }) => {
    const { id } = await sayIn(app, guid, me, 'Hello', isReply ? { parentId: parent } : {})
    return async (caller) => wordFor(await change(caller, `/messages/${id}`))
  }
}
/** Whether Lin's newest message shows the older one that it quotes. */
const quotes = (what: 'old' | 'parent'): Act => {
  return async (scene) => {
    const { id } = await sayIn(scene.app, scene.guid, 'lin', '', { ...place, quotedMessageId: scene[what] })
    return async (caller) => {
      const isIt = (entry: Record<string, unknown>) => entry.id === id && entry.quotedMessage !== undefined
      return wordForList(await caller.get(messagesOf(scene)), isIt)
    }
  }
}
const talkSays = (isIt: (talk: Record<string, unknown>) => boolean): Act => {
  return ({ guid }) =>
    async (caller) => {
      const answer = await caller.get(`/groups/${guid}/conversation`)
      if (answer.status !== 200) return wordFor(answer)
      return isIt(answer.body.data) ? 'ok' : 'absent'
    }
}

const call = (guid: string) => ({ receiver: guid, receiverType: 'group', type: 'audio' })
const sessionOf = ({ body }: Answer): string => body.data.data.entities.on.entity.sessionid
/** Whether a call rings for somebody. */
const rings = (uid: string): Act => {
  return ({ app, guid }) =>
    async (caller) => {
      const answer = await caller.post('/calls', call(guid))
      if (answer.status !== 200) return wordFor(answer)
      const { data } = assertSucceeds(await app.get(`/calls/${sessionOf(answer)}`))
      return data.participants.some((entry: { uid: string }) => entry.uid === uid) ? 'ok' : 'absent'
    }
}

const acts: Record<string, Act> = {
  call: answers((caller, { guid }) => caller.post('/calls', call(guid))),
  async answerCall({ app, guid }) {
    const placed = await app.post('/calls', call(guid), as('lin'))
    assertSucceeds(placed)
    return async (caller) => wordFor(await caller.put(`/calls/${sessionOf(placed)}`, { status: 'ongoing' }))
  },
  ringParticipant: rings('lin'),
  ringModerator: rings('mo2'),
  editGroup: answers((caller, { guid }) => caller.put(`/groups/${guid}`, { name: 'Another' })),
  deleteGroup: answers((caller, { guid }) => caller.delete(`/groups/${guid}`)),
  leave: answers((caller, { guid }) => caller.post(`/groups/${guid}/leave`)),
  members: answers((caller, { guid }) => caller.get(`/groups/${guid}/members`)),
  listAdmin: lists(
    ({ guid }) => `/groups/${guid}/members`,
    ({ uid }) => uid === 'adm',
  ),
  listModerator: lists(
    ({ guid }) => `/groups/${guid}/members`,
    ({ uid }) => uid === 'mod',
  ),
  getAdmin: answers((caller, { guid }) => caller.get(`/groups/${guid}/members/adm`)),
  getModerator: answers((caller, { guid }) => caller.get(`/groups/${guid}/members/mod`)),
  getSelf: answers((caller, { guid, me }) => caller.get(`/groups/${guid}/members/${me}`)),
  addParticipant: entryOf('participants', 'new'),
  addModerator: entryOf('moderators', 'new'),
  banAhead: entryOf('usersToBan', 'new'),
  kickParticipant: answers((caller, { guid }) => caller.delete(`/groups/${guid}/members/lin`)),
  kickModerator: answers((caller, { guid }) => caller.delete(`/groups/${guid}/members/mo2`)),
  banParticipant: answers((caller, { guid }) => caller.post(`/groups/${guid}/bannedusers/lin`)),
  banModerator: answers((caller, { guid }) => caller.post(`/groups/${guid}/bannedusers/mo2`)),
  unban: answers((caller, { guid }) => caller.delete(`/groups/${guid}/bannedusers/bad`)),
  bans: answers((caller, { guid }) => caller.get(`/groups/${guid}/bannedusers`)),
  listText: lists(messagesOf, ({ id }, { parent }) => id === parent),
  listImage: listsMade(image),
  listPlace: listsMade(place),
  listOld: lists(messagesOf, ({ id }, { old }) => id === old),
  searchText: lists(
    () => '/messages?searchKey=ahoy&limit=100',
    ({ id }, { parent }) => id === parent,
  ),
  searchOld: lists(
    () => '/messages?searchKey=yore&limit=100',
    ({ id }, { old }) => id === old,
  ),
  getText: answers((caller, { parent }) => caller.get(`/messages/${parent}`)),
  getOld: answers((caller, { old }) => caller.get(`/messages/${old}`)),
  quotedText: quotes('parent'),
  quotedOld: quotes('old'),
  quoteOld: answers((caller, { guid, old }) =>
    caller.post('/messages', { receiver: guid, receiverType: 'group', quotedMessageId: old, ...text }),
  ),
  /** The history tells of an edit with the message inside. */
  async editOfOld(scene) {
    const { data } = assertSucceeds(await scene.app.put(`/messages/${scene.old}`, edited, as('lin')))
    return async (caller) => wordForList(await caller.get(messagesOf(scene)), ({ id }) => id === data.id)
  },
  lastText: talkSays(({ lastMessage }) => lastMessage !== undefined),
  unreadText: talkSays(({ unreadMessageCount }) => unreadMessageCount !== '0'),
  listOldReply: answers((caller, { old }) => caller.get(`/messages/${old}/thread`)),
  reactToOld: answers((caller, { old }) => caller.post(`/messages/${old}/reactions/yes`)),
  replyToOld: answers((caller, { old }) => caller.post(`/messages/${old}/thread`, text)),
  send: sends(text),
  sendPlace: sends(place),
  sendImage: sends(image),
  sendPaper: sends(paper),
  sendPaperAsText: sends({ data: { ...text.data, ...paper.data } }),
  upload: uploads(false),
  reply: replies(text),
  replyPlace: replies(place),
  replyImage: replies(image),
  replyPaper: replies(paper),
  replyHere: answers((caller, { guid, parent }) =>
    caller.post('/messages', { receiver: guid, receiverType: 'group', parentId: parent, ...text }),
  ),
  uploadReply: uploads(true),
  editOwn: withOwn(false, (caller, path) => caller.put(path, edited)),
  editReply: withOwn(true, (caller, path) => caller.put(path, edited)),
  editAnothers: answers((caller, { parent }) => caller.put(`/messages/${parent}`, edited)),
  deleteOwn: withOwn(false, (caller, path) => caller.delete(path)),
  deleteReply: withOwn(true, (caller, path) => caller.delete(path)),
  replies: answers((caller, { parent }) => caller.get(`/messages/${parent}/thread`)),
  threads: answers((caller, { guid }) => caller.get(`/threads?guid=${guid}`)),
  async amongThreads(scene) {
    assertSucceeds(await scene.app.post(`/messages/${scene.parent}/thread`, text, as('lin')))
    return async (caller) => wordForList(await caller.get('/threads'), ({ id }) => id === scene.parent)
  },
  reactions: answers((caller, { parent }) => caller.get(`/messages/${parent}/reactions`)),
  reactionsOfKind: answers((caller, { parent }) => caller.get(`/messages/${parent}/reactions/adm`)),
  react: answers((caller, { parent }) => caller.post(`/messages/${parent}/reactions/yes`)),
  reactInBody: answers((caller, { parent }) => caller.post(`/messages/${parent}/reactions`, { reaction: 'yes' })),
  unreact: answers((caller, { parent }) => caller.delete(`/messages/${parent}/reactions/yes`)),
  byAdmin: lists(
    ({ parent }) => `/messages/${parent}/reactions`,
    ({ uid }) => uid === 'adm',
  ),
  byModerator: lists(
    ({ parent }) => `/messages/${parent}/reactions`,
    ({ uid }) => uid === 'mod',
  ),
}

// These leave everything as it was: whoever does them finds the same, whether others have done them before or not.
const reads = new Set([
  ...['members', 'listAdmin', 'listModerator', 'getAdmin', 'getModerator', 'bans', 'listText', 'listImage'],
  ...['listPlace', 'listOld', 'searchText', 'searchOld', 'getText', 'getOld', 'quotedText', 'quotedOld', 'lastText'],
  ...['editOfOld', 'listOldReply', 'replies', 'threads', 'amongThreads', 'reactions', 'reactionsOfKind'],
  ...['byAdmin', 'byModerator'],
])

// What only some acts look at is made for these alone; there are very many groups.
const aboutHistory = /Old/
const aboutReactions = /^by/

export class Ship {
  #h: House
  #app: AppClient
  #doors: Map<Part, Door[]>
  #groups = 0
  /** What is ready to be read, by what was set for it. */
  #readable = new Map<string, (caller: Caller) => Promise<string>>()

  private constructor(h: House, app: AppClient, doors: Map<Part, Door[]>) {
    this.#h = h
    this.#app = app
    this.#doors = doors
  }

  static async build(h: House): Promise<Ship> {
    const app = await appWith(h, ...Object.values(uids), 'lin', 'mo2', 'new', 'bad')
    const doors = new Map<Part, Door[]>([['app', await doorsFor(h, app, undefined)]])
    for (const [part, uid] of Object.entries(uids)) doors.set(part as Part, await doorsFor(h, app, uid))
    return new Ship(h, app, doors)
  }

  doorsOf(part: Part): Door[] {
    return this.#doors.get(part) ?? []
  }

  /** Does an act in a group in which permissions of a scope have been set; the table's word for the answer. */
  async does(name: string, part: Part, caller: Caller, scope: string, permissions: object): Promise<string> {
    const key = JSON.stringify([name, scope, permissions])
    const ready = this.#readable.get(key) ?? (await this.#makeReady(name, part, scope, permissions))
    if (reads.has(name)) this.#readable.set(key, ready)
    return ready(caller)
  }

  /** What changes something is done in a group of its own. */
  async #makeReady(
    name: string,
    part: Part,
    scope: string,
    permissions: object,
  ): Promise<(caller: Caller) => Promise<string>> {
    const act = acts[name] ?? assert.fail(`${name} is no act`)
    const scene = await this.#scene(name, part === 'app' || part === 'outsider' ? 'lin' : uids[part])
    const ready = await act(scene)
    assertSucceeds(await this.#app.put(`/groups/${scene.guid}/scopes/${scope}/permissions`, { permissions }))
    return ready
  }

  /** A group with somebody of every scope, to whom Lin has said something; and something else before all but two came. */
  async #scene(act: string, me: string): Promise<Scene> {
    const [h, app] = [this.#h, this.#app]
    this.#groups += 1
    const guid = `crew${this.#groups}`
    const hasHistory = aboutHistory.test(act)
    const first = { participants: ['lin'], usersToBan: ['bad'] }
    const later = { admins: ['adm'], moderators: ['mod', 'mo2'], participants: ['par'] }
    const members = hasHistory ? first : { ...later, ...first, participants: ['lin', 'par'] }
    assertSucceeds(await app.post('/groups', { guid, name: 'Crew', members }, as(uids.owner)))
    let old = ''
    if (hasHistory) {
      old = (await sayIn(app, guid, 'lin', 'In days of yore')).id
      h.clock.setOffset(h.clock.offsetSeconds() + 2)
      assertSucceeds(await app.post(`/groups/${guid}/members`, later))
    }
    const { id: parent } = await sayIn(app, guid, 'lin', 'Ahoy')
    for (const uid of aboutReactions.test(act) ? ['adm', 'mod'] : []) {
      assertSucceeds(await app.post(`/messages/${parent}/reactions/${uid}`, undefined, as(uid)))
    }
    return { app, guid, me, old, parent }
  }
}
