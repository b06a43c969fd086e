import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { badRequest } from '../../kit/errors.ts'
import type { Actor } from '../../kit/operation.ts'
import { rowsAsText } from '../../storage/sql.ts'
import { prepared, type TenantDb } from '../../storage/tenant.ts'
import { eachGroupMatches } from '../groups/index.ts'
import { unreadAmong } from '../messages/index.ts'
import { hasManySides, type Side, sidesWhere, withWhom } from '../timeline/index.ts'
import { eachUserMatches, seenBy, uidsBlockedBy } from '../users/index.ts'
import type { ConversationListQuery } from './schemas.ts'
import { isListed, type PinForEveryone, pinOf, updatedAt } from './sides.ts'

const agentRole = '@agentic'

type Condition = RawBuilder<SqlBool>

interface Listed {
  sides: Side[]
  pins: PinForEveryone[]
}

/**
 * The conversations of a user that a list asks for, in its order. Rows are read for all of them, because their order lies
 * in the conversations: nothing is written per member when something is said. Their number is bounded by what one person
 * takes part in.
 */
export async function listedSides(db: TenantDb, actor: Actor, query: ConversationListQuery): Promise<Listed> {
  const { uid } = actor
  if (query.unique) throw badRequest({ unique: ['is for lists without an acting user'] })
  const [visible, { pins, blocked }] = await Promise.all([seenBy(db, actor), besideOf(db, actor)])
  const sides = await sidesWhere(db, [sql`conversation_rows.uid = ${uid}`, ...conditionsOf(db, query, visible)])
  const wanted = sides.filter(
    (side) =>
      isListed(side) &&
      !(side.type === 'user' && !query.includeBlockedUsers && blocked.includes(withWhom(side))) &&
      hasAnyTag(side, query.tags) &&
      isPinnedBy(side, pins, query.pinnedBy) &&
      isWithin(side, query),
  )
  const unread = query.unread ? await unreadAmong(db, actor, wanted) : undefined
  const kept = unread
    ? wanted.filter(({ conversation_key }) => (unread.get(conversation_key)?.messages ?? 0) > 0)
    : wanted
  return { sides: inPlaces(kept, pins, query), pins }
}

const pinColumns = ['type', 'target', 'position', 'pinned_at'] as const

const besideSides = prepared<{ uid: string }, { pins: string; blocked: string; are_many: 0 | 1 }>(
  (db, { uid }) => db.sql`SELECT
    ${rowsAsText(db, pinColumns, db.select('conversation_pins').select(pinColumns))} AS pins,
    ${rowsAsText(db, ['uid'], uidsBlockedBy.ask(db, sql`${uid}`))} AS blocked,
    ${hasManySides(db, uid)} AS are_many`,
)

interface Beside {
  pins: PinForEveryone[]
  blocked: string[]
}

/** All that a list goes by beside the conversations themselves; with it stands whether these are too many for here. */
async function besideOf(db: TenantDb, actor: Actor): Promise<Beside> {
  const [beside] = await besideSides(db, { uid: actor.uid })
  if (!beside) throw new Error('A SELECT without a table answers one row.')
  if (beside.are_many) db.leaveSharedReader()
  const blocked = (JSON.parse(beside.blocked) as [string][]).map(([uid]) => uid)
  actor.blocked ??= Promise.resolve(blocked)
  const rows: [PinForEveryone['type'], string, number, number][] = JSON.parse(beside.pins)
  const pins = rows.map(([type, target, position, pinned_at]) => ({ type, target, position, pinned_at }))
  return { pins: pins.toSorted((a, b) => a.position - b.position), blocked }
}

/** What can be asked of every side. A user who is not visible to whoever looks is found by nothing that is theirs. */
export function conditionsOf(db: TenantDb, query: ConversationListQuery, visible?: Condition): Condition[] {
  const { searchKey, conversationType, userTags, groupTags, hideAgentic, onlyAgentic, affix } = query
  if (hideAgentic && onlyAgentic) throw badRequest({ onlyAgentic: ['excludes hideAgentic'] })
  const ofUser = (condition: RawBuilder<unknown>): Condition => sql`(conversations.type = 'user' AND EXISTS (
    SELECT 1 FROM users WHERE users.app_id = conversations.app_id AND ${condition} AND ${visible ?? sql`1 = 1`}
    AND users.uid = CASE WHEN conversations.first = conversation_rows.uid THEN conversations.second ELSE conversations.first END))`
  const ofGroup = (condition: RawBuilder<unknown>): Condition => sql`(conversations.type = 'group' AND EXISTS (
    SELECT 1 FROM groups WHERE groups.app_id = conversations.app_id AND groups.guid = conversations.first
    AND ${condition}))`
  const isAgent = ofUser(sql`users.role = ${agentRole}`)
  return [
    ...(conversationType === undefined ? [] : [sql`conversations.type = ${conversationType}` as Condition]),
    ...(searchKey === undefined
      ? []
      : [
          sql`(${ofUser(sql`${eachUserMatches(db, searchKey, ['name'])}`)}
            OR ${ofGroup(sql`${eachGroupMatches(db, searchKey)}`)})` as Condition,
        ]),
    ...(userTags ? [ofUser(sql`users.uid IN (${taggedUsers(db, userTags)})`)] : []),
    ...(groupTags ? [ofGroup(sql`groups.guid IN (${taggedGroups(db, groupTags)})`)] : []),
    ...(onlyAgentic ? [isAgent] : []),
    ...(hideAgentic ? [sql`NOT ${isAgent}` as Condition] : []),
    // As with every word that a list does not know: it finds nothing.
    ...(affix === undefined || ['append', 'prepend'].includes(affix) ? [] : [sql`1 = 0` as Condition]),
  ]
}

function taggedUsers(db: TenantDb, tags: string[]) {
  return sql`SELECT user_tags.uid FROM user_tags WHERE user_tags.app_id = ${db.appId} AND user_tags.tag IN (${sql.join(tags)})`
}

function taggedGroups(db: TenantDb, tags: string[]) {
  return sql`SELECT group_tags.guid FROM group_tags WHERE group_tags.app_id = ${db.appId} AND group_tags.tag IN (${sql.join(tags)})`
}

function hasAnyTag({ tags }: Side, wanted: string[] | undefined): boolean {
  if (!wanted) return true
  const own: string[] = tags === null ? [] : JSON.parse(tags)
  return wanted.some((tag) => own.includes(tag))
}

function isPinnedBy(side: Side, pins: PinForEveryone[], by: string[] | undefined): boolean {
  if (!by) return true
  const system = pinOf(side, pins) !== undefined
  return (by.includes('system') && system) || (by.includes('me') && !system && side.pinned_at !== null)
}

/** A cursor of time: after it with `append`, before it with `prepend`. */
function isWithin(side: Side, { updatedAt: at, affix = 'append' }: ConversationListQuery): boolean {
  if (at === undefined) return true
  return affix === 'append' ? updatedAt(side) > at : updatedAt(side) < at
}

/** What is pinned for everyone in its order, then own pins from the newest, then the rest by their last activity. */
function inPlaces(sides: Side[], pins: PinForEveryone[], { updatedAt: cursor, affix }: ConversationListQuery): Side[] {
  if (cursor !== undefined) {
    const turn = affix === 'prepend' ? -1 : 1
    return sides.toSorted((a, b) => turn * (updatedAt(a) - updatedAt(b)) || byName(a, b))
  }
  const placed = sides.map((side) => ({ side, ...placeIn(pins, side) }))
  placed.sort((a, b) => a.group - b.group || a.within - b.within || byName(a.side, b.side))
  return placed.map(({ side }) => side)
}

function placeIn(pins: PinForEveryone[], side: Side): { group: number; within: number } {
  const pin = pinOf(side, pins)
  if (pin) return { group: 0, within: pin.position }
  if (side.pinned_at !== null) return { group: 1, within: -side.pinned_at }
  return { group: 2, within: -updatedAt(side) }
}

function byName(a: Side, b: Side): number {
  return withWhom(a) < withWhom(b) ? -1 : 1
}
