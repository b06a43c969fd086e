import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, type House, house } from '../../../../tests/support/house.ts'
import { plansOf, rowsRead } from '../../../../tests/support/plans.ts'
import { times } from '../../../../tests/support/quick.ts'
import { appWith } from '../../../../tests/support/talk.ts'
import { addToTally, type PlaceInList } from '../../storage/tally.ts'
import { type TenantDb, tenantDb } from '../../storage/tenant.ts'
import type { Fact } from './facts.ts'
import { callsListOf, columnsOf, membersOf } from './ledger.ts'
import type { CallListQuery } from './schemas.ts'
import { sideOf } from './sides.ts'
import { fold } from './state.ts'
import { selectOwn } from './user-log.ts'

/**
 * A log is read by its own calls, however many there are of others. Ada has a tenth of all calls, places every tenth of
 * hers, and meets the rare user in every hundredth.
 */
const own = times(1_000, 100_000)
const ofOthers = own * 9
const startAt = 1_700_000_000
const page = { limit: 20, offset: 0 }
const pastTheEnd = { limit: 20, offset: 1_000_000 }

const filters: [what: string, query: CallListQuery, total: number][] = [
  ['nothing', {}, own],
  ['a direction', { direction: 'outgoing' }, own / 10],
  ['what was missed', { status: 'missed' }, own * 0.9],
  ['a type', { type: 'video' }, own / 100],
  ['a type that there is none of', { mode: 'meet' }, 0],
  ['a direction and a type', { direction: 'outgoing', type: 'video' }, own / 100],
  ['a direction and a mode that there is none of', { direction: 'outgoing', mode: 'meet' }, 0],
  ['a group', { guid: 'team' }, own / 100],
  ['somebody', { uid: 'rare' }, own / 100],
  ['somebody who is in nothing else', { uid: 'nobody' }, 0],
  ['a moment', { startedAt: startAt + own * 5 }, own / 2],
  ['an end', { endedAt: startAt + 60 }, 6],
]

function callAt(n: number): Fact[] {
  const isOwn = n % 10 === 0
  const place = n / 10
  const isGroup = isOwn && place % 100 === 7
  const friend = isOwn && place % 100 === 3 ? 'rare' : `u${n % 997}`
  const isOutgoing = place % 10 === 0
  const [initiator = '', other = ''] = isOwn ? (isOutgoing ? ['ada', friend] : [friend, 'ada']) : ['bea', friend]
  const receiver = isGroup ? 'team' : other
  const at = startAt + n
  const type = isOwn && place % 100 === 50 ? 'video' : 'audio'
  return [
    {
      ...{ type, mode: 'call', tags: [], cause: 'placed' },
      kind: 'initiated',
      at,
      initiator,
      receiver,
      receiverType: isGroup ? 'group' : 'user',
      invited: [other],
    },
    { kind: 'unanswered', at: at + 10, cause: 'ring time over' },
  ]
}

const atOnce = 1_000
const counted = ['ada', 'bea', 'rare']

async function load(db: TenantDb, from: number, to: number): Promise<void> {
  const calls = []
  const members = []
  const places = new Map<string, PlaceInList[]>()
  for (let n = from; n < to; n += 1) {
    const session_id = `s${String(n).padStart(9, '0')}`
    const state = fold(callAt(n))
    const columns = columnsOf(session_id, state, startAt + n)
    calls.push({ session_id, ...columns })
    const { at: initiated_at } = state.start
    members.push(...membersOf(state).map((uid) => ({ uid, session_id, initiated_at, ...sideOf(state.start, uid) })))
    const place = { at: initiated_at, facets: columns.facets }
    for (const uid of membersOf(state)) if (counted.includes(uid)) places.set(uid, [...(places.get(uid) ?? []), place])
  }
  await db.insert('calls', calls).execute()
  await db.insert('call_members', members).execute()
  for (const [uid, added] of places) await addToTally(db, callsListOf(uid), added)
}

for (const database of databases) {
  describe(`ways through a long call log on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada')
      const { write } = h.service.house.database
      for (let from = 0; from < own + ofOthers; from += atOnce) {
        await write((connection) => load(tenantDb(connection, app.id), from, from + atOnce))
      }
      await write(({ query }) => sql`ANALYZE`.execute(query))
    })
    after(() => h.close())

    for (const [what, query, total] of filters) {
      it(`by ${what}: counts exactly and reads no calls but the user’s`, async () => {
        for (const slice of [page, pastTheEnd]) {
          let found = 0
          const took = performance.now()
          const plans = await plansOf(h, app, async ({ db }) => {
            found = (await selectOwn(db, 'ada', query, slice)).total
          })
          if (process.env.MEASURE) console.log(database, what, slice.offset, (performance.now() - took).toFixed(1))
          assert.equal(found, total)
          for (const plan of plans) database === 'sqlite' ? assertByIndex(plan) : assertFew(plan)
        }
      })
    }
  })
}

/** The user's members by time, and from there by keys. */
function assertByIndex(plan: string): void {
  assert.ok(!/SCAN (calls|call_members|other)\b/.test(plan), plan)
  assert.ok(!/SEARCH calls USING INDEX calls_by/.test(plan), plan)
  if (/from "?call_members/i.test(plan))
    assert.match(plan, /SEARCH call_members USING COVERING INDEX call_members_by_time/)
}

/** One member for each call of the user, the other one that is asked about, and the call itself. */
function assertFew(plan: string): void {
  assert.ok(rowsRead(plan, ['call_members', 'calls']) <= own * 3, plan)
}
