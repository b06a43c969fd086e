import type { GateAnswer } from '../plain/gate.ts'
import type { Migrations } from '../storage/migrate.ts'
import type { InstallTable, TenantTable } from '../storage/tables.ts'
import type { TenantDb } from '../storage/tenant.ts'
import type { Hearing } from './channel.ts'
import type { EventDefinition } from './event.ts'
import type { Follower } from './follower.ts'
import type { JobDefinition } from './job.ts'
import type { Rate } from './limits.ts'
import type { Operation } from './operation.ts'
import type { Tools } from './ports.ts'

/** Promises about what is kept, in words, each with whatever breaks it. */
export type Findings = Record<string, string[]>

/** How an area holds what it keeps against each other. */
export interface Audit {
  /** What one app has at one moment: what changes between two reads would look like a fault. */
  ofApp?(db: TenantDb, tools: Tools): Promise<Findings>
  /** What is kept outside of the database, with the rows of all apps at one moment and as they are now. */
  ofStore?(apps: { snapshot: TenantDb; present: TenantDb }[], tools: Tools): Promise<Findings>
}

/** An area's card: all that it brings to the house. */
export interface Area {
  name: string
  /** What the area is for, in a sentence; heads its chapter in the reference. */
  about: string
  /** Where its operations live: under `/v3`, on the management host, or at the emulator's door. */
  mount: 'v3' | 'management' | 'emulator'
  /** The documented host; both hosts serve every area. */
  host: 'api' | 'call'
  operations: Operation[]
  events: EventDefinition[]
  migrations: Migrations
  /** The tables its migrations make; backups and the deletion of an app go through them. */
  tables: TenantTable[]
  /** Those among them whose `id` the database gives. */
  numberedTables: TenantTable[]
  /** Those among them that hold no app's rows. */
  installTables: InstallTable[]
  followers: Follower[]
  jobs: JobDefinition[]
  /** What it counts of what users do. */
  rates: Rate[]
  /** Who hears which of its events live. */
  hearing: Hearing
  /** What it answers to areas above. */
  answers: GateAnswer[]
  /** What `parley doctor` holds against each other. */
  audit: Audit
}

export function area(card: Pick<Area, 'name' | 'about'> & Partial<Area>): Area {
  return {
    mount: 'v3',
    host: 'api',
    operations: [],
    events: [],
    migrations: {},
    tables: [],
    numberedTables: [],
    installTables: [],
    followers: [],
    jobs: [],
    rates: [],
    hearing: {},
    answers: [],
    audit: {},
    ...card,
  }
}
