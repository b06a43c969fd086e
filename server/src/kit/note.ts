import type { TenantDb } from '../storage/tenant.ts'

/**
 * A note is what is told far too often to be written down each time, such as that a device is still there: of each key only
 * the latest moment counts. Notes are kept in memory and written together every few seconds. What a crash takes are those of
 * the last few seconds, so nothing may depend on them that a few seconds must not change.
 */
export interface NoteDefinition {
  name: string
  /** Writes some moments down, each of another key; a later one may be there already. */
  write(db: TenantDb, moments: NotedMoment[]): Promise<void>
}

export interface NotedMoment {
  key: string[]
  at: number
}

export function note(definition: NoteDefinition): NoteDefinition {
  return definition
}

export interface Notes {
  take(definition: NoteDefinition, appId: string, moment: NotedMoment): void
  /** Writes down whatever has been taken. What cannot be written is kept, and the failure told. */
  write(): Promise<void>
}
