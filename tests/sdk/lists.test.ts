import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { type Client, type ClientSettings, createClient, type KeptList, type Readable } from '../../sdk/src/index.ts'
import { tokenOf } from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { appWith, as, say, sayIn, somebodyIn } from '../support/talk.ts'
import { until } from '../support/until.ts'
import { fetchInto } from './house-fetch.ts'
import { type Place, placeIn, watches } from './place.ts'

/** Groups, people and what stands beside messages: fetched when it is looked at, and kept current. */

describe('the lists of the client', () => {
  let h: House
  let app: AppClient
  let at: Place
  let ada: Client
  const clients: Client[] = []

  before(async () => {
    h = await house({ database: 'sqlite' })
    app = await appWith(h, 'ada', 'lin', 'mia')
    at = placeIn(h)
    ada = await clientOf('ada', { runtime: at.runtime, presence: 'all' })
  })
  after(async () => {
    for (const client of clients) client.logout()
    await h.close()
  })

  async function clientOf(uid: string, more: Partial<ClientSettings> = {}): Promise<Client> {
    const { runtime } = placeIn(h)
    const client = createClient({ url: `https://${app.host}`, token: await tokenOf(app, uid), runtime, ...more })
    clients.push(client)
    await client.login()
    await until('it is connected', () => client.connection.get().state === 'connected')
    return client
  }

  const somebody = () => somebodyIn(app)

  const newId = () => `g-${randomUUID().slice(0, 8)}`

  async function watched<Item>(list: KeptList<Item>): Promise<() => void> {
    const stop = list.subscribe(() => {})
    await until('it is loaded', () => list.get().status === 'ready')
    return stop
  }

  const shows = <Item>(list: Readable<{ items: readonly Item[] }>, name: (item: Item) => string, ...wanted: string[]) =>
    until(`it shows ${wanted}`, () => `${list.get().items.map(name).sort()}` === `${wanted.sort()}`)

  const scoped = ({ uid, scope }: { uid: string; scope: string }) => `${uid} ${scope}`

  it('creates a group, and tells who is in it and what they may do', async () => {
    const guid = newId()
    const boats = await ada.groups.create({ guid, type: 'public' })
    assert.equal(ada.group(guid.toUpperCase()), boats)
    assert.equal(boats.conversation, ada.conversation({ group: guid }))
    const stops = [await watched(boats.members), boats.details.subscribe(() => {})]
    await until('it is known', () => boats.details.get()?.owner === 'ada')
    assert.equal(boats.details.get()?.name, guid)
    await shows(boats.members, scoped, 'ada admin')
    await boats.add(['lin', 'mia'])
    await shows(boats.members, scoped, 'ada admin', 'lin participant', 'mia participant')
    await boats.changeScope('lin', 'moderator')
    await shows(boats.members, scoped, 'ada admin', 'lin moderator', 'mia participant')
    await boats.kick('mia')
    await shows(boats.members, scoped, 'ada admin', 'lin moderator')
    await until('they are counted', () => boats.details.get()?.membersCount === 2)
    await boats.update({ name: 'Boats' })
    await until('it has its name', () => boats.details.get()?.name === 'Boats')
    await boats.transferOwnership('lin')
    await until('it is handed over', () => boats.details.get()?.owner === 'lin')
    await shows(boats.members, scoped, 'ada admin', 'lin admin')
    await assert.rejects(boats.add(['lin']), { code: 'ERR_ALREADY_JOINED', kind: 'refused' })
    await boats.delete()
    await until('it is gone', () => boats.details.get() === undefined)
    for (const stop of stops) stop()
  })

  it('bans and lifts bans', async () => {
    const boats = await ada.groups.create({ guid: newId(), members: { participants: ['lin'] } })
    const stops = [await watched(boats.members), await watched(boats.banned)]
    await boats.ban('lin')
    await shows(boats.banned, ({ uid }) => uid, 'lin')
    await shows(boats.members, ({ uid }) => uid, 'ada')
    await boats.unban('lin')
    await shows(boats.banned, ({ uid }) => uid)
    for (const stop of stops) stop()
  })

  it('finds groups, joins with a password, and leaves', async () => {
    const guid = newId()
    await ada.groups.create({ guid, name: `Oars ${guid}`, type: 'password', password: 'ten' })
    const lin = await clientOf('lin')
    const [found] = await lin.groups.list({ searchKey: guid }).take(5)
    assert.deepEqual([found?.guid, found?.hasJoined], [guid, false])
    assert.equal((await lin.groups.get(guid)).type, 'password')
    const oars = lin.group(guid)
    const stop = oars.details.subscribe(() => {})
    const { messages } = oars.conversation
    const stopMessages = messages.subscribe(() => {})
    await until('it is closed', () => messages.get().membership === 'out')
    await assert.rejects(oars.join('nine'), { kind: 'refused' })
    await oars.join('ten')
    await until('lin is in it', () => oars.details.get()?.hasJoined === true && messages.get().membership === 'in')
    await oars.leave()
    await until('lin is not', () => oars.details.get()?.hasJoined === false)
    stop()
    stopMessages()
    lin.logout()
  })

  it('shows who of the members is there', async () => {
    const uid = await somebody()
    const boats = await ada.groups.create({ guid: newId(), members: { participants: [uid] } })
    const stop = await watched(boats.members)
    const status = () => boats.members.get().items.find((member) => member.uid === uid)?.status
    assert.equal(status(), 'offline')
    const other = await clientOf(uid)
    await until('they are there', () => status() === 'available')
    other.logout()
    stop()
  })

  it('asks for many people at once whether they are there', async () => {
    const uids = await Promise.all(Array.from({ length: 30 }, somebody))
    const shown = uids.map((uid) => ada.presence(uid.toUpperCase()))
    const asked = at.asked.length
    const stops = shown.map(({ subscribe }) => subscribe(() => {}))
    await until('it is known', () => shown.every((each) => each.get().online === false))
    assert.equal(at.asked.length, asked + 2)
    for (const stop of stops) stop()
  })

  it('reads members page by page', async () => {
    const uids = await Promise.all(Array.from({ length: 60 }, somebody))
    const guid = newId()
    assertSucceeds(await app.post('/groups', { guid, name: 'Many', type: 'public' }))
    for (let n = 0; n < 60; n += 20) {
      assertSucceeds(await app.post(`/groups/${guid}/members`, { participants: uids.slice(n, n + 20) }))
    }
    const { members } = ada.group(guid)
    const stop = await watched(members)
    assert.deepEqual([members.get().items.length, members.get().hasMore], [50, true])
    await members.loadMore()
    assert.equal(members.get().hasMore, false)
    await shows(members, ({ uid }) => uid, ...uids)
    stop()
  })

  it('finds people, blocks and unblocks them', async () => {
    const uid = await somebody()
    const found: string[] = []
    for await (const user of ada.users.list({ searchKey: uid })) found.push(user.uid)
    assert.deepEqual(found, [uid])
    assert.equal((await ada.users.get(uid)).name, uid)
    const stop = await watched(ada.blocked)
    await ada.block(uid)
    await shows(ada.blocked, (user) => user.uid, uid)
    await ada.unblock(uid)
    await shows(ada.blocked, (user) => user.uid)
    await assert.rejects(ada.block('nobody'), { kind: 'refused' })
    stop()
  })

  it('tells who is logged in, as they are now', async () => {
    const uid = await somebody()
    const client = await clientOf(uid)
    assert.equal(client.me.get()?.name, uid)
    assert.equal((await client.updateMe({ name: 'Somebody' })).name, 'Somebody')
    await until('it is told', () => client.me.get()?.name === 'Somebody')
    client.logout()
    assert.equal(client.me.get(), undefined)
  })

  it('tells who has received a message and who has read it', async () => {
    const guid = newId()
    const boats = await ada.groups.create({ guid, members: { participants: ['lin', 'mia'] } })
    const { id } = await boats.conversation.send({ text: 'Boat' }).done
    const receipts = boats.conversation.receipts(id)
    assert.equal(boats.conversation.receipts(id), receipts)
    const stop = await watched(receipts)
    assertSucceeds(await app.post(`/groups/${guid}/conversation/read`, {}, as('lin')))
    await shows(receipts, ({ sender, receiptType }) => `${sender.uid} ${receiptType}`, 'lin read')
    assertSucceeds(await app.post(`/groups/${guid}/conversation/delivered`, {}, as('mia')))
    await shows(receipts, ({ sender, receiptType }) => `${sender.uid} ${receiptType}`, 'lin read', 'mia delivery')
    stop()
  })

  it('shows what is pinned', async () => {
    const uid = await somebody()
    const talk = ada.conversation({ user: uid })
    const ids = [(await say(app, uid, 'ada', 'one')).id, (await say(app, uid, 'ada', 'two')).id]
    const stop = await watched(talk.pinned)
    for (const id of ids) await talk.pin(id)
    await shows(talk.pinned, ({ data }) => String(data.text), 'one', 'two')
    assertSucceeds(await app.put(`/messages/${ids[0]}`, { data: { text: 'uno' } }, as(uid)))
    await shows(talk.pinned, ({ data }) => String(data.text), 'two', 'uno')
    await talk.unpin(ids[1] ?? '')
    await shows(talk.pinned, ({ data }) => String(data.text), 'uno')
    stop()
  })

  it('counts what is unread in all conversations, also in those that are not in the list yet', async () => {
    const uid = await somebody()
    const others = await Promise.all(Array.from({ length: 55 }, somebody))
    for (const other of others) await say(app, other, uid, 'Hello')
    const client = await clientOf(uid)
    const stop = client.conversations.subscribe(() => {})
    const total = () => client.conversations.get().unreadTotal
    await until('all are counted', () => total() === 55)
    assert.equal(client.conversations.get().items.length, 50)
    const [first] = client.conversations.get().items
    assert.deepEqual([{ user: first?.user?.uid }, first?.group], [first?.to, undefined])
    const [oldest = '', next = ''] = others
    await say(app, oldest, uid, 'Hello again')
    await until('one more is counted', () => total() === 56)
    await client.conversation({ user: oldest }).markRead()
    await until('what is read is not', () => total() === 54)
    await client.conversation({ user: next }).markRead()
    await until('neither here', () => total() === 53)
    await client.conversations.loadMore()
    assert.equal(total(), 53)
    stop()
    client.logout()
  })

  it('shows the first conversations before those that are not in the list are counted', async () => {
    const uid = await somebody()
    const others = await Promise.all(Array.from({ length: 51 }, somebody))
    for (const other of others) await say(app, other, uid, 'Hello')
    const { runtime } = placeIn(h)
    const houseFetch = fetchInto(h)
    const counting = Promise.withResolvers<void>()
    const heldBack: typeof fetch = async (input, init) => {
      if (String(input).includes('count=true')) await counting.promise
      return houseFetch(input, init)
    }
    const { conversations, logout } = await clientOf(uid, { runtime: { ...runtime, fetch: heldBack } })
    const stop = conversations.subscribe(() => {})
    await until('the first are shown', () => conversations.get().items.length === 50)
    assert.equal(conversations.get().status, 'loading')
    await say(app, others[50] ?? '', uid, 'Hello again')
    await until('what is heard meanwhile is counted', () => conversations.get().items[0]?.unread === 2)
    counting.resolve()
    await until('all are counted', () => conversations.get().status === 'ready')
    assert.deepEqual([conversations.get().unreadTotal, conversations.get().items[0]?.unread], [52, 2])
    stop()
    logout()
  })

  it('counts what is heard while the first conversations come, and what is heard in them after that', async () => {
    const uid = await somebody()
    const others = await Promise.all(Array.from({ length: 51 }, somebody))
    for (const other of others) await say(app, other, uid, 'Hello')
    let friend = ''
    const { runtime } = placeIn(h)
    const houseFetch = fetchInto(h)
    const read = Promise.withResolvers<void>()
    const [listing, counting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const heldBack: typeof fetch = async (input, init) => {
      if (String(input).includes('count=true')) await counting.promise
      const answer = await houseFetch(input, init)
      if (String(input).includes('/conversations?')) {
        const { data } = (await answer.clone().json()) as { data: { conversationWith: { uid: string } }[] }
        const listed = new Set(data.map(({ conversationWith }) => conversationWith.uid))
        // The one for whom the page has no room.
        friend = others.find((other) => !listed.has(other)) ?? ''
        read.resolve()
        await listing.promise
      }
      return answer
    }
    const { conversations, logout } = await clientOf(uid, { runtime: { ...runtime, fetch: heldBack } })
    const unread = () => conversations.get().items.find(({ to }) => 'user' in to && to.user === friend)?.unread
    const shown: (number | undefined)[] = []
    const stop = conversations.subscribe(() => shown.push(unread()))
    await read.promise
    await say(app, friend, uid, 'Not on the list that was read')
    await until('it is heard', () => unread() === 2)
    listing.resolve()
    await until('the first are shown', () => conversations.get().items.length === 51)
    assert.equal(unread(), 2)
    await say(app, friend, uid, 'While the rest is counted')
    await until('it is heard, too', () => unread() === 3)
    counting.resolve()
    await until('all are counted', () => conversations.get().status === 'ready')
    assert.deepEqual([conversations.get().unreadTotal, unread()], [53, 3])
    const sinceHeard = shown.slice(shown.indexOf(2))
    assert.ok(!sinceHeard.includes(undefined), 'what was shown once does not vanish for a moment')
    stop()
    logout()
  })

  it('marks as read what is looked at, on a page that somebody sees', async () => {
    const uid = await somebody()
    const place = placeIn(h)
    let isSeen = false
    const runtime = { ...place.runtime, isSeen: () => isSeen }
    const client = await clientOf(uid, { runtime, autoReceipts: 'read' })
    const talk = ada.conversation({ user: uid })
    const stopTalk = talk.messages.subscribe(() => {})
    const last = () => {
      const item = talk.messages.get().items.slice(-1)[0]
      return item?.state === 'sent' ? item.message : undefined
    }
    await talk.send({ text: 'one' }).done
    await until('it has arrived', () => last()?.deliveredAt !== undefined)
    const { messages } = client.conversation({ user: 'ada' })
    const stop = messages.subscribe(() => {})
    const stopList = client.conversations.subscribe(() => {})
    await until('it is counted', () => client.conversations.get().unreadTotal === 1)
    await until('it is shown', () => messages.get().items.length === 1)
    assert.equal(last()?.readAt, undefined)
    isSeen = true
    place.wake()
    await until('it is read', () => last()?.readAt !== undefined)
    await until('it is not counted', () => client.conversations.get().unreadTotal === 0)
    await talk.send({ text: 'two' }).done
    await until('the next is read, too', () => last()?.data.text === 'two' && last()?.readAt !== undefined)
    stop()
    const { id } = await talk.send({ text: 'three' }).done
    await until('nobody looks', () => last()?.id === id && last()?.deliveredAt !== undefined)
    assert.equal(last()?.readAt, undefined)
    const again = messages.subscribe(() => {})
    await until('somebody looks again', () => last()?.readAt !== undefined)
    again()
    stopTalk()
    stopList()
    client.logout()
    await until('all is released', () => Object.values(place.open()).every((count) => count === 0))
  })

  it('leaves unread what the user has marked so', async () => {
    const uid = await somebody()
    const place = placeIn(h)
    const client = await clientOf(uid, { runtime: place.runtime, autoReceipts: 'read' })
    const { id } = await say(app, 'ada', uid, 'one')
    await say(app, 'ada', uid, 'two')
    const talk = client.conversation({ user: 'ada' })
    const stops = [client.conversations, talk.messages].map(({ subscribe }) => subscribe(() => {}))
    const unread = () => client.conversations.get().items.find(({ key }) => key === 'user:ada')?.unread
    await until('it is read', () => unread() === 0)
    await talk.markUnread(id)
    await until('it is unread', () => unread() === 1)
    const reads = (of: string) => place.asked.filter((asked) => asked === `POST /v3/users/${of}/conversation/read`)
    stops.push(client.conversation({ user: 'lin' }).messages.subscribe(() => {}))
    await say(app, 'lin', uid, 'three')
    await until('what is new elsewhere is read', () => reads('lin').length === 1)
    assert.deepEqual([unread(), reads('ada').length], [1, 1])
    for (const stop of stops) stop()
    client.logout()
  })

  it('lets 20 lists rest at a time', async () => {
    const talks = await Promise.all(
      Array.from({ length: 25 }, async () => ada.conversation({ user: await somebody() })),
    )
    for (const { messages } of talks) {
      const stop = messages.subscribe(() => {})
      await until('it is loaded', () => messages.get().status === 'ready')
      stop()
    }
    const resting = () => talks.map(({ messages }) => messages.get().status)
    assert.deepEqual(resting(), [...Array(5).fill('idle'), ...Array(20).fill('ready')])
    const [asked, last] = [at.asked.length, talks[24]?.messages]
    last?.subscribe(() => {})()
    assert.equal(at.asked.length, asked)
    at.pass(watches.rest)
    assert.deepEqual(new Set(resting()), new Set(['idle']))
  })

  it('has the members again after what was missed is not told', async () => {
    const uid = await somebody()
    const place = placeIn(h)
    const client = await clientOf(uid, { runtime: place.runtime })
    const guid = newId()
    const boats = await client.groups.create({ guid, members: { participants: ['lin'] } })
    const stop = await watched(boats.members)
    place.setAway(true)
    place.cut()
    await until('it is cut off', () => client.connection.get().state !== 'connected')
    assertSucceeds(await app.delete(`/groups/${guid}/members/lin`))
    assertSucceeds(await app.post(`/groups/${guid}/members`, { participants: ['mia'] }))
    const role = `role-${uid}`
    assertSucceeds(await app.post('/roles', { role, name: role }))
    assertSucceeds(await app.put(`/users/${uid}`, { role }))
    place.setAway(false)
    await shows(boats.members, (member) => member.uid, uid, 'mia')
    await sayIn(app, guid, 'mia', 'Ahoy')
    stop()
    client.logout()
    await until('all is released', () => Object.values(place.open()).every((count) => count === 0))
  })
})
