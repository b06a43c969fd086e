import type { TenantDb } from '../../storage/tenant.ts'
import { groupsByGuid } from './store.ts'
import type { GroupRow } from './tables.ts'

/** Who asks for a list of groups, and which types their role lets them see; all when empty. */
export interface Viewer {
  uid: string
  types: string[]
}

export interface Selected {
  total: number
  rows: GroupRow[]
}

export interface Slice {
  limit: number
  offset: number
}

/** The groups of some GUIDs, in the order of these. */
export async function groupsInOrder(db: TenantDb, guids: string[]): Promise<GroupRow[]> {
  const byGuid = await groupsByGuid(db, guids)
  return guids.flatMap((guid) => byGuid.get(guid) ?? [])
}
