import { sql } from 'kysely'
import { facetTotals, totalOf } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { callsList, columnsOf, ledgerOf, membersOf } from './ledger.ts'
import { sum } from './record.ts'
import { fold, isFinal } from './state.ts'

const callsPerStep = 500

/** Something in the stored calls that does not follow from the ledger. */
export interface Finding {
  sessionId: string | undefined
  problem: string
}

/** Recomputes every call of an app from its ledger and compares; answers how many it checked and what it found. */
export async function auditCalls(db: TenantDb): Promise<{ checked: number; findings: Finding[] }> {
  const findings: Finding[] = []
  let checked = 0
  let after = ''
  for (;;) {
    const rows = await db
      .select('calls')
      .selectAll()
      .where('calls.session_id', '>', after)
      .orderBy('calls.session_id')
      .limit(callsPerStep)
      .execute()
    for (const row of rows) {
      const problems = await problemsOf(db, row)
      findings.push(...problems.map((problem) => ({ sessionId: row.session_id, problem })))
    }
    checked += rows.length
    const last = rows.at(-1)
    if (!last) break
    after = last.session_id
  }
  findings.push(...(await countProblems(db, checked)))
  return { checked, findings }
}

async function problemsOf(
  db: TenantDb,
  row: { session_id: string; document: string; live: number; facets: string; fact_count: number; updated_at: number },
): Promise<string[]> {
  const sessionId = row.session_id
  const facts = await ledgerOf(db, sessionId)
  if (facts.length === 0) return ['has no ledger']
  const state = fold(facts)
  // A live call's document was computed when its last fact was written.
  const expected = columnsOf(sessionId, state, row.updated_at)
  const problems: string[] = []
  if (row.document !== expected.document) problems.push('its document does not follow from its ledger')
  if (row.facets !== expected.facets) problems.push('its filter values do not follow from its ledger')
  if (row.live !== expected.live) problems.push('is marked live but final, or the other way round')
  if (row.fact_count !== facts.length) problems.push(`has ${facts.length} facts and counts ${row.fact_count}`)
  if (!isFinal(state.status) && !(await hasSupervisor(db, sessionId))) problems.push('is live and nobody watches it')
  const members = await db
    .select('call_members')
    .select('call_members.uid')
    .where('call_members.session_id', '=', sessionId)
    .execute()
  const names = members.map(({ uid }) => uid).toSorted()
  if (names.join() !== membersOf(state).join()) problems.push('its list of members does not follow from its ledger')
  return problems
}

async function hasSupervisor(db: TenantDb, sessionId: string): Promise<boolean> {
  const row = await db
    .select('jobs')
    .select('jobs.key')
    .where('jobs.name', '=', 'calls.supervise')
    .where('jobs.key', '=', sessionId)
    .where('jobs.dead_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

async function countProblems(db: TenantDb, checked: number): Promise<Finding[]> {
  const findings: Finding[] = []
  const kept = await totalOf(db, callsList)
  if (kept !== checked) {
    findings.push({ sessionId: undefined, problem: `there are ${checked} calls and lists count ${kept}` })
  }
  const keptByFacets = new Map(
    (
      await facetTotals(db, callsList, [undefined, undefined, undefined, undefined, undefined, undefined, undefined])
    ).map(({ facets, n }) => [facets, n]),
  )
  const counted = await db
    .select('calls')
    .select(['calls.facets', sql<number>`count(*)`.as('n')])
    .groupBy('calls.facets')
    .execute()
  for (const { facets, n } of counted) {
    if (keptByFacets.get(facets) !== n) {
      findings.push({
        sessionId: undefined,
        problem: `${n} calls are ${facets} and lists count ${keptByFacets.get(facets) ?? 0}`,
      })
    }
    keptByFacets.delete(facets)
  }
  const extra = sum([...keptByFacets.values()])
  if (extra !== 0) findings.push({ sessionId: undefined, problem: `lists count ${extra} calls that do not exist` })
  return findings
}
