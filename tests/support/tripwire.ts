import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { areas } from '../../server/src/areas/index.ts'
import { watchStatements } from '../../server/src/storage/connection.ts'
import { houseTables } from '../../server/src/storage/tables.ts'

/**
 * Reads every statement that runs in a test and fails on one that touches a table of apps without being bound to one app.
 * A forgotten condition then shows in whichever test comes by, not in another customer's data.
 */

/** Statements that are about all apps at once, and who runs them. */
const acrossAllApps: { who: string; statement: RegExp }[] = [
  {
    who: 'a starting server gives back what a dead one had claimed',
    statement: /^update jobs set locked_until = 0 where locked_until > 0$/,
  },
  {
    who: 'a starting server sorts into lanes what an earlier version has queued',
    statement:
      /^update jobs set lane = \S+, destination = .* where name in \(.*\) and \(?lane != \S+( or destination = \S+\))?$/,
  },
  {
    who: 'the job loop looks whose jobs are due',
    statement: /^select app_id as appid, destination from jobs where lane = \S+ and dead_at is null and run_at <= /,
  },
  {
    who: 'the job loop walks through the apps of a lane',
    statement:
      /^with recursive walk \(app_id, steps\) as \( select \(select jobs\.app_id from jobs where jobs\.lane = /,
  },
  {
    who: 'the job loop walks through the destinations of some apps',
    statement: /^with recursive begins \(app_id, place, lap\) as \(values /,
  },
  {
    who: 'the followers look whether they are behind',
    statement: /^select events\.id from events where events\.id > \S+ limit/,
  },
  {
    who: 'housekeeping looks for old replies',
    statement: /^select app_id, caller, key from idempotent_replies where created_at <= \S+ order by created_at limit/,
  },
  { who: 'housekeeping looks at the oldest events', statement: /^select id, at from events order by id limit/ },
  { who: 'housekeeping drops old events', statement: /^delete from events where id <= \S+$/ },
  {
    who: 'a migration numbers the log anew',
    statement: /\(select last_id from log_before\)/,
  },
  {
    who: 'the metrics count jobs given up',
    statement:
      /^select count\(\*\) as count from \( select 1 from jobs where jobs\.dead_at is not null and jobs\.name = /,
  },
  {
    who: 'the doctor looks for jobs given up',
    statement: /^select app_id, name, key, last_error from jobs where dead_at is not null$/,
  },
]

const tenantTables = new Set<string>([...houseTables, ...areas.flatMap((area) => area.tables)])
let exempt = 0
const tripped: string[] = []

/**
 * Runs work of a test that reads all apps on purpose. What else runs meanwhile is not watched either: on SQLite a write may
 * run in the turn of another, so that nothing but the time tells whose it is.
 */
export async function acrossApps<T>(work: () => Promise<T>): Promise<T> {
  exempt += 1
  try {
    return await work()
  } finally {
    exempt -= 1
  }
}

const heard = new AsyncLocalStorage<string[]>()

/** The statements that some work runs in this process, and not those of others that run meanwhile. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = []
  await heard.run(statements, work)
  return statements
}

export function installTripwire(): void {
  watchStatements((sql, parameters) => {
    heard.getStore()?.push(sql)
    if (exempt > 0) return
    const problem = problemWith(sql) ?? problemWithApps(sql, parameters)
    if (problem === undefined) return
    tripped.push(`${problem}: ${sql}`)
    throw new Error(`${problem}: ${sql}`)
  })
}

/** Fails if a statement tripped the wire, also where its error was caught and retried. */
export function assertNothingTripped(): void {
  assert.deepEqual(tripped.splice(0), [])
}

const judged = new Map<string, string | undefined>()

/** What is wrong with a statement, if anything. The same texts come by thousands of times. */
export function problemWith(sql: string): string | undefined {
  if (!judged.has(sql)) judged.set(sql, problemFoundIn(sql))
  return judged.get(sql)
}

const placesOfApps = new Map<string, number[]>()

/** What is wrong with the values of a statement: all that it compares an `app_id` with must be the same app. */
export function problemWithApps(sql: string, parameters: readonly unknown[]): string | undefined {
  const places = placesOfApps.get(sql) ?? findPlacesOfApps(sql)
  placesOfApps.set(sql, places)
  const apps = new Set(places.map((place) => parameters[place]))
  return apps.size > 1 ? 'it is bound to several apps' : undefined
}

/** Which values of a statement are compared with an `app_id`; in SQLite's texts they count by themselves. */
function findPlacesOfApps(sql: string): number[] {
  if (!/^\s*(\/\*.*?\*\/\s*)*(select|insert|update|delete|with)\b/i.test(sql)) return []
  return [...sql.matchAll(/app_id"? = (?:\?|\$(\d+))/g)].map(({ 0: { length }, 1: number, index }) =>
    number === undefined ? sql.slice(0, index + length).split('?').length - 2 : Number(number) - 1,
  )
}

function problemFoundIn(sql: string): string | undefined {
  const text = sql.replaceAll('"', '').replaceAll(/\s+/g, ' ').trim().toLowerCase()
  if (!/^(select|insert|update|delete|with) /.test(text)) return undefined
  const tables = touchedTables(text)
  if (tables.length === 0 || acrossAllApps.some(({ statement }) => statement.test(text))) return undefined
  const unbound = tables.find((table) => !namesAppOf(text, table, tables.length === 1))
  if (unbound !== undefined) return `it touches ${unbound} without its app_id`
  return isBoundToApp(text) ? undefined : 'it compares app_id between tables only, never with an app'
}

function touchedTables(text: string): string[] {
  const named = [...text.matchAll(/\b(?:from|join|into|update) (?!set\b)(\w+)/g)].map(([, table]) => table ?? '')
  return [...new Set(named)].filter((table) => tenantTables.has(table))
}

function namesAppOf(text: string, table: string, alone: boolean): boolean {
  if (new RegExp(`insert into ${table} \\([^)]*\\bapp_id\\b`).test(text)) return true
  const column = alone ? `(?:${table}\\.)?app_id` : `${table}\\.app_id`
  return new RegExp(`(?<![\\w.])${column} = |= ${column}\\b`).test(text)
}

function isBoundToApp(text: string): boolean {
  return /app_id = (\?|\$\d)|insert into \w+ \([^)]*\bapp_id\b/.test(text)
}
