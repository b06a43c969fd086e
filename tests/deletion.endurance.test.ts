import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { enterConversation, findGroup, insertMembers } from '../server/src/areas/groups/index.ts'
import { messagesList, searchEntry } from '../server/src/areas/messages/store.ts'
import { reactTo } from '../server/src/areas/reactions/index.ts'
import {
  type MessageRow,
  type Place,
  placeOfGroup,
  placeOfUsers,
  rowsPerBatch,
  writeMessage,
} from '../server/src/areas/timeline/index.ts'
import { addMissingUsers, usersByUid } from '../server/src/areas/users/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import type { Work } from '../server/src/kit/work.ts'
import { type Connection, connectionOver } from '../server/src/storage/connection.ts'
import { putSearchEntries } from '../server/src/storage/search.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { type DatabaseName, databases } from './support/databases.ts'
import { dump } from './support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import { appWith, as, sayIn } from './support/talk.ts'
import { settleUntil } from './support/until.ts'

/**
 * However much is deleted, no transaction touches more than a fixed number of rows. Some hundreds of rows more than a
 * batch holds are enough to see it.
 */
const many = rowsPerBatch * 2 + 100
// A batch that is looked at and then deleted, and what the job and its followers note.
const rowsInTransactionMax = rowsPerBatch * 2 + 50

type Write = House['service']['house']['database']['write']

/** What transactions have touched: rows that statements have changed, or read. */
interface Watch {
  inStatement: number
  inTransaction: number
  transactions: number
  stop(): void
}

/** Looks at every transaction from now on; `spoil` may let one of them fail at its end. */
function watch({ service: { house: opened } }: House, spoil?: (transaction: number) => void): Watch {
  const { database } = opened
  const { write } = database
  const seen: Watch = {
    inStatement: 0,
    inTransaction: 0,
    transactions: 0,
    stop: () => void Object.assign(database, { write }),
  }
  const watched: Write = (work) =>
    write(async (connection) => {
      let rows = 0
      const count = (n: number) => {
        rows += n
        seen.inStatement = Math.max(seen.inStatement, n)
        seen.inTransaction = Math.max(seen.inTransaction, rows)
      }
      const result = await work(counting(connection, count))
      seen.transactions += 1
      spoil?.(seen.transactions)
      return result
    })
  database.write = watched
  return seen
}

function counting({ flavour, run }: Connection, count: (rows: number) => void): Connection {
  return connectionOver(flavour, async (sql, parameters) => {
    const outcome = await run(sql, parameters)
    count(outcome.changes)
    return outcome
  })
}

function inApp<T>({ service }: House, { id }: AppClient, work: (work: Work) => Promise<T>): Promise<T> {
  const { database, tools } = service.house
  return database.write((connection) => work(workIn(connection, id, tools)))
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const memberAt = (n: number) => `member-${n}`

/** A group of its owner and many others. */
async function crowd(h: House, app: AppClient, owner: string): Promise<void> {
  assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', type: 'public', owner }))
  await inApp(h, app, async (work) => {
    const uids = numbers(many).map(memberAt)
    const profiles = uids.map((uid) => ({ uid, name: uid }))
    await addMissingUsers(work, profiles)
    const users = [...(await usersByUid(work.db, uids)).values()]
    const group = await findGroup(work.db, 'g')
    assert.ok(group)
    const newcomers = users.map((user) => ({ user, scope: 'participant' as const }))
    await enterConversation(work, await insertMembers(work, group, newcomers), users)
  })
}

/** Says something very often, speakers in turn, by the code that writes messages. */
async function talk(h: House, app: AppClient, place: Place, speakers: string[], count = many): Promise<MessageRow[]> {
  return inApp(h, app, async (work) => {
    const rows: MessageRow[] = []
    for (const n of numbers(count)) {
      const sender = speakers[n % speakers.length] as string
      const receiver = place.type === 'group' ? place.first : (speakers[(n + 1) % speakers.length] as string)
      const said = { category: 'message', type: 'text', data: { text: `word ${n}` }, counts: true, shown: true }
      rows.push(await writeMessage(work, place, { sender, receiver, ...said }))
    }
    await putSearchEntries(work.db, messagesList, rows.map(searchEntry))
    return rows
  })
}

/** The rows of some tables of an app. */
async function rowsIn(h: House, { id }: AppClient, tables: string[], about: RegExp): Promise<string[]> {
  const all = await dump(h)
  return tables.flatMap((table) => (all[table] ?? []).filter((row) => row.includes(id) && about.test(row)))
}

/** Lets workers go on until nothing is left. */
async function settleUntilGone(h: House, app: AppClient, tables: string[], about: RegExp): Promise<void> {
  await h.settle()
  await settleUntil(h, `${tables} are empty`, async () => (await rowsIn(h, app, tables, about)).length === 0)
}

function assertBounded({ inStatement, inTransaction }: Watch): void {
  assert.ok(inStatement <= rowsPerBatch, `a statement touched ${inStatement} rows`)
  assert.ok(inTransaction <= rowsInTransactionMax, `a transaction touched ${inTransaction} rows`)
}

async function withHouse(database: DatabaseName, work: (h: House) => Promise<void>): Promise<void> {
  const h = await house({ database })
  try {
    await work(h)
  } finally {
    await h.close()
  }
}

for (const database of databases) {
  describe(`deleting much on ${database}`, () => {
    it('takes a group in small transactions, with members, messages and what was kept about them', () =>
      withHouse(database, async (h) => {
        const app = await appWith(h, 'ada')
        await crowd(h, app, 'ada')
        const [first] = await talk(h, app, placeOfGroup('g'), [memberAt(0), memberAt(1)])
        await inApp(h, app, async (work) => {
          for (const n of numbers(rowsPerBatch + 1)) await reactTo(work, first?.id ?? 0, memberAt(n), '👍')
        })
        await h.settle()
        const seen = watch(h)
        assertSucceeds(await app.delete('/groups/g'))
        await settleUntilGone(h, app, ['search_entries'], /"list":"messages"/)
        seen.stop()
        assertBounded(seen)
        const tables = [
          ...['group_members', 'conversations', 'conversation_rows', 'receipt_marks', 'messages', 'message_mentions'],
          ...['reactions', 'reaction_counts', 'jobs'],
        ]
        await settleUntilGone(h, app, tables, /./)
      }))

    it('hides a deleted group from the next of its GUID before it is cleared away', () =>
      withHouse(database, async (h) => {
        const app = await appWith(h, 'ada')
        await crowd(h, app, 'ada')
        const [old] = await talk(h, app, placeOfGroup('g'), [memberAt(0)], 10)
        // Workers would clear it away before anybody looks.
        await h.service.house.workers.stop()
        assertSucceeds(await app.delete('/groups/g'))
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'Next', type: 'public', owner: memberAt(0) }))
        const message = await sayIn(app, 'g', memberAt(0))
        for (const headers of [{}, as(memberAt(0))]) {
          const { data } = assertSucceeds(await app.get('/groups/g/messages?limit=100', headers))
          assert.deepEqual(
            data.map(({ id }: { id: string }) => id),
            [message.id],
          )
          assertFails(await app.get(`/messages/${old?.id}`, headers), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
        }
        await h.settle()
        const db = tenantDb(h.service.house.database.reader, app.id)
        const left = await db.select('messages').select('messages.id').execute()
        assert.deepEqual(
          left.map(({ id }) => String(id)),
          [message.id],
        )
      }))

    it('takes a user in small transactions, with all that they said', () =>
      withHouse(database, async (h) => {
        const app = await appWith(h, 'ada', 'bo')
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'bo' }))
        await talk(h, app, placeOfGroup('g'), ['ada'])
        await h.settle()
        const seen = watch(h)
        assertSucceeds(await app.delete('/users/ada', { permanent: true }))
        await settleUntilGone(h, app, ['messages', 'search_entries', 'jobs'], /ada|word/)
        seen.stop()
        assertBounded(seen)
      }))

    it('takes a conversation in small transactions, and goes on after a failure where it was', () =>
      withHouse(database, async (h) => {
        const app = await appWith(h, 'ada', 'bo')
        const said = await talk(h, app, placeOfUsers('ada', 'bo'), ['ada', 'bo'])
        await h.settle()
        const onPurpose = new Error('out of order on purpose')
        const seen = watch(h, (transaction) => {
          if (transaction % 10 === 9) throw onPurpose
        })
        const path = '/users/bo/conversation'
        assertSucceeds(await app.delete(path, { deleteMessagesPermanently: true }, as('ada')))
        for (let round = 0; round < 20; round += 1) {
          // Whoever waits for the workers is told when they cannot even claim a job.
          await h.settle().catch((error) => assert.equal(error, onPurpose))
          h.clock.setOffset(h.clock.offsetSeconds() + 3_600)
        }
        seen.stop()
        await settleUntilGone(h, app, ['messages', 'receipt_marks', 'jobs'], /./)
        assertBounded(seen)
        const erased = await rowsIn(h, app, ['events'], /messages\.erased/)
        const ids = erased.flatMap((row) => JSON.parse(JSON.parse(row).payload).ids as number[])
        assert.deepEqual(
          ids.toSorted((a, b) => a - b),
          said.map(({ id }) => id),
        )
      }))

    it('hides a conversation from everybody at once, however many they are', () =>
      withHouse(database, async (h) => {
        const app = await appWith(h, 'ada', 'late')
        await crowd(h, app, 'ada')
        await talk(h, app, placeOfGroup('g'), [memberAt(0)], 5)
        await h.settle()
        const seen = watch(h)
        assertSucceeds(await app.delete('/conversations/group_g', undefined, as('ada')))
        seen.stop()
        assert.ok(seen.inTransaction < 50, `the request touched ${seen.inTransaction} rows`)
        const listed = async (uid: string) => assertSucceeds(await app.get('/conversations', as(uid))).data
        const read = async (uid: string) => assertSucceeds(await app.get('/groups/g/messages', as(uid))).data
        for (const uid of ['ada', memberAt(0), memberAt(many - 1)]) {
          assert.deepEqual([await listed(uid), await read(uid)], [[], []])
        }
        assertSucceeds(await app.post('/groups/g/members', { participants: ['late'] }))
        assert.equal((await read('late')).length, 1)
        const message = await sayIn(app, 'g', memberAt(0))
        const [conversation] = await listed(memberAt(1))
        assert.deepEqual([conversation.lastMessage.id, conversation.unreadMessageCount], [message.id, '2'])
        assert.equal((await listed('late'))[0].unreadMessageCount, '2')
      }))
  })
}
