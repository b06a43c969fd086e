import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Kysely, sql } from 'kysely'
import { pino } from 'pino'
import { auditSides } from '../server/src/areas/groups/audit.ts'
import { auditMarks } from '../server/src/areas/messages/audit.ts'
import { auditPlaces, auditTimeline } from '../server/src/areas/timeline/audit.ts'
import { findSide, type MessageRow, type Place, unreadOf } from '../server/src/areas/timeline/index.ts'
import { doctor } from '../server/src/cli/doctor.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { readArchive } from '../server/src/install/archive.ts'
import { migrate } from '../server/src/storage/migrate.ts'
import type { Tables } from '../server/src/storage/tables.ts'
import { type TenantDb, tenantDb } from '../server/src/storage/tenant.ts'
import { databases, freshDatabase } from './support/databases.ts'
import { type EarlierMessage, type EarlierSide, type EarlierTalk, earlierTalk } from './support/earlier-talk.ts'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import { parleyHere } from './support/parley.ts'
import { times } from './support/quick.ts'
import { randomFrom, seedFrom } from './support/random.ts'
import { as } from './support/talk.ts'

/**
 * An install from the time when conversations were stored under their id on the wire, which several can have. It was
 * filled through the front door, with no worker running: what was deleted is still waiting to be cleared away.
 */

const earlier = join(import.meta.dirname, 'fixtures/ids-as-keys.jsonl.gz')
const PARLEY_MASTER_KEY = 'ab'.repeat(32)

for (const database of databases) {
  describe(`an upgrade of conversations that shared an id, on ${database}`, () => {
    let h: House
    let app: AppClient

    before(async () => {
      const on = await freshDatabase(database)
      Object.assign(on.environment, { PARLEY_MASTER_KEY })
      const restored = await parleyHere(['restore', '--from', earlier], on.environment)
      assert.equal(restored.code, 0, restored.stderr)
      h = await house({ database, on, environment: { PARLEY_ROLES: 'api' } })
      app = await h.appOf('fd757d152c1a0a54')
    })
    after(() => h.close())

    const read = async (path: string, uid: string): Promise<string[]> => {
      const { data } = assertSucceeds(await app.get(`${path}?limit=100&categories=message`, as(uid)))
      return data.map((message: { data: { text?: string } }) => message.data.text ?? '-')
    }
    const unread = async (path: string, uid: string) =>
      assertSucceeds(await app.get(`${path}/conversation`, as(uid))).data.unreadMessageCount
    const examine = async () => {
      const outcome = await doctor.run({ config: h.service.house.config, words: [], flags: {}, json: true })
      assert.ok(outcome?.ok, outcome?.text)
    }

    it('gives each its own messages, for everyone who is in it', async () => {
      const said = ['private one', 'private two for <@uid:group_admin>', 'private three edited by the app', '-']
      const inPair = [...said, 'private reply', 'private last']
      assert.deepEqual(await read('/users/group_admin/messages', 'zoe'), inPair)
      assert.deepEqual(await read('/users/zoe/messages', 'group_admin'), inPair)
      const inGroup = ['group one for <@uid:zoe>', 'group two', 'group reply', 'group last']
      for (const uid of ['eve', 'bob', 'zoe']) {
        assert.deepEqual(await read('/groups/admin_user_zoe/messages', uid), inGroup, uid)
      }
      assert.deepEqual(await read('/messages', 'group_admin'), inPair)
      assert.deepEqual(await read('/messages', 'eve'), inGroup)
    })

    it('counts for each what is not read there', async () => {
      assert.deepEqual(
        [
          await unread('/users/group_admin', 'zoe'),
          await unread('/users/zoe', 'group_admin'),
          await unread('/groups/admin_user_zoe', 'zoe'),
          await unread('/groups/admin_user_zoe', 'bob'),
          await unread('/groups/admin_user_zoe', 'eve'),
        ],
        ['1', '0', '1', '1', '0'],
      )
    })

    it('lists each where it belongs, with its own last message', async () => {
      const listed = async (uid: string) => {
        const { data } = assertSucceeds(await app.get('/conversations', as(uid)))
        type Listed = { conversationWith: { uid?: string; guid?: string }; lastMessage?: { data: { text: string } } }
        return data.map(({ conversationWith: { uid: other, guid }, lastMessage }: Listed) =>
          [other ?? guid, lastMessage?.data.text].join(': '),
        )
      }
      assert.deepEqual((await listed('zoe')).toSorted(), ['admin_user_zoe: group last', 'group_admin: private last'])
      assert.deepEqual(await listed('group_admin'), ['zoe: private last'])
      assert.deepEqual((await listed('eve')).toSorted(), ['admin_user_zoe: group last', 'x_user_y: '])
      assert.deepEqual(await listed('team'), ['zoe_user_yan: second pair again'])
      assert.deepEqual(await listed('team_user_zoe'), ['yan: first pair again'])
      assert.deepEqual(await listed('yan'), [], 'it was reset')
      // Nothing was said in it; it was pinned.
      assert.deepEqual(await listed('group_x'), ['y: '])
    })

    it('finds in each what was said there, and nothing else', async () => {
      const found = async (path: string, uid: string) => {
        const { data } = assertSucceeds(await app.get(`${path}/messages?searchKey=private&limit=100`, as(uid)))
        return data.length
      }
      assert.deepEqual([await found('/users/group_admin', 'zoe'), await found('/groups/admin_user_zoe', 'eve')], [5, 0])
      assert.equal((await read('/groups/crew/messages', 'kim')).length, 1)
      const fox = assertSucceeds(await app.get('/groups/crew/messages?searchKey=fox', as('kim')))
      assert.equal(fox.data.length, 1)
    })

    it('finds what mentions people by its other words, also for whoever may not see them', async () => {
      const found = async (searchKey: string) => {
        const { data } = assertSucceeds(
          await app.get(`/users/group_admin/messages?searchKey=${searchKey}&categories=message`, as('zoe')),
        )
        return data.map(({ id }: { id: string }) => id)
      }
      const byWords = await found('two')
      assert.equal(byWords.length, 1)
      const restricted = '/roles/default/restrictedfeatures'
      assertSucceeds(await app.post(restricted, { featuresToRestrict: ['getUser'] }))
      assert.deepEqual(await found('two'), byWords)
      assertSucceeds(await app.delete(restricted, { featuresToAllow: ['getUser'] }))
    })

    it('keeps receipts, reactions, threads, pins and the ids of senders', async () => {
      const { data: said } = assertSucceeds(await app.get('/users/group_admin/messages?limit=100', as('zoe')))
      const [first, second] = said
      assert.deepEqual([first.replyCount, first.data.reactions[0].reaction], [1, 'yes'])
      const receipts = assertSucceeds(await app.get(`/messages/${first.id}/receipts`, as('group_admin'))).data
      assert.deepEqual(
        receipts.map(({ sender }: { sender: { uid: string } }) => sender.uid),
        ['zoe'],
      )
      assert.ok(second.readAt !== undefined)
      const pinned = assertSucceeds(await app.get('/groups/admin_user_zoe/messages?pinned=true', as('bob'))).data
      assert.equal(pinned.length, 1)
      const again = { receiver: 'group_admin', receiverType: 'user', muid: 'm1', data: { text: 'again' } }
      assert.equal(assertSucceeds(await app.post('/messages', again, as('zoe'))).data.id, second.id)
      assert.deepEqual(await read('/users/app_system_user_q/messages', 'z'), ['q to z', 'z to q'])
      assert.deepEqual(await read('/messages', 'q_user_z'), ['from the app'])
    })

    it('goes on with what was under way: what was deleted is cleared away, and nothing else', async () => {
      const after = async () => [
        await read('/users/group/messages', 'kim'),
        await read('/users/ada/messages', 'lin'),
        await read('/users/ada/messages', 'bob'),
      ]
      const left = [['after the group'], ['after the deletion'], ['after the emptying']]
      assert.deepEqual(await after(), left)
      await h.settle()
      assert.deepEqual(await after(), left)
      const { rows } = await sql<{ data: string }>`SELECT data FROM messages WHERE app_id = ${app.id}`.execute(
        h.service.house.database.reader.query,
      )
      const text = rows.map(({ data }) => data).join()
      for (const gone of ['lost with the group', 'doomed', 'gone for everybody', 'gone for good']) {
        assert.ok(!text.includes(gone), gone)
      }
      assert.ok(text.includes('private one') && text.includes('plain group fox'))
      const friends = assertSucceeds(await app.get('/conversations', as('kim'))).data
      assert.ok(friends.some(({ conversationId }: { conversationId: string }) => conversationId === 'ada_user_kim'))
      const jobs = await tenantDb(h.service.house.database.reader, app.id).select('jobs').selectAll().execute()
      assert.equal(jobs.length, 0)
    })

    it('leaves nothing for the doctor to find', examine)
  })
}

const talks = { sqlite: times(100, 600), postgres: times(25, 150) }
const stepsMax = 40

for (const database of databases) {
  describe(`an upgrade of what was said at random under shared ids, on ${database}`, () => {
    it('leaves every conversation as if it had always been alone', async (test) => {
      const seed = seedFrom('EARLIER_SEED')
      test.diagnostic(`EARLIER_SEED=${seed}`)
      const fresh = await freshDatabase(database)
      const steps = await earlierSteps()
      const house = await openHouse(readConfig(fresh.environment), pino({ level: 'silent' }), { steps })
      try {
        const all = Array.from({ length: talks[database] }, (_, n): [string, EarlierTalk] => {
          const random = randomFrom(seed + n * 7_919)
          return [n.toString(16).padStart(16, '0'), earlierTalk(random, random.whole(1, stepsMax))]
        })
        const idsOf = new Map<EarlierMessage, number>()
        for (const [appId, talk] of all) {
          await house.database.write(({ query }) => store(query, appId, talk, idsOf))
        }
        await migrate(
          house.database,
          house.areas.map(({ migrations }) => migrations),
        )
        for (const [n, [appId, talk]] of all.entries()) {
          await compare(tenantDb(house.database.reader, appId), talk, idsOf, `EARLIER_SEED=${seed + n * 7_919}`)
        }
      } finally {
        await house.close()
        await fresh.drop()
      }
    })
  })
}

/** What an install of that time has taken of the steps to its tables. */
async function earlierSteps(): Promise<string[]> {
  let steps: string[] = []
  await readArchive(
    earlier,
    ({ migrations }) => {
      steps = migrations
    },
    async () => {},
  )
  return steps
}

type Query = Kysely<Tables>

async function put(query: Query, table: string, rows: Record<string, unknown>[]): Promise<void> {
  if (rows.length > 0)
    await query
      .insertInto(table as 'jobs')
      .values(rows as never)
      .execute()
}

/** Writes a talk down as it was stored then. */
async function store(query: Query, app_id: string, talk: EarlierTalk, ids: Map<EarlierMessage, number>): Promise<void> {
  const { conversationId: conversation_id, own } = talk
  const here = { app_id, conversation_id }
  await put(query, 'apps', [{ id: app_id, account_id: 1, name: app_id, region: 'us', created_at: 1 }])
  const group = talk.places.find(({ type }) => type === 'group')
  if (group) {
    await put(query, 'groups', [{ app_id, guid: group.first, id: 'g', name: 'G', created_at: 1 }])
    const member = { app_id, group_id: 'g', scope: 'participant', joined_at: 1 }
    await put(
      query,
      'group_members',
      [...new Set(talk.members)].map((uid) => ({ ...member, user_id: uid, uid })),
    )
  }
  await put(query, 'conversations', [
    {
      ...{ ...here, type: own.type, first: own.first, second: own.second, shown_seq: talk.shown },
      ...{ last_seq: talk.last, last_counted: talk.lastCounted, active_at: 1, last_at: 1, created_at: 1 },
      ...{ purged_seq: talk.purged, purged_counted: talk.purgedCounted },
    },
  ])
  await put(
    query,
    'conversation_rows',
    [...talk.sides.values()].map(({ uid, delivered, read, readCounted, cleared }) => ({
      ...{ ...here, uid, delivered_seq: delivered, read_seq: read, read_counted: readCounted },
      ...{ cleared_seq: cleared, created_at: 1 },
    })),
  )
  await put(
    query,
    'receipt_marks',
    talk.marks.map((mark) => ({ ...here, ...mark })),
  )
  for (const message of talk.messages) {
    const { id } = await query
      .insertInto('messages')
      .values({ ...here, ...messageColumns(message, ids) } as never)
      .returning('id')
      .executeTakeFirstOrThrow()
    ids.set(message, id)
    const mentions = message.mentions.map((uid) => ({ ...here, uid, seq: message.seq, message_id: id }))
    await put(query, 'message_mentions', mentions)
    const entry = { app_id, list: 'messages', id: String(id), at: id, text: 'text', marks: conversation_id }
    if (!message.purged) await put(query, 'search_entries', [entry])
  }
  if (talk.purged === 0) return
  const payload = JSON.stringify({ conversationId: conversation_id, upTo: talk.purged, by: 'x' })
  const name = 'conversations.deleteMessages'
  await put(query, 'jobs', [{ app_id, name, key: `${conversation_id} ${talk.purged}`, payload, run_at: 1 }])
}

function messageColumns(message: EarlierMessage, ids: Map<EarlierMessage, number>): Record<string, unknown> {
  const { place, seq, counted, counts, sender, receiver, on, deleted, purged, at } = message
  const told = on && { id: String(ids.get(on)), ...(!on.purged && { sender: on.sender, receiver: on.receiver }) }
  return {
    ...{ seq, counted, counts, receiver_type: place.type, type: 'text', sent_at: at, updated_at: at },
    ...{ sender: purged ? '' : sender, receiver: purged ? '' : receiver, category: on ? 'action' : 'message' },
    data: JSON.stringify(purged ? {} : on ? { entities: { on: { entity: told } } } : { text: 'text' }),
    ...{ deleted_at: deleted ? at : null, purged: purged ? 1 : 0 },
  }
}

/** Of what is gone for good nobody can tell any more where it was. */
const isTold = ({ purged, on }: EarlierMessage) => !purged && !on?.purged

async function compare(db: TenantDb, talk: EarlierTalk, ids: Map<EarlierMessage, number>, hint: string): Promise<void> {
  const findings = [await auditTimeline(db), await auditPlaces(db), await auditMarks(db), await auditSides(db)]
  assert.deepEqual(findings.flat(), [], hint)
  const stored = await db.select('messages').selectAll().orderBy('messages.seq').execute()
  assert.equal(stored.length, talk.messages.length, hint)
  const byId = new Map(stored.map((row) => [row.id, row]))
  const told = talk.messages.filter(isTold)
  for (const message of told) {
    assert.equal(byId.get(ids.get(message) ?? 0)?.conversation_key, message.place.conversationKey, hint)
  }
  for (const place of talk.places) {
    const messages = told.filter((message) => message.place === place)
    if (messages.length === 0 && place !== talk.own) continue
    for (const side of talk.sides.values()) {
      const isTheirs = place.type === 'group' ? talk.members : [place.first, place.second]
      if (isTheirs.includes(side.uid)) await compareSide(db, talk, place, side, messages, byId, ids, hint)
      else assert.equal(await findSide(db, place.conversationKey, side.uid), undefined, `${hint}: ${side.uid}`)
    }
  }
  const conversations = await db.select('conversations').select('conversations.conversation_key').execute()
  const jobs = await db.select('jobs').selectAll().execute()
  const cleared = jobs.map(({ payload }) => JSON.parse(payload))
  assert.deepEqual(
    cleared.map(({ conversationKey, upTo, by }) => `${conversationKey} ${upTo} ${by}`).toSorted(),
    talk.purged === 0 ? [] : conversations.map((row) => `${row.conversation_key} ${talk.purged} x`).toSorted(),
    hint,
  )
}

async function compareSide(
  db: TenantDb,
  talk: EarlierTalk,
  { conversationKey }: Place,
  earlierSide: EarlierSide,
  messages: EarlierMessage[],
  byId: Map<number, MessageRow>,
  ids: Map<EarlierMessage, number>,
  hint: string,
): Promise<void> {
  const { uid, read, cleared } = earlierSide
  const side = await findSide(db, conversationKey, uid)
  assert.ok(side, `${hint}: ${uid} has a side`)
  const rowOf = (message: EarlierMessage) => byId.get(ids.get(message) ?? 0) as MessageRow
  const seen = messages.filter((message) => message.seq > Math.max(cleared, talk.purged))
  assert.deepEqual(
    messages.filter((message) => rowOf(message).seq > side.cleared_seq),
    seen,
    `${hint}: ${uid} sees the same`,
  )
  const unread = messages.filter(
    (message) =>
      message.seq > Math.max(read, talk.purged) && message.counts === 1 && !message.deleted && message.sender !== uid,
  )
  const mentioned = unread.filter(({ mentions }) => mentions.includes(uid))
  assert.deepEqual(
    (await unreadOf(db, [side], [])).get(conversationKey),
    { messages: unread.length, mentions: mentioned.length },
    `${hint}: what ${uid} has not read`,
  )
  for (const kind of ['delivered', 'read'] as const) {
    const marks = (await db.select('receipt_marks').selectAll().execute()).filter(
      (mark) => mark.uid === uid && mark.kind === kind && mark.conversation_key === conversationKey,
    )
    const first = (all: { seq: number; at: number }[], seq: number) =>
      all.filter((mark) => mark.seq >= seq).toSorted((a, b) => a.seq - b.seq)[0]?.at
    const earlierMarks = talk.marks.filter((mark) => mark.uid === uid && mark.kind === kind)
    for (const message of messages) {
      const known = first(earlierMarks, message.seq)
      assert.equal(first(marks, rowOf(message).seq), known, `${hint}: ${kind} by ${uid}`)
    }
  }
}
