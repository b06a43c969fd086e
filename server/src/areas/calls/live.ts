import type { TenantDb } from '../../storage/tenant.ts'
import { roundedUp } from './ledger.ts'
import type { CallRow } from './tables.ts'

type Live = Pick<CallRow, 'session_id' | 'document'>

// A ring lasts for minutes, so whatever still rings is among the newest; and nobody steps over thousands to find it.
const looksAt = 200

/** Calls that somebody has a part in and that are not over, the newest first. */
export async function liveCallsOf(db: TenantDb, uid: string): Promise<Live[]> {
  const newest = await db
    .select('call_members')
    .select('call_members.session_id')
    .where('call_members.uid', '=', uid)
    .orderBy('call_members.initiated_at', 'desc')
    .orderBy('call_members.session_id')
    .limit(looksAt)
    .execute()
  if (newest.length === 0) return []
  return db
    .select('calls')
    .select(['calls.session_id', 'calls.document'])
    .where('calls.session_id', 'in', roundedUp(newest.map((row) => row.session_id)))
    .where('calls.live', '=', 1)
    .orderBy('calls.initiated_at', 'desc')
    .orderBy('calls.session_id')
    .execute()
}
