import { pino } from 'pino'
import { createWithMembers, enterConversation, findGroup, insertMembers } from '../server/src/areas/groups/index.ts'
import { sendMessage, speakerFor } from '../server/src/areas/messages/index.ts'
import { messagesList, searchEntry } from '../server/src/areas/messages/store.ts'
import { type MessageRow, type Place, placeOfGroup, placeOfUsers } from '../server/src/areas/timeline/index.ts'
import { addMissingUsers, usersByUid } from '../server/src/areas/users/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import type { InApp, Work } from '../server/src/kit/work.ts'
import { putSearchEntries } from '../server/src/storage/search.ts'
import { textAt } from './load-messages.ts'

/**
 * What is large enough to be deleted slowly: a group of 100,000 users with as many messages as are asked for, a user who
 * has said a tenth of that elsewhere, and two users with another tenth between them. Beside it stands a conversation that
 * goes on as if nothing happened.
 *
 * Everybody says one thing by Parley's own code; what follows is that message again, with all that it leaves behind.
 */

export const crowd = 'crowd'
export const crowdSize = 100_000
export const club = 'club'
export const talker = 'talker'
export const friends = ['castor', 'pollux'] as const
export const bystanders = ['nadia', 'emil'] as const

/** How many messages each part has where so many are asked for. */
export const talkerShare = 0.1
export const friendsShare = 0.1

const speakers = ['herald', 'crier', 'envoy', 'usher']
const usersAtOnce = 2_000
const messagesAtOnce = 500

const memberAt = (n: number) => `member-${n}`

export async function loadCrowd({ data, appId }: { data: string; appId: string }, wanted: number): Promise<void> {
  const house = await openHouse(readConfig({ PARLEY_DATA: data }), pino({ level: 'silent' }))
  const inApp: InApp = (run) => house.database.write((connection) => run(workIn(connection, appId, house.tools)))
  try {
    await addPeople(inApp, [...speakers, talker, ...friends, ...bystanders])
    await makeGroup(inApp, crowd, speakers)
    await makeGroup(inApp, club, [talker, ...bystanders])
    for (let first = 0; first < crowdSize; first += usersAtOnce) {
      const some = Array.from({ length: Math.min(usersAtOnce, crowdSize - first) }, (_, n) => memberAt(first + n))
      await addPeople(inApp, some)
      await enter(inApp, crowd, some)
    }
    await converse(inApp, placeOfGroup(crowd), speakers, wanted)
    await converse(inApp, placeOfGroup(club), [talker], wanted * talkerShare)
    await converse(inApp, placeOfUsers(...friends), [...friends], wanted * friendsShare)
    await converse(inApp, placeOfUsers(...bystanders), [...bystanders], 1_000)
    await house.workers.settle()
  } finally {
    await house.close()
  }
}

export function addPeople(inApp: InApp, uids: string[]): Promise<void> {
  const users = uids.map((uid) => ({ uid, name: uid }))
  return inApp((work) => addMissingUsers(work, users))
}

export async function makeGroup(inApp: InApp, guid: string, members: string[]): Promise<void> {
  const [owner, ...participants] = members
  await inApp((work) =>
    createWithMembers(work, undefined, { guid, name: guid, owner, members: { participants } } as never),
  )
}

/** Lets users into a group without a word about each. */
export function enter(inApp: InApp, guid: string, uids: string[]): Promise<void> {
  return inApp(async (work) => {
    const group = await findGroup(work.db, guid)
    if (!group) throw new Error(`There is no group ${guid}.`)
    const users = [...(await usersByUid(work.db, uids)).values()]
    const larger = await insertMembers(
      work,
      group,
      users.map((user) => ({ user, scope: 'participant' as const })),
    )
    await enterConversation(work, larger, users)
  })
}

/** A conversation in which speakers take turns until so much was said. */
export async function converse(inApp: InApp, place: Place, uids: string[], wanted: number): Promise<void> {
  const said: MessageRow[] = []
  for (const uid of uids) said.push(await inApp((work) => sayOnce(work, place, uid)))
  for (let left = wanted - said.length; left > 0; left -= messagesAtOnce) {
    await inApp((work) => repeat(work, place, said, Math.min(left, messagesAtOnce)))
  }
}

async function sayOnce(work: Work, place: Place, uid: string): Promise<MessageRow> {
  const { db } = work
  const speaker = await speakerFor(work, { uid, role: 'default', roleId: null })
  const receiver = place.type === 'group' ? place.first : place.first === uid ? place.second : place.first
  const body = { receiver, receiverType: place.type, data: { text: textAt(0) } }
  const { id } = await sendMessage(work, { ...speaker, actor: undefined }, body)
  return db.select('messages').selectAll().where('messages.id', '=', Number(id)).executeTakeFirstOrThrow()
}

/** Says more of the same: messages, what they can be found by, what each speaker has read by speaking. */
async function repeat({ db, now }: Work, place: Place, said: MessageRow[], count: number): Promise<void> {
  const { conversationKey } = place
  const conversation = await db
    .select('conversations')
    .selectAll()
    .where('conversations.conversation_key', '=', conversationKey)
    .executeTakeFirstOrThrow()
  const values = Array.from({ length: count }, (_, n) => {
    const seq = conversation.last_seq + n + 1
    const { id: _id, app_id: _app, ...same } = said[seq % said.length] as MessageRow
    const data = JSON.stringify({ ...JSON.parse(same.data), text: textAt(seq) })
    return { ...same, seq, counted: conversation.last_counted + n + 1, data, sent_at: now, updated_at: now }
  })
  const rows: MessageRow[] = await db.insert('messages', values).returningAll().execute()
  await putSearchEntries(db, messagesList, rows.map(searchEntry))
  const marks = values.map(({ sender, seq }) => ({ uid: sender, seq: seq - 1 }))
  if (said.length > 1) {
    const columns = { conversation_key: conversationKey, kind: 'read' as const, at: now }
    await db
      .insert(
        'receipt_marks',
        marks.map((mark) => ({ ...mark, ...columns })),
      )
      .execute()
  }
  for (const [sender, own] of Map.groupBy(values, (value) => value.sender)) {
    const { seq, counted } = own.at(-1) as (typeof values)[number]
    await db
      .update('conversation_rows')
      .set({ delivered_seq: seq, read_seq: seq, read_counted: counted })
      .where('conversation_key', '=', conversationKey)
      .where('uid', '=', sender)
      .execute()
  }
  const last_seq = conversation.last_seq + count
  await db
    .update('conversations')
    .set({
      last_seq,
      shown_seq: last_seq,
      last_counted: conversation.last_counted + count,
      active_at: now,
      last_at: now,
    })
    .where('conversation_key', '=', conversationKey)
    .execute()
}
