import { userNotFound } from '../users/errors.ts'
import type { UserRow } from '../users/index.ts'
import { alreadyFriend, selfRelation, tooManyFriends } from './errors.ts'
import { friendsMax } from './schemas.ts'

/** The friendships around one user and those they want to befriend, as they stand. */
export interface FriendCircle {
  friendIds: Set<string>
  /** How many friends each user has, by id. */
  counts: Map<string, number>
}

/** Whoever may be befriended, or the refusal. */
export function requireNewFriend(
  user: UserRow,
  wanted: string,
  found: UserRow | undefined,
  circle: FriendCircle,
): UserRow {
  if (wanted === user.uid) throw selfRelation()
  if (found?.deactivated_at !== null) throw userNotFound({ uid: wanted })
  if (circle.friendIds.has(found.id)) throw alreadyFriend({ uid: user.uid, friend: wanted })
  for (const { uid, id } of [user, found]) {
    if ((circle.counts.get(id) ?? 0) >= friendsMax) throw tooManyFriends({ uid, limit: friendsMax })
  }
  return found
}

/** Takes a new friendship into account, for what is decided after it. */
export function joinCircle({ friendIds, counts }: FriendCircle, user: UserRow, friend: UserRow): void {
  friendIds.add(friend.id)
  for (const { id } of [user, friend]) counts.set(id, (counts.get(id) ?? 0) + 1)
}
