import { randomBytes } from 'node:crypto'
import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import { facetsOf, moveTally, type Place } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { callNotFound } from './errors.ts'
import { callEventFor } from './events.ts'
import type { Fact, InitiatedFact } from './facts.ts'
import { recordOf, shownTranscriptions } from './record.ts'
import { accept, elapsed, type Intent, inTurn, nextDeadline, type Sign } from './rules.ts'
import type { ListedCall } from './schemas.ts'
import { applyFact, begin, type CallState, fold, isFinal } from './state.ts'
import type { CallFactRow } from './tables.ts'

/**
 * The only way into a call's history. Facts, the document made from them, the counts of lists, the event and the job that
 * watches the call are written in one transaction, so a crash leaves all of it or nothing.
 */

export interface NumberedFact {
  number: number
  recordedAt: number
  fact: Fact
}

export const callsList = 'calls'
export const callsListOf = (uid: string) => `calls of ${uid}`

const sessionIdBytes = 20

export function newSessionId(region: string, appId: string, initiatedAt: number): string {
  return `v1.${region}.${appId}.${initiatedAt}${randomBytes(sessionIdBytes).toString('hex')}`
}

/** Begins a call with its first fact, and with any that followed it already. */
export async function beginCall(
  work: Work,
  sessionId: string,
  [start, ...rest]: [InitiatedFact, ...Fact[]],
): Promise<CallState> {
  const state = rest.reduce(applyFact, begin(start))
  await work.db.insert('calls', { session_id: sessionId, ...columnsOf(sessionId, state, work.now) }).execute()
  await follow(work, sessionId, undefined, state, [start, ...rest])
  return state
}

/**
 * Lets something happen in a call, if the rules allow it now. What time has decided comes first, whether or not the
 * watcher has come by: nobody can answer a ring that is over. If the intent is then refused, the transaction takes what
 * time decided back with it; the watcher, or whoever comes next, finds the same again.
 */
export async function happen(work: Work, sessionId: string, intent: Intent): Promise<CallState> {
  const { before, late } = await openLedger(work, sessionId)
  const accepted = accept(late.reduce(applyFact, before), intent, work.now)
  return add(work, sessionId, before, [...late, ...accepted])
}

/** Lets one thing after the other happen, as `next` names them from how the call stands; it may be nothing. */
export async function bringAbout(
  work: Work,
  sessionId: string,
  next: (present: CallState) => Intent | undefined,
): Promise<void> {
  const { before, late } = await openLedger(work, sessionId)
  const facts = [...late, ...inTurn(late.reduce(applyFact, before), work.now, next)]
  if (facts.length > 0) await add(work, sessionId, before, facts)
}

/**
 * The watcher. One such job lives as long as its call. It is queued in the transaction that begins the call, so there is
 * no moment at which a crash could leave a call that nobody watches.
 */
export const superviseCall = job({
  name: 'calls.supervise',
  payload: Type.Object({ sessionId: Type.String() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ sessionId }, work) {
    const { before, signs, late } = await openLedger(work, sessionId)
    const after = late.length > 0 ? await add(work, sessionId, before, late) : before
    const deadline = nextDeadline(after, signs, work.tools.timings)
    return deadline === undefined ? undefined : { againAt: deadline }
  },
})

/** A call as it stands under the lock, and the facts that time has added since. */
async function openLedger({ db, now, tools }: Work, sessionId: string) {
  if (!(await lockCall(db, sessionId))) throw callNotFound({ sessionId })
  const before = fold(await ledgerOf(db, sessionId))
  const signs = isFinal(before.status) ? [] : await signsOf(db, sessionId)
  return { before, signs, late: elapsed(before, signs, now, tools.timings) }
}

async function add(work: Work, sessionId: string, before: CallState, added: Fact[]): Promise<CallState> {
  const after = added.reduce(applyFact, before)
  await work.db
    .update('calls')
    .set(columnsOf(sessionId, after, work.now))
    .where('session_id', '=', sessionId)
    .execute()
  await follow(work, sessionId, before, after, added)
  return after
}

/** Notes that devices of a live call are there; of a call that is over, nothing is noted. */
export async function noteSigns(db: TenantDb, sessionId: string, signs: Sign[]): Promise<void> {
  if (signs.length === 0) return
  const call = await lockCall(db, sessionId)
  if (call?.live !== 1) return
  await db
    .insert(
      'call_signs',
      signs.map(({ uid, deviceId, seenAt }) => ({ session_id: sessionId, uid, device_id: deviceId, seen_at: seenAt })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'session_id', 'uid', 'device_id'])
        .doUpdateSet((row) => ({ seen_at: row.ref('excluded.seen_at') })),
    )
    .execute()
}

async function signsOf(db: TenantDb, sessionId: string): Promise<Sign[]> {
  const rows = await db
    .select('call_signs')
    .select(['call_signs.uid', 'call_signs.device_id', 'call_signs.seen_at'])
    .where('call_signs.session_id', '=', sessionId)
    .execute()
  return rows.map((row) => ({ uid: row.uid, deviceId: row.device_id, seenAt: row.seen_at }))
}

export async function numberedFacts(db: TenantDb, sessionId: string): Promise<NumberedFact[]> {
  const rows = await db
    .select('call_facts')
    .select(['call_facts.number', 'call_facts.recorded_at', 'call_facts.fact'])
    .where('call_facts.session_id', '=', sessionId)
    .orderBy('call_facts.number')
    .execute()
  return rows.map(toNumberedFact)
}

type FactRow = Omit<CallFactRow, 'app_id' | 'session_id'>

export function toNumberedFact(row: FactRow): NumberedFact {
  return { number: row.number, recordedAt: row.recorded_at, fact: JSON.parse(row.fact) }
}

export async function ledgerOf(db: TenantDb, sessionId: string): Promise<Fact[]> {
  return (await numberedFacts(db, sessionId)).map(({ fact }) => fact)
}

/** The rows of several ledgers at once. */
export async function ledgersOf(db: TenantDb, sessionIds: string[]): Promise<Map<string, FactRow[]>> {
  if (sessionIds.length === 0) return new Map()
  const rows = await db
    .select('call_facts')
    .select(['call_facts.session_id', 'call_facts.number', 'call_facts.recorded_at', 'call_facts.fact'])
    .where('call_facts.session_id', 'in', roundedUp(sessionIds))
    .orderBy('call_facts.session_id')
    .orderBy('call_facts.number')
    .execute()
  return Map.groupBy(rows, (row) => row.session_id)
}

/** Repeats the last value up to a power of two, so that lists of any length need only a few statement texts. */
export function roundedUp(values: string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return [...values, ...Array.from({ length: length - values.length }, () => values.at(-1) ?? '')]
}

/** Writing to the row, though nothing new, makes a second writer of the same call wait until this one has committed. */
function lockCall(db: TenantDb, sessionId: string): Promise<{ live: number } | undefined> {
  return db
    .update('calls')
    .set((row) => ({ live: row.ref('live') }))
    .where('session_id', '=', sessionId)
    .returning('live')
    .executeTakeFirst()
}

/** All that new facts bring with them. */
async function follow(
  work: Work,
  sessionId: string,
  before: CallState | undefined,
  after: CallState,
  added: Fact[],
): Promise<void> {
  const { db, now, tools } = work
  const numbered = added.map((fact, index) => ({
    session_id: sessionId,
    number: (before?.factCount ?? 0) + index + 1,
    recorded_at: now,
    fact: JSON.stringify(fact),
  }))
  await db.insert('call_facts', numbered).execute()
  await addMembers(db, sessionId, before, after)
  for (const fact of added) {
    const event = callEventFor(sessionId, after, fact)
    if (event) await work.emit(event.definition, event.payload)
  }
  const deadline = nextDeadline(after, [], tools.timings)
  if (deadline !== undefined) await work.later(superviseCall, { sessionId }, { key: sessionId, at: deadline })
  else await db.delete('call_signs').where('session_id', '=', sessionId).execute()
  await countIn(db, sessionId, before, after, now)
}

/** What the stored row holds besides its key: the document, and what lists compare. */
export function columnsOf(sessionId: string, state: CallState, now: number) {
  const record = recordOf(sessionId, state, now)
  const transcriptions = shownTranscriptions(sessionId, state)
  return {
    initiated_at: state.start.at,
    ended_at: state.endedAt ?? null,
    facets: facetsOfCall(record),
    live: isFinal(state.status) ? 0 : 1,
    live_in_group: !isFinal(state.status) && state.start.receiverType === 'group' ? state.start.receiver : null,
    document: JSON.stringify(record),
    extras: `"metaData":${JSON.stringify(state.start.metaData ?? [])},"tags":${JSON.stringify(state.start.tags)}`,
    transcriptions: transcriptions.length > 0 ? JSON.stringify(transcriptions) : null,
    fact_count: state.factCount,
    updated_at: now,
  }
}

/** In the order in which `wantedFacets` asks for them. */
function facetsOfCall(record: ListedCall): string {
  return facetsOf([
    record.type,
    record.mode,
    record.status,
    record.receiverType,
    record.totalParticipants,
    Number(record.hasRecording),
    Number(record.hasTranscription),
  ])
}

/** Users who have a part in the call, in a fixed order. */
export function membersOf({ start, entries }: CallState): string[] {
  const receiver = start.receiverType === 'user' ? [start.receiver] : []
  return [...new Set([start.initiator, ...receiver, ...entries.map(({ uid }) => uid)])].toSorted()
}

async function addMembers(
  db: TenantDb,
  sessionId: string,
  before: CallState | undefined,
  after: CallState,
): Promise<void> {
  const known = new Set(before ? membersOf(before) : [])
  const rows = membersOf(after)
    .filter((uid) => !known.has(uid))
    .map((uid) => ({ uid, session_id: sessionId, initiated_at: after.start.at }))
  if (rows.length > 0) await db.insert('call_members', rows).execute()
}

/**
 * All calls of an app share a few rows of counts, and whoever has written one keeps the others waiting until the commit.
 * So they come last of all, the widest shared at the very end; always in this order, so that nobody waits in a circle.
 */
async function countIn(
  db: TenantDb,
  sessionId: string,
  before: CallState | undefined,
  after: CallState,
  now: number,
): Promise<void> {
  const placeOf = (state: CallState): Place => ({
    at: state.start.at,
    facets: facetsOfCall(recordOf(sessionId, state, now)),
  })
  const from = before && placeOf(before)
  const to = placeOf(after)
  const known = new Set(before ? membersOf(before) : [])
  for (const uid of membersOf(after)) {
    await moveTally(db, callsListOf(uid), known.has(uid) ? from : undefined, to, 'total')
  }
  await moveTally(db, callsList, from, to)
}
