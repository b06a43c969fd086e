import assert from 'node:assert/strict'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { multiplyCalls, postgresTarget, sqliteTarget } from '../../../bench/load-calls.ts'
import { addPeople, converse, enter, makeGroup } from '../../../bench/load-crowd.ts'
import { uidAt } from '../../../bench/load-users.ts'
import { loadWorst } from '../../../bench/load-worst.ts'
import { runAt } from '../../../scripts/postgres.ts'
import { placeOfGroup, placeOfUsers } from '../../../server/src/areas/timeline/index.ts'
import { workIn } from '../../../server/src/common/work-in.ts'
import { openHouse } from '../../../server/src/compose.ts'
import { readConfig } from '../../../server/src/config.ts'
import type { InApp } from '../../../server/src/kit/work.ts'
import { sqliteFile } from '../../../server/src/storage/sqlite.ts'
import type { TenantDb } from '../../../server/src/storage/tenant.ts'
import { assertSucceeds } from '../house.ts'
import type { AppOnDisk, Install, ServerProcess } from '../server-process.ts'
import type { Stage } from './abuse.ts'
import * as people from './people.ts'
import { formData } from './remarks.ts'

/** Fills an app with all that makes operations expensive, and looks up what cases have to name. */

const { abusers, busyUser, club, crowd, doomed, host, partners } = people

const callsCount = 5_000
const blocksCount = 1_000
const blocksAtOnce = 500
const dialogueCount = 10_000
const doomedMembers = 5_000
const doomedMessages = 2_000
const saidOnce = 2_200

/** Straight into the database, while no server runs. */
export async function fill(site: Install, app: AppOnDisk): Promise<void> {
  await fillCalls(site, app)
  await withoutGrams(site.environment.PARLEY_DATABASE_URL, () => fillTalk(site, app))
}

/** On PostgreSQL, to index texts one by one takes three times as long as to do it in the end. */
async function withoutGrams(url: string | undefined, load: () => Promise<void>): Promise<void> {
  if (url === undefined) return load()
  const index = 'search_entries_by_gram'
  const [found] = await runAt<{ indexdef: string }>(url, 'SELECT indexdef FROM pg_indexes WHERE indexname = $1', [
    index,
  ])
  await runAt(url, `DROP INDEX ${index}`)
  await load()
  await runAt(url, `SET maintenance_work_mem = '256MB'; ${found?.indexdef}; ANALYZE`)
}

async function fillTalk(site: Install, app: AppOnDisk): Promise<void> {
  const { PARLEY_PORT: _, ...environment } = site.environment
  const place = { data: environment.PARLEY_DATA ?? '', appId: app.id, environment }
  await loadWorst(place, people.messagesCount - dialogueCount - doomedMessages, {
    users: people.usersCount,
    groups: people.groupsCount,
    members: people.crowdSize,
    guests: people.guestsCount,
    saidOnce,
  })
  const house = await openHouse(readConfig(environment), pino({ level: 'silent' }))
  const inApp: InApp = (run) => house.database.write((connection) => run(workIn(connection, app.id, house.tools)))
  try {
    await addPeople(inApp, abusers)
    for (const guid of [crowd, club]) await enter(inApp, guid, abusers)
    await makeGroup(inApp, doomed, [busyUser])
    for (let first = 0; first < doomedMembers; first += 1_000) {
      await enter(
        inApp,
        doomed,
        Array.from({ length: 1_000 }, (_, n) => uidAt(first + n)),
      )
    }
    await converse(inApp, placeOfGroup(doomed), [busyUser], doomedMessages)
    await converse(inApp, placeOfUsers(busyUser, host), [busyUser, host], dialogueCount)
    await inApp(({ db }) => readByAll(db, crowd))
    await house.workers.settle()
  } finally {
    await house.close()
  }
}

/** Calls of two users; their counts are made anew, so they come before everything else. */
async function fillCalls(site: Install, app: AppOnDisk): Promise<void> {
  const server = await site.start({ PARLEY_EMULATOR: 'true' })
  const startAt = Math.floor(Date.now() / 1000) - 30 * 24 * 3600
  for (let n = 0; n < 20; n += 1) {
    const steps = [
      { after: 5, do: 'join', uid: host, deviceId: 'phone' },
      { after: 10, do: 'end' },
    ]
    const script = { initiator: busyUser, receiver: host, startAt: startAt + n * 100, steps }
    assertSucceeds(await app.emulator(server).post('/calls/script', script))
  }
  await server.kill()
  const { PARLEY_DATABASE_URL: url, PARLEY_DATA: data = '' } = site.environment
  const target = url ? postgresTarget(url) : sqliteTarget(join(data, sqliteFile))
  await multiplyCalls(target, app.id, callsCount)
  await target.close()
}

async function readByAll(db: TenantDb, guid: string): Promise<void> {
  const { conversationKey } = placeOfGroup(guid)
  const lastSeq = sql`(SELECT last_seq FROM conversations WHERE conversations.app_id = ${db.appId}
    AND conversations.conversation_key = ${conversationKey})`
  await db.sql`UPDATE conversation_rows SET read_seq = ${lastSeq}, delivered_seq = ${lastSeq}
    WHERE app_id = ${db.appId} AND conversation_key = ${conversationKey}`.execute()
}

/** Through the front door: auth tokens for everybody, and what cases name. */
export async function enterStage(app: AppOnDisk, server: ServerProcess) {
  const at = app.at(server)
  const tokens = new Map<string, string>()
  for (const uid of [busyUser, host, ...abusers, ...partners]) {
    tokens.set(uid, assertSucceeds(await at.post(`/users/${uid}/auth_tokens`)).data.authToken)
  }
  const as = (uid: string) => ({ onBehalfOf: uid })
  const list = async (path: string) => assertSucceeds(await at.get(path, as(busyUser))).data
  const send = async (body: object) => assertSucceeds(await at.post('/messages', body, as(busyUser))).data.id

  const group = { guid: people.locked, name: people.locked, type: 'password', password: people.password }
  assertSucceeds(await at.post('/groups', group))
  for (let first = 0; first < blocksCount; first += blocksAtOnce) {
    const blockedUids = Array.from({ length: blocksAtOnce }, (_, n) => uidAt(people.usersCount - 1 - first - n))
    assertSucceeds(await at.post(`/users/${busyUser}/blockedusers`, { blockedUids }))
  }
  const toCrowd = { receiver: crowd, receiverType: 'group' }
  const form = await send({ ...toCrowd, category: 'interactive', type: 'form', data: formData })
  const [announcement] = await list(`/groups/${crowd}/messages?limit=1`)
  const [famous] = await list(`/groups/${club}/messages?limit=1`)
  const messages = await list(`/groups/${club}/messages?limit=100&category=message&affix=prepend`)
  const [call] = await list('/calls?perPage=1')
  assert.ok(Number(famous.replyCount) > 1_000, 'the famous message has thousands of replies')
  const stage: Stage = {
    famous: famous.id,
    messages: messages.map(({ id }: { id: string }) => id),
    form,
    announcement: announcement.id,
    sessionId: call.sessionId,
    made: { groups: [], messages: [] },
  }
  return { stage, tokens }
}
