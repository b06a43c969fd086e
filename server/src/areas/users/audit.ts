import { sql } from 'kysely'
import type { Audit } from '../../kit/area.ts'
import { entryText } from '../../storage/search-text.ts'
import { finestSpanSeconds, type Tally, talliesAt } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { facetsOfUser, usersList } from './store.ts'
import type { UserRow } from './tables.ts'

export const audit: Audit = {
  async ofApp(db) {
    const { checked, findings } = await auditUsers(db)
    return { [`${checked} users are counted and found as they are`]: findings }
  },
}

const rowsPerStep = 512

/**
 * Holds what lists of users go by against the users themselves: facets, counts, search entries and tags. Answers how many
 * users it checked and what it found. Hand it a snapshot: what changes between two reads would look like a fault.
 */
export async function auditUsers(db: TenantDb): Promise<{ checked: number; findings: string[] }> {
  const findings: string[] = []
  let checked = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: UserRow[] = await usersAfter(db, after)
    findings.push(...(await problemsOfUsers(db, rows)))
    checked += rows.length
    after = rows.at(-1)?.uid
  }
  findings.push(...(await strayEntries(db)), ...(await strayTags(db)), ...(await countProblems(db)))
  return { checked, findings }
}

function usersAfter(db: TenantDb, uid: string): Promise<UserRow[]> {
  return db.select('users').selectAll().where('users.uid', '>', uid).orderBy('users.uid').limit(rowsPerStep).execute()
}

interface Entry {
  id: string
  at: number
  text: string
}

async function problemsOfUsers(db: TenantDb, rows: UserRow[]): Promise<string[]> {
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) return []
  const entries = await entriesBetween(db, first.uid, last.uid)
  const tags = await tagsBetween(db, first.uid, last.uid)
  return rows.flatMap((row) =>
    [
      ...(row.facets === facetsOfUser(row) ? [] : ['is listed under facets that are not theirs']),
      ...entryProblems(row, entries.get(row.uid)),
      ...tagProblems(row, tags.get(row.uid) ?? []),
    ].map((problem) => `user ${row.uid} ${problem}`),
  )
}

async function entriesBetween(db: TenantDb, first: string, last: string): Promise<Map<string, Entry>> {
  const rows = await db
    .select('search_entries')
    .select(['search_entries.id', 'search_entries.at', 'search_entries.text'])
    .where('search_entries.list', '=', usersList)
    .where('search_entries.id', '>=', first)
    .where('search_entries.id', '<=', last)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

async function tagsBetween(db: TenantDb, first: string, last: string): Promise<Map<string, string[]>> {
  const rows = await db
    .select('user_tags')
    .select(['user_tags.uid', 'user_tags.tag'])
    .where('user_tags.uid', '>=', first)
    .where('user_tags.uid', '<=', last)
    .execute()
  const byUser = Map.groupBy(rows, ({ uid }) => uid)
  return new Map([...byUser].map(([uid, each]) => [uid, each.map(({ tag }) => tag)]))
}

function entryProblems({ name, uid, created_at }: UserRow, entry: Entry | undefined): string[] {
  if (!entry) return ['cannot be found by search']
  return [
    ...(entry.text === entryText([name, uid]) ? [] : ['is found by texts that are not theirs']),
    ...(entry.at === created_at ? [] : ['is found at another place than their own']),
  ]
}

function tagProblems({ tags }: UserRow, kept: string[]): string[] {
  const own = readTags(tags)
  if (!own) return ['has tags that cannot be read']
  return [
    ...own.filter((tag) => !kept.includes(tag)).map((tag) => `is not found by their tag "${tag}"`),
    ...kept.filter((tag) => !own.includes(tag)).map((tag) => `is found by "${tag}", which is no tag of theirs`),
  ]
}

function readTags(text: string | null): string[] | undefined {
  try {
    return text === null ? [] : JSON.parse(text)
  } catch {
    return undefined
  }
}

async function strayEntries(db: TenantDb): Promise<string[]> {
  const rows = await db
    .select('search_entries')
    .leftJoin('users', (join) =>
      join.onRef('users.app_id', '=', 'search_entries.app_id').onRef('users.uid', '=', 'search_entries.id'),
    )
    .select('search_entries.id')
    .where('search_entries.list', '=', usersList)
    .where('users.uid', 'is', null)
    .execute()
  return rows.map(({ id }) => `user ${id} is found by search but does not exist`)
}

async function strayTags(db: TenantDb): Promise<string[]> {
  const rows = await db
    .select('user_tags')
    .leftJoin('users', (join) =>
      join.onRef('users.app_id', '=', 'user_tags.app_id').onRef('users.uid', '=', 'user_tags.uid'),
    )
    .select('user_tags.uid')
    .distinct()
    .where('users.uid', 'is', null)
    .execute()
  return rows.map(({ uid }) => `user ${uid} has tags but does not exist`)
}

/** Compares both ways: counts that are wrong or missing, and counts of what does not exist. */
async function countProblems(db: TenantDb): Promise<string[]> {
  const counts = new Map<string, { tally: Tally; actual: number; kept: number }>()
  const at = (tally: Tally) => {
    const key = JSON.stringify([tally.level, tally.bucket, tally.facets])
    const entry = counts.get(key) ?? { tally, actual: 0, kept: 0 }
    counts.set(key, entry)
    return entry
  }
  for (const tally of await actualTallies(db)) at(tally).actual += tally.n
  for (const tally of await keptTallies(db)) at(tally).kept += tally.n
  return [...counts.values()]
    .filter(({ actual, kept }) => actual !== kept)
    .map(({ tally, actual, kept }) => countText(tally, actual, kept))
}

function countText({ level, bucket, facets }: Tally, actual: number, kept: number): string {
  if (level === 0 && facets === '*') return `there are ${actual} users and lists count ${kept}`
  return `of ${facets} in span ${bucket} of level ${level} there are ${actual} users and lists count ${kept}`
}

async function actualTallies(db: TenantDb): Promise<Tally[]> {
  const span = sql<number>`users.created_at - users.created_at % ${sql.lit(finestSpanSeconds)}`
  const rows = await db
    .select('users')
    .select([span.as('at'), 'users.facets', sql<number>`count(*)`.as('n')])
    .groupBy([span, 'users.facets'])
    .execute()
  return rows.flatMap(({ n, ...place }) => talliesAt(usersList, place, n))
}

function keptTallies(db: TenantDb): Promise<Tally[]> {
  return db
    .select('tallies')
    .select(['tallies.list', 'tallies.level', 'tallies.bucket', 'tallies.facets', 'tallies.n'])
    .where('tallies.list', '=', usersList)
    .execute()
}
