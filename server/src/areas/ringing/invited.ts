import type { TenantDb } from '../../storage/tenant.ts'
import type { GroupRow } from '../groups/index.ts'
import type { MemberScope } from '../scope-permissions/index.ts'

// A call keeps whom it rang one by one; in a larger group it rings for everybody, and keeps who came.
export const invitedMax = 300

export interface Rung {
  uids: string[]
  /** Nobody else in the group hears it ring. */
  only: boolean
}

/** Whom a call to a group rings: all members but those of some scopes. */
export async function rungIn(db: TenantDb, { id }: GroupRow, spared: MemberScope[]): Promise<Rung> {
  const only = spared.length > 0
  const members = db.select('group_members').select('group_members.uid').where('group_members.group_id', '=', id)
  const rung = only ? members.where('group_members.scope', 'not in', spared) : members
  const rows = await rung
    .orderBy('group_members.uid')
    .limit(invitedMax + 1)
    .execute()
  const uids = rows.map(({ uid }) => uid)
  if (uids.length <= invitedMax) return { uids, only }
  return { uids: only ? uids.slice(0, invitedMax) : [], only }
}
