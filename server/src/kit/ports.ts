import type { Readable } from 'node:stream'
import type { TenantTable } from '../storage/tables.ts'
import type { Notes } from './note.ts'

/** The outside world, as the areas see it. Each has an embedded and a scaled adapter, or a real and a virtual one. */

/** Time in whole UNIX seconds. The emulator and the tests move it; everything that waits obeys. */
export interface Clock {
  now(): number
}

/** A clock that can be set and pushed forward. */
export interface AdjustableClock extends Clock {
  /** Seconds by which this clock is ahead of real time. */
  offsetSeconds(): number
  setOffset(seconds: number): void
}

/** Keeps secrets unreadable at rest, under the install's master key. */
export interface Secrets {
  seal(plain: string): string
  open(sealed: string): string
  /** A keyed hash: the same text always gives the same answer, and nothing can be learnt from it without the key. */
  fingerprint(text: string): string
  /** Bytes for a key with this one purpose: the same on every node of an install, and on no other install. */
  derive(purpose: string, bytes: number): Buffer
}

/** Counts per window, for rate limits; shared by all nodes where there are several. */
export interface Counters {
  /** Adds so many, or takes them off, and answers the count in the window that ends at `windowEndsAt`. */
  add(name: string, windowEndsAt: number, amount: number): number | Promise<number>
}

/**
 * Who is connected, on whichever node. Every record of a user tells it, so it is at hand: a node knows its own users, and
 * keeps what it last heard of the other nodes'. It stands in no row, or every coming and going would rewrite one.
 */
export interface Presence {
  /** The UIDs of an app's connected users. There are no more of them than the nodes take connections. */
  online(appId: string): ReadonlySet<string>
  /** The first device of a user has connected to this node. */
  came(appId: string, uid: string): void
  /** The last device of a user has gone from this node: now, unless it was earlier. */
  went(appId: string, uid: string, at?: number): void
  /** Somebody is connected who was not before, or the other way round, on whichever node. Answers how to stop hearing. */
  onChange(hear: (change: PresenceChange) => void): () => void
  /** Where there are other nodes, its users count as connected for some seconds more: most are back by then, elsewhere. */
  close(): Promise<void>
}

export interface PresenceChange {
  appId: string
  uid: string
  isOnline: boolean
  /** When; of users whose node is dead, its last sign of life. */
  at: number
  /** It happened on this node, or on a dead one that this node clears away: if it is written down, then from here. */
  isOurs: boolean
}

/** Words between nodes that are never stored and may be lost: for what is of no use later. */
export interface Signals {
  /** Tells all nodes, this one included and at once. */
  send(topic: string, signal: unknown): void
  /** Answers how to stop hearing. `isOwn`: it was sent by this node. */
  hear(topic: string, listener: SignalListener): () => void
  close(): Promise<void>
}

export type SignalListener = (signal: unknown, isOwn: boolean) => void

/** Hashes that are slow to guess from; made beside all else, in a good part of a second. */
export interface Passwords {
  hash(password: string): Promise<string>
  /** `isDated` where the hash was made at a lower cost than today's. */
  compare(password: string, hash: string): Promise<{ fits: boolean; isDated: boolean }>
}

/** Where the bytes of files are kept, by keys that we choose. */
export interface Files {
  /** Takes content to its end and keeps it durably; of content that breaks off nothing is left. */
  put(key: string, content: AsyncIterable<Buffer>, about: { contentType: string }): Promise<void>
  /** The content, or the part of it from byte `start` to byte `end`; nothing if there is none under this key. */
  get(key: string, range?: { start: number; end: number }): Promise<Readable | undefined>
  /** Removes what is there; of what is not, nothing needs to be removed. */
  remove(key: string): Promise<void>
  /** Fails where nothing could be put. */
  check(): Promise<void>
  /** How much of a file stays in memory while it is being taken, at most. */
  heldBytes: number
  /** The keys of all that is there, in no order, whole or not; a key may come twice. For whoever looks for what is left over. */
  list(): AsyncIterable<string>
  close(): Promise<void>
}

/** Pictures that come from strangers: whatever they turn out to be, making them small costs no more than allowed. */
export interface Pictures {
  /**
   * Reads a picture when its turn has come, and makes it so small that no side is longer; nothing, if there is none, or
   * it is broken, or would take too much memory or time.
   */
  shrink(read: () => Promise<Readable | undefined>, edgePixelsMax: number): Promise<SmallPicture | undefined>
  close(): Promise<void>
}

export interface SmallPicture {
  /** As WebP. */
  content: Uint8Array
  /** Of the original, the way it is meant to be looked at. */
  width: number
  height: number
}

/** What may be uploaded, from the configuration. */
export interface FileLimits {
  /** For one file, and for all files of one request together. */
  bytesMax: number
  /** Files of one record. */
  countMax: number
  /** A download address works at least this long. */
  urlSeconds: number
  /** An upload that sends nothing for this long is given up. */
  stallSeconds: number
}

/** Durations that the rules obey, from the configuration; areas add theirs, as they do with tables. */
// biome-ignore lint/suspicious/noEmptyInterface: each area says what it goes by
export interface Timings {}

/** The service a deployment is reached at; records name it in addresses. */
export interface ServiceAddress {
  region: string
  domain: string
  /** The port that clients reach it at. */
  port: number
}

/** What operations, followers and jobs may use besides the database. */
export interface Tools {
  clock: AdjustableClock
  secrets: Secrets
  passwords: Passwords
  timings: Timings
  place: ServiceAddress
  /** Every table that holds rows of apps. */
  tenantTables: TenantTable[]
  quotas: { appsMax: number | undefined }
  files: Files
  fileLimits: FileLimits
  pictures: Pictures
  presence: Presence
  signals: Signals
  notes: Notes
  /** Writes notes down, then runs followers and jobs until nothing is due; a few seconds at most. */
  settle(): Promise<void>
}
