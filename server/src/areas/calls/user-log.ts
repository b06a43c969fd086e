import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { askedOfEach } from '../../storage/plans.ts'
import { patternOf, totalOf, wantsEverything } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { callsListOf } from './ledger.ts'
import type { CallListQuery } from './schemas.ts'
import { callsSharedMax, ofUser, type Selected, type Slice, selectOfUser, wantedFacets } from './store.ts'

/** Which calls stand in a user's log. Whatever is asked for, no more is read than that user's calls. */

type Condition = RawBuilder<SqlBool>

/** A page of the calls that the user has a part in. */
export async function selectOwn(db: TenantDb, uid: string, asked: CallListQuery, slice: Slice): Promise<Selected> {
  if (contradictsItself(asked)) return { total: 0, rows: [] }
  const query = inWordsOfRecords(asked)
  const ofMember = [...sideConditions(asked), ...memberConditions(db, uid, asked)]
  if (ofMember.length === 0 && query.endedAt === undefined) return selectOfUser(db, query, uid, slice)
  return selectNarrowed(db, uid, ofMember, callConditions(query), slice)
}

const wordsOfRecords = new Map<string, CallListQuery['status']>([
  ['missed', 'unanswered'],
  ['busy', 'rejected'],
  ['cancelled', 'canceled'],
])

/** Records have one word for each status and none for a category. */
function inWordsOfRecords({ category, ...query }: CallListQuery): CallListQuery {
  const { mode = category, status } = query
  return { ...query, ...(mode && { mode }), ...(status && { status: wordsOfRecords.get(status) ?? status }) }
}

function contradictsItself({ mode, category }: CallListQuery): boolean {
  return mode !== undefined && category !== undefined && mode !== category
}

/** A call is missed by whom it rang for: to the caller, it went unanswered. */
function sideConditions({ direction, status }: CallListQuery): Condition[] {
  return [...(direction === undefined ? [] : [isOn(direction)]), ...(status === 'missed' ? [isOn('incoming')] : [])]
}

const placedBy = new Map([
  ['incoming', 0],
  ['outgoing', 1],
])

/** A word that is neither of the two matches nothing. */
function isOn(direction: string): Condition {
  const placed = placedBy.get(direction)
  return placed === undefined ? sql<SqlBool>`1 = 0` : sql<SqlBool>`call_members.placed = ${placed}`
}

function memberConditions(db: TenantDb, uid: string, query: CallListQuery): Condition[] {
  const other = query.uid?.toLowerCase()
  const { guid, startedAt } = query
  return [
    ...(guid === undefined ? [] : [sql<SqlBool>`call_members.guid = ${guid.toLowerCase()}`]),
    ...(startedAt === undefined ? [] : [sql<SqlBool>`call_members.initiated_at >= ${startedAt}`]),
    ...(other === undefined || other === uid ? [] : [hasPart(db, other)]),
  ]
}

function hasPart(db: TenantDb, uid: string): Condition {
  return askedOfEach(sql`FROM call_members AS other WHERE other.app_id = ${db.appId}
    AND other.session_id = call_members.session_id AND other.uid = ${uid}`)
}

function callConditions(query: CallListQuery): Condition[] {
  const wanted = wantedFacets(query)
  return [
    ...(wantsEverything(wanted) ? [] : [sql<SqlBool>`calls.facets LIKE ${patternOf(wanted)} ESCAPE '\\'`]),
    ...(query.endedAt === undefined ? [] : [sql<SqlBool>`calls.ended_at <= ${query.endedAt}`]),
  ]
}

/** Filters that no kept count covers: the user's calls are counted. */
async function selectNarrowed(
  db: TenantDb,
  uid: string,
  ofMember: Condition[],
  ofCall: Condition[],
  { limit, offset }: Slice,
): Promise<Selected> {
  if ((await totalOf(db, callsListOf(uid))) > callsSharedMax) db.leaveSharedReader()
  const total = await countOwn(db, uid, ofMember, ofCall)
  if (offset >= total) return { total, rows: [] }
  const rows = await ofUser(db, uid, limit, offset)
    .where(all([...ofMember, ...ofCall]))
    .execute()
  return { total, rows }
}

/** What members tell of a call is in their index; the calls themselves are looked up only for what they alone tell. */
async function countOwn(db: TenantDb, uid: string, ofMember: Condition[], ofCall: Condition[]): Promise<number> {
  const calls =
    ofCall.length === 0
      ? sql``
      : sql`JOIN calls ON calls.app_id = call_members.app_id AND calls.session_id = call_members.session_id`
  const [row] = await db.sql<{ total: number }>`SELECT count(*) AS total FROM call_members ${calls}
    WHERE call_members.app_id = ${db.appId} AND call_members.uid = ${uid} AND ${all([...ofMember, ...ofCall])}`.execute()
  return row?.total ?? 0
}

function all(conditions: Condition[]): Condition {
  return sql<SqlBool>`${sql.join(conditions, sql` AND `)}`
}
