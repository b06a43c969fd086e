import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { listConversations, listGroupMessages, listUserMessages, type Message } from '../../sdk/src/api.ts'
import { type Client, type Conversation, createClient, type To } from '../../sdk/src/index.ts'
import { tokenOf } from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { randomFrom, seedFrom } from '../support/random.ts'
import { appWith, as } from '../support/talk.ts'
import { until } from '../support/until.ts'
import { type Place, placeIn, watches } from './place.ts'

/**
 * A few people write, change and read at random while their networks fail in every way. In the end each of them sees what a
 * fresh fetch gives, and everything that was sent is there once. Clocks of the devices are not asked for anything, so there
 * is none here to be wrong.
 */

const seed = seedFrom('PARLEY_MODEL_SEED')
const acts = 160
const limits = ['CONNECTS', 'STANDARD', 'CORE', 'KEYED_WRITES']
const uids = ['ada', 'lin', 'mia', 'max']

describe('clients on networks that fail', () => {
  let h: House
  let app: AppClient
  let people: Person[]

  interface Person {
    uid: string
    place: Place
    client: Client
    talks: Conversation[]
  }

  before(async () => {
    // Waits are over at once here, so everything is tried more often than a server would bear.
    const environment = Object.fromEntries(limits.map((name) => [`PARLEY_LIMIT_${name}`, '1000000']))
    h = await house({ database: 'sqlite', environment })
    app = await appWith(h, ...uids)
    const group = { guid: 'boats', name: 'Boats', type: 'public', members: { participants: uids.slice(1) } }
    assertSucceeds(await app.post('/groups', group, as('ada')))
    people = await Promise.all(uids.map(person))
  })
  after(async () => {
    for (const { client } of people) client.logout()
    await h.close()
  })

  const { next: chance, pick } = randomFrom(seed)

  async function person(uid: string): Promise<Person> {
    const place = placeIn(h)
    const settings = { url: `https://${app.host}`, token: await tokenOf(app, uid), runtime: place.runtime }
    const client = createClient(settings)
    client.conversations.subscribe(() => {})
    const others: To[] = uids.filter((each) => each !== uid).map((user) => ({ user }))
    const talks = [{ group: 'boats' }, ...others].map((to) => client.conversation(to))
    for (const { messages } of talks) messages.subscribe(() => {})
    await client.login()
    return { uid, place, client, talks }
  }

  const shownIn = ({ messages }: Conversation): Message[] =>
    messages.get().items.flatMap((item) => (item.state === 'sent' ? [item.message] : []))

  /** Somebody does something; what fails on the way is tried again or given up, as apps do. */
  async function act({ uid, talks }: Person, n: number): Promise<void> {
    const talk = pick(talks)
    const message = chance() < 0.6 ? undefined : shownIn(talk)[Math.floor(chance() * shownIn(talk).length)]
    const { id } = message ?? {}
    if (id === undefined) return void sent.push({ key: talk.send({ text: `${uid} ${n}` }).get().key })
    const choice = chance()
    if (choice < 0.3) await talk.react(id, pick(['a', 'b', 'c']))
    else if (choice < 0.4) await talk.unreact(id, pick(['a', 'b', 'c']))
    else if (choice < 0.6 && message?.sender === uid) await talk.edit(id, { text: `${uid} ${n} edited` })
    else if (choice < 0.7 && message?.sender === uid) await talk.delete(id)
    else if (choice < 0.85) talk.thread(id).send({ text: `reply ${n}` })
    else await talk.markRead()
  }

  const sent: { key: string }[] = []

  function fail({ place }: Person): void {
    const choice = chance()
    if (choice < 0.4) place.cut()
    else if (choice < 0.6) {
      place.mute()
      place.wake()
      for (const watch of [watches.answer, watches.welcome]) place.pass(watch)
    } else if (choice < 0.8) {
      place.setAway(true)
      place.cut()
    } else place.setFault(() => pick(['pass', 'lose', 'cut'] as const))
  }

  function repair({ place }: Person): void {
    place.setAway(false)
    place.setFault(() => 'pass')
    place.wake()
  }

  it(`all see the same in the end, and everything once (seed ${seed})`, async () => {
    const doing: Promise<void>[] = []
    for (let n = 0; n < acts; n += 1) {
      const who = pick(people)
      if (chance() < 0.12) fail(pick(people))
      if (chance() < 0.25) repair(pick(people))
      doing.push(act(who, n).catch(() => {}))
      if (chance() < 0.3) await Promise.all(doing.splice(0))
    }
    for (const each of people) repair(each)
    await Promise.all(doing)
    // Nobody can reply to what was deleted meanwhile.
    const isOver = ({ client }: Person) => client.outbox.get().every(({ state }) => state === 'failed')
    await until('all is sent', () => people.every(isOver))
    await until('all are connected', () => people.every(({ client }) => client.connection.get().state === 'connected'))
    for (const who of people) await seesAll(who)
    const keys = people[0] ? await allMuids() : []
    for (const { key } of sent) assert.equal(keys.filter((muid) => muid === key).length, 1, key)
  })

  /** What matters of a message to a user: whether all in a group have read it is told to who wrote it. */
  function essence({ uid }: Person) {
    return ({ id, data, deletedAt, replyCount, editedBy, readAt, sender }: Message) => ({
      ...{ id, sender, text: data.text, reactions: data.reactions, isDeleted: deletedAt !== undefined },
      ...{ editedBy, replyCount: replyCount ?? 0, isRead: sender === uid && readAt !== undefined },
    })
  }

  async function fetched({ client }: Person, { to }: Conversation): Promise<Message[]> {
    const asked = { cursor: { affix: 'append' as const }, limit: 1000, hideReplies: true }
    const page = await ('user' in to
      ? client.call(listUserMessages, { ...asked, uid: to.user })
      : client.call(listGroupMessages, { ...asked, guid: to.group }))
    const { data } = page as { data: Message[] }
    return data.filter(({ category, type }) => category !== 'action' || type !== 'message')
  }

  async function seesAll(who: Person): Promise<void> {
    for (const talk of who.talks) {
      while (talk.messages.get().hasOlder) await talk.messages.loadOlder()
      await equalInTheEnd(`${who.uid} sees ${JSON.stringify(talk.to)}`, async () => [
        shownIn(talk).map(essence(who)),
        (await fetched(who, talk)).map(essence(who)),
      ])
    }
    await equalInTheEnd(`the list of ${who.uid}`, async () => {
      const { data } = await who.client.call(listConversations, { perPage: 100 })
      const listed = data.map(({ conversationId, unreadMessageCount, unreadMentionsCount, lastMessage }) => ({
        ...{ conversationId, unread: Number(unreadMessageCount), mentions: unreadMentionsCount, last: lastMessage?.id },
      }))
      const shown = who.client.conversations.get().items.map((item) => ({
        conversationId: item.conversation.conversationId,
        ...{ unread: item.unread, mentions: item.unreadMentions, last: item.lastMessage?.id },
      }))
      const sorted = (items: { conversationId: string }[]) =>
        items.toSorted((a, b) => (a.conversationId < b.conversationId ? -1 : 1))
      return [sorted(shown), sorted(listed)]
    })
  }

  async function equalInTheEnd(what: string, compare: () => Promise<[unknown, unknown]>): Promise<void> {
    let last: [unknown, unknown] = [undefined, undefined]
    const isEqual = async () => {
      last = await compare()
      return JSON.stringify(last[0]) === JSON.stringify(last[1])
    }
    await until(what, isEqual, 5_000).catch(() => assert.deepEqual(last[0], last[1], what))
  }

  async function allMuids(): Promise<string[]> {
    const { data } = assertSucceeds(await app.get('/messages?limit=1000&affix=append'))
    return data.map(({ muid }: Message) => muid)
  }
})
