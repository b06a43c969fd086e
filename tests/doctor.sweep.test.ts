import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { auditCalls } from '../server/src/areas/calls/audit.ts'
import { beginCall, happen, newSessionId } from '../server/src/areas/calls/ledger.ts'
import { initiate } from '../server/src/areas/calls/rules.ts'
import { claimFiles, keepFile, openReception, releaseFiles } from '../server/src/areas/files/index.ts'
import { auditSides } from '../server/src/areas/groups/audit.ts'
import { auditMarks } from '../server/src/areas/messages/audit.ts'
import { auditPlaces, auditTimeline } from '../server/src/areas/timeline/audit.ts'
import { placeOfGroup, placeOfUsers } from '../server/src/areas/timeline/index.ts'
import { auditUsers } from '../server/src/areas/users/audit.ts'
import { doctor } from '../server/src/cli/doctor.ts'
import { workIn } from '../server/src/common/work-in.ts'
import type { InApp, Work } from '../server/src/kit/work.ts'
import { type TenantDb, tenantDb } from '../server/src/storage/tenant.ts'
import { ordinary } from './support/bombs.ts'
import { databases } from './support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import { parley } from './support/parley.ts'
import { s3Server } from './support/s3.ts'
import { as, say, sayIn } from './support/talk.ts'

/** The doctor finds whatever is stored and does not follow from ledgers of calls, users and messages, and nothing else. */

const picture = await ordinary()
const auditsBesideWriters = 3
const writers = 4
// Live calls of this test outlive it.
const environment = { PARLEY_LEASE_SECONDS: '3600' }

/** The calls that are tampered with. */
interface Calls {
  ended: string
  live: string
}

type Tampering = [what: string, tamper: (db: TenantDb, calls: Calls) => Promise<unknown>, finding: RegExp]

const setCall = (sessionId: string, db: TenantDb, values: Record<string, unknown>) =>
  db.update('calls').set(values).where('session_id', '=', sessionId).execute()

const columns: [column: string, value: unknown][] = [
  ['initiated_at', sql`initiated_at + 1`],
  ['ended_at', sql`ended_at + 1`],
  ['ended_at', null],
  ['facets', 'audio|call|ended|user|9|0|0'],
  ['live', 1],
  ['live_in_group', 'crew'],
  ['document', sql`replace(document, 'nora', 'nobody')`],
  ['extras', '"metaData":[],"tags":["other"]'],
  ['transcriptions', null],
  ['fact_count', sql`fact_count + 1`],
  ['updated_at', sql`updated_at + 1`],
]

const tamperedColumns = columns.map(
  ([column, value]): Tampering => [
    `${column} ${value === null ? 'without its value' : 'with another value'}`,
    (db, { ended }) => setCall(ended, db, { [column]: value }),
    new RegExp(`its ${column} does not follow`),
  ],
)

const ofCall = (db: TenantDb, sessionId: string) => ({
  facts: db.update('call_facts').where('session_id', '=', sessionId),
  lessFacts: db.delete('call_facts').where('session_id', '=', sessionId),
  members: db.update('call_members').where('session_id', '=', sessionId),
  lessMembers: db.delete('call_members').where('session_id', '=', sessionId),
})

const noLedger = /has no ledger that can be replayed/

const tamperedRows: Tampering[] = [
  ['a ledger that is gone', (db, { ended }) => ofCall(db, ended).lessFacts.execute(), noLedger],
  [
    'a ledger without its beginning',
    (db, { ended }) => ofCall(db, ended).lessFacts.where('number', '=', 1).execute(),
    noLedger,
  ],
  [
    'a fact that is no JSON',
    (db, { ended }) => ofCall(db, ended).facts.set({ fact: '{' }).where('number', '=', 2).execute(),
    noLedger,
  ],
  [
    'a fact whose number is missing',
    (db, { ended }) => ofCall(db, ended).facts.set({ number: 99 }).where('number', '=', 3).execute(),
    /not numbered from 1 without gaps/,
  ],
  [
    'a fact that was changed',
    (db, { ended }) => ofCall(db, ended).facts.set({ fact: sql`replace(fact, '"left"', '"rung"')` }).execute(),
    /its document does not follow/,
  ],
  [
    'a member who is missing',
    (db, { ended }) => ofCall(db, ended).lessMembers.where('uid', '=', 'milo').execute(),
    /list of members/,
  ],
  [
    'a member too many',
    (db, { ended }) => db.insert('call_members', { session_id: ended, uid: 'zoe', initiated_at: 1 }).execute(),
    /list of members/,
  ],
  [
    'a member at another time',
    (db, { ended }) => ofCall(db, ended).members.set({ initiated_at: 1 }).where('uid', '=', 'milo').execute(),
    /another time/,
  ],
  [
    'a member who did not place the call',
    (db, { ended }) => ofCall(db, ended).members.set({ placed: 1 }).where('uid', '=', 'milo').execute(),
    /outgoing for somebody else/,
  ],
  [
    'a member in a group that it was not in',
    (db, { ended }) => ofCall(db, ended).members.set({ guid: 'team' }).where('uid', '=', 'milo').execute(),
    /another group/,
  ],
  [
    'a call that is gone and left facts behind',
    (db, { ended }) => db.delete('calls').where('session_id', '=', ended).execute(),
    /has facts but does not exist/,
  ],
  [
    'facts of no call',
    (db) => db.insert('call_facts', { session_id: 'none', number: 1, recorded_at: 1, fact: '{}' }).execute(),
    /call none has facts but/,
  ],
  [
    'a member of no call',
    (db) => db.insert('call_members', { session_id: 'none', uid: 'nora', initiated_at: 1 }).execute(),
    /call none has members but/,
  ],
  [
    'a sign of life in no call',
    (db) => db.insert('call_signs', { session_id: 'none', uid: 'nora', device_id: 'd', seen_at: 1 }).execute(),
    /call none has signs of life but/,
  ],
  [
    'a sign of life in a call that is over',
    (db, { ended }) =>
      db.insert('call_signs', { session_id: ended, uid: 'nora', device_id: 'd', seen_at: 1 }).execute(),
    /is over and has signs of life/,
  ],
  [
    'a device in a live call that cannot be heard of',
    (db, { live }) => db.delete('call_signs').where('session_id', '=', live).where('device_id', '=', 'b').execute(),
    /its signs of life are not those of the devices in it/,
  ],
  [
    'a live call without a watcher',
    (db, { live }) => db.delete('jobs').where('key', '=', live).execute(),
    /is live and nobody watches it/,
  ],
  [
    'a live call whose watcher is dead',
    (db, { live }) => db.update('jobs').set({ dead_at: 1 }).where('key', '=', live).execute(),
    /is live and nobody watches it/,
  ],
]

const counts = (db: TenantDb, list: string, level: number) =>
  db.update('tallies').where('list', '=', list).where('level', '=', level)

const tamperedCounts: Tampering[] = [
  ...[0, 1, 2, 3].map(
    (level): Tampering => [
      `a count of all calls on level ${level}`,
      (db) => counts(db, 'calls', level).set({ n: sql`n + 1` }).where('facets', '=', '*').execute(),
      level === 0 ? /there are 3 calls and lists count 4/ : new RegExp(`of \\* in span \\d+ of level ${level} there`),
    ],
  ),
  ...[0, 1, 2].map(
    (level): Tampering => [
      `a count of one kind of calls on level ${level}`,
      (db) => counts(db, 'calls', level).set({ n: sql`n - 1` }).where('facets', 'like', 'video%').execute(),
      new RegExp(`of video\\S+ in span \\d+ of level ${level} there are 1 and the list "calls" counts 0`),
    ],
  ),
  [
    'a count that is gone',
    (db) => db.delete('tallies').where('list', '=', 'calls').where('level', '=', 3).execute(),
    /level 3 there are \d and the list "calls" counts 0/,
  ],
  [
    'a count of calls that do not exist',
    (db) => db.insert('tallies', { list: 'calls', level: 2, bucket: 7, facets: 'x', n: 1 }).execute(),
    /of x in span 7 of level 2 there are 0 and the list "calls" counts 1/,
  ],
  [
    "a user's count of all calls",
    (db) => counts(db, 'calls of nora', 0).set({ n: sql`n + 1` }).where('facets', '=', '*').execute(),
    /there are 3 and the list "calls of nora" counts 4/,
  ],
  [
    "a user's count of one kind of calls",
    (db) => counts(db, 'calls of milo', 0).set({ n: sql`n + 1` }).where('facets', 'like', 'video%').execute(),
    /there are 1 and the list "calls of milo" counts 2/,
  ],
  [
    'counts of a user who had no call',
    (db) => db.insert('tallies', { list: 'calls of ghost', level: 0, bucket: 0, facets: '*', n: 2 }).execute(),
    /there are 0 and the list "calls of ghost" counts 2/,
  ],
]

const ofTagged = (db: TenantDb) => ({
  row: db.update('users').where('uid', '=', 'tagged'),
  entry: db.update('search_entries').where('list', '=', 'users').where('id', '=', 'tagged'),
  tags: db.update('user_tags').where('uid', '=', 'tagged'),
})

const tamperedUsers: Tampering[] = [
  [
    'facets that are not the user’s',
    (db) => ofTagged(db).row.set({ facets: 'admin|0' }).execute(),
    /user tagged is listed under facets/,
  ],
  [
    'a user who is gone and left an entry behind',
    (db) => db.delete('users').where('uid', '=', 'tagged').execute(),
    /user tagged is found by search but does not exist/,
  ],
  [
    'a user who is gone and left tags behind',
    (db) => db.delete('users').where('uid', '=', 'tagged').execute(),
    /user tagged has tags but does not exist/,
  ],
  [
    'a user who is gone and left counts behind',
    (db) => db.delete('users').where('uid', '=', 'tagged').execute(),
    /there are 3 users and lists count 4/,
  ],
  [
    'a search entry that is gone',
    (db) => db.delete('search_entries').where('list', '=', 'users').where('id', '=', 'tagged').execute(),
    /user tagged cannot be found by search/,
  ],
  [
    'a search entry with another text',
    (db) => ofTagged(db).entry.set({ text: 'someone else' }).execute(),
    /user tagged is found by texts that are not theirs/,
  ],
  [
    'a search entry at another place',
    (db) => ofTagged(db).entry.set({ at: sql`at + 1` }).execute(),
    /user tagged is found at another place/,
  ],
  [
    'a search entry of nobody',
    (db) => db.insert('search_entries', { list: 'users', id: 'ghost', at: 1, text: 'ghost', marks: '' }).execute(),
    /user ghost is found by search but does not exist/,
  ],
  [
    'a tag that is missing',
    (db) => db.delete('user_tags').where('uid', '=', 'tagged').where('tag', '=', 'vip').execute(),
    /user tagged is not found by their tag "vip"/,
  ],
  [
    'a tag too many',
    (db) => db.insert('user_tags', { uid: 'tagged', tag: 'odd' }).execute(),
    /user tagged is found by "odd", which is no tag/,
  ],
  [
    'a tag of a user without any',
    (db) => db.insert('user_tags', { uid: 'nora', tag: 'odd' }).execute(),
    /user nora is found by "odd", which is no tag/,
  ],
  [
    'tags that are no JSON',
    (db) => ofTagged(db).row.set({ tags: '[' }).execute(),
    /user tagged has tags that cannot be read/,
  ],
  [
    'a tag of nobody',
    (db) => db.insert('user_tags', { uid: 'ghost', tag: 'vip' }).execute(),
    /user ghost has tags but does not exist/,
  ],
  ...[0, 1, 2, 3].map(
    (level): Tampering => [
      `a count of all users on level ${level}`,
      (db) => counts(db, 'users', level).set({ n: sql`n + 1` }).where('facets', '=', '*').execute(),
      level === 0 ? /there are 4 users and lists count 5/ : new RegExp(`of \\* in span \\d+ of level ${level} there`),
    ],
  ),
  ...[0, 1, 2].map(
    (level): Tampering => [
      `a count of one kind of users on level ${level}`,
      (db) => counts(db, 'users', level).set({ n: sql`n - 1` }).where('facets', 'like', 'default%').execute(),
      new RegExp(`of default\\S+ in span \\d+ of level ${level} there are \\d users and lists count`),
    ],
  ),
  [
    'a count of users that is gone',
    (db) => db.delete('tallies').where('list', '=', 'users').where('level', '=', 3).execute(),
    /level 3 there are \d users and lists count 0/,
  ],
  [
    'a count of users who do not exist',
    (db) => db.insert('tallies', { list: 'users', level: 2, bucket: 7, facets: 'x', n: 1 }).execute(),
    /of x in span 7 of level 2 there are 0 users and lists count 1/,
  ],
]

const [ofTwo, ofGroup] = [placeOfUsers('nora', 'milo').conversationKey, placeOfGroup('crew').conversationKey]
const nowhere = placeOfUsers('nora', 'nobody').conversationKey

/** The message of this text. */
const said = (text: string) => sql<boolean>`category = 'message' AND data LIKE ${`%"text":"${text}"%`}`
const messageOf = (db: TenantDb, text: string) => db.update('messages').where(said(text))
const sideOf = (db: TenantDb, uid: string) =>
  db.update('conversation_rows').where('conversation_key', '=', ofTwo).where('uid', '=', uid)
const conversation = (db: TenantDb) => db.update('conversations').where('conversation_key', '=', ofTwo)
const aSide = { delivered_seq: 0, read_seq: 0, read_counted: 0, created_at: 1 }

const tamperedTalk: Tampering[] = [
  [
    'a conversation under another key than its own',
    (db) => conversation(db).set({ second: 'kenji' }).execute(),
    /user\/milo\/nora is that of user milo kenji/,
  ],
  [
    'a conversation whose users stand in another order',
    (db) => conversation(db).set({ first: 'nora', second: 'milo' }).execute(),
    /user\/milo\/nora is that of user nora milo/,
  ],
  [
    'a group’s conversation that passes for one of two users',
    (db) => db.update('conversations').set({ type: 'user' }).where('conversation_key', '=', ofGroup).execute(),
    /group\/crew is that of user crew/,
  ],
  ...Object.entries({
    sender: { sender: 'kenji' },
    receiver: { receiver: 'kenji' },
    'kind of receiver': { receiver_type: 'group' as const },
    conversation: { conversation_key: ofGroup, seq: 99 },
  }).map(
    ([what, columns]): Tampering => [
      `a message with another ${what}`,
      (db) => messageOf(db, 'hello').set(columns).execute(),
      /message \d+ lies in \S+, which is not its place/,
    ],
  ),
  [
    'a message in no conversation',
    (db) => messageOf(db, 'hello').set({ conversation_key: nowhere }).execute(),
    /message \d+ lies in user\/nobody\/nora, which/,
  ],
  [
    'what the app did in a conversation of others',
    (db) =>
      db
        .update('messages')
        .set({ receiver: 'kenji' })
        .where('category', '=', 'action')
        .where('sender', '=', 'app_system')
        .where('conversation_key', '=', ofTwo)
        .execute(),
    /message \d+ lies in user\/milo\/nora, which/,
  ],
  ...(['parent_id', 'quoted_id'] as const).map(
    (column): Tampering => [
      `a message whose ${column} is in another conversation`,
      (db) =>
        messageOf(db, 'hello')
          .set({ [column]: db.select('messages').select('messages.id').where(said('to all')) })
          .execute(),
      /message \d+ lies in user\/milo\/nora, which/,
    ],
  ),
  [
    'a side of somebody who is not one of the two',
    (db) => sideOf(db, 'milo').set({ uid: 'kenji' }).execute(),
    /the side of kenji lies in user\/milo\/nora, which/,
  ],
  [
    'a side of no conversation',
    (db) => db.insert('conversation_rows', { uid: 'nora', conversation_key: nowhere, ...aSide }).execute(),
    /the side of nora lies in user\/nobody\/nora, which/,
  ],
  [
    'a side of a group’s conversation without a membership',
    (db) => db.insert('conversation_rows', { uid: 'tagged', conversation_key: ofGroup, ...aSide }).execute(),
    /tagged has a side of the group crew and is no member/,
  ],
  [
    'a receipt of somebody who is not one of the two',
    (db) => db.update('receipt_marks').set({ uid: 'kenji' }).where('uid', '=', 'milo').execute(),
    /a receipt of kenji lies in user\/milo\/nora, which/,
  ],
  [
    'a receipt in no conversation',
    (db) => db.update('receipt_marks').set({ conversation_key: nowhere }).where('uid', '=', 'milo').execute(),
    /a receipt of milo lies in user\/nobody\/nora, which/,
  ],
  [
    'a receipt of what was not said yet',
    (db) => db.update('receipt_marks').set({ seq: sql`seq + 1000` }).where('uid', '=', 'milo').execute(),
    /a receipt of milo lies in user\/milo\/nora, which/,
  ],
  [
    'a mention in another conversation',
    (db) => db.update('message_mentions').set({ conversation_key: ofGroup }).execute(),
    /the mention in message \d+ lies in group\/crew, which/,
  ],
  [
    'a mention at another number',
    (db) => db.update('message_mentions').set({ seq: 77 }).execute(),
    /the mention in message \d+ lies in user\/milo\/nora, which/,
  ],
  [
    'a message that is found in another conversation',
    (db) => db.update('search_entries').set({ marks: 'group/crew' }).where('text', '=', 'hello').execute(),
    /message \d+ is found in group\/crew, which is not its place/,
  ],
  ['a gap in the numbers', (db) => messageOf(db, 'hello').set({ seq: 99 }).execute(), /has gaps|ends with another/],
  [
    'a message that is gone',
    (db) => db.delete('messages').where(said('hello')).execute(),
    /the conversation user\/milo\/nora has gaps/,
  ],
  [
    'a message that is counted wrongly',
    (db) => messageOf(db, 'hello').set({ counted: sql`counted + 1` }).execute(),
    /message \d+ is counted wrongly/,
  ],
  [
    'a conversation that counts too many',
    (db) => conversation(db).set({ last_counted: sql`last_counted + 1` }).execute(),
    /user\/milo\/nora counts other messages/,
  ],
  [
    'a conversation that shows what was never said',
    (db) => conversation(db).set({ shown_seq: 999 }).execute(),
    /user\/milo\/nora shows a message that does not exist/,
  ],
  [
    'a reader who is ahead of the conversation',
    (db) => sideOf(db, 'milo').set({ read_seq: 999 }).execute(),
    /milo stands in user\/milo\/nora where nobody can/,
  ],
  [
    'a reader who has counted otherwise',
    (db) => sideOf(db, 'milo').set({ read_counted: 77 }).execute(),
    /milo stands in user\/milo\/nora where nobody can/,
  ],
]

class TakenBack extends Error {}

for (const database of databases) {
  describe(`the doctor on ${database}`, () => {
    let h: House
    let app: AppClient
    let calls: Calls

    before(async () => {
      h = await house({ database, environment })
      app = await h.app('patient')
      const ended = await app.play({
        initiator: 'nora',
        receiver: 'milo',
        type: 'video',
        tags: ['vip'],
        startAt: h.clock.now() - 7200,
        steps: [
          { after: 3, do: 'join', uid: 'nora', deviceId: 'a' },
          { after: 4, do: 'join', uid: 'milo', deviceId: 'b' },
          { after: 60, do: 'leave', uid: 'milo', deviceId: 'b' },
          { after: 90, do: 'end' },
          { after: 100, do: 'transcribe' },
        ],
      })
      await app.play({ initiator: 'nora', receiver: 'milo', steps: [{ after: 3, do: 'cancel' }] })
      const live = await app.play({
        initiator: 'nora',
        receiver: 'team',
        receiverType: 'group',
        invited: ['milo'],
        steps: [
          { after: 0, do: 'join', uid: 'nora', deviceId: 'a' },
          { after: 1, do: 'join', uid: 'kenji', deviceId: 'b' },
        ],
      })
      assert.equal(live.status, 'ongoing')
      await app.post('/users', { uid: 'tagged', name: 'Tagged One', tags: ['vip', 'beta'] })
      calls = { ended: ended.sessionId, live: live.sessionId }
      const { id } = await say(app, 'nora', 'milo', 'hello')
      await say(app, 'milo', 'nora', 'well, <@uid:nora>', { quotedMessageId: Number(id) })
      assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'hello' } }))
      assertSucceeds(await app.post('/users/milo/conversation/read', {}, as('nora')))
      assertSucceeds(await app.post('/users/nora/conversation/read', {}, as('milo')))
      const members = { participants: ['milo', 'kenji'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('nora')))
      await sayIn(app, 'crew', 'nora', 'to all')
    })
    after(() => h.close())

    const audit = async (db: TenantDb) => {
      const ofCalls = (await auditCalls(db)).findings.map(({ sessionId, problem }) => `call ${sessionId} ${problem}`)
      const ofTalk = [await auditTimeline(db), await auditPlaces(db), await auditMarks(db), await auditSides(db)]
      return [...ofCalls, ...(await auditUsers(db)).findings, ...ofTalk.flat()]
    }

    const examine = async () => {
      const outcome = await doctor.run({ config: h.service.house.config, words: [], flags: {}, json: true })
      return { ok: outcome?.ok, text: outcome?.text ?? '' }
    }

    it('finds nothing where nothing is wrong', async () => {
      const { ok, text } = await examine()
      assert.ok(ok, text)
      assert.match(text, /3 calls follow from their ledgers/)
      assert.match(text, /4 users are counted and found as they are/)
    })

    const tamperings = [...tamperedColumns, ...tamperedRows, ...tamperedCounts, ...tamperedUsers, ...tamperedTalk]
    for (const [what, tamper, finding] of tamperings) {
      it(`finds ${what}`, async () => {
        let problems: string[] = []
        const examined = h.service.house.database.write(async (connection) => {
          const db = tenantDb(connection, app.id)
          assert.deepEqual(await audit(db), [])
          await tamper(db, calls)
          problems = await audit(db)
          throw new TakenBack()
        })
        await assert.rejects(examined, TakenBack)
        assert.ok(
          problems.some((problem) => finding.test(problem)),
          `no finding like ${finding} in ${JSON.stringify(problems)}`,
        )
      })
    }

    it('tells what it found, and fails', async () => {
      const { database: storage } = h.service.house
      const other = await h.app('other patient')
      await other.play({ initiator: 'nora', receiver: 'milo', steps: [{ after: 3, do: 'cancel' }] })
      await storage.write((connection) => tenantDb(connection, other.id).update('calls').set({ extras: '' }).execute())
      const { ok, text } = await examine()
      assert.equal(ok, false)
      assert.match(text, /BAD +app \w+: 1 calls follow.*\n +call \S+ its extras does not follow from its ledger/)
      await storage.write((connection) =>
        tenantDb(connection, other.id).update('calls').set({ extras: '"metaData":[],"tags":[]' }).execute(),
      )
    })

    describe('the store of files', () => {
      const folder = () => join(h.service.house.config.data, 'files')
      const placeOf = (key: string) => join(folder(), key.slice(0, 2), key.slice(2, 4), key)
      const inApp = <T>(work: (work: Work) => Promise<T>) =>
        h.service.house.database.write((connection) => work(workIn(connection, app.id, h.service.house.tools)))

      /** A picture that a message has; answers its key. */
      async function sendPicture(messageId: number): Promise<string> {
        const reception = openReception(h.service.house.tools, inApp, 'nora', (content) => content)
        const { file } = await reception.take(Readable.from([picture]), { name: 'a.png', declaredType: 'image/png' })
        await inApp(async (work) => {
          await keepFile(work, file)
          await claimFiles(work.db, [file.key], messageId)
        })
        await h.settle()
        assert.ok(existsSync(placeOf(`${file.key}-small`)))
        return file.key
      }

      it('is found to hold what rows say, and nothing else', async () => {
        await sendPicture(1)
        const { ok, text } = await examine()
        assert.ok(ok, text)
        assert.match(text, /1 files are in the store as their rows say/)
      })

      it('is found to lack a file, and a small picture', async () => {
        const key = await sendPicture(2)
        for (const missing of [key, `${key}-small`]) {
          renameSync(placeOf(missing), `${folder()}/aside`)
          const { ok, text } = await examine()
          assert.equal(ok, false)
          assert.match(text, new RegExp(`app ${app.id}: ${missing} is not in the store`))
          renameSync(`${folder()}/aside`, placeOf(missing))
        }
        assert.equal((await examine()).ok, true)
      })

      it('is found to hold what no row names: files, small pictures and unfinished ones', async () => {
        const stray = 'S'.repeat(24)
        mkdirSync(dirname(placeOf(stray)), { recursive: true })
        for (const place of [placeOf(stray), placeOf(`${stray}-small`), join(folder(), 'incoming', stray)]) {
          writeFileSync(place, 'left over')
          const { ok, text } = await examine()
          assert.equal(ok, false)
          assert.match(text, new RegExp(`${stray}\\S* is in the store and no row names it`))
          rmSync(place)
        }
        assert.equal((await examine()).ok, true)
      })

      it('is found to have files that nobody needs and no job removes', async () => {
        const key = await sendPicture(3)
        const setState = (state: 'doomed' | 'stored') =>
          inApp(({ db }) => db.update('files').set({ state }).where('key', '=', key).execute())
        await setState('doomed')
        const { ok, text } = await examine()
        assert.equal(ok, false)
        assert.match(text, new RegExp(`nobody needs the file ${key}, and no job removes it`))
        await setState('stored')
        assert.equal((await examine()).ok, true)
      })
    })

    it('leaves out an app that is being purged', async () => {
      const doomed = await h.app('doomed')
      await doomed.play({ initiator: 'nora', receiver: 'milo', steps: [{ after: 3, do: 'cancel' }] })
      await h.service.house.database.write(async (connection) => {
        const db = tenantDb(connection, doomed.id)
        await db.delete('calls').execute()
        // Claimed by a worker that is in the middle of it.
        const claimed = { run_at: 1, locked_until: h.clock.now() + 3000 }
        await db.insert('jobs', { name: 'apps.purge', key: doomed.id, payload: '{}', ...claimed }).execute()
      })
      const { ok, text } = await examine()
      assert.ok(ok, text)
      assert.doesNotMatch(text, new RegExp(doomed.id))
    })

    it('finds nothing wrong while calls and users come and go', async () => {
      const busy = await h.app('busy')
      let examining = true
      let made = 0
      const work = async () => {
        while (examining) {
          await makeCall(h, busy)
          const { uid } = (await busy.post('/users', { uid: `user-${randomUUID()}`, name: 'Busy', tags: ['busy'] }))
            .body.data
          await busy.put(`/users/${uid}`, { name: 'Busier', tags: ['busier'] })
          await busy.delete(`/users/${uid}`, { permanent: made % 2 === 0 })
          await sendAndDelete(h, busy)
          made += 1
        }
      }
      const working = Array.from({ length: writers }, work)
      try {
        for (let n = 0; n < auditsBesideWriters; n += 1) {
          const madeBefore = made
          // In a process of its own: in this one the embedded database would let nobody write in between.
          const { code, stdout } = await parley(['doctor'], environmentOf(h))
          assert.equal(code, 0, stdout)
          while (made === madeBefore) await new Promise((resolve) => setImmediate(resolve))
        }
      } finally {
        examining = false
        await Promise.all(working)
      }
    })
  })
}

describe('the doctor', () => {
  it('looks into a bucket where it is asked to', async () => {
    const s3 = await s3Server()
    const h = await house({
      database: 'sqlite',
      environment: {
        ...{ PARLEY_S3_BUCKET: s3.bucket, PARLEY_S3_ENDPOINT: s3.endpoint },
        ...{ PARLEY_S3_ACCESS_KEY: s3.accessKey, PARLEY_S3_SECRET_KEY: s3.secretKey },
      },
    })
    const { config, tools } = h.service.house
    const examine = (flags: Record<string, boolean>) => doctor.run({ config, words: [], flags, json: true })
    await tools.files.put('left-over', Readable.from([picture]), { contentType: 'image/jpeg' })
    assert.equal((await examine({}))?.ok, true)
    const asked = await examine({ bucket: true })
    assert.equal(asked?.ok, false)
    assert.match(asked?.text ?? '', /left-over is in the store and no row names it/)
    await h.close()
    await s3.close()
  })
})

/** A picture that comes, is sent, and is deleted with its message; and one that is given up. */
async function sendAndDelete(h: House, { id }: AppClient): Promise<void> {
  const { database, tools } = h.service.house
  const inApp: InApp = (work) => database.write((connection) => work(workIn(connection, id, tools)))
  const about = { name: 'a.png', declaredType: 'image/png' }
  const receive = () => openReception(tools, inApp, 'nora', (content) => content)
  const [reception, givenUp] = [receive(), receive()]
  const { file } = await reception.take(Readable.from([picture]), about)
  await givenUp.take(Readable.from([picture]), about)
  await inApp(async (work) => {
    await keepFile(work, file)
    await claimFiles(work.db, [file.key], 1)
  })
  await givenUp.discard()
  await inApp((work) => releaseFiles(work, [1]))
  database.wake()
}

/** What a second process needs to open the same install. */
function environmentOf({ service }: House): Record<string, string> {
  const { data, databaseUrl, masterKey } = service.house.config
  return {
    PARLEY_DATA: data,
    ...(databaseUrl && { PARLEY_DATABASE_URL: databaseUrl.reveal() }),
    ...(masterKey && { PARLEY_MASTER_KEY: masterKey.reveal() }),
  }
}

/** A call that comes to life, goes on and ends in transactions of its own. */
async function makeCall(h: House, app: AppClient): Promise<void> {
  const { database, tools } = h.service.house
  const at = h.clock.now()
  const sessionId = newSessionId(app.region, app.id, at)
  const placed = { initiator: 'nora', receiver: 'milo', receiverType: 'user' as const, type: 'audio' as const }
  const start = initiate({ at, ...placed, mode: 'call', invited: [], tags: [] })
  await database.write((connection) => beginCall(workIn(connection, app.id, tools), sessionId, start))
  for (const act of [
    { kind: 'joined', uid: 'milo', deviceId: 'd', mid: 'm' },
    { kind: 'left', uid: 'milo', deviceId: 'd' },
  ] as const) {
    await database.write((connection) =>
      happen(workIn(connection, app.id, tools), sessionId, { ...act, happenedAt: at }),
    )
  }
}
