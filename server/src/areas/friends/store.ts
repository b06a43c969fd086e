import { type Expression, sql } from 'kysely'
import type { Filters } from '../../common/page.ts'
import type { Work } from '../../kit/work.ts'
import { eachOf } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { eachUserMatches, sortedNewestFirst, type UserRow } from '../users/index.ts'
import type { FriendCircle } from './rules.ts'
import type { FriendListQuery } from './schemas.ts'

/** The active friends of a user, newest users first. */
export function friendsOf(db: TenantDb, { id }: UserRow) {
  const uids = db.select('friends').select('friends.friend_uid').where('friends.user_id', '=', id)
  return (
    db
      .select('users')
      .selectAll('users')
      // Named once more, and sorted instead of walked: friends are few, users are many.
      .where('users.uid', 'in', uids)
      .orderBy(sortedNewestFirst)
      .innerJoin('friends', (join) =>
        join
          .onRef('friends.app_id', '=', 'users.app_id')
          .onRef('friends.friend_uid', '=', 'users.uid')
          .onRef('friends.friend_id', '=', 'users.id'),
      )
      .where('friends.user_id', '=', id)
      .where('users.deactivated_at', 'is', null)
  )
}

export function friendFilters(db: TenantDb): Filters<FriendListQuery, ReturnType<typeof friendsOf>> {
  return { searchKey: (rows, key) => rows.where(eachUserMatches(db, key)) }
}

/** The UIDs of a user's friends, active or not, as a subquery of one column. */
export function friendUids(db: TenantDb, uid: string): Expression<string> {
  const userId = db.select('users').select('users.id').where('users.uid', '=', uid)
  return db
    .select('friends')
    .innerJoin('users as friend', (join) =>
      join
        .onRef('friend.app_id', '=', 'friends.app_id')
        .onRef('friend.uid', '=', 'friends.friend_uid')
        .onRef('friend.id', '=', 'friends.friend_id'),
    )
    .select('friend.uid')
    .where('friends.user_id', '=', userId)
    .$asScalar()
}

/** Whether two users are friends, by their UIDs. */
export async function areFriends(db: TenantDb, uid: string, other: string): Promise<boolean> {
  const row = await db
    .select('users')
    .select('users.uid')
    .where('users.uid', '=', other)
    .where('users.uid', 'in', friendUids(db, uid))
    .executeTakeFirst()
  return row !== undefined
}

// So many are read while everybody waits.
const comparedSharedMax = 5_000

/** The friends of some users, as pairs of ids. Where these are very many, of `others` only, who are named by UID. */
export async function friendPairs(db: TenantDb, users: UserRow[], others: string[]): Promise<[string, string][]> {
  const all = db
    .select('friends')
    .select(['friends.user_id', 'friends.friend_id'])
    .where(
      'friends.user_id',
      'in',
      users.map(({ id }) => id),
    )
  let found = await all.limit(comparedSharedMax + 1).execute()
  if (found.length > comparedSharedMax) {
    db.leaveSharedReader()
    found = await all.where('friends.friend_uid', 'in', sql<string>`${eachOf(db, others)}`).execute()
  }
  return found.map(({ user_id, friend_id }) => [user_id, friend_id])
}

/** What `requireNewFriend` decides by. The users must be held, or the counts are old when they are used. */
export async function circleOf(db: TenantDb, { id }: UserRow, others: UserRow[]): Promise<FriendCircle> {
  const ids = [id, ...others.map((other) => other.id)]
  const friends = await db
    .select('friends')
    .select('friends.friend_id')
    .where('friends.user_id', '=', id)
    .where('friends.friend_id', 'in', ids)
    .execute()
  const counts = await db
    .select('friends')
    .select(['friends.user_id', sql<number>`count(*)`.as('n')])
    .where('friends.user_id', 'in', ids)
    .groupBy('friends.user_id')
    .execute()
  return {
    friendIds: new Set(friends.map(({ friend_id }) => friend_id)),
    counts: new Map(counts.map(({ user_id, n }) => [user_id, n])),
  }
}

/** Makes friendships of one user, both directions of each. */
export async function addFriendships({ db, now }: Pick<Work, 'db' | 'now'>, user: UserRow, friends: UserRow[]) {
  if (friends.length === 0) return
  const rows = friends.flatMap((friend) => [
    { user_id: user.id, friend_id: friend.id, friend_uid: friend.uid, created_at: now },
    { user_id: friend.id, friend_id: user.id, friend_uid: user.uid, created_at: now },
  ])
  await db.insert('friends', rows).execute()
}

/** Some of those whom a user, who may be gone, is still friends with. */
export async function someFriendUids(db: TenantDb, userId: string, limit: number): Promise<string[]> {
  const rows = await db
    .select('friends')
    .select('friends.friend_uid')
    .where('friends.user_id', '=', userId)
    .limit(limit)
    .execute()
  return rows.map(({ friend_uid }) => friend_uid)
}

/** Ends friendships of one user with `uids`; answers the UIDs of the friends they were with. */
export async function removeFriendships(db: TenantDb, userId: string, uids: string[]): Promise<string[]> {
  const removed = await db
    .delete('friends')
    .where('user_id', '=', userId)
    .where('friend_uid', 'in', uids)
    .returning(['friend_id', 'friend_uid'])
    .execute()
  if (removed.length === 0) return []
  await db
    .delete('friends')
    .where('friend_id', '=', userId)
    .where(
      'user_id',
      'in',
      removed.map(({ friend_id }) => friend_id),
    )
    .execute()
  return removed.map(({ friend_uid }) => friend_uid)
}
