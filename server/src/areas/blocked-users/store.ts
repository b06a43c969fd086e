import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Filters } from '../../common/page.ts'
import type { Work } from '../../kit/work.ts'
import { eachOf } from '../../storage/sql.ts'
import { prepared, remembered, type TenantDb } from '../../storage/tenant.ts'
import { type Blocks, eachUserMatches, type UserRow } from '../users/index.ts'
import { blocksFrom } from './rules.ts'
import type { BlockListQuery, Direction } from './schemas.ts'

/** Blocks as one user sees them: with whom, and since when. */
interface Seen {
  app_id: string
  other_uid: string
  other_id: string
  at: number
}

type Side = 'byMe' | 'byOther'

const columnsOf = {
  byMe: { mine: 'blocks.user_id', otherId: 'blocks.blocked_id', otherUid: 'blocks.blocked_uid' },
  byOther: { mine: 'blocks.blocked_id', otherId: 'blocks.user_id', otherUid: 'blocks.uid' },
} as const

function seenBy(db: TenantDb, userId: string, side: Side) {
  const { mine, otherId, otherUid } = columnsOf[side]
  return db
    .select('blocks')
    .select([
      'blocks.app_id as app_id',
      `${otherUid} as other_uid`,
      `${otherId} as other_id`,
      'blocks.created_at as at',
    ])
    .where(mine, '=', userId)
}

/** A direction that is none of the three has nobody in it. */
function seenFrom(db: TenantDb, userId: string, direction: Direction) {
  switch (direction) {
    case 'blockedByMe':
      return seenBy(db, userId, 'byMe')
    case 'hasBlockedMe':
      return seenBy(db, userId, 'byOther')
    case 'both':
      return seenBy(db, userId, 'byMe').unionAll(seenBy(db, userId, 'byOther'))
    default:
      return seenBy(db, userId, 'byMe').where(sql<boolean>`1 = 0`)
  }
}

/**
 * The active users with a block between them and `user`, oldest block first; of two blocks the later counts. Of some roles
 * only, if any are named.
 */
export function blockedUsersOf(db: TenantDb, { id }: UserRow, direction: Direction, roles: string[] = []) {
  const latest = sql<Seen>`(
    SELECT app_id, other_uid, other_id, max(at) AS at FROM ${seenFrom(db, id, direction)} AS directions
    GROUP BY app_id, other_uid, other_id)`
  return (
    db
      .select('users')
      .innerJoin(latest.as('seen'), (join) =>
        join
          .onRef('seen.app_id', '=', 'users.app_id')
          .onRef('seen.other_uid', '=', 'users.uid')
          .onRef('seen.other_id', '=', 'users.id'),
      )
      .selectAll('users')
      // Named once more, so that each is looked up: blocks are few, users are many.
      .where('users.uid', 'in', sql<string>`(SELECT other_uid FROM ${seenFrom(db, id, direction)} AS named)`)
      .where('users.deactivated_at', 'is', null)
      .$if(roles.length > 0, (some) => some.where('users.role', 'in', roles))
      .orderBy('seen.at')
      .orderBy('users.uid')
  )
}

/** Nobody is found by the name who is not visible to the viewer. */
export function blockFilters(
  db: TenantDb,
  visible: Expression<SqlBool> | undefined,
): Filters<Omit<BlockListQuery, 'direction'>, ReturnType<typeof blockedUsersOf>> {
  return {
    searchKey(rows, key) {
      const found = rows.where(eachUserMatches(db, key))
      return visible ? found.where(visible) : found
    },
  }
}

const idOf = (db: TenantDb, uid: string) => db.select('users').select('users.id').where('users.uid', '=', uid)

/** Which blocks stand between the user `uid` and each of `others`; those without any are left out. */
export async function blocksWith(db: TenantDb, uid: string, others: string[]): Promise<Map<string, Blocks>> {
  if (others.length === 0) return new Map()
  const rows = await between(db, uid, others, 'byMe')
    .unionAll(between(db, uid, others, 'byOther'))
    .execute()
  const byOther = Map.groupBy(rows, (row) => row.uid)
  return new Map(
    [...byOther].map(([other, blocks]) => {
      const at = (side: Side) => blocks.find((block) => block.side === side)?.created_at
      return [other, blocksFrom(at('byMe'), at('byOther'))]
    }),
  )
}

/** The blocks between a user and some others that were made by one side. */
function between(db: TenantDb, uid: string, others: string[], side: Side) {
  const { mine, otherId, otherUid } = columnsOf[side]
  return db
    .select('blocks')
    .innerJoin('users as other', (join) =>
      join
        .onRef('other.app_id', '=', 'blocks.app_id')
        .onRef('other.uid', '=', otherUid)
        .onRef('other.id', '=', otherId),
    )
    .select(['other.uid', 'blocks.created_at', sql<Side>`${sql.lit(side)}`.as('side')])
    .where(mine, '=', idOf(db, uid))
    .where(otherUid, 'in', others)
}

const blocksOfIds = remembered<{ one: string; other: string }, { user_id: string; created_at: number }>(
  (db, { one, other }) =>
    db
      .select('blocks')
      .select(['blocks.user_id', 'blocks.created_at'])
      .where(sql<boolean>`(blocks.user_id, blocks.blocked_id) IN (VALUES (${one}, ${other}), (${other}, ${one}))`),
)

/** What stands between two users whose rows are at hand, seen from the first; for every message that is sent. */
export async function blocksOf(db: TenantDb, one: Pick<UserRow, 'id'>, other: Pick<UserRow, 'id'>): Promise<Blocks> {
  const blocks = await blocksOfIds(db, { one: one.id, other: other.id })
  const by = (who: Pick<UserRow, 'id'>) => blocks.find(({ user_id }) => user_id === who.id)?.created_at
  return blocksFrom(by(one), by(other))
}

const blocksOfTwo = prepared<{ one: string; other: string }, { uid: string; created_at: number }>(
  (db, { one, other }) => {
    const between = (by: string, against: string) =>
      sql<boolean>`blocks.user_id = ${idOf(db, by)} AND blocks.blocked_id = ${idOf(db, against)}`
    return db
      .select('blocks')
      .select(['blocks.uid', 'blocks.created_at'])
      .where(sql<boolean>`(${between(one, other)} OR ${between(other, one)})`)
  },
)

/** What stands between two users, seen from the first; `{}` if nothing does. */
export async function relationBetween(db: TenantDb, uid: string, other: string): Promise<Blocks> {
  const blocks = await blocksOfTwo(db, { one: uid, other })
  const by = (who: string) => blocks.find((block) => block.uid === who)?.created_at
  return blocksFrom(by(uid), by(other))
}

/** The UIDs with a block between them and `uid`, whoever of the two blocked, as a subquery of one column. */
export function uidsWithBlock(db: TenantDb, uid: string): Expression<string> {
  const byMe = db.select('blocks').select('blocks.blocked_uid').where('blocks.user_id', '=', idOf(db, uid))
  const byOther = db.select('blocks').select('blocks.uid as blocked_uid').where('blocks.blocked_id', '=', idOf(db, uid))
  return byMe.union(byOther).$asScalar()
}

/** Whom a user has blocked, by their ids. */
export async function blockedIdsOf(db: TenantDb, { id }: UserRow): Promise<Set<string>> {
  const rows = await db.select('blocks').select('blocks.blocked_id').where('blocks.user_id', '=', id).execute()
  return new Set(rows.map(({ blocked_id }) => blocked_id))
}

// Nobody blocks more than 1,000, but anybody can be blocked by more.
const comparedSharedMax = 2_000

/**
 * Who has a block between them and some users, whoever made it, as pairs of ids. Where these are very many, of `others`
 * only, who are named by UID.
 */
export async function blockedPairs(db: TenantDb, users: UserRow[], others: string[]): Promise<[string, string][]> {
  const ids = users.map(({ id }) => id)
  return [...(await pairsOf(db, ids, others, 'byMe')), ...(await pairsOf(db, ids, others, 'byOther'))]
}

async function pairsOf(db: TenantDb, ids: string[], others: string[], side: Side): Promise<[string, string][]> {
  const { mine, otherId, otherUid } = columnsOf[side]
  const all = db
    .select('blocks')
    .select([`${mine} as id`, `${otherId} as other_id`])
    .where(mine, 'in', ids)
  let found = await all.limit(comparedSharedMax + 1).execute()
  if (found.length > comparedSharedMax) {
    db.leaveSharedReader()
    found = await all.where(otherUid, 'in', sql<string>`${eachOf(db, others)}`).execute()
  }
  return found.map(({ id, other_id }) => [id, other_id])
}

// Nobody blocks more, but anybody can be blocked by more.
const listedSharedMax = 2_000

/** Stands before lists of those who have blocked somebody. */
export async function leaveIfBlockedByMany(db: TenantDb, { id }: UserRow): Promise<void> {
  if (!db.isShared) return
  const most = listedSharedMax + 1
  const some = await db.select('blocks').select('blocks.uid').where('blocks.blocked_id', '=', id).limit(most).execute()
  if (some.length === most) db.leaveSharedReader()
}

/** Adds the blocks that do not stand yet; answers whom they are against. */
export async function addBlocks(
  { db, now }: Pick<Work, 'db' | 'now'>,
  user: UserRow,
  others: UserRow[],
): Promise<Set<string>> {
  if (others.length === 0) return new Set()
  const rows = await db
    .insert(
      'blocks',
      others.map((other) => ({
        user_id: user.id,
        uid: user.uid,
        blocked_id: other.id,
        blocked_uid: other.uid,
        created_at: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('blocked_uid')
    .execute()
  return new Set(rows.map(({ blocked_uid }) => blocked_uid))
}

/** Lifts blocks; answers whom they were against. */
export async function removeBlocks(db: TenantDb, user: UserRow, others: UserRow[]): Promise<Set<string>> {
  if (others.length === 0) return new Set()
  const rows = await db
    .delete('blocks')
    .where('user_id', '=', user.id)
    .where(
      'blocked_id',
      'in',
      others.map(({ id }) => id),
    )
    .returning('blocked_uid')
    .execute()
  return new Set(rows.map(({ blocked_uid }) => blocked_uid))
}

/** Removes some of the blocks by or against a user who is gone; answers how many. */
export async function forgetBlocks(db: TenantDb, userId: string, limit: number): Promise<number> {
  return (await forgetSide(db, userId, 'byMe', limit)) || (await forgetSide(db, userId, 'byOther', limit))
}

async function forgetSide(db: TenantDb, userId: string, side: Side, limit: number): Promise<number> {
  const { mine, otherId } = columnsOf[side]
  const others = await db.select('blocks').select(`${otherId} as id`).where(mine, '=', userId).limit(limit).execute()
  if (others.length === 0) return 0
  await db
    .delete('blocks')
    .where(mine, '=', userId)
    .where(
      otherId,
      'in',
      others.map(({ id }) => id),
    )
    .execute()
  return others.length
}

/** The UIDs that a user has blocked, those of users who are gone left out, as a subquery of one column. */
export function uidsBlocked(db: TenantDb, uid: RawBuilder<string>): RawBuilder<string> {
  return sql`(SELECT users.uid FROM blocks
    JOIN users ON users.app_id = blocks.app_id AND users.uid = blocks.blocked_uid AND users.id = blocks.blocked_id
    WHERE blocks.app_id = ${db.appId} AND blocks.user_id = (SELECT users.id FROM users
      WHERE users.app_id = ${db.appId} AND users.uid = ${uid}))`
}
