import { eachItem, type ItemOutcome } from '../../common/each.ts'
import type { Work } from '../../kit/work.ts'
import { userNotFound } from '../users/errors.ts'
import { holdUsers, toUser, type UserRow } from '../users/index.ts'
import { notAFriend } from './errors.ts'
import { friendAdded, friendRemoved } from './events.ts'
import { joinCircle, requireNewFriend } from './rules.ts'
import { addFriendships, circleOf, removeFriendships } from './store.ts'

/** Makes `uid` and each of `others` friends of each other; tells what became of each. */
export async function befriend(
  work: Work,
  uid: string,
  others: string[],
  { addToConversations = false }: { addToConversations?: boolean | undefined } = {},
): Promise<Record<string, ItemOutcome>> {
  const wanted = others.map((other) => other.toLowerCase())
  const { user, held } = await holdAround(work, uid, wanted)
  const circle = await circleOf(work.db, user, [...held.values()])
  const added: UserRow[] = []
  const outcomes = await eachItem(wanted, (other) => {
    const friend = requireNewFriend(user, other, held.get(other), circle)
    joinCircle(circle, user, friend)
    added.push(friend)
    return `${user.uid} and ${friend.uid} are friends now.`
  })
  await addFriendships(work, user, added)
  const wish = addToConversations ? { addToConversations } : {}
  const shown = (row: UserRow) => toUser(work, row)
  for (const friend of added) await work.emit(friendAdded, { user: shown(user), friend: shown(friend), ...wish })
  return outcomes
}

/** Ends the friendships of `uid` with those of `others` who are friends; answers who they were, and refuses if nobody. */
export async function unfriend(work: Work, uid: string, others: string[]): Promise<string[]> {
  const wanted = [...new Set(others.map((other) => other.toLowerCase()))]
  const { user } = await holdAround(work, uid, wanted)
  const removed = await removeFriendships(work.db, user.id, wanted)
  if (removed.length === 0) throw notAFriend({ uid: user.uid })
  for (const friendUid of removed) await work.emit(friendRemoved, { uid: user.uid, friendUid })
  return removed
}

/** The user and the others, held; meanwhile no limit is passed and nobody is deleted. */
async function holdAround({ db }: Work, uid: string, others: string[]) {
  const held = await holdUsers(db, [uid, ...others])
  const user = held.get(uid)
  if (user?.deactivated_at !== null) throw userNotFound({ uid })
  return { user, held }
}
