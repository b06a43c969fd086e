import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { askedOfEach } from '../../storage/plans.ts'
import { facetTotals, patternOf, totalOf, wantsEverything } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { callsListOf } from './ledger.ts'
import type { CallListQuery } from './schemas.ts'
import {
  callIs,
  callMatches,
  callsSharedMax,
  ofUser,
  type Selected,
  type Slice,
  selectOfUser,
  wantedFacets,
} from './store.ts'

/**
 * Which calls stand in a user's log. Whatever is asked for, no more is read than the calls of that user, or of the other
 * one who is asked about.
 */

type Condition = RawBuilder<SqlBool>

const nothing: Selected = { total: 0, rows: [] }

/** A page of the calls that the user has a part in. */
export async function selectOwn(db: TenantDb, uid: string, asked: CallListQuery, slice: Slice): Promise<Selected> {
  if (contradictsItself(asked)) return nothing
  const query = inWordsOfRecords(asked)
  const walk = await walkOf(db, uid, query.uid?.toLowerCase() ?? uid, sidesWanted(asked))
  const conditions = [...walk.conditions, ...conditionsOn(db, query)]
  if (conditions.length === 0) return selectOfUser(db, query, uid, slice)
  if (!(await hasSuch(db, uid, query))) return nothing
  return selectCounted(db, walk.uid, [...conditions, ...facetConditions(db, query)], slice)
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

const incoming = 0
const outgoing = 1
const neither = -1
const directions = new Map([
  ['incoming', incoming],
  ['outgoing', outgoing],
])

/** What `placed` has to be for the user. A call is missed by whom it rang for: to the caller, it went unanswered. */
function sidesWanted({ direction, status }: CallListQuery): number[] {
  return [
    ...(direction === undefined ? [] : [directions.get(direction) ?? neither]),
    ...(status === 'missed' ? [incoming] : []),
  ]
}

/** Whose calls are walked, by time, and what has to hold for each. */
interface Walk {
  uid: string
  conditions: Condition[]
}

/** Calls that two users share stand in the lists of both: the shorter one is walked. */
async function walkOf(db: TenantDb, uid: string, other: string, sides: number[]): Promise<Walk> {
  const own = sides.map((placed) => sql<SqlBool>`call_members.placed = ${placed}`)
  if (other === uid) return { uid, conditions: own }
  const [ofOwn, ofOther] = [await totalOf(db, callsListOf(uid)), await totalOf(db, callsListOf(other))]
  if (ofOther < ofOwn) return { uid: other, conditions: [hasPart(db, uid, sides)] }
  return { uid, conditions: [...own, hasPart(db, other, [])] }
}

function hasPart(db: TenantDb, uid: string, sides: number[]): Condition {
  const onSides = sides.map((placed) => sql`AND other.placed = ${placed}`)
  return askedOfEach(sql`FROM call_members AS other WHERE other.app_id = ${db.appId}
    AND other.session_id = call_members.session_id AND other.uid = ${uid} ${sql.join(onSides, sql` `)}`)
}

function conditionsOn(db: TenantDb, { guid, startedAt, endedAt }: CallListQuery): Condition[] {
  return [
    ...(guid === undefined ? [] : [sql<SqlBool>`call_members.guid = ${guid.toLowerCase()}`]),
    ...(startedAt === undefined ? [] : [sql<SqlBool>`call_members.initiated_at >= ${startedAt}`]),
    // What has ended by then has begun by then, and that is in the index.
    ...(endedAt === undefined ? [] : [sql<SqlBool>`call_members.initiated_at <= ${endedAt}`]),
    ...(endedAt === undefined ? [] : [callIs(db, sql`calls.ended_at <= ${endedAt}`)]),
  ]
}

function facetConditions(db: TenantDb, query: CallListQuery): Condition[] {
  const wanted = wantedFacets(query)
  return wantsEverything(wanted) ? [] : [callMatches(db, patternOf(wanted))]
}

/** By kept counts: nobody looks through all calls of a user for a kind that is not there. */
async function hasSuch(db: TenantDb, uid: string, query: CallListQuery): Promise<boolean> {
  const wanted = wantedFacets(query)
  return wantsEverything(wanted) || (await facetTotals(db, callsListOf(uid), wanted)).length > 0
}

/** Filters that no kept count covers. */
async function selectCounted(
  db: TenantDb,
  uid: string,
  conditions: Condition[],
  { limit, offset }: Slice,
): Promise<Selected> {
  if ((await totalOf(db, callsListOf(uid))) > callsSharedMax) db.leaveSharedReader()
  const wanted = sql<SqlBool>`${sql.join(conditions, sql` AND `)}`
  const { total } = await db
    .select('call_members')
    .select(sql<number>`count(*)`.as('total'))
    .where('call_members.uid', '=', uid)
    .where(wanted)
    .executeTakeFirstOrThrow()
  if (offset >= total) return { total, rows: [] }
  return { total, rows: await ofUser(db, uid, limit, offset).where(wanted).execute() }
}
