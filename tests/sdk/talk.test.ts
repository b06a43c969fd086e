import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { listUsers } from '../../sdk/src/api.ts'
import {
  type Client,
  type Conversation,
  createClient,
  ParleyError,
  type Putting,
  type Readable,
  type Runtime,
} from '../../sdk/src/index.ts'
import { tokenOf } from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { appWith, as, say, sayIn, somebodyIn } from '../support/talk.ts'
import { until } from '../support/until.ts'
import { type Place, placeIn, watches } from './place.ts'

/** What apps show: lists that are fetched once and stay current, and messages that are on their way. */

describe('what the client keeps', () => {
  let h: House
  let app: AppClient
  let at: Place
  let ada: Client
  const clients: Client[] = []

  before(async () => {
    h = await house({ database: 'sqlite' })
    app = await appWith(h, 'ada', 'lin', 'mia')
    at = placeIn(h)
    ada = await clientOf('ada', at)
  })
  after(async () => {
    for (const client of clients) client.logout()
    await h.close()
  })

  async function clientOf(uid: string, place = placeIn(h)): Promise<Client> {
    const { runtime } = place
    const settings = { url: `https://${app.host}`, token: await tokenOf(app, uid), presence: 'all' as const, runtime }
    const client = createClient(settings)
    clients.push(client)
    await client.login()
    await until('it is connected', () => client.connection.get().state === 'connected')
    return client
  }

  const somebody = () => somebodyIn(app)

  function watched<Shown>(shown: Readable<Shown>): Readable<Shown> & { stop(): void } {
    return { ...shown, stop: shown.subscribe(() => {}) }
  }

  const messagesOf = ({ messages }: Conversation) =>
    messages.get().items.flatMap((item) => (item.state === 'sent' ? [item.message] : []))
  const texts = (conversation: Conversation) => messagesOf(conversation).map(({ data }) => data.text)
  const states = ({ messages }: Conversation) => messages.get().items.map(({ state }) => state)
  const shows = (conversation: Conversation, ...wanted: string[]) =>
    until(`${wanted} is shown`, () => JSON.stringify(texts(conversation)) === JSON.stringify(wanted))

  it('fetches a list when somebody looks at it, once, and keeps it current', async () => {
    const uid = await somebody()
    await say(app, uid, 'ada', 'one')
    const talk = ada.conversation({ user: uid })
    assert.equal(ada.conversation({ user: uid.toUpperCase() }), talk)
    assert.equal(talk.messages.get().status, 'idle')
    const asked = at.asked.length
    const [first, second] = [watched(talk.messages), watched(talk.messages)]
    await until('it is loaded', () => talk.messages.get().status === 'ready')
    assert.deepEqual(texts(talk), ['one'])
    assert.equal(at.asked.length, asked + 1)
    const before = talk.messages.get()
    assert.ok(Object.isFrozen(before) && Object.isFrozen(before.items))
    assert.equal(talk.messages.get(), before)
    await say(app, uid, 'ada', 'two')
    await shows(talk, 'one', 'two')
    assert.equal(talk.messages.get().items[0], before.items[0])
    first.stop()
    second.stop()
    assert.equal(talk.messages.get().items.length, 2)
    assert.ok(at.pass(watches.rest) >= 1)
    assert.deepEqual([talk.messages.get().status, talk.messages.get().items.length], ['idle', 0])
  })

  it('fetches once for what is mounted twice, also before the user is in, and leaves nothing behind', async () => {
    const place = placeIn(h)
    const token = await tokenOf(app, 'mia')
    for (let n = 0; n < 5; n += 1) {
      const client = createClient({ url: `https://${app.host}`, token, runtime: place.runtime })
      const shown = [client.conversations, client.conversation({ user: 'lin' }).messages, client.presence('lin')]
      for (const { stop } of shown.map(watched<unknown>)) stop()
      const stops = shown.map((each) => watched<unknown>(each).stop)
      place.asked.length = 0
      void client.login()
      await client.login()
      await until('all is there', () => client.conversation({ user: 'lin' }).messages.get().status === 'ready')
      await until('the list is there', () => client.conversations.get().status === 'ready')
      await until('it is connected', () => client.connection.get().state === 'connected')
      client.conversation({ user: 'lin' }).typing.keystroke()
      const lists = place.asked.filter((path) => /conversations|messages/.test(path))
      assert.equal(lists.length, 2, lists.join())
      if (n % 2 === 0) for (const stop of stops) stop()
      client.logout()
      assert.deepEqual(client.conversations.get().items, [])
    }
    assert.equal(place.opened(), 5)
    await until('all is released', () => Object.values(place.open()).every((count) => count === 0))
  })

  it('fetches once for what is looked at, left, and looked at again in the same moment', async () => {
    const uid = await somebody()
    const talk = ada.conversation({ user: uid })
    const asked = at.asked.length
    for (const each of [talk.messages, talk.pinned]) watched<unknown>(each).stop()
    const stops = [talk.messages, talk.pinned].map((each) => watched<unknown>(each).stop)
    await until('both are loaded', () => [talk.messages, talk.pinned].every((each) => each.get().status === 'ready'))
    // Whatever else was asked for would have been by then.
    await say(app, uid, 'ada', 'one')
    await shows(talk, 'one')
    assert.equal(at.asked.length, asked + 2, at.asked.slice(asked).join())
    for (const stop of stops) stop()
  })

  it('tells of all changes of a turn at once', async () => {
    const uid = await somebody()
    const talk = ada.conversation({ user: uid })
    let told = 0
    const stop = talk.messages.subscribe(() => {
      told += 1
    })
    await until('it is loaded', () => talk.messages.get().status === 'ready')
    await Promise.resolve()
    told = 0
    talk.send({ text: '1' })
    talk.send({ text: '2' })
    talk.send({ text: '3' })
    await Promise.resolve()
    await Promise.resolve()
    assert.equal(told, 1)
    await shows(talk, '1', '2', '3')
    stop()
  })

  it('reads back to the beginning, jumps to a message and to the end', async () => {
    const uid = await somebody()
    const ids: string[] = []
    for (let n = 0; n < 120; n += 1) ids.push((await say(app, uid, 'ada', `${n}`)).id)
    const talk = ada.conversation({ user: uid })
    const { stop } = watched(talk.messages)
    const all = ids.map((_, n) => `${n}`)
    await shows(talk, ...all.slice(70))
    await talk.messages.loadOlder()
    await talk.messages.loadOlder()
    await talk.messages.loadOlder()
    assert.deepEqual(texts(talk), all)
    assert.deepEqual([talk.messages.get().hasOlder, talk.messages.get().atEnd], [false, true])
    await talk.messages.jumpTo(ids[60] ?? '')
    assert.deepEqual(texts(talk), all.slice(10, 111))
    assert.equal(talk.messages.get().atEnd, false)
    // What is new stands at the end, which is not shown.
    await say(app, uid, 'ada', 'new')
    await talk.messages.loadNewer()
    await talk.messages.loadNewer()
    assert.deepEqual(texts(talk), [...all.slice(10), 'new'])
    assert.equal(talk.messages.get().atEnd, true)
    await talk.messages.jumpTo(ids[10] ?? '')
    await talk.messages.jumpToEnd()
    assert.equal(texts(talk).pop(), 'new')
    stop()
  })

  it('jumps to the place of a message that is not there, and shows nothing of other conversations', async () => {
    const uid = await somebody()
    const { id: before } = await say(app, uid, 'ada', 'before')
    const { id: foreign } = await say(app, 'lin', 'ada', 'of lin')
    await say(app, uid, 'ada', 'after')
    const talk = ada.conversation({ user: uid })
    const { stop } = watched(talk.messages)
    for (const id of [foreign, '999999999', before]) {
      await talk.messages.jumpTo(id)
      assert.deepEqual([texts(talk), talk.messages.get().membership], [['before', 'after'], 'in'], id)
    }
    stop()
  })

  it('shows edits, deletions, reactions, pins, receipts and replies on the message', async () => {
    const uid = await somebody()
    const talk = ada.conversation({ user: uid })
    const { stop } = watched(talk.messages)
    const other = (await clientOf(uid)).conversation({ user: 'ada' })
    const otherWatch = watched(other.messages)
    const { id } = await talk.send({ text: 'Boat' }).done
    await shows(other, 'Boat')
    const shown = () => messagesOf(talk)[0]
    await talk.edit(id, { text: 'Boats' })
    await shows(talk, 'Boats')
    await other.react(id, '🚣')
    await talk.react(id, '🚣')
    await until('both have reacted', () => JSON.stringify(shown()?.data.reactions ?? []).includes('"count":2'))
    assert.deepEqual(shown()?.data.reactions, [{ reaction: '🚣', count: 2, reactedByMe: true }])
    await talk.unreact(id, '🚣')
    await until('one is left', () => JSON.stringify(shown()?.data.reactions).includes('"count":1'))
    assert.deepEqual(shown()?.data.reactions, [{ reaction: '🚣', count: 1 }])
    await talk.pin(id)
    await until('it is pinned', () => shown()?.pinnedBy === 'ada')
    await talk.unpin(id)
    await until('it is not', () => shown()?.pinnedBy === undefined)
    await other.markRead()
    await until('it is read', () => shown()?.readAt !== undefined)
    const thread = talk.thread(id)
    assert.equal(talk.thread(id), thread)
    const threadWatch = watched(thread.messages)
    await thread.send({ text: 'Which?' }).done
    await other.thread(id).send({ text: 'Both' }).done
    await until('replies count', () => shown()?.replyCount === 2 && thread.messages.get().items.length === 2)
    assert.deepEqual(texts(talk), ['Boats'])
    await until('a reply is new', () => shown()?.unreadRepliesCount === 1)
    await talk.markRead()
    await until('no reply is new', () => (shown()?.unreadRepliesCount ?? 0) === 0)
    await talk.delete(id)
    await until('it is deleted', () => shown()?.deletedAt !== undefined)
    for (const { stop: end } of [{ stop }, otherWatch, threadWatch]) end()
  })

  it('shows a message at once, and never twice or at another place', async () => {
    const uid = await somebody()
    const talk = ada.conversation({ user: uid })
    const { stop } = watched(talk.messages)
    await until('it is loaded', () => talk.messages.get().status === 'ready')
    const sent = talk.send({ text: 'Boat at ten' })
    const [item] = talk.messages.get().items
    assert.equal(item?.key, sent.get().key)
    assert.notEqual(item?.state, 'sent')
    let most = 0
    talk.messages.subscribe(() => {
      most = Math.max(most, talk.messages.get().items.length)
    })
    const message = await sent.done
    assert.equal(sent.get().state, 'sent')
    await shows(talk, 'Boat at ten')
    assert.equal(talk.messages.get().items[0]?.key, item?.key)
    assert.equal(message.muid, item?.key)
    assert.equal(most, 1)
    assert.deepEqual(ada.outbox.get(), [])
    stop()
  })

  it('shows everything in one order, however wrong the clocks of devices are', async () => {
    const hours = 3_600_000
    const uid = await somebody()
    const [behind, ahead] = [placeIn(h), placeIn(h)]
    behind.runtime.wallClock = () => Date.now() - 5 * hours
    let goesBack = 7 * hours
    ahead.runtime.wallClock = () => {
      goesBack -= 60_000
      return Date.now() + goesBack
    }
    const [one, other] = [await clientOf(uid, behind), await clientOf('lin', ahead)]
    const [talk, sameTalk] = [one.conversation({ user: 'lin' }), other.conversation({ user: uid })]
    const stops = [watched(talk.messages), watched(sameTalk.messages)]
    const said: string[] = []
    for (let n = 0; n < 6; n += 1) {
      said.push(`${n}`)
      await (n % 2 === 0 ? talk : sameTalk).send({ text: `${n}` }).done
      await Promise.all([shows(talk, ...said), shows(sameTalk, ...said)])
    }
    for (const { stop } of stops) stop()
    one.logout()
    other.logout()
  })

  it('sends until it is answered, once and in order, whatever becomes of requests', async () => {
    const uid = await somebody()
    const place = placeIn(h)
    const lin = await clientOf('lin', place)
    const talk = lin.conversation({ user: uid })
    const { stop } = watched(talk.messages)
    let n = 0
    place.setFault((method) => {
      n += method === 'POST' ? 1 : 0
      return method === 'GET' ? 'pass' : ((['lose', 'cut', 'pass'] as const)[n % 3] ?? 'pass')
    })
    const all = Array.from({ length: 12 }, (_, m) => `${m}`)
    await Promise.all(all.map((text) => talk.send({ text }).done))
    await shows(talk, ...all)
    const listed = assertSucceeds(await app.get(`/users/${uid}/messages?affix=append`, as('lin'))).data
    assert.deepEqual(
      listed.map(({ data }: { data: { text: string } }) => data.text),
      all,
    )
    stop()
    lin.logout()
  })

  it('keeps what is sent while there is no network, and sends it when there is', async () => {
    const uid = await somebody()
    const place = placeIn(h)
    const mia = await clientOf('mia', place)
    const talk = mia.conversation({ user: uid })
    const { stop } = watched(talk.messages)
    await until('it is loaded', () => talk.messages.get().status === 'ready')
    place.setAway(true)
    place.cut()
    const sent = [talk.send({ text: 'a' }), talk.send({ text: 'b' })]
    await until('it was tried', () => mia.outbox.get()[0]?.error !== undefined)
    assert.equal(talk.messages.get().items.length, 2)
    place.setAway(false)
    await Promise.all(sent.map(({ done }) => done))
    await shows(talk, 'a', 'b')
    stop()
    mia.logout()
  })

  it('tells what was refused, which can be tried again or discarded; others go on', async () => {
    const uid = await somebody()
    const talk = ada.conversation({ user: uid })
    const { stop } = watched(talk.messages)
    assertSucceeds(await app.post(`/users/${uid}/blockedusers`, { blockedUids: ['ada'] }))
    const sent = talk.send({ text: 'Hello?' })
    await assert.rejects(sent.done, (error) => ParleyError.is(error) && error.kind === 'refused')
    assert.deepEqual([sent.get().state, states(talk)], ['failed', ['failed']])
    assertSucceeds(await app.delete(`/users/${uid}/blockedusers`, { blockedUids: ['ada'] }))
    await talk.send({ text: 'Later' }).done
    assert.deepEqual(states(talk), ['sent', 'failed'])
    ada.outbox.get()[0]?.retry()
    await shows(talk, 'Later', 'Hello?')
    assert.equal(sent.get().state, 'sent')
    assert.throws(() => talk.send({}), { kind: 'usage' })
    stop()
  })

  it('discards what was refused', async () => {
    const talk = ada.conversation({ user: 'nobody' })
    await assert.rejects(talk.send({ text: 'Hello?' }).done)
    const [entry] = ada.outbox.get()
    entry?.discard()
    assert.deepEqual(ada.outbox.get(), [])
  })

  it('has room for 200 messages on their way', async () => {
    const place = placeIn(h)
    const client = await clientOf('mia', place)
    const talk = client.conversation({ user: 'lin' })
    place.setAway(true)
    const all = Array.from({ length: 200 }, () => talk.send({ text: 'x' }))
    assert.throws(() => talk.send({ text: 'x' }), { kind: 'usage' })
    client.logout()
    await Promise.all(all.map(({ done }) => assert.rejects(done, { kind: 'aborted' })))
    assert.deepEqual(client.outbox.get(), [])
    await until('all is released', () => Object.values(place.open()).every((count) => count === 0))
  })

  it('lists conversations, the latest first, with what is unread in them', async () => {
    const client = await clientOf(await somebody())
    const me = (await client.login()).uid
    const { stop } = watched(client.conversations)
    const guid = `g-${me}`
    const members = { participants: [me] }
    assertSucceeds(await app.post('/groups', { guid, name: 'Boats', type: 'public', members }, as('lin')))
    const list = () => client.conversations.get().items.map(({ to, unread }) => ({ ...to, unread }))
    const lists = (...wanted: object[]) =>
      until(`it lists ${JSON.stringify(wanted)}`, () => JSON.stringify(list()) === JSON.stringify(wanted))
    await say(app, 'lin', me, 'one')
    await say(app, 'lin', me, 'two')
    h.clock.setOffset(5)
    await sayIn(app, guid, 'lin', `Ahoy <@uid:${me}>`)
    await until('all are there', () => client.conversations.get().items.length === 2)
    await until('all is counted', () => list()[1]?.unread === 2)
    assert.deepEqual(list()[0], { group: guid, unread: client.conversations.get().items[0]?.unread })
    assert.ok((list()[0]?.unread ?? 0) > 0)
    await until('the mention is counted', () => client.conversations.get().items[0]?.unreadMentions === 1)
    await client.conversation({ group: guid }).markRead()
    await lists({ group: guid, unread: 0 }, { user: 'lin', unread: 2 })
    h.clock.setOffset(10)
    const { id } = await say(app, 'lin', me, 'three')
    await lists({ user: 'lin', unread: 3 }, { group: guid, unread: 0 })
    assert.equal(client.conversations.get().items[0]?.lastMessage?.data.text, 'three')
    assertSucceeds(await app.delete(`/messages/${id}`, undefined, as('lin')))
    await until('the deleted does not count', () => list().some(({ unread }) => unread === 2))
    await client.conversation({ user: 'lin' }).send({ text: 'Aye' }).done
    await lists({ user: 'lin', unread: 0 }, { group: guid, unread: 0 })
    await client.conversation({ user: 'lin' }).markUnread(id)
    assertSucceeds(await app.delete(`/groups/${guid}/members/${me}`))
    await lists({ user: 'lin', unread: 0 })
    h.clock.setOffset(0)
    stop()
    client.logout()
  })

  it('closes a group that the user was taken out of, and opens it again', async () => {
    const guid = `g-${randomUUID().slice(0, 8)}`
    assertSucceeds(await app.post('/groups', { guid, name: 'Crew', type: 'public' }, as('lin')))
    const talk = ada.conversation({ group: guid })
    const { stop } = watched(talk.messages)
    await until('it is closed', () => talk.messages.get().membership === 'out')
    assertSucceeds(await app.post(`/groups/${guid}/members`, { participants: ['ada'] }))
    await sayIn(app, guid, 'lin', 'Welcome')
    await until('it is open', () => texts(talk).includes('Welcome'))
    assert.equal(talk.messages.get().membership, 'in')
    assertSucceeds(await app.delete(`/groups/${guid}/members/ada`))
    await until('it is closed again', () => talk.messages.get().membership === 'out')
    assert.deepEqual(talk.messages.get().items, [])
    await assert.rejects(
      talk.send({ text: 'Hello?' }).done,
      (error) => ParleyError.is(error) && error.kind === 'refused',
    )
    for (const entry of ada.outbox.get()) entry.discard()
    stop()
  })

  it('tells who writes, until they have, or have stopped', async () => {
    const uid = await somebody()
    const other = await clientOf(uid)
    const talk = ada.conversation({ user: uid })
    const writing = () => talk.typing.get().map((user) => user.uid)
    const back = other.conversation({ user: 'ada' })
    const isUntil = (...uids: string[]) => until(`${uids} write`, () => `${writing()}` === `${uids}`)
    back.typing.keystroke()
    back.typing.keystroke()
    await isUntil(uid)
    back.typing.end()
    await isUntil()
    other.logout()
  })

  it('finds messages by their words, the newest first, over all pages', async () => {
    const uid = await somebody()
    for (let n = 0; n < 60; n += 1) await say(app, uid, 'ada', `oars of ${uid} ${n}`)
    await say(app, uid, 'ada', 'rudders')
    const found: unknown[] = []
    const lin = ada.conversation({ user: uid })
    for await (const { data } of ada.search('oars', { in: lin })) found.push(data.text)
    assert.deepEqual(
      found,
      Array.from({ length: 60 }, (_, n) => `oars of ${uid} ${59 - n}`),
    )
    for await (const { data } of ada.search(uid)) {
      assert.equal(data.text, `oars of ${uid} 59`)
      break
    }
  })

  it('sends files first, and the message when they are there, at its place', async () => {
    const uid = await somebody()
    const talk = ada.conversation({ user: uid })
    const { stop } = watched(talk.messages)
    const upload = talk.upload(new File(['oars and rudders'], 'plan.txt', { type: 'text/plain' }))
    assert.deepEqual(upload.get(), { state: 'uploading', loaded: 0, total: 16 })
    const [withFile] = [talk.send({ text: 'The plan', files: [upload] }), talk.send({ text: 'after it' })]
    const { data, type } = await withFile.done
    assert.equal(type, 'file')
    const [attachment] = data.attachments as { name: string; size: number }[]
    assert.deepEqual([attachment?.name, attachment?.size], ['plan.txt', 16])
    assert.deepEqual(upload.get(), { state: 'done', loaded: 16, total: 16 })
    await shows(talk, 'The plan', 'after it')
    stop()
  })

  it('gives up a file, and with it its message, but not those after it', async () => {
    const talk = ada.conversation({ user: await somebody() })
    const { stop } = watched(talk.messages)
    const upload = talk.upload(new Blob(['oars']))
    const withFile = talk.send({ files: [upload] })
    const next = talk.send({ text: 'Never mind' })
    upload.abort()
    await assert.rejects(upload.done, { code: 'ERR_ABORTED' })
    await assert.rejects(withFile.done, { code: 'ERR_ABORTED' })
    await next.done
    assert.equal(upload.get().state, 'failed')
    const empty = talk.upload(new Blob([]))
    await assert.rejects(empty.done, (error) => ParleyError.is(error))
    for (const entry of ada.outbox.get()) entry.discard()
    stop()
  })

  it('sends a file again that has failed, when its message is tried again', async () => {
    const talk = ada.conversation({ user: await somebody() })
    const { stop } = watched(talk.messages)
    const upload = talk.upload(new File(['oars'], 'oars.txt', { type: 'text/plain' }))
    const withFile = talk.send({ text: 'The oars', files: [upload] })
    upload.abort()
    await assert.rejects(withFile.done, { code: 'ERR_ABORTED' })
    const [entry] = ada.outbox.get()
    assert.equal(entry?.state, 'failed')
    entry?.retry()
    await until('it is there', () => messagesOf(talk).length === 1)
    assert.deepEqual(upload.get(), { state: 'done', loaded: 4, total: 4 })
    const [message] = messagesOf(talk)
    const attachments = message?.data.attachments as { name: string }[] | undefined
    assert.equal(attachments?.[0]?.name, 'oars.txt')
    stop()
  })

  it('sends a file again where the network failed, or nothing of it went any more', async () => {
    const place = placeIn(h)
    const put = place.runtime.put as Runtime['put']
    const places: string[] = []
    place.runtime.put = (url, sending) => {
      places.push(url)
      if (places.length === 1) return Promise.reject(new TypeError('cut'))
      return places.length === 2 ? stuck(sending) : put(url, sending)
    }
    const talk = (await clientOf(await somebody(), place)).conversation({ user: 'lin' })
    const upload = talk.upload(new File(['oars'], 'oars.txt', { type: 'text/plain' }))
    const withFile = talk.send({ files: [upload] })
    await until('nothing goes any more', () => upload.get().loaded === 1)
    assert.equal(place.pass(watches.stall), 1)
    assert.equal((await withFile.done).type, 'file')
    assert.deepEqual([new Set(places).size, upload.get().state], [3, 'done'])
  })

  it('gives up files when the user logs out', async () => {
    const place = placeIn(h)
    place.runtime.put = (_, sending) => stuck(sending)
    const client = await clientOf(await somebody(), place)
    const upload = client.conversation({ user: 'lin' }).upload(new Blob(['oars']))
    await until('it is on its way', () => upload.get().loaded === 1)
    client.logout()
    await assert.rejects(upload.done, { code: 'ERR_ABORTED' })
    assert.equal(place.open().timers, 0)
  })

  /** A byte goes, and then nothing more until it is given up. */
  function stuck({ progress, signal }: Putting): Promise<number> {
    progress(1)
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new TypeError('given up'))))
  }

  it('shows what the app itself edits and deletes between two', async () => {
    const uid = await somebody()
    await say(app, uid, 'ada', 'one')
    const { id } = await say(app, 'ada', uid, 'two')
    const talk = ada.conversation({ user: uid })
    const stops = [watched(talk.messages).stop, watched(ada.conversations).stop]
    await shows(talk, 'one', 'two')
    const last = () => ada.conversations.get().items.find(({ user }) => user?.uid === uid)?.lastMessage
    await until('the list is there', () => last()?.id === id)
    assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'three' } }))
    await shows(talk, 'one', 'three')
    await until('the list shows it', () => last()?.data.text === 'three')
    assertSucceeds(await app.delete(`/messages/${id}`))
    await until('it is deleted', () => messagesOf(talk)[1]?.deletedAt !== undefined)
    for (const stop of stops) stop()
  })

  it('says what only counts now', async () => {
    const uid = await somebody()
    const client = await clientOf(uid)
    const heard: unknown[] = []
    client.on('transient.received', ({ user, data }) => heard.push([user.uid, data]))
    ada.conversation({ user: uid }).transient({ live: 'heart' })
    await until('it is heard', () => heard.length > 0)
    assert.deepEqual(heard, [['ada', { live: 'heart' }]])
    client.logout()
  })

  it('tells senders that something has arrived, where that is asked for', async () => {
    const uid = await somebody()
    const { runtime } = placeIn(h)
    const settings = { url: `https://${app.host}`, token: await tokenOf(app, uid), runtime }
    const client = createClient({ ...settings, autoReceipts: 'delivered' })
    clients.push(client)
    await client.login()
    const talk = ada.conversation({ user: uid })
    const { stop } = watched(talk.messages)
    await talk.send({ text: 'There?' }).done
    await until('it has arrived', () => messagesOf(talk)[0]?.deliveredAt !== undefined)
    assert.equal(messagesOf(talk)[0]?.readAt, undefined)
    stop()
    client.logout()
  })

  it('gives up what it has asked for when the user logs out', async () => {
    const place = placeIn(h)
    const client = await clientOf('mia', place)
    const asking = client.call(listUsers, {})
    client.logout()
    await assert.rejects(asking, { code: 'ERR_ABORTED' })
    await until('all is released', () => Object.values(place.open()).every((count) => count === 0))
  })

  it('tells whether somebody is there', async () => {
    const uid = await somebody()
    const shown = watched(ada.presence(uid))
    await until('it is known', () => shown.get().online === false)
    const other = await clientOf(uid)
    await until('they are there', () => shown.get().online === true)
    other.logout()
    shown.stop()
  })

  it('shows that something was deleted which it was never told', async () => {
    const uid = await somebody()
    const place = placeIn(h)
    const client = await clientOf('lin', place)
    const talk = client.conversation({ user: uid })
    const { stop } = watched(talk.messages)
    await until('it is loaded', () => talk.messages.get().status === 'ready')
    place.setAway(true)
    place.cut()
    const { id } = await say(app, uid, 'lin', 'oops')
    assertSucceeds(await app.delete(`/messages/${id}`, undefined, as(uid)))
    await say(app, uid, 'lin', 'sorry')
    place.setAway(false)
    await until('both are there', () => messagesOf(talk).length === 2)
    assert.deepEqual(
      messagesOf(talk).map(({ data, deletedAt }) => [data.text, deletedAt !== undefined]),
      [
        [undefined, true],
        ['sorry', false],
      ],
    )
    stop()
    client.logout()
  })

  it('has everything again after what was missed is not told, and fetches only what is looked at', async () => {
    const uid = await somebody()
    const place = placeIn(h)
    const client = await clientOf('lin', place)
    const [talk, idle] = [client.conversation({ user: uid }), client.conversation({ user: 'mia' })]
    const { stop } = watched(talk.messages)
    watched(idle.messages).stop()
    await talk.send({ text: 'before' }).done
    await shows(talk, 'before')
    const { id } = messagesOf(talk)[0] ?? assert.fail()
    place.setAway(true)
    place.cut()
    await until('it is cut off', () => client.connection.get().state !== 'connected')
    await say(app, uid, 'lin', 'missed')
    assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'edited' } }, as('lin')))
    // A position is no longer good after the permissions of a user's role have changed.
    const role = `role-${uid}`
    assertSucceeds(await app.post('/roles', { role, name: role }))
    assertSucceeds(await app.put('/users/lin', { role }))
    const asked = place.asked.length
    place.setAway(false)
    await until('it is connected', () => client.connection.get().state === 'connected')
    await shows(talk, 'edited', 'missed')
    assert.ok(!place.asked.slice(asked).some((path) => path.includes('/users/mia/')))
    stop()
    client.logout()
  })
})
