import { sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import { askedOfEach, lookUpEach } from '../../storage/plans.ts'
import { eachOf } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { policyOf, roleRules } from '../rbac/index.ts'
import type { GroupRow } from './tables.ts'

/** A group as records name it that only tell where something happened. */
export interface NamedGroup {
  guid: string
  name: string
  icon?: string
}

/** Those of `guids`, however many, that the viewer may get with `GET /groups/{guid}`, by GUID. */
export async function groupsNamedTo(db: TenantDb, viewer: Actor, guids: string[]): Promise<Map<string, NamedGroup>> {
  if (guids.length === 0) return new Map()
  const policy = await policyOf(db, viewer)
  if (!roleRules.mayUse(policy, 'getGroup')) return new Map()
  const rows = (await readNames(db, viewer, guids)).filter(({ type }) => roleRules.mayReadGroup(policy, type))
  return new Map(rows.map(({ guid, name, icon }) => [guid, { guid, name, ...(icon !== null && { icon }) }]))
}

type Named = Pick<GroupRow, 'guid' | 'name' | 'icon' | 'type'>

/** As `requireMayRead` has it: private groups for their members alone, and none for whom it has banned. */
function readNames(db: TenantDb, { uid }: Actor, guids: string[]): Promise<Named[]> {
  const viewerId = sql`(SELECT users.id FROM users WHERE users.app_id = ${db.appId} AND users.uid = ${uid})`
  const isMember = askedOfEach(sql`FROM group_members WHERE group_members.app_id = ${db.appId}
    AND group_members.group_id = groups.id AND group_members.user_id = ${viewerId}`)
  const isBanned = askedOfEach(sql`FROM group_bans WHERE group_bans.app_id = ${db.appId}
    AND group_bans.group_id = groups.id AND group_bans.user_id = ${viewerId}`)
  const named = lookUpEach(db, {
    few: sql`(SELECT * FROM ${eachOf(db, [...new Set(guids)])} AS asked)`,
    name: 'hit',
    columns: ['guid'],
    select: sql`groups.guid, groups.name, groups.icon, groups.type`,
    table: 'groups',
    match: sql`groups.guid = hit.guid`,
  })
  return db.sql<Named>`${named}
    AND (${isMember} OR (groups.type <> 'private' AND (${isBanned}) IS NOT TRUE))`.execute()
}
