import { sql } from 'kysely'
import { auditSides } from '../../server/src/areas/groups/audit.ts'
import { auditMarks } from '../../server/src/areas/messages/audit.ts'
import { auditPlaces, auditTimeline } from '../../server/src/areas/timeline/audit.ts'
import { type Place, placesNamed } from '../../server/src/areas/timeline/index.ts'
import { tenantDb } from '../../server/src/storage/tenant.ts'
import { canExist, type Hostile, hostileIds } from './hostile.ts'
import { type AppClient, assertSucceeds, type House } from './house.ts'
import type { Random } from './random.ts'
import { as } from './talk.ts'
import { acrossApps } from './tripwire.ts'

/**
 * Two apps with the very same hostile ids. In each, some conversations are victims': those who are in them said something
 * before, and do nothing from then on. Everybody else is an attacker, and may do whatever users do.
 */

export interface Camp {
  app: AppClient
  /** Stands in every text of this app. */
  word: string
  /** Auth tokens by UID. */
  tokens: Map<string, string>
  /** Messages by id, and where each of them is. */
  messages: Map<string, Place>
  /** Conversations in which something was said, and who is in them. */
  talks: { place: Place; uids: string[]; banned: string[] }[]
  /** A call that rings for each of those who act. */
  calls: { sessionId: string; called: string }[]
  /** An API key that nobody needs. */
  /** Several: those that are deleted can be neither read nor changed any more. */
  spareKeys: string[]
}

export interface Stage {
  own: Camp
  other: Camp
  hostile: Hostile
  attackers: string[]
  victims: Place[]
  /** Texts tell by their number here where they were said. */
  said: Place[]
}

export const bot = 'robot'
export const role = 'guest'
const [attacker, ...bystanders] = ['eve', 'vera', 'vic']

export async function stageFor(h: House, random: Random, name: string): Promise<Stage> {
  const hostile = hostileIds(random, 4)
  const { victims, attackers } = chosen(hostile, random)
  const said: Place[] = []
  const camps = ['leftish', 'rightish'].map((word) => camp(h, random, `${name} ${word}`, word, hostile, victims, said))
  const [own, other] = (await Promise.all(camps)) as [Camp, Camp]
  return { own, other, hostile, attackers: [...attackers, attacker as string], victims, said }
}

/** Of every text, one conversation is the victims', and as many of the others as possible are attackers'. */
function chosen({ conversationIds }: Hostile, random: Random) {
  const [suffering, acting] = [new Set(bystanders), new Set<string>()]
  const victims: Place[] = []
  const usersIn = ({ type, first, second }: Place) => (type === 'group' ? [] : [first, second])
  for (const text of conversationIds) {
    const readings = placesNamed(text).filter(canExist)
    const free = readings.filter((place) => usersIn(place).every((uid) => !acting.has(uid)))
    const victim = free.length === 0 ? undefined : random.pick(free)
    if (victim) victims.push(victim)
    if (victim) for (const uid of usersIn(victim)) suffering.add(uid)
    for (const uid of readings.flatMap(usersIn)) if (!suffering.has(uid)) acting.add(uid)
  }
  return { victims, attackers: [...acting] }
}

/** A text that tells where it was said, with a word that all texts have. */
export function tellingText(said: Place[], place: Place, word: string): string {
  return `tok${said.push(place) - 1}tok fox ${word}`
}

/** The numbers of what an answer shows. */
export function told(text: string): number[] {
  return [...text.matchAll(/tok(\d+)tok/g)].map(([, n]) => Number(n))
}

const sparesCount = 8

async function camp(
  h: House,
  random: Random,
  name: string,
  word: string,
  { places, uids, guids }: Hostile,
  victims: Place[],
  said: Place[],
): Promise<Camp> {
  const app = await h.app(name)
  const tokens = new Map<string, string>()
  assertSucceeds(await app.post('/roles', { role: 'bot', name: word }))
  assertSucceeds(await app.post('/roles', { role, name: word }))
  const spareKeys: string[] = []
  for (let n = 0; n < sparesCount; n += 1) {
    spareKeys.push(assertSucceeds(await app.post('/apikeys', { name: `${word} ${n}` })).data.apiKey)
  }
  const everybody = [...new Set([...uids, attacker as string, ...bystanders, bot])]
  await Promise.all(
    everybody.map(async (uid) => {
      const body = { uid, name: `${uid} ${word}`, withAuthToken: true, ...(uid === bot && { role: 'bot' }) }
      tokens.set(uid, assertSucceeds(await app.post('/users', body)).data.authToken)
    }),
  )
  const isVictim = (place: Place) => victims.some(({ conversationKey }) => conversationKey === place.conversationKey)
  const suffering = new Set([...bystanders, ...victims.flatMap(({ first, second }) => [first, second])])
  const acting = everybody.filter((uid) => !suffering.has(uid) && uid !== bot)
  for (const guid of guids) {
    const place = places.find(({ type, first }) => type === 'group' && first === guid)
    const [owner = '', member = ''] = place && isVictim(place) ? bystanders : [random.pick(acting), random.pick(acting)]
    // Nobody comes to a private group by themselves.
    const type = place && isVictim(place) ? 'private' : 'public'
    const banned = acting.filter((uid) => uid !== owner && uid !== member).slice(0, 1)
    const members = { participants: owner === member ? [] : [member], usersToBan: banned }
    const body = { guid, name: `${guid} ${word}`, type, members }
    assertSucceeds(await app.post('/groups', body, as(owner)))
  }
  const messages = new Map<string, Place>()
  const camp: Camp = { app, word, tokens, messages, talks: [], calls: [], spareKeys }
  for (const place of places) await talkIn(camp, place, isVictim(place), suffering, said)
  for (const [n, called] of acting.entries()) {
    const initiator = acting[(n + 1) % acting.length] ?? ''
    const { sessionId } = await app.play({ initiator, receiver: called, steps: [] })
    camp.calls.push({ sessionId, called })
  }
  return camp
}

const card = { interactiveData: { cardActions: [{ elementType: 'button', elementId: 'sample' }] } }

/** Something is said, answered, read and reacted to, where those who may are on the same side. */
async function talkIn(
  { app, word, messages, talks }: Camp,
  place: Place,
  isVictims: boolean,
  suffering: Set<string>,
  said: Place[],
): Promise<void> {
  const { type, first, second } = place
  if (type === 'user' && !isVictims && [first, second].some((uid) => suffering.has(uid))) return
  const uids = type === 'user' ? [first, second] : await membersOf(app, first)
  talks.push({ place, uids, banned: type === 'user' ? [] : await bannedIn(app, first) })
  const [from, to] = type === 'user' ? [first, second] : [uids[0] ?? '', first]
  const more = { category: 'interactive', type: 'card', muid: 'same' }
  const data = { ...card, allowSenderInteraction: true, text: tellingText(said, place, word) }
  const body = { receiver: to, receiverType: type, data, ...more }
  const { id } = assertSucceeds(await app.post('/messages', body, as(from))).data
  const reply = { data: { text: tellingText(said, place, word) } }
  const { id: replyId } = assertSucceeds(await app.post(`/messages/${id}/thread`, reply, as(from))).data
  assertSucceeds(await app.post(`/messages/${id}/reactions/yes`, undefined, as(from)))
  if (type === 'user') {
    assertSucceeds(await app.post(`/users/${first}/conversation/read`, {}, as(second)))
    assertSucceeds(await app.post(`/users/${first}/friends`, { accepted: [second] }))
  }
  for (const each of [id, replyId]) messages.set(each, place)
}

async function bannedIn(app: AppClient, guid: string): Promise<string[]> {
  const { data } = assertSucceeds(await app.get(`/groups/${guid}/bannedusers`))
  return data.map(({ uid }: { uid: string }) => uid)
}

async function membersOf(app: AppClient, guid: string): Promise<string[]> {
  const { data } = assertSucceeds(await app.get(`/groups/${guid}/members`))
  return data.map(({ uid }: { uid: string }) => uid)
}

/** Every row of one app, or those of its victims' conversations; what does not change stays the same. */
export type Rows = Record<string, string[]>

const keyed = ['conversations', 'conversation_rows', 'receipt_marks', 'messages', 'message_mentions']
const byMessage = ['reactions', 'reaction_counts', 'saved_messages', 'thread_subscriptions', 'interactions']

export async function rowsOfVictims(h: House, { own, victims }: Stage): Promise<Rows> {
  const ofVictims = victims.map(({ conversationKey }) => conversationKey)
  const keys = sql.join(ofVictims)
  const ids = [...own.messages].flatMap(([id, place]) =>
    ofVictims.includes(place.conversationKey) ? [Number(id)] : [],
  )
  const rows: Rows = {}
  for (const table of keyed) rows[table] = await rowsIn(h, own.app.id, table, sql`conversation_key IN (${keys})`)
  for (const table of byMessage) {
    const column = sql.ref(table === 'thread_subscriptions' ? 'parent_id' : 'message_id')
    rows[table] = await rowsIn(h, own.app.id, table, sql`${column} IN (${sql.join(ids)})`)
  }
  rows.search_entries = await rowsIn(
    h,
    own.app.id,
    'search_entries',
    sql`list = 'messages' AND at IN (${sql.join(ids)})`,
  )
  return rows
}

export async function rowsOfOther(h: House, { other }: Stage): Promise<Rows> {
  const rows: Rows = {}
  for (const table of h.service.house.tools.tenantTables) rows[table] = await rowsIn(h, other.app.id, table, sql`1 = 1`)
  return rows
}

async function rowsIn(h: House, appId: string, table: string, condition: ReturnType<typeof sql>): Promise<string[]> {
  const { rows } = await acrossApps(() =>
    sql<object>`SELECT * FROM ${sql.table(table)} WHERE app_id = ${appId} AND ${condition}`.execute(
      h.service.house.database.reader.query,
    ),
  )
  return rows.map((row) => JSON.stringify(row)).toSorted()
}

/** What has gone wrong in an app, as far as its rows tell. */
export async function problemsIn(h: House, { own }: Stage): Promise<string[]> {
  const db = tenantDb(h.service.house.database.reader, own.app.id)
  const audits = [await auditTimeline(db), await auditPlaces(db), await auditMarks(db), await auditSides(db)]
  return [...audits.flat(), ...(await strangeTraces(h, own))]
}

/** Who has done something with a message, by the column that says so. */
const traces: [table: string, uid: string, message: string][] = [
  ['messages', 'edited_by', 'id'],
  ['messages', 'deleted_by', 'id'],
  ['messages', 'pinned_by', 'id'],
  ['reactions', 'uid', 'message_id'],
  ['saved_messages', 'uid', 'message_id'],
  ['thread_subscriptions', 'uid', 'parent_id'],
  ['interactions', 'uid', 'message_id'],
]

/** Whoever has left a trace on what two users say to each other is one of the two, or the app. */
async function strangeTraces(h: House, { app }: Camp): Promise<string[]> {
  const found: string[] = []
  for (const [table, uid, message] of traces) {
    const { rows } = await acrossApps(() =>
      sql<{
        uid: string
        id: number
      }>`SELECT ${sql.ref(`trace.${uid}`)} AS uid, said.id FROM ${sql.table(table)} AS trace
        JOIN messages AS said ON said.app_id = trace.app_id AND said.id = ${sql.ref(`trace.${message}`)}
        JOIN conversations ON conversations.app_id = said.app_id
          AND conversations.conversation_key = said.conversation_key
        WHERE trace.app_id = ${app.id} AND conversations.type = 'user' AND ${sql.ref(`trace.${uid}`)} IS NOT NULL
        AND ${sql.ref(`trace.${uid}`)} NOT IN (conversations.first, conversations.second, 'app_system')`.execute(
        h.service.house.database.reader.query,
      ),
    )
    found.push(...rows.map((row) => `${row.uid} left a trace in ${table} on message ${row.id}`))
  }
  return found
}

const cameIn = ['group.created', 'group.memberAdded', 'group.memberJoined', 'group.ownerTransferred']

/** Who has ever been in which group of an app, as `guid uid`. */
export async function everMembers(h: House, { own }: Stage): Promise<Set<string>> {
  const events = await tenantDb(h.service.house.database.reader, own.app.id)
    .select('events')
    .select(['events.payload'])
    .where('events.name', 'in', cameIn)
    .execute()
  return new Set(
    events.flatMap(({ payload }) => {
      const { group, user, members = {} } = JSON.parse(payload)
      const uids = [group.owner, ...(user ? [user.uid] : []), ...Object.keys(members)]
      return uids.map((uid) => `${group.guid} ${uid}`)
    }),
  )
}
