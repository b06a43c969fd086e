import { randomBytes } from 'node:crypto'
import { channelKey } from '../../kit/channel.ts'
import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import { facetsOf, moveTally, type PlaceInList } from '../../storage/tally.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { userChannel } from '../users/events.ts'
import { stepOf, writeCallMessage } from './call-messages.ts'
import { Course } from './course.ts'
import { callNotFound } from './errors.ts'
import { callEventFor, messageEventFor } from './events.ts'
import type { Fact, InitiatedFact } from './facts.ts'
import { recordOf, shownTranscriptions } from './record.ts'
import { type Intent, nextDeadline } from './rules.ts'
import type { ListedCall } from './schemas.ts'
import { sideOf } from './sides.ts'
import { keepSigns, signsOf } from './signs.ts'
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

/** Begins a call with its first fact. */
export async function beginCall(work: Work, sessionId: string, start: InitiatedFact): Promise<void> {
  const state = begin(start)
  await work.db.insert('calls', { session_id: sessionId, ...columnsOf(sessionId, state, work.now) }).execute()
  await follow(work, sessionId, undefined, state, [start])
}

/** Something happens in a call, or is told to have happened, if the rules allow it now. */
export async function happen(work: Work, sessionId: string, intent: Intent): Promise<CallState> {
  return (await inCall(work, sessionId, (course) => course.happen(intent))).state
}

/**
 * The one entrance: under the call's lock, and with everything written down in the end that the course has added. What time
 * has decided comes first, whether or not the watcher has come by: nobody can answer a ring that is over. If something is
 * then refused, the transaction takes what time decided back with it; the watcher, or whoever comes next, finds the same
 * again.
 */
export async function inCall(work: Work, sessionId: string, act: (course: Course) => void): Promise<Course> {
  const { db, now, tools } = work
  if (!(await lockCall(db, sessionId))) throw callNotFound({ sessionId })
  const before = fold(await ledgerOf(db, sessionId))
  const signs = isFinal(before.status) ? [] : await signsOf(db, sessionId)
  const course = new Course(before, signs, now, tools.timings)
  act(course)
  if (course.added.length > 0) {
    await keepSigns(db, sessionId, signs, course)
    await add({ ...work, now: course.now }, sessionId, before, course)
  }
  return course
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
    const { state, signs } = await inCall(work, sessionId, () => {})
    const deadline = nextDeadline(state, signs, work.tools.timings)
    return deadline === undefined ? undefined : { againAt: deadline }
  },
})

async function add(work: Work, sessionId: string, before: CallState, { state, added }: Course): Promise<void> {
  await work.db
    .update('calls')
    .set(columnsOf(sessionId, state, work.now))
    .where('session_id', '=', sessionId)
    .execute()
  await follow(work, sessionId, before, state, added)
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

const firstFact = prepared<{ sessionId: string }, Pick<CallFactRow, 'fact'>>((db, { sessionId }) =>
  db
    .select('call_facts')
    .select('call_facts.fact')
    .where('call_facts.session_id', '=', sessionId)
    .where('call_facts.number', '=', 1),
)

/** How a call began. */
export async function startOf(db: TenantDb, sessionId: string): Promise<InitiatedFact | undefined> {
  const [row] = await firstFact(db, { sessionId })
  return row && JSON.parse(row.fact)
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
  await tell(work, sessionId, before, added)
  const deadline = nextDeadline(after, [], tools.timings)
  if (deadline !== undefined) await work.later(superviseCall, { sessionId }, { key: sessionId, at: deadline })
  await countIn(db, sessionId, before, after, now)
}

/** Each fact is told with the call as it stood then, also where one act leaves several. */
async function tell(work: Work, sessionId: string, before: CallState | undefined, added: Fact[]): Promise<void> {
  let state = before
  for (const fact of added) {
    const after = state ? applyFact(state, fact) : begin(fact as InitiatedFact)
    const event = callEventFor(sessionId, after, fact)
    if (event) await work.emit(event.definition, event.payload)
    await tellConversation(work, sessionId, state, after, fact)
    state = after
  }
}

/** Two who are in a call are told of it, whoever blocks whom meanwhile; and some of a group, where it rings only for them. */
function audienceOf(state: CallState): string[] | undefined {
  const { receiverType, ringsOnlyInvited } = state.start
  const isForSome = receiverType === 'user' || ringsOnlyInvited
  return isForSome ? membersOf(state).map((uid) => channelKey(userChannel(uid))) : undefined
}

/** The step in the conversation's history; the call knows the newest, as the answer to whoever took it. */
async function tellConversation(
  work: Work,
  sessionId: string,
  before: CallState | undefined,
  after: CallState,
  fact: Fact,
): Promise<void> {
  const step = stepOf(before, after, fact)
  const deed = step && (await writeCallMessage({ ...work, now: fact.at }, sessionId, after, step, work.device))
  if (!deed) return
  const audience = audienceOf(after) ?? deed.audience
  await work.emit(messageEventFor(step.action, after.start.receiverType), { ...deed, audience })
  await work.db
    .update('calls')
    .set({ message_id: Number(deed.message.id) })
    .where('session_id', '=', sessionId)
    .execute()
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
    .map((uid) => ({ uid, session_id: sessionId, initiated_at: after.start.at, ...sideOf(after.start, uid) }))
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
  const placeOf = (state: CallState): PlaceInList => ({
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
