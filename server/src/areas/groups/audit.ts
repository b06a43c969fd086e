import type { Audit } from '../../kit/area.ts'
import type { TenantDb } from '../../storage/tenant.ts'

export const audit: Audit = {
  ofApp: async (db) => ({
    'only members have a side of a group’s conversation': await auditSides(db),
  }),
}

const findingsMax = 20

/** Users who have a side of a group's conversation and are no members; for `parley doctor`. */
export async function auditSides(db: TenantDb): Promise<string[]> {
  // What is kept of a user who is gone goes by and by; so does what is left of a group.
  const rows = await db.sql<{ uid: string; guid: string }>`
    SELECT conversation_rows.uid, groups.guid FROM conversations
    JOIN groups ON groups.app_id = conversations.app_id AND groups.guid = conversations.first
    JOIN conversation_rows ON conversation_rows.app_id = conversations.app_id
      AND conversation_rows.conversation_key = conversations.conversation_key
    LEFT JOIN group_members ON group_members.app_id = groups.app_id AND group_members.group_id = groups.id
      AND group_members.uid = conversation_rows.uid
    WHERE conversations.app_id = ${db.appId} AND conversations.type = 'group' AND group_members.uid IS NULL
    AND conversation_rows.delivered_seq >= conversations.purged_seq
    AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.app_id = conversations.app_id
      AND jobs.name = 'messages.forgetUser' AND jobs.key = conversation_rows.uid)
    LIMIT ${findingsMax}`.execute()
  return rows.map(({ uid, guid }) => `${uid} has a side of the group ${guid} and is no member`)
}
