import { type RawBuilder, sql } from 'kysely'
import { pino } from 'pino'
import { createWithMembers, enterConversation, findGroup, insertMembers } from '../server/src/areas/groups/index.ts'
import { addMissingGroups } from '../server/src/areas/groups/store.ts'
import { sendMessage, speakerFor } from '../server/src/areas/messages/index.ts'
import { addMissingUsers, usersByUid } from '../server/src/areas/users/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import type { InApp, Work } from '../server/src/kit/work.ts'
import type { TenantDb } from '../server/src/storage/tenant.ts'
import { busyUser, groupOf, loadMessages, partnerAt } from './load-messages.ts'
import { loadUsers, uidAt } from './load-users.ts'

/**
 * An app in which every list has its worst case: messages of which one user sees all and has read none, every tenth of
 * them tagged, naming somebody and begun a thread; one thread and one message with reactions that never end; a group that
 * all users are in; as many groups as users; a user with very many conversations, and one with none.
 */

export const crowd = 'crowd'
export const stranger = 'stranger'
export const host = 'host'
export const commonTag = 'urgent'
/** Where the message is that began the long thread, and that everybody has reacted to. */
const famousGroup = groupOf(1_000)

const guestsMax = 20_000
const atOnce = 1_000
const manyEvery = 10

interface Place {
  data: string
  appId: string
  environment: Record<string, string>
}

/** How much of everything there is beside the messages. */
export interface Sizes {
  users: number
  groups: number
  /** Of the crowd. */
  members: number
  /** With whom one user has a conversation each. */
  guests: number
  /** How many of the messages are written by Parley's own code. */
  saidOnce?: number
}

/** A tenth as many users and groups as messages, unless it is said how many. */
export async function loadWorst(place: Place, messages: number, sizes = sizesFor(messages / 10)): Promise<void> {
  await loadMessages(place, messages, sizes.saidOnce)
  await loadUsers(place, sizes.users)
  const config = readConfig({ ...place.environment, PARLEY_DATA: place.data })
  const house = await openHouse(config, pino({ level: 'silent' }))
  const inApp: InApp = (run) => house.database.write((connection) => run(workIn(connection, place.appId, house.tools)))
  try {
    await inApp((work) =>
      addMissingUsers(
        work,
        [host, stranger].map((uid) => ({ uid, name: uid })),
      ),
    )
    await makeGroups(inApp, sizes.groups)
    await fillCrowd(inApp, sizes.members)
    await inviteGuests(inApp, sizes.guests)
    await inApp(({ db }) => makeRemarkable(db))
    await house.workers.settle()
  } finally {
    await house.close()
  }
}

function sizesFor(people: number): Sizes {
  return { users: people, groups: people, members: people, guests: Math.min(people, guestsMax) }
}

async function makeGroups(inApp: InApp, wanted: number): Promise<void> {
  for (let first = 0; first < wanted; first += atOnce) {
    const groups = Array.from({ length: Math.min(atOnce, wanted - first) }, (_, n) => ({
      guid: `club-${first + n}`,
      name: `Club of ${partnerAt(first + n)}`,
      tags: [(first + n) % manyEvery === 0 ? commonTag : 'quiet'],
    }))
    await inApp(({ db, now }) => addMissingGroups(db, groups, now - wanted + first))
  }
}

/** Lets everybody into one group, after something was said there. */
async function fillCrowd(inApp: InApp, people: number): Promise<void> {
  await inApp((work) => createWithMembers(work, undefined, { guid: crowd, name: crowd, owner: busyUser } as never))
  await inApp((work) => say(work, busyUser, crowd, 'group'))
  for (let first = 0; first < people; first += atOnce) {
    const uids = Array.from({ length: Math.min(atOnce, people - first) }, (_, n) => uidAt(first + n))
    await inApp(async (work) => {
      const group = await findGroup(work.db, crowd)
      if (!group) throw new Error('There is no crowd.')
      const users = [...(await usersByUid(work.db, uids)).values()]
      const members = users.map((user) => ({ user, scope: 'participant' as const }))
      await enterConversation(work, await insertMembers(work, group, members), users)
    })
  }
}

/** One user has a conversation with each of very many. */
async function inviteGuests(inApp: InApp, wanted: number): Promise<void> {
  for (let first = 0; first < wanted; first += atOnce) {
    await inApp(async (work) => {
      for (let n = first; n < Math.min(wanted, first + atOnce); n += 1) await say(work, host, uidAt(n), 'user')
    })
  }
}

async function say(work: Work, uid: string, receiver: string, receiverType: 'user' | 'group'): Promise<void> {
  const speaker = await speakerFor(work, { uid, role: 'default', roleId: null })
  const body = { receiver, receiverType, data: { text: 'Welcome to the workshop' } }
  await sendMessage(work, { ...speaker, actor: undefined }, body)
}

async function makeRemarkable(db: TenantDb): Promise<void> {
  const some = sql`messages.app_id = ${db.appId} AND messages.id % ${manyEvery} = 0`
  await run(
    db,
    sql`UPDATE conversation_rows SET read_seq = 0, delivered_seq = 0, read_counted = 0
      WHERE app_id = ${db.appId} AND uid = ${busyUser}`,
  )
  await run(
    db,
    sql`INSERT INTO message_tags (app_id, tag, message_id) SELECT app_id, ${commonTag}, id FROM messages WHERE ${some}`,
  )
  await run(
    db,
    sql`INSERT INTO message_mentions (app_id, uid, conversation_key, seq, message_id)
      SELECT app_id, ${busyUser}, conversation_key, seq, id FROM messages WHERE ${some}`,
  )
  await run(db, sql`UPDATE messages SET reply_count = 1, flags = flags || 'm' WHERE ${some}`)
  const inGroup = sql`messages.app_id = ${db.appId} AND messages.receiver = ${famousGroup}`
  const [first] = await db.sql<{ id: number }>`SELECT min(id) AS id FROM messages WHERE ${inGroup}`.execute()
  const id = first?.id
  const isReply = sql`${inGroup} AND messages.seq > 10 AND messages.id % 2 = 0`
  await run(db, sql`UPDATE messages SET parent_id = ${id}, reply_count = 0 WHERE ${isReply}`)
  await run(
    db,
    sql`UPDATE messages SET reply_count = (SELECT count(*) FROM messages WHERE ${isReply}) WHERE id = ${id}`,
  )
  await run(
    db,
    sql`INSERT INTO reactions (app_id, message_id, reaction, uid, reacted_at)
      SELECT app_id, ${id}, '👍', uid, created_at FROM users WHERE users.app_id = ${db.appId}`,
  )
}

async function run(db: TenantDb, statement: RawBuilder<unknown>): Promise<void> {
  await db.sql`${statement}`.execute()
}
