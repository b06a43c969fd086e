import { type RawBuilder, sql } from 'kysely'
import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantTable } from '../../storage/tables.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { holdConversation, placeOfGroup } from '../timeline/index.ts'
import { endMembership } from './acts.ts'
import { memberForgotten } from './events.ts'
import { bansListOf, membersListOf } from './membership.ts'
import { holdGroup } from './store.ts'
import type { GroupMemberRow } from './tables.ts'

const rowsPerBatch = 2_000
const groupsPerBatch = 50

/**
 * Removes what was in a deleted group, a bounded batch at a time. Memberships go by the group's own id; messages and
 * cursors go by the number up to which its conversation is void, and all of them if the GUID has not been used again.
 */
export const clearDeletedGroup = job({
  name: 'groups.clear',
  payload: Type.Object({ id: Type.String(), guid: Type.String(), voidUpTo: Type.Optional(Type.Integer()) }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ id, guid, voidUpTo }, { db, now }) {
    const { conversationId } = placeOfGroup(guid)
    const conversation = await holdConversation(db, conversationId)
    const successor = await db.select('groups').select('groups.id').where('groups.guid', '=', guid).executeTakeFirst()
    const until = successor ? (voidUpTo ?? 0) : Number.MAX_SAFE_INTEGER
    const void_ = (table: TenantTable, column: string, bound = until) =>
      sql`${sql.ref(`${table}.conversation_id`)} = ${conversationId} AND ${sql.ref(`${table}.${column}`)} <= ${bound}`
    const ofGroup = (table: TenantTable) => sql`${sql.ref(`${table}.group_id`)} = ${id}`
    const lists = sql`tallies.list IN (${membersListOf({ id })}, ${bansListOf({ id })})`
    const belongings: [TenantTable, RawBuilder<unknown>][] = [
      ['group_members', ofGroup('group_members')],
      ['group_bans', ofGroup('group_bans')],
      ['tallies', lists],
      // A cursor of the old group stands below the number; one of its successor begins there.
      ['conversation_rows', void_('conversation_rows', 'delivered_seq', until - 1)],
      ['receipt_marks', void_('receipt_marks', 'seq')],
      ['message_mentions', void_('message_mentions', 'seq')],
      ['messages', void_('messages', 'seq')],
    ]
    for (const [table, condition] of belongings) {
      if ((await deleteBatch(db, table, condition)) > 0) return { againAt: now }
    }
    if (conversation && !successor) {
      await db.delete('conversations').where('conversation_id', '=', conversationId).execute()
    }
    return undefined
  },
})

/** Deletes some of the app's rows of a table that fulfil a condition; answers how many. */
async function deleteBatch(db: TenantDb, table: TenantTable, condition: RawBuilder<unknown>): Promise<number> {
  const address = sql.ref(db.connection.flavour.rowAddress)
  const name = sql.table(table)
  const { numAffectedRows } = await sql`DELETE FROM ${name} WHERE ${address} IN (SELECT ${address} FROM ${name}
    WHERE ${sql.ref(`${table}.app_id`)} = ${db.appId} AND ${condition} LIMIT ${rowsPerBatch})`.execute(
    db.connection.query,
  )
  return Number(numAffectedRows ?? 0)
}

/** Takes a user who was deleted for good out of their groups, some at a time; groups that they owned pass on. */
export const forgetDeletedUser = job({
  name: 'groups.forgetUser',
  payload: Type.Object({ uid: Type.String(), id: Type.String() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ id }, work) {
    const { db, now } = work
    const memberships = await membershipsOf(db, id)
    for (const { guid, ...member } of memberships) await forgetMember(work, guid, member)
    if (memberships.length === groupsPerBatch) return { againAt: now }
    const bans = sql`group_bans.user_id = ${id}`
    return (await deleteBatch(db, 'group_bans', bans)) > 0 ? { againAt: now } : undefined
  },
})

/** Some of a user's memberships, in the order in which groups are held. */
function membershipsOf(db: TenantDb, userId: string): Promise<(GroupMemberRow & { guid: string | null })[]> {
  return db
    .select('group_members')
    .leftJoin('groups', (join) =>
      join.onRef('groups.app_id', '=', 'group_members.app_id').onRef('groups.id', '=', 'group_members.group_id'),
    )
    .selectAll('group_members')
    .select('groups.guid')
    .where('group_members.user_id', '=', userId)
    .orderBy('groups.guid')
    .limit(groupsPerBatch)
    .execute()
}

async function forgetMember(work: Work, guid: string | null, member: GroupMemberRow): Promise<void> {
  const group = guid === null ? undefined : await holdGroup(work.db, guid).catch(() => undefined)
  if (group?.id !== member.group_id) {
    const { group_id, user_id } = member
    await work.db.delete('group_members').where('group_id', '=', group_id).where('user_id', '=', user_id).execute()
    return
  }
  await endMembership(work, group, member)
  await work.emit(memberForgotten, { guid: group.guid, uid: member.uid })
}
