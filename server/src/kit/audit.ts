import type { TenantDb } from '../storage/tenant.ts'
import type { Tools } from './ports.ts'

/** A promise about what is kept, in words, and wherever it is broken. */
export interface Check {
  promise: string
  findings: string[]
}

/** How an area holds what it keeps against each other; whoever looks after the install asks for it. */
export interface Audit {
  /** What one app has at one moment: what changes between two reads would look like a fault. */
  ofApp?(db: TenantDb, tools: Tools): Promise<Check[]>
  /** What is kept outside of the database, with the rows of all apps at one moment and as they are now. */
  ofStore?(apps: { snapshot: TenantDb; present: TenantDb }[], tools: Tools): Promise<Check[]>
}
