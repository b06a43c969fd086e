import type { Generated, Selectable } from 'kysely'

/**
 * Every table's row type. An area adds its own by augmentation, beside its migrations:
 *
 *   declare module '../../storage/tables.ts' {
 *     interface Tables { friends: FriendRow }
 *   }
 */
export interface Tables {
  events: EventTable
  jobs: JobTable
  followers: FollowerRow
  leases: LeaseRow
  idempotent_replies: IdempotentReplyRow
  tallies: TallyRow
  locks: LockRow
  search_entries: SearchEntryRow
  install_settings: InstallSettingRow
}

/** Tables that belong to one app; only these can be named through a tenant connection. */
export type TenantTable = {
  [Table in keyof Tables]: Tables[Table] extends { app_id: string } ? Table : never
}[keyof Tables]

/** A fact in the log. Its id, which the database gives, is its position. */
interface EventTable {
  id: Generated<number>
  app_id: string
  name: string
  payload: string
  at: number
  /** The connected device that did it, if it was one. */
  device: Generated<string | null>
}

export type EventRow = Selectable<EventTable>

/** Where jobs wait for their turn: work in the database, work that has to do with the outside world, and bulk work. */
export type JobLane = 'inside' | 'outside' | 'bulk'

interface JobTable {
  app_id: string
  name: string
  key: string
  lane: Generated<JobLane>
  /** Which kind of job goes where; nothing, unless it goes outside. See destination.ts. */
  destination: Generated<string>
  payload: string
  run_at: number
  attempts: Generated<number>
  /** Until then, in real time, the job belongs to the worker that claimed it. */
  locked_until: Generated<number>
  /** How often it was claimed. A worker whose claim is not the last one changes nothing. */
  claims: Generated<number>
  dead_at: Generated<number | null>
  last_error: Generated<string | null>
}

export type JobRow = Selectable<JobTable>

export interface FollowerRow {
  name: string
  /** The last event that it has read. */
  id: number
}

export interface LeaseRow {
  name: string
  holder: string
  expires_at: number
}

export interface IdempotentReplyRow {
  app_id: string
  /** Who asked; see http/idempotency.ts. */
  caller: string
  key: string
  fingerprint: string
  /** Encrypted: a reply may hold a secret, such as a fresh API key. */
  reply: string | null
  created_at: number
}

/** How many records of a list stand in a span of time; see tally.ts. */
export interface TallyRow {
  app_id: string
  list: string
  level: number
  bucket: number
  facets: string
  n: number
}

/** What a record can be found by; see search.ts. */
export interface SearchEntryRow {
  app_id: string
  list: string
  id: string
  /** The record's place in its list, which is read from the highest down. */
  at: number
  /** The record's texts, folded, a line each. */
  text: string
  /** What searches can be narrowed to, a line each. */
  marks: string
}

export interface InstallSettingRow {
  name: string
  value: string
}

/** A row to queue up for, where several write at a time; see `oneAtATime`. */
export interface LockRow {
  app_id: string
  name: string
}

/** Tables of the install as a whole; they hold no app's rows. */
export type InstallTable = Exclude<keyof Tables, TenantTable>

/** The tables of storage itself; an area's card names its own. */
export const houseTables: TenantTable[] = ['events', 'jobs', 'idempotent_replies', 'tallies', 'locks', 'search_entries']
export const houseInstallTables: InstallTable[] = ['followers', 'leases', 'install_settings']
