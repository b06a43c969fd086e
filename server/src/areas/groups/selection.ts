import type { TenantDb } from '../../storage/tenant.ts'
import { groupsSeenBy, type SeenGroup } from './membership.ts'

/** Who asks for a list of groups, and which types their role lets them see; all when empty. */
export interface ViewerOfGroups {
  uid: string
  types: string[]
}

export interface SelectedGroups {
  total: number
  rows: SeenGroup[]
}

export interface SliceOfGroups {
  limit: number
  offset: number
}

/** The groups of some GUIDs, in the order of these, as a viewer finds them. */
export async function groupsInOrder(
  db: TenantDb,
  guids: string[],
  viewer: ViewerOfGroups | undefined,
): Promise<SeenGroup[]> {
  const byGuid = await groupsSeenBy(db, guids, viewer?.uid)
  return guids.flatMap((guid) => byGuid.get(guid) ?? [])
}
