import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type Hostile, hostileIds } from '../../../../tests/support/hostile.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import { times } from '../../../../tests/support/quick.ts'
import { type Random, randomFrom, seedFrom } from '../../../../tests/support/random.ts'
import { appWith, as } from '../../../../tests/support/talk.ts'
import { pathOf, type Said, type Talk, TalkModel } from '../../../../tests/support/talk-model.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { auditSides } from '../groups/audit.ts'
import { auditMarks } from '../messages/audit.ts'
import { auditPlaces, auditTimeline } from '../timeline/audit.ts'
import { conversationIdOf, type Place, placeOfGroup, placeOfUsers, placesNamed } from '../timeline/index.ts'

/**
 * People with ids that are chosen so that the ids of their conversations are the same, who do everything that can be done
 * in a conversation. Everybody sees what a model says that knows conversations by who is in them.
 */

const seedVariable = 'HOSTILE_SEED'
const stories = { sqlite: { count: times(3, 12), steps: 200 }, postgres: { count: times(1, 2), steps: 150 } }
const stepsPerLook = 25
const lookersMax = 5

for (const database of databases) {
  describe(`conversations of hostile ids on ${database}`, () => {
    let h: House
    before(async () => {
      const environment = { PARLEY_ROLES: 'api', PARLEY_LIMIT_STANDARD: '1000000', PARLEY_LIMIT_CORE: '1000000' }
      h = await house({ database, way: 'dispatch', strict: false, environment })
    })
    after(() => h.close())

    const { count, steps } = stories[database]
    for (let n = 0; n < count; n += 1) {
      it(`stay those of their users, story ${n + 1}`, async (test) => {
        const seed = seedFrom(seedVariable)
        test.diagnostic(`${seedVariable}=${seed}`)
        const random = randomFrom(seed)
        const story = await begin(h, random)
        for (let step = 1; step <= steps; step += 1) {
          await random.pick(acts)(story)
          if (step % stepsPerLook === 0) await look(story)
        }
        const db = tenantDb(h.service.house.database.reader, story.app.id)
        const audits = [await auditTimeline(db), await auditPlaces(db), await auditMarks(db), await auditSides(db)]
        assert.deepEqual(audits.flat(), [])
      })
    }
  })
}

interface Story {
  h: House
  app: AppClient
  random: Random
  hostile: Hostile
  model: TalkModel
}

async function begin(h: House, random: Random): Promise<Story> {
  const hostile = hostileIds(random, 2)
  const app = await appWith(h, ...hostile.uids)
  const story = { h, app, random, hostile, model: new TalkModel() }
  for (const uid of hostile.uids) story.model.createUser(uid)
  for (const guid of hostile.guids) await createGroup(story, guid)
  return story
}

type Act = (story: Story) => Promise<unknown>

/** Somebody who is there, and one of their conversations. */
function scene({ model, random }: Story): { uid: string; talk: Talk } | undefined {
  const uid = random.pick([...model.users])
  const talks = model.talksOf(uid)
  return talks.length === 0 ? undefined : { uid, talk: random.pick(talks) }
}

/** The same, and something in it that they can see and change. */
function sceneWithMessage(story: Story): { uid: string; talk: Talk; message: Said } | undefined {
  const found = scene(story)
  const seen = found ? story.model.seenBy(found.uid, found.talk).filter(({ deleted }) => !deleted) : []
  return found && seen.length > 0 ? { ...found, message: story.random.pick(seen) } : undefined
}

const act =
  (does: (story: Story, found: { uid: string; talk: Talk; message: Said }) => Promise<unknown>): Act =>
  async (story) => {
    const found = sceneWithMessage(story)
    if (found) await does(story, found)
  }

let spoken = 0

async function speak(story: Story, place: Place, sender: string, parent: Said | undefined): Promise<void> {
  const { app, model, random } = story
  const mentioned = random.chance(0.3) ? [random.pick(story.hostile.uids)] : []
  spoken += 1
  const text = `fox${spoken}x fox ${mentioned.map((uid) => `<@uid:${uid}>`).join()}`.trim()
  const receiver = place.type === 'group' ? place.first : place.first === sender ? place.second : place.first
  const body = { receiver, receiverType: place.type, data: { text }, ...(parent && { parentId: Number(parent.id) }) }
  const { id } = assertSucceeds(await app.post('/messages', body, as(sender))).data
  const mentions = mentioned.filter((uid) => model.users.has(uid))
  const untouched = { deleted: false, gone: false, pinned: false, reactions: new Set<string>() }
  model.said(place, { id, text, sender, mentions, parent, ...untouched })
}

/** In a conversation that shares its id, or with anybody. */
const say: Act = async (story) => {
  const { model, random, hostile } = story
  const uid = random.pick([...model.users])
  const alike = hostile.places.filter(({ first, second }) => [first, second].includes(uid))
  const groups = [...model.groups].filter(([, { members }]) => members.has(uid)).map(([guid]) => placeOfGroup(guid))
  const place = random.pick([...alike, ...groups, placeOfUsers(uid, random.pick([...model.users]))])
  const isThere =
    place.type === 'group' ? model.groups.get(place.first)?.members.has(uid) : model.users.has(otherIn(place, uid))
  if (isThere) await speak(story, place, uid, undefined)
}

const otherIn = ({ first, second }: Place, uid: string) => (first === uid ? second : first)

/** Nobody is there any more to whom it could be said. */
const isOver = ({ model }: Story, { place }: Talk, uid: string) =>
  place.type === 'user' && !model.users.has(otherIn(place, uid))

const reply = act(async (story, { uid, talk, message }) => {
  const parent = message.parent ?? message
  const seesIt = story.model.seenBy(uid, talk).includes(parent)
  if (seesIt && !isOver(story, talk, uid)) await speak(story, talk.place, uid, parent)
})

const edit = act(async ({ app, random }, { message }) => {
  const text = `fox${random.whole(0, 1_000_000)}y fox`
  assertSucceeds(await app.put(`/messages/${message.id}`, { data: { text } }))
  message.text = text
  message.mentions = []
})

const remove = act(async ({ app, model }, { talk, message }) => {
  const { id, sender } = message
  const seesIt = model.seenBy(sender, talk).includes(message)
  assertSucceeds(await app.delete(`/messages/${id}`, {}, seesIt ? as(sender) : {}))
  Object.assign(message, { deleted: true, pinned: false, mentions: [], reactions: new Set() })
})

const react = act(async ({ app, random }, { uid, message }) => {
  const reaction = random.pick(['yes', 'no'])
  assertSucceeds(await app.post(`/messages/${message.id}/reactions/${reaction}`, undefined, as(uid)))
  message.reactions.add(`${uid} ${reaction}`)
})

const unreact = act(async ({ app }, { uid, message }) => {
  assertSucceeds(await app.delete(`/messages/${message.id}/reactions/yes`, undefined, as(uid)))
  message.reactions.delete(`${uid} yes`)
})

const pin = act(async ({ app, random }, { message }) => {
  const pins = random.chance(0.6)
  const answer = await (pins ? app.post : app.delete)(`/messages/${message.id}/pin`)
  assertSucceeds(answer)
  message.pinned = pins
})

const marked = (what: 'delivered' | 'read', all: boolean) =>
  act(async (story, { uid, talk, message }) => {
    if (isOver(story, talk, uid)) return
    const body = all ? {} : { messageId: Number(message.id) }
    assertSucceeds(await story.app.post(`${pathOf(talk.place, uid)}/conversation/${what}`, body, as(uid)))
    if (what === 'read') story.model.read(uid, talk, all ? undefined : message)
  })

const markUnread = act(async (story, { uid, talk, message }) => {
  if (isOver(story, talk, uid)) return
  const body = { messageId: Number(message.id) }
  assertSucceeds(await story.app.delete(`${pathOf(talk.place, uid)}/conversation/read`, body, as(uid)))
  story.model.unread(uid, talk, message)
})

const reset = act(async (story, { uid, talk }) => {
  if (isOver(story, talk, uid)) return
  const forGood = talk.place.type === 'user' && story.random.chance(0.3)
  const body = forGood ? { deleteMessagesPermanently: true } : {}
  assertSucceeds(await story.app.delete(`${pathOf(talk.place, uid)}/conversation`, body, as(uid)))
  if (forGood) story.model.deleteForAll(talk)
  else story.model.reset(uid, talk)
})

/** By its id: of those of the user that it can mean, one is deleted, or none if there are several. */
const deleteById = act(async ({ app, model }, { uid, talk }) => {
  const conversationId = conversationIdOf(talk.place.conversationKey)
  const keys = placesNamed(conversationId).map(({ conversationKey }) => conversationKey)
  const own = model.talksOf(uid).filter(({ place }) => keys.includes(place.conversationKey))
  const answer = await app.delete(`/conversations/${conversationId}`, {}, as(uid))
  if (answer.status === 400) {
    assert.equal(answer.body.error.code, 'ERR_CONVERSATION_ID_AMBIGUOUS')
    assert.ok(own.length > 1, `${uid} has only one conversation ${conversationId}`)
    return
  }
  assertSucceeds(answer)
  const filled = own.filter((each) => model.seenBy(uid, each).length > 0)
  assert.equal(filled.length, 1, `${conversationId} means several of ${uid}`)
  model.deleteForAll(filled[0] as Talk)
})

async function createGroup({ app, model, random }: Story, guid: string): Promise<void> {
  const people = [...model.users]
  const [owner, ...members] = [...new Set([random.pick(people), random.pick(people), random.pick(people)])]
  const body = { guid, name: guid, members: { participants: members } }
  assertSucceeds(await app.post('/groups', body, as(owner as string)))
  model.createGroup(guid, owner as string, members)
}

/** Comes, goes, is put out or shut out; and groups come and go themselves. */
const changeGroup: Act = async (story) => {
  const { app, model, random, hostile } = story
  const guid = random.pick(hostile.guids)
  const uid = random.pick([...model.users])
  const group = model.groups.get(guid)
  if (!group) return createGroup(story, guid)
  const does = (answer: Answer, change: () => void) => {
    assertSucceeds(answer)
    change()
  }
  if (group.banned.has(uid)) {
    return does(await app.delete(`/groups/${guid}/bannedusers/${uid}`), () => group.banned.delete(uid))
  }
  if (!group.members.has(uid)) {
    return does(await app.post(`/groups/${guid}/members`, { participants: [uid] }), () => model.join(guid, uid))
  }
  if (random.chance(0.15)) return does(await app.delete(`/groups/${guid}`), () => model.deleteGroup(guid))
  if (random.chance(0.5)) {
    return does(await app.delete(`/groups/${guid}/members/${uid}`), () => model.leave(guid, uid))
  }
  does(await app.post(`/groups/${guid}/bannedusers/${uid}`), () => model.leave(guid, uid))
  group.banned.add(uid)
}

/** A user goes for good, and somebody else takes the UID. */
const changeUser: Act = async ({ h, app, model, random, hostile }) => {
  const gone = hostile.uids.filter((uid) => !model.users.has(uid))
  if (gone.length > 0) {
    const uid = random.pick(gone)
    assertSucceeds(await app.post('/users', { uid, name: uid }))
    return model.createUser(uid)
  }
  if (!random.chance(0.3)) return
  const uid = random.pick([...model.users])
  assertSucceeds(await app.delete(`/users/${uid}`, { permanent: true }))
  await h.settle()
  model.deleteUser(uid)
}

const acts: Act[] = [
  ...[say, say, say, say, say, say, reply, reply, edit, remove, react, react, unreact, pin],
  ...[marked('read', true), marked('read', false), marked('delivered', true), markUnread],
  ...[reset, deleteById, changeGroup, changeGroup, changeUser],
]

/** Some users look at everything they can see, in every way there is. */
async function look(story: Story): Promise<void> {
  await story.h.settle()
  const uids = [...story.model.users]
  for (let n = 0; n < lookersMax; n += 1) await lookAs(story, story.random.pick(uids))
}

type Shown = {
  id: string
  sender: string
  data: { text?: string; reactions?: { reaction: string; count: number }[] }
  pinnedAt?: number
}

async function lookAs({ app, model, random }: Story, uid: string): Promise<void> {
  const get = async (path: string) => assertSucceeds(await app.get(path, as(uid)))
  const all = 'limit=1000&categories=message'
  const ids = (list: { id: string }[]) => list.map(({ id }) => id)
  const seen = model.allSeenBy(uid)
  const listed: Shown[] = (await get(`/messages?${all}`)).data
  assert.deepEqual(listed.map(shape), seen.map(expected), `what ${uid} sees`)
  const found = (await get(`/messages?${all}&searchKey=fox`)).data
  assert.deepEqual(ids(found), ids(seen.filter(({ deleted }) => !deleted)), `what ${uid} finds`)
  const named = (await get(`/messages?${all}&myMentionsOnly=true`)).data
  assert.deepEqual(ids(named), ids(seen.filter(({ mentions }) => mentions.includes(uid))), `what names ${uid}`)
  const pinned = (await get(`/messages?${all}&pinned=true`)).data
  assert.deepEqual(ids(pinned), ids(seen.filter((each) => each.pinned)), `what is pinned for ${uid}`)
  const talks = model.talksOf(uid)
  const unread = talks.flatMap((talk) => model.unreadBy(uid, talk)).toSorted((a, b) => Number(a.id) - Number(b.id))
  assert.deepEqual(ids((await get(`/messages?${all}&unread=true`)).data), ids(unread), `what ${uid} has not read`)
  await compareCounts(uid, talks, model, (await get('/messages?categories=message&unread=true&count=true')).data)
  compareList(uid, talks, model, (await get('/conversations?perPage=100')).data)
  const talk = talks.length > 0 ? random.pick(talks) : undefined
  if (talk) await lookInto(get, model, uid, talk)
}

function shape({ id, sender, data, pinnedAt }: Shown) {
  const reactions = (data.reactions ?? []).map(({ reaction, count }) => `${reaction} ${count}`).toSorted()
  return { id, sender, text: data.text, reactions, pinned: pinnedAt !== undefined }
}

function expected({ id, sender, text, deleted, reactions, pinned }: Said) {
  const kinds = Map.groupBy(reactions, (reaction) => reaction.split(' ')[1])
  const counted = [...kinds].map(([kind, all]) => `${kind} ${all.length}`).toSorted()
  return { id, sender, text: deleted ? undefined : text, reactions: counted, pinned }
}

async function compareCounts(
  uid: string,
  talks: Talk[],
  model: TalkModel,
  counts: { entityType: string; entityId: string; count: number }[],
): Promise<void> {
  const known = talks.flatMap((talk) => {
    const { place } = talk
    const count = model.unreadBy(uid, talk).length
    const entity = place.type === 'group' ? place.first : otherIn(place, uid)
    return count === 0 ? [] : [`${place.type} ${entity} ${count}`]
  })
  const told = counts.map(({ entityType, entityId, count }) => `${entityType} ${entityId} ${count}`)
  assert.deepEqual(told.toSorted(), known.toSorted(), `how much ${uid} has not read`)
}

interface Listed {
  conversationType: 'user' | 'group'
  conversationWith: { uid?: string; guid?: string }
  lastMessage?: { id: string; category: string }
}

/** Only what is the user's is listed, and with something that was said there. */
function compareList(uid: string, talks: Talk[], model: TalkModel, list: Listed[]): void {
  for (const { conversationType, conversationWith, lastMessage } of list) {
    const place =
      conversationType === 'group'
        ? placeOfGroup(conversationWith.guid ?? '')
        : placeOfUsers(uid, conversationWith.uid ?? '')
    const talk = talks.find((each) => each.place.conversationKey === place.conversationKey)
    assert.ok(talk, `${uid} is shown ${place.conversationKey}`)
    if (lastMessage?.category !== 'message') continue
    const isThere = model.seenBy(uid, talk).some(({ id }) => id === lastMessage.id)
    assert.ok(isThere, `${uid} is shown message ${lastMessage.id} as the last of ${place.conversationKey}`)
  }
}

/** One conversation by the path that names it, and all that its id means, by that. */
async function lookInto(
  get: (path: string) => Promise<Answer['body']>,
  model: TalkModel,
  uid: string,
  talk: Talk,
): Promise<void> {
  const texts = (list: Shown[]) => list.map(({ id }) => id)
  const { place } = talk
  if (place.type === 'group' || model.users.has(otherIn(place, uid))) {
    const { data } = await get(`${pathOf(place, uid)}/messages?limit=1000&categories=message`)
    assert.deepEqual(
      texts(data),
      model.seenBy(uid, talk).map(({ id }) => id),
      `${uid} in ${place.conversationKey}`,
    )
  }
  const conversationId = conversationIdOf(place.conversationKey)
  const keys = placesNamed(conversationId).map(({ conversationKey }) => conversationKey)
  const meant = model.talksOf(uid).filter((each) => keys.includes(each.place.conversationKey))
  const seen = meant.flatMap((each) => model.seenBy(uid, each)).toSorted((a, b) => Number(a.id) - Number(b.id))
  const { data } = await get(`/messages?limit=1000&categories=message&conversationId=${conversationId}`)
  assert.deepEqual(
    texts(data),
    seen.map(({ id }) => id),
    `${uid} in ${conversationId}`,
  )
}
