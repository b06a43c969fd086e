import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, type House, house } from '../../../../tests/support/house.ts'
import { times } from '../../../../tests/support/quick.ts'
import { type Random, randomFrom, seedFrom } from '../../../../tests/support/random.ts'
import { workIn } from '../../common/work-in.ts'
import type { Work } from '../../kit/work.ts'
import { usualSettings } from '../apps/index.ts'
import type { AppSettings } from '../apps/schemas.ts'
import { deleteMessage } from '../messages/index.ts'
import {
  advance,
  closeRow,
  findConversation,
  findRow,
  type MessageRow,
  messagesOf,
  openRows,
  type Place,
  placeOfGroup,
  placeOfUsers,
  retreat,
  type SeenMessage,
  unreadOf,
  writeMessage,
} from '../timeline/index.ts'

/**
 * Random histories of conversations, held against a recount that knows every message and every reader. What the product
 * keeps are cursors and numbers; what the model keeps is who has read what, one by one.
 */

interface Said {
  row: MessageRow
  deleted: boolean
  mentions: string[]
  /** Who has read it, and when. */
  readBy: Map<string, number>
}

class Model {
  said: Said[] = []
  readonly cursors = new Map<string, number>()

  join(uid: string): void {
    this.cursors.set(uid, this.said.at(-1)?.row.seq ?? 0)
  }

  wrote(row: MessageRow, mentions: string[]): void {
    this.read(row.sender, row.seq - 1, row.sent_at)
    if (this.cursors.has(row.sender)) this.cursors.set(row.sender, row.seq)
    this.said.push({ row, deleted: false, mentions, readBy: new Map() })
  }

  read(uid: string, upTo: number, at: number): void {
    const from = this.cursors.get(uid)
    if (from === undefined || from >= upTo) return
    for (const { row, readBy } of this.said) {
      if (row.seq > from && row.seq <= upTo && !readBy.has(uid)) readBy.set(uid, at)
    }
    this.cursors.set(uid, upTo)
  }

  unread(uid: string, downTo: number): void {
    if ((this.cursors.get(uid) ?? 0) <= downTo) return
    for (const { row, readBy } of this.said) if (row.seq > downTo) readBy.delete(uid)
    this.cursors.set(uid, downTo)
  }

  counts(uid: string, blocked: string[]) {
    const unread = this.said.filter(
      ({ row, deleted }) =>
        row.seq > (this.cursors.get(uid) ?? 0) &&
        row.counts === 1 &&
        !deleted &&
        row.sender !== uid &&
        !blocked.includes(row.sender),
    )
    return { messages: unread.length, mentions: unread.filter(({ mentions }) => mentions.includes(uid)).length }
  }
}

interface Size {
  members: number
  histories: Record<string, number>
  steps: number
}

const sizes: Size[] = [
  { members: 1, histories: { sqlite: times(30, 800), postgres: times(7, 60) }, steps: 12 },
  { members: 2, histories: { sqlite: times(100, 2_600), postgres: times(20, 200) }, steps: 18 },
  { members: 300, histories: { sqlite: times(50, 1_580), postgres: times(7, 60) }, steps: 18 },
  { members: 5_000, histories: { sqlite: times(2, 25), postgres: times(1, 4) }, steps: 25 },
]

const rowsAtOnce = 1_000

for (const database of databases) {
  describe(`random histories on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await h.app('one')
    })
    after(() => h.close())

    const inTransaction = <T>(run: (work: Work) => Promise<T>): Promise<T> => {
      const { database: store, tools } = h.service.house
      return store.write((connection) => run(workIn(connection, app.id, tools)))
    }

    for (const { members, histories, steps } of sizes) {
      const count = histories[database] ?? 0
      it(`counts in ${count} conversations of ${members} what a recount of their messages counts`, async () => {
        const seed = seedFrom('HISTORY_SEED')
        for (let n = 0; n < count; n += 1) {
          const random = randomFrom(seed + n * 7_919)
          const hint = `HISTORY_SEED=${seed + n * 7_919}, ${members} members`
          await inTransaction((work) => playHistory(work, `${members}-${n}`, members, steps, random, hint))
        }
      })
    }
  })
}

async function playHistory(
  work: Work,
  name: string,
  members: number,
  steps: number,
  random: Random,
  hint: string,
): Promise<void> {
  const { db } = work
  const uids = Array.from({ length: members }, (_, n) => `h${name}-${n}`)
  const direct = members === 2 && random.chance(0.5)
  const [first = '', second = ''] = uids
  const place = direct ? placeOfUsers(first, second) : placeOfGroup(`h${name}`)
  const model = new Model()
  if (direct) for (const uid of uids) model.join(uid)
  else {
    for (let from = 0; from < members; from += rowsAtOnce) {
      await openRows(db, place, uids.slice(from, from + rowsAtOnce), work.now)
    }
    for (const uid of uids) model.join(uid)
  }
  // A handful of people does everything, so that what they do meets.
  const active = uids.slice(0, 5)
  const blocks = new Map(active.map((uid) => [uid, active.filter((other) => other !== uid && random.chance(0.15))]))
  let now = work.now
  let settings = randomSettings(random)
  for (let step = 0; step < steps; step += 1) {
    now += random.whole(0, 3)
    if (random.chance(0.05)) settings = randomSettings(random)
    await playStep({ ...work, now, settings: async () => settings }, place, model, active, random)
  }
  for (const uid of active) await compare(work, place, model, uid, blocks.get(uid) ?? [], hint)
  if (direct) await compareReceipts(work, place, model, hint)
}

/** An app that takes notice of whatever comes up; what is counted must not depend on it. */
function randomSettings(random: Random): AppSettings {
  const flipped = Object.entries(usualSettings).map(([key, value]) => [
    key,
    typeof value === 'boolean' ? random.chance(0.5) : value,
  ])
  return Object.fromEntries(flipped)
}

async function playStep(work: Work, place: Place, model: Model, active: string[], random: Random): Promise<void> {
  const uid = random.pick(active)
  const what = random.whole(0, 99)
  const { said } = model
  const some = said.length === 0 ? undefined : random.pick(said)
  if (what < 45 || !some) return send(work, place, model, uid, active, random)
  const conversation = await findConversation(work.db, place.conversationKey)
  if (!conversation) return
  if (what < 65) {
    const { steps } = await advance(work, conversation, uid, random.chance(0.8) ? 'read' : 'delivered', some.row)
    if (steps.read) model.read(uid, some.row.seq, work.now)
  } else if (what < 78) {
    if (await retreat(work.db, conversation, uid, some.row)) model.unread(uid, some.row.seq)
  } else if (what < 90) {
    if (some.deleted || some.row.category === 'action') return
    const [row] = await rowsOf(work, some.row.id)
    if (!row) return
    await deleteMessage(work, row, undefined)
    some.deleted = true
    const [action] = await newest(work, place)
    if (action) model.wrote(action, [])
  } else if (place.type === 'group') {
    if (!model.cursors.has(uid)) return
    await closeRow(work.db, place, uid)
    await openRows(work.db, place, [uid], work.now)
    for (const { readBy } of said) readBy.delete(uid)
    model.join(uid)
  }
}

async function send(
  work: Work,
  place: Place,
  model: Model,
  uid: string,
  active: string[],
  random: Random,
): Promise<void> {
  if (!model.cursors.has(uid)) return
  const mentions = active.filter((other) => random.chance(0.2) && other !== uid)
  const isReply = random.chance(0.15)
  const row = await writeMessage(work, place, {
    sender: uid,
    receiver: place.type === 'group' ? place.first : uid === place.first ? place.second : place.first,
    category: 'message',
    type: 'text',
    data: { text: 'x', entities: {} },
    mentions,
    inThread: isReply,
  })
  model.wrote(row, mentions)
}

function rowsOf({ db }: Work, id: number): Promise<MessageRow[]> {
  return db.select('messages').selectAll().where('messages.id', '=', id).execute()
}

function newest({ db }: Work, { conversationKey }: Place): Promise<MessageRow[]> {
  return db
    .select('messages')
    .selectAll()
    .where('messages.conversation_key', '=', conversationKey)
    .orderBy('messages.seq', 'desc')
    .limit(1)
    .execute()
}

async function compare(
  { db }: Work,
  { conversationKey }: Place,
  model: Model,
  uid: string,
  blocked: string[],
  hint: string,
): Promise<void> {
  const conversation = await findConversation(db, conversationKey)
  const row = await findRow(db, conversationKey, uid)
  if (!conversation || !row) return assert.equal(model.said.length, 0, hint)
  const { last_seq, last_counted } = conversation
  const side = { ...row, last_seq, last_counted }
  const counted = (await unreadOf(db, [side], blocked)).get(conversationKey)
  assert.deepEqual(counted, model.counts(uid, blocked), `${hint}: unread of ${uid}`)
  assert.equal(row.read_seq, model.cursors.get(uid), `${hint}: cursor of ${uid}`)
  assert.deepEqual(
    model.said.map(({ row: { seq } }) => seq),
    model.said.map((_, index) => index + 1),
    `${hint}: numbers without gaps`,
  )
}

async function compareReceipts({ db }: Work, { conversationKey }: Place, model: Model, hint: string): Promise<void> {
  const rows = (await messagesOf(db, undefined)
    .where('messages.conversation_key', '=', conversationKey)
    .execute()) as SeenMessage[]
  const shown = new Map(rows.map((row) => [row.id, row.read_at]))
  for (const { row, readBy } of model.said) {
    if (row.sender === 'app_system') continue
    assert.equal(shown.get(row.id) ?? undefined, readBy.get(row.receiver), `${hint}: message ${row.seq} read`)
  }
}
