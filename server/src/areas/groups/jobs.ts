import { type RawBuilder, sql } from 'kysely'
import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import { deleteSome } from '../../storage/sql.ts'
import type { TenantTable } from '../../storage/tables.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { Emptied, emptySome, holdConversation, placeOfGroup, rowsPerBatch } from '../timeline/index.ts'
import { forgetting } from '../users/index.ts'
import { endMembership } from './acts.ts'
import { memberForgotten } from './events.ts'
import { bansListOf, deleteBan, membersListOf } from './membership.ts'
import { findGroup, holdGroup } from './store.ts'
import type { GroupBanRow, GroupMemberRow, GroupRow } from './tables.ts'
import { toldGroup } from './tell.ts'

const groupsPerBatch = 25

/**
 * Removes what was in a deleted group, a bounded batch at a time. Memberships go by the group's own id; messages and
 * cursors go by the number up to which its conversation is void, and all of them if the GUID has not been used again.
 */
export const clearDeletedGroup = job({
  name: 'groups.clear',
  payload: Type.Object({
    id: Type.String(),
    guid: Type.String(),
    voidUpTo: Type.Optional(Type.Integer()),
    emptied: Type.Optional(Emptied),
  }),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run(payload, work) {
    const { db, now } = work
    const { id, guid, voidUpTo, emptied = {} } = payload
    const { conversationKey } = placeOfGroup(guid)
    const conversation = await holdConversation(db, conversationKey)
    const successor = await db.select('groups').select('groups.id').where('groups.guid', '=', guid).executeTakeFirst()
    const until = successor ? (voidUpTo ?? 0) : Number.MAX_SAFE_INTEGER
    const ofGroup = (table: TenantTable) => sql`${sql.ref(`${table}.group_id`)} = ${id}`
    const lists = sql`tallies.list IN (${membersListOf({ id })}, ${bansListOf({ id })})`
    const belongings: [TenantTable, RawBuilder<unknown>][] = [
      ['group_members', ofGroup('group_members')],
      ['group_bans', ofGroup('group_bans')],
      ['tallies', lists],
    ]
    // Without a conversation nothing was said; one that a later group of the GUID begins at this moment is not touched.
    const conversational: [TenantTable, RawBuilder<unknown>][] = [
      // A cursor of the old group stands below the number; one of its successor begins there.
      [
        'conversation_rows',
        sql`conversation_rows.conversation_key = ${conversationKey} AND conversation_rows.delivered_seq < ${until}`,
      ],
    ]
    for (const [table, condition] of [...belongings, ...(conversation ? conversational : [])]) {
      if ((await deleteSome(db, table, rowsPerBatch, condition)) > 0) return { againAt: now }
    }
    if (!conversation) return undefined
    const further = await emptySome(work, conversationKey, until, emptied)
    if (further) return { againAt: now, payload: { ...payload, emptied: further } }
    if (!successor) {
      // Marks of a group in between were not looked at when the number was another one.
      const marks = sql`receipt_marks.conversation_key = ${conversationKey}`
      if ((await deleteSome(db, 'receipt_marks', rowsPerBatch, marks)) > 0) return { againAt: now }
      await db.delete('conversations').where('conversation_key', '=', conversationKey).execute()
    }
    return undefined
  },
})

/** Takes a user who was deleted for good out of their groups, some at a time; groups that they owned pass on. */
export const forgetUser = forgetting('groups', async (work, { id, after }) => {
  const memberships = await ofUser<GroupMemberRow>(work.db, 'group_members', id)
  for (const row of memberships) {
    if (!(await forgetMember(work, row))) return { after }
  }
  const bans = await ofUser<GroupBanRow>(work.db, 'group_bans', id)
  for (const row of bans) await forgetBan(work, row)
  return Math.max(memberships.length, bans.length) === groupsPerBatch ? { after } : undefined
})

/** What joins a user to a group, and the group's GUID unless it is deleted. */
type Tie<Row> = Row & { guid: string | null }

/** Some of a user's ties, in the order in which groups are held. */
async function ofUser<Row>(db: TenantDb, table: 'group_members' | 'group_bans', userId: string): Promise<Tie<Row>[]> {
  const column = (name: string) => sql.ref(`${table}.${name}`)
  const rows = await db.sql<Tie<Row>>`SELECT ${sql.table(table)}.*, groups.guid FROM ${sql.table(table)}
    LEFT JOIN groups ON groups.app_id = ${column('app_id')} AND groups.id = ${column('group_id')}
    WHERE ${column('app_id')} = ${db.appId} AND ${column('user_id')} = ${userId}
    ORDER BY groups.guid LIMIT ${groupsPerBatch}`.execute()
  return rows
}

/** Ends a membership; `false`, while there are receipts of it left. */
async function forgetMember(work: Work, { guid, ...member }: Tie<GroupMemberRow>): Promise<boolean> {
  const { db } = work
  const group = await holdIfThere(db, guid, member.group_id)
  if (!group) {
    await dropTie(db, 'group_members', member)
    return true
  }
  const { conversationKey } = placeOfGroup(group.guid)
  const given = sql`receipt_marks.conversation_key = ${conversationKey} AND receipt_marks.uid = ${member.uid}`
  if ((await deleteSome(db, 'receipt_marks', rowsPerBatch, given)) === rowsPerBatch) return false
  const smaller = await endMembership(work, group, member)
  await work.emit(memberForgotten, { guid: group.guid, uid: member.uid, group: await toldGroup(work, smaller) })
  return true
}

async function forgetBan({ db }: Work, { guid, ...ban }: Tie<GroupBanRow>): Promise<void> {
  const group = await holdIfThere(db, guid, ban.group_id)
  return group ? deleteBan(db, group, ban) : dropTie(db, 'group_bans', ban)
}

/** The group, held, unless it is deleted; another of its GUID is another group. */
async function holdIfThere(db: TenantDb, guid: string | null, id: string): Promise<GroupRow | undefined> {
  if (guid === null || !(await findGroup(db, guid))) return undefined
  const group = await holdGroup(db, guid)
  return group.id === id ? group : undefined
}

/** What is left of a deleted group has no counts any more. */
async function dropTie(
  db: TenantDb,
  table: 'group_members' | 'group_bans',
  { group_id, user_id }: Pick<GroupMemberRow, 'group_id' | 'user_id'>,
): Promise<void> {
  await db.delete(table).where('group_id', '=', group_id).where('user_id', '=', user_id).execute()
}
