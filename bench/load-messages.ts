import { type RawBuilder, sql } from 'kysely'
import { pino } from 'pino'
import { sendMessage, speakerFor } from '../server/src/areas/messages/index.ts'
import { messagesList } from '../server/src/areas/messages/store.ts'
import { openRows, placeOfGroup } from '../server/src/areas/timeline/index.ts'
import { addMissingUsers } from '../server/src/areas/users/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import type { Work } from '../server/src/kit/work.ts'
import type { TenantDb } from '../server/src/storage/tenant.ts'

/**
 * Conversations of every size: one user with 2,000 conversations, groups of 10, 1,000 and 100,000 members, and as many
 * messages as are asked for, spread over all of them. The first 10,000, if nothing else is asked for, are written by Parley's
 * own code; what follows is said again, with the numbers that come next.
 */

export const busyUser = 'busy'
export const groupSizes = [10, 1_000, 100_000]
const conversations = 2_000
const perTransaction = 200
const saidOnceUsually = 10_000
const rowsAtOnce = 2_000
export const rareWord = 'quartersawn'
const rareEvery = 10_000

const words =
  'oak ash beech walnut chair table bench drawer hinge varnish plane chisel today tomorrow please thanks'.split(' ')

/** What some say in other scripts, and a word of each to look for. */
export const otherScripts = [
  { text: '明日 椅子を運びます', word: '椅子' },
  { text: 'Стул будет готов завтра', word: 'Стул' },
  { text: 'الكرسي جاهز غدا', word: 'الكرسي' },
  { text: 'कुर्सी कल तैयार होगी', word: 'कुर्सी' },
]
const otherScriptEvery = 25

/** Six words that differ from message to message. */
export function textAt(n: number): string {
  return [0, 1, 2, 3, 4, 5].map((k) => words[(n * 7 + k * k * 3) % words.length]).join(' ')
}

function otherTextAt(n: number): string {
  return otherScripts[Math.floor(n / otherScriptEvery) % otherScripts.length]?.text ?? ''
}

interface Place {
  data: string
  appId: string
  environment: Record<string, string>
}

export const groupOf = (size: number) => `group-of-${size}`
export const partnerAt = (n: number) => `partner-${n}`

export async function loadMessages(
  { data, appId, environment }: Place,
  wanted: number,
  saidOnce = saidOnceUsually,
): Promise<void> {
  const house = await openHouse(readConfig({ ...environment, PARLEY_DATA: data }), pino({ level: 'silent' }))
  const inApp = <T>(run: (work: Work) => Promise<T>) =>
    house.database.write((connection) => run(workIn(connection, appId, house.tools)))
  try {
    const uids = [busyUser, ...Array.from({ length: conversations }, (_, n) => partnerAt(n))]
    await inApp((work) =>
      addMissingUsers(
        work,
        uids.map((uid) => ({ uid, name: uid })),
      ),
    )
    for (const size of groupSizes) await makeGroup(inApp, size)
    const said = Math.min(wanted, saidOnce)
    for (let first = 0; first < said; first += perTransaction) {
      await inApp(async (work) => {
        const speakers = new Map<string, Awaited<ReturnType<typeof speakerFor>>>()
        for (let n = first; n < Math.min(said, first + perTransaction); n += 1) await sendOne(work, n, speakers)
      })
    }
    await sayAgain(inApp, Math.floor(wanted / said))
    await house.database.write((connection) => house.database.renumber(connection, 'messages'))
  } finally {
    await house.close()
  }
}

/** Members of a large group need no users of their own to be counted and waited for. */
async function makeGroup(inApp: <T>(run: (work: Work) => Promise<T>) => Promise<T>, size: number): Promise<void> {
  const guid = groupOf(size)
  await inApp(async (work) => {
    const { createWithMembers } = await import('../server/src/areas/groups/index.ts')
    await createWithMembers(work, undefined, { guid, name: guid, owner: busyUser } as never)
  })
  for (let first = 0; first < size; first += rowsAtOnce) {
    const some = Array.from({ length: Math.min(rowsAtOnce, size - first) }, (_, n) => `member-${first + n}`)
    await inApp(({ db, now }) => openRows(db, placeOfGroup(guid), some, now))
  }
}

async function sendOne(work: Work, n: number, speakers: Map<string, Awaited<ReturnType<typeof speakerFor>>>) {
  const partner = partnerAt(n % conversations)
  // Another fifth in each round, so that there is a conversation with every partner.
  const toGroup = (n + Math.floor(n / conversations)) % 5 === 4
  const from = n % 2 === 0 || toGroup ? busyUser : partner
  const speaker = speakers.get(from) ?? (await speakerFor(work, { uid: from, role: 'default', roleId: null }))
  speakers.set(from, speaker)
  const text = n % otherScriptEvery === 3 ? otherTextAt(n) : textAt(n)
  await sendMessage(
    work,
    { ...speaker, actor: undefined },
    {
      receiver: toGroup ? groupOf(groupSizes[n % 3] as number) : from === busyUser ? partner : busyUser,
      receiverType: toGroup ? 'group' : 'user',
      data: { text: n % rareEvery === 1 ? `${text} ${rareWord}` : text },
    },
  )
}

/** All that was said, so many times in all: each time with later ids and the next numbers of its conversations. */
async function sayAgain(inApp: <T>(run: (work: Work) => Promise<T>) => Promise<T>, times: number): Promise<void> {
  const span = await inApp(({ db }) => firstAndLast(db))
  for (let time = 1; time < times; time += 1) {
    await inApp(async ({ db }) => {
      const rows = await db.sql<Record<string, unknown>>`SELECT * FROM messages WHERE messages.app_id = ${db.appId}
        LIMIT 1`.execute()
      const shift = time * (span.last - span.first + 1)
      const later: Record<string, RawBuilder<unknown>> = {
        id: sql`messages.id + ${shift}`,
        seq: sql`messages.seq + conversations.last_seq * ${time}`,
        counted: sql`messages.counted + conversations.last_counted * ${time}`,
        sent_at: sql`${span.at}`,
        updated_at: sql`${span.at}`,
      }
      const columns = Object.keys(rows[0] ?? {})
      await db.sql`INSERT INTO messages (${sql.join(columns.map((name) => sql.ref(name)))})
        SELECT ${sql.join(columns.map((name) => later[name] ?? sql.ref(`messages.${name}`)))} FROM messages
        JOIN conversations ON conversations.app_id = messages.app_id
          AND conversations.conversation_key = messages.conversation_key
        WHERE messages.app_id = ${db.appId} AND messages.id BETWEEN ${span.first} AND ${span.last}
        ORDER BY messages.id`.execute()
      await db.sql`INSERT INTO search_entries (app_id, list, id, at, text, marks)
        SELECT app_id, list, CAST(at + ${shift} AS text), at + ${shift}, text, marks FROM search_entries
        WHERE search_entries.app_id = ${db.appId} AND search_entries.list = ${messagesList}
          AND search_entries.at BETWEEN ${span.first} AND ${span.last} ORDER BY at`.execute()
    })
  }
  await inApp(({ db }) => moveEnds(db, times - 1))
}

async function firstAndLast(db: TenantDb): Promise<{ first: number; last: number; at: number }> {
  const rows = await db.sql<{ first: number; last: number; at: number }>`
    SELECT min(messages.id) AS first, max(messages.id) AS last, max(messages.sent_at) AS at FROM messages
    WHERE messages.app_id = ${db.appId}`.execute()
  return rows[0] as { first: number; last: number; at: number }
}

/** Conversations end, and their users stand, where they did before all was said so many times more. */
async function moveEnds(db: TenantDb, more: number): Promise<void> {
  const ofConversation = (column: string) => sql`(SELECT ${sql.ref(`conversations.${column}`)} FROM conversations
    WHERE conversations.app_id = ${db.appId} AND conversations.conversation_key = moved.conversation_key) * ${more}`
  await db.sql`UPDATE receipt_marks AS moved SET seq = moved.seq + ${ofConversation('last_seq')}
    WHERE moved.app_id = ${db.appId}`.execute()
  await db.sql`UPDATE conversation_rows AS moved SET read_seq = moved.read_seq + ${ofConversation('last_seq')},
    delivered_seq = moved.delivered_seq + ${ofConversation('last_seq')},
    read_counted = moved.read_counted + ${ofConversation('last_counted')}
    WHERE moved.app_id = ${db.appId}`.execute()
  await db.sql`UPDATE conversations SET shown_seq = shown_seq + last_seq * ${more}, last_seq = last_seq * ${more + 1},
    last_counted = last_counted * ${more + 1} WHERE conversations.app_id = ${db.appId}`.execute()
}
