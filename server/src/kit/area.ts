import type { Migrations } from '../storage/migrate.ts'
import type { InstallTable, TenantTable } from '../storage/tables.ts'
import type { Audit } from './audit.ts'
import type { Hearing } from './channel.ts'
import type { EventDefinition } from './event.ts'
import type { Follower } from './follower.ts'
import type { Answer } from './gate.ts'
import type { JobDefinition } from './job.ts'
import type { Operation } from './operation.ts'

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
  /** Who hears which of its events live. */
  hearing: Hearing
  /** What it answers to areas above. */
  answers: Answer[]
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
    hearing: {},
    answers: [],
    audit: {},
    ...card,
  }
}
