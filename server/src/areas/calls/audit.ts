import { sql } from 'kysely'
import type { Audit } from '../../kit/area.ts'
import { finestSpanSeconds, type Tally, talliesAt } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import {
  callsList,
  callsListOf,
  columnsOf,
  ledgersOf,
  membersOf,
  type NumberedFact,
  roundedUp,
  superviseCall,
  toNumberedFact,
} from './ledger.ts'
import { sideOf } from './sides.ts'
import { type CallState, fold, isFinal } from './state.ts'
import type { CallMemberRow, CallRow, CallSignRow } from './tables.ts'

export const audit: Audit = {
  async ofApp(db) {
    const { checked, findings } = await auditCalls(db)
    const told = findings.map(({ sessionId, problem }) => (sessionId ? `call ${sessionId} ${problem}` : problem))
    return { [`${checked} calls follow from their ledgers`]: told }
  },
}

const callsPerStep = 512

/** Something in the stored calls that does not follow from the ledger. */
export interface Finding {
  sessionId: string | undefined
  problem: string
}

/**
 * Recomputes every call of an app from its ledger, and every count from the calls, and compares; answers how many calls
 * it checked and what it found. Hand it a snapshot: what changes between two reads would look like a fault.
 */
export async function auditCalls(db: TenantDb): Promise<{ checked: number; findings: Finding[] }> {
  const findings: Finding[] = []
  let checked = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: CallRow[] = await callsAfter(db, after)
    findings.push(...(await problemsOfCalls(db, rows)))
    checked += rows.length
    after = rows.at(-1)?.session_id
  }
  findings.push(...(await strayRows(db)), ...(await countProblems(db)))
  return { checked, findings }
}

function callsAfter(db: TenantDb, sessionId: string): Promise<CallRow[]> {
  return db
    .select('calls')
    .selectAll()
    .where('calls.session_id', '>', sessionId)
    .orderBy('calls.session_id')
    .limit(callsPerStep)
    .execute()
}

async function problemsOfCalls(db: TenantDb, rows: CallRow[]): Promise<Finding[]> {
  if (rows.length === 0) return []
  const sessionIds = rows.map((row) => row.session_id)
  const ledgers = await ledgersOf(db, sessionIds)
  const members = await membersIn(db, sessionIds)
  const watched = await watchedAmong(db, sessionIds)
  const signs = await signsIn(db, sessionIds)
  return rows.flatMap((row) => {
    const sessionId = row.session_id
    const replayed = replay(ledgers.get(sessionId) ?? [])
    if (!replayed) return [{ sessionId, problem: 'has no ledger that can be replayed' }]
    const { ledger, state } = replayed
    const problems = [
      ...numberProblems(ledger),
      ...columnProblems(row, state, ledger),
      ...memberProblems(state, members.get(sessionId) ?? []),
      ...(isFinal(state.status) || watched.has(sessionId) ? [] : ['is live and nobody watches it']),
      ...signProblems(state, signs.get(sessionId) ?? []),
    ]
    return problems.map((problem) => ({ sessionId, problem }))
  })
}

function replay(
  rows: Parameters<typeof toNumberedFact>[0][],
): { ledger: NumberedFact[]; state: CallState } | undefined {
  try {
    const ledger = rows.map(toNumberedFact)
    return { ledger, state: fold(ledger.map(({ fact }) => fact)) }
  } catch {
    return undefined
  }
}

function numberProblems(ledger: NumberedFact[]): string[] {
  return ledger.every(({ number }, index) => number === index + 1)
    ? []
    : ['its facts are not numbered from 1 without gaps']
}

/** The row was written with the last fact, at its time; a live call's minutes ran up to then. */
function columnProblems(row: CallRow, state: CallState, ledger: NumberedFact[]): string[] {
  const expected = columnsOf(row.session_id, state, ledger.at(-1)?.recordedAt ?? 0)
  return Object.entries(expected)
    .filter(([column, value]) => row[column as keyof CallRow] !== value)
    .map(([column]) => `its ${column} does not follow from its ledger`)
}

function memberProblems(state: CallState, rows: CallMemberRow[]): string[] {
  const kept = rows.map(({ uid }) => uid).toSorted()
  const problems: string[] = []
  if (JSON.stringify(kept) !== JSON.stringify(membersOf(state))) {
    problems.push('its list of members does not follow from its ledger')
  }
  if (rows.some((row) => row.initiated_at !== state.start.at))
    problems.push('stands at another time in lists of members')
  if (rows.some((row) => row.placed !== sideOf(state.start, row.uid).placed))
    problems.push('is outgoing for somebody else than its caller')
  if (rows.some((row) => row.guid !== sideOf(state.start, row.uid).guid))
    problems.push('stands in another group in lists of members')
  return problems
}

/** A device without a row could not be heard of, and would leave although it is there. */
function signProblems(state: CallState, rows: CallSignRow[]): string[] {
  if (isFinal(state.status)) return []
  const textOf = (devices: { uid: string; deviceId: string | undefined }[]) =>
    JSON.stringify(devices.map(({ uid, deviceId }) => JSON.stringify([uid, deviceId])).toSorted())
  const there = textOf(state.entries.filter((entry) => entry.state === 'ongoing'))
  const heard = textOf(rows.map((row) => ({ uid: row.uid, deviceId: row.device_id })))
  return there === heard ? [] : ['its signs of life are not those of the devices in it']
}

async function signsIn(db: TenantDb, sessionIds: string[]): Promise<Map<string, CallSignRow[]>> {
  const rows = await db
    .select('call_signs')
    .selectAll()
    .where('call_signs.session_id', 'in', roundedUp(sessionIds))
    .execute()
  return Map.groupBy(rows, (row) => row.session_id)
}

async function membersIn(db: TenantDb, sessionIds: string[]): Promise<Map<string, CallMemberRow[]>> {
  const rows = await db
    .select('call_members')
    .selectAll()
    .where('call_members.session_id', 'in', roundedUp(sessionIds))
    // In the order of the key, or the database may go by the other index and read all members for every step.
    .orderBy('call_members.session_id')
    .orderBy('call_members.uid')
    .execute()
  return Map.groupBy(rows, (row) => row.session_id)
}

async function watchedAmong(db: TenantDb, sessionIds: string[]): Promise<Set<string>> {
  const rows = await db
    .select('jobs')
    .select('jobs.key')
    .where('jobs.name', '=', superviseCall.name)
    .where('jobs.key', 'in', roundedUp(sessionIds))
    .where('jobs.dead_at', 'is', null)
    .execute()
  return new Set(rows.map(({ key }) => key))
}

/** Rows that belong to no call, and signs of life in calls that are over. */
async function strayRows(db: TenantDb): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [table, what] of [
    ['call_facts', 'facts'],
    ['call_members', 'members'],
    ['call_signs', 'signs of life'],
  ] as const) {
    for (const sessionId of await withoutCall(db, table))
      findings.push({ sessionId, problem: `has ${what} but does not exist` })
  }
  const over = await db
    .select('call_signs')
    .innerJoin('calls', (join) =>
      join.onRef('calls.app_id', '=', 'call_signs.app_id').onRef('calls.session_id', '=', 'call_signs.session_id'),
    )
    .select('call_signs.session_id')
    .distinct()
    .where('calls.live', '=', 0)
    .execute()
  findings.push(...over.map((row) => ({ sessionId: row.session_id, problem: 'is over and has signs of life' })))
  return findings
}

async function withoutCall(db: TenantDb, table: 'call_facts' | 'call_members' | 'call_signs'): Promise<string[]> {
  const rows = await db
    .select(table as 'call_facts')
    .leftJoin('calls', (join) =>
      join
        .onRef('calls.app_id', '=', `${table as 'call_facts'}.app_id`)
        .onRef('calls.session_id', '=', `${table as 'call_facts'}.session_id`),
    )
    .select(`${table as 'call_facts'}.session_id`)
    .distinct()
    .where('calls.session_id', 'is', null)
    .execute()
  return rows.map((row) => row.session_id)
}

/** Compares both ways: counts that are wrong or missing, and counts of what does not exist. */
async function countProblems(db: TenantDb): Promise<Finding[]> {
  const differences = new Map<string, { tally: Tally; actual: number; kept: number }>()
  const at = (tally: Tally) => {
    const key = JSON.stringify([tally.list, tally.level, tally.bucket, tally.facets])
    const entry = differences.get(key) ?? { tally, actual: 0, kept: 0 }
    differences.set(key, entry)
    return entry
  }
  for (const tally of await actualTallies(db)) at(tally).actual += tally.n
  for (const tally of await keptTallies(db)) at(tally).kept += tally.n
  return [...differences.values()]
    .filter(({ actual, kept }) => actual !== kept)
    .map(({ tally, actual, kept }) => ({ sessionId: undefined, problem: countText(tally, actual, kept) }))
}

function countText({ list, level, bucket, facets }: Tally, actual: number, kept: number): string {
  if (list === callsList && level === 0 && facets === '*') return `there are ${actual} calls and lists count ${kept}`
  return `of ${facets} in span ${bucket} of level ${level} there are ${actual} and the list "${list}" counts ${kept}`
}

async function actualTallies(db: TenantDb): Promise<Tally[]> {
  const span = sql<number>`calls.initiated_at - calls.initiated_at % ${sql.lit(finestSpanSeconds)}`
  const ofApp = await db
    .select('calls')
    .select([span.as('at'), 'calls.facets', sql<number>`count(*)`.as('n')])
    .groupBy([span, 'calls.facets'])
    .execute()
  const ofUsers = await db
    .select('call_members')
    .innerJoin('calls', (join) =>
      join.onRef('calls.app_id', '=', 'call_members.app_id').onRef('calls.session_id', '=', 'call_members.session_id'),
    )
    .select(['call_members.uid', 'calls.facets', sql<number>`count(*)`.as('n')])
    .groupBy(['call_members.uid', 'calls.facets'])
    .execute()
  return [
    ...ofApp.flatMap(({ n, ...place }) => talliesAt(callsList, place, n)),
    ...ofUsers.flatMap(({ uid, facets, n }) => talliesAt(callsListOf(uid), { at: 0, facets }, n, 'total')),
  ]
}

function keptTallies(db: TenantDb): Promise<Tally[]> {
  return db
    .select('tallies')
    .select(['tallies.list', 'tallies.level', 'tallies.bucket', 'tallies.facets', 'tallies.n'])
    .where((is) => is.or([is('tallies.list', '=', callsList), is('tallies.list', 'like', callsListOf('%'))]))
    .execute()
}
