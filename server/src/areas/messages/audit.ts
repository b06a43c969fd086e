import type { Audit } from '../../kit/area.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { messagesList } from './store.ts'

export const audit: Audit = {
  ofApp: async (db) => ({
    'messages are found in the conversation they lie in': await auditMarks(db),
  }),
}

const findingsMax = 20

/** Messages that a search in one conversation finds although they are in another; for `parley doctor`. */
export async function auditMarks(db: TenantDb): Promise<string[]> {
  const rows = await db.sql<{ id: number; marks: string }>`
    SELECT messages.id, search_entries.marks FROM search_entries
    JOIN messages ON messages.app_id = search_entries.app_id AND messages.id = search_entries.at
    WHERE search_entries.app_id = ${db.appId} AND search_entries.list = ${messagesList}
    AND search_entries.marks != messages.conversation_key LIMIT ${findingsMax}`.execute()
  return rows.map(({ id, marks }) => `message ${id} is found in ${marks}, which is not its place`)
}
