import type { Static, TSchema } from 'typebox'
import type { TenantDb } from '../storage/tenant.ts'
import type { EventDefinition } from './event.ts'
import type { JobDefinition } from './job.ts'
import type { Tools } from './ports.ts'

/** What an app is set to; the area that keeps it says what there is. */
// biome-ignore lint/suspicious/noEmptyInterface: filled where settings are kept
export interface Settings {}

/** What is known of an app besides its records. */
export interface AppFacts {
  settings: Settings
  createdAt: number
}

/** What is known already of an app and of whoever does something in it. */
export interface Brought extends AppFacts {
  /** The connected device that asks for it; events keep it, so that it is not told what it knows. */
  device?: string | undefined
}

/** What code that only reads works with. */
export interface View {
  db: TenantDb
  now: number
  tools: Tools
  /** What the app is set to: as the door remembers it, or read once. */
  settings(): Promise<Settings>
  /** When the app was created; known in the same way. */
  createdAt(): Promise<number>
}

/** What code inside a transaction works with, whoever called it: an operation, a follower or a job. */
export interface Work extends View {
  /** The connected device that asks for it, where it has said so. */
  device?: string | undefined
  /** Records a fact in the log. */
  emit<Payload extends TSchema>(event: EventDefinition<Payload>, payload: Static<Payload>): Promise<void>
  /** Records many facts of one kind at once. */
  emitEach<Payload extends TSchema>(event: EventDefinition<Payload>, payloads: Static<Payload>[]): Promise<void>
  /** Queues a job; a key that is queued already keeps its first time and payload. A destination has a line of its own. */
  later<Payload extends TSchema>(
    job: JobDefinition<Payload>,
    payload: Static<Payload>,
    options: { key: string; at?: number; destination?: string },
  ): Promise<void>
}

/** Does something in a transaction of an app. */
export type InApp = <T>(work: (work: Work) => Promise<T>) => Promise<T>
