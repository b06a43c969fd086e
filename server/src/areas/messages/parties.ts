import { ApiError } from '../../kit/errors.ts'
import type { Portion } from '../../kit/limits.ts'
import type { Actor } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { blocksOf, refusalTo, relationBetween } from '../blocked-users/index.ts'
import { bannedFromGroup, groupNotJoined } from '../groups/errors.ts'
import { findGroup, type GroupRow, keepGroup, placeIn, scopeInGroup, toGroup } from '../groups/index.ts'
import { authorise, type contentRules, policyOf, refuseUnless, roleRules } from '../rbac/index.ts'
import { type MemberScope, scopeRules, scopeValuesFor } from '../scope-permissions/index.ts'
import {
  type Entity,
  type MessageRow,
  otherSide,
  type Place,
  placeOfGroup,
  placeOfKey,
  placeOfUsers,
} from '../timeline/index.ts'
import {
  conversationId,
  isAmong,
  requireActiveUser,
  systemUid,
  systemUser,
  toUser,
  type UserRow,
  uidsOfFriends,
  userActing,
} from '../users/index.ts'

/** Who says something, and to whom. */

export type Receiver = { type: 'user'; user: UserRow } | { type: 'group'; group: GroupRow }

export interface Speaker {
  uid: string
  /** Names this user and no later one of the UID; empty for the app itself. */
  id: string
  /** Absent where nobody is asked for permission: the app itself, or a bot. */
  actor: Actor | undefined
  entity: object
  /** How many messages they may still send; any number, if absent. */
  portion?: Portion | undefined
}

export async function speakerFor(view: View, actor: Actor | undefined, portion?: Portion): Promise<Speaker> {
  if (!actor) return { uid: systemUid, id: '', actor: undefined, entity: systemUser }
  const user = await userActing(view.db, actor)
  return {
    uid: actor.uid,
    id: user?.id ?? '',
    actor,
    entity: user ? toUser(view, user, { withTags: false }) : { uid: actor.uid },
    portion,
  }
}

export async function receiverFor(db: TenantDb, receiverType: 'user' | 'group', id: string): Promise<Receiver> {
  return receiverType === 'user'
    ? { type: 'user', user: await requireActiveUser(db, id) }
    : { type: 'group', group: await keepGroup(db, id) }
}

/** The scope of whoever must be a member; an owner counts as an admin. */
export async function requireScope(db: TenantDb, group: GroupRow, uid: string): Promise<MemberScope> {
  const { standing } = await placeIn(db, group, uid)
  if (standing === 'banned') throw bannedFromGroup({ guid: group.guid })
  if (standing === 'outsider') throw groupNotJoined({ guid: group.guid })
  return standing === 'owner' ? 'admin' : standing
}

/** The scope of a user in the group that a message was sent to; nothing for what is between two users. */
export async function scopeOver(db: TenantDb, row: MessageRow, uid: string): Promise<MemberScope | undefined> {
  if (row.receiver_type === 'user') return undefined
  const group = await findGroup(db, row.receiver)
  return group && scopeInGroup(db, group, uid)
}

/** Refuses what the speaker's role does not allow, then whom the receiver does not hear: by a block, or by the group. */
export async function refuseForbidden(
  db: TenantDb,
  speaker: Speaker,
  receiver: Receiver,
  { category, type, mimeTypes }: contentRules.ContentToJudge,
  isReply: boolean,
): Promise<void> {
  const { actor } = speaker
  const content = { category, type, mimeTypes }
  if (actor) await refuseByRole(db, actor, receiver, content, isReply)
  if (receiver.type === 'user') return refuseBlocked(db, speaker, receiver.user)
  if (actor) await refuseByScope(db, actor, receiver.group, content, isReply)
}

const plainText: contentRules.ContentToJudge = { category: 'message', type: 'text', mimeTypes: [] }

/** Whether somebody may say something to whom it is meant for: what is not kept takes the rules of a text that is. */
export async function maySayTo(view: View, actor: Actor, receiverType: 'user' | 'group', id: string): Promise<boolean> {
  const { db } = view
  try {
    const group = receiverType === 'group' ? await findGroup(db, id) : undefined
    if (receiverType === 'group' && !group) return false
    const receiver: Receiver = group
      ? { type: 'group', group }
      : { type: 'user', user: await requireActiveUser(db, id) }
    await refuseForbidden(db, await speakerFor(view, actor), receiver, plainText, false)
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

async function refuseByRole(
  db: TenantDb,
  actor: Actor,
  receiver: Receiver,
  content: contentRules.ContentToJudge,
  isReply: boolean,
): Promise<void> {
  const { uid } = actor
  const policy = await policyOf(db, actor)
  const isFriend = async (other: string) =>
    !roleRules.writesToFriendsOnly(policy) || uid === other || (await isAmong(db, other, uidsOfFriends.ask(db, uid)))
  const to =
    receiver.type === 'group'
      ? { type: 'group' as const }
      : { type: 'user' as const, role: receiver.user.role, friend: await isFriend(receiver.user.uid) }
  // A reply is one by whichever path it comes.
  refuseUnless(roleRules.mayUse(policy, isReply ? 'createMessageThread' : 'createMessage'))
  refuseUnless(roleRules.maySendMessage(policy, { receiver: to, isReply, ...content }))
}

/** A role may be shown single messages between two only where the other is a friend; the app and oneself are none to ask. */
export async function refuseOfStrangers(db: TenantDb, actor: Actor, row: MessageRow): Promise<void> {
  if (row.receiver_type === 'group' || !roleRules.readsOfFriendsOnly(await policyOf(db, actor))) return
  const other = otherSide(placeOfKey(row.conversation_key), actor.uid)
  if (other === actor.uid || other === systemUid) return
  refuseUnless(await isAmong(db, other, uidsOfFriends.ask(db, actor.uid)))
}

/** For acts that answer the message: who may not get it is not told it in this way either. */
export async function refuseUnread(db: TenantDb, actor: Actor | undefined, row: MessageRow): Promise<void> {
  if (!actor) return
  await authorise(db, actor, 'getMessage')
  await refuseOfStrangers(db, actor, row)
}

/** A bot asks nobody for permission, but who has blocked it is left alone. */
async function refuseBlocked(db: TenantDb, speaker: Speaker, user: UserRow): Promise<void> {
  if (speaker.id === '' || speaker.uid === user.uid) return
  const refusal = refusalTo(user.uid, await blocksOf(db, speaker, user))
  if (refusal) throw refusal
}

/**
 * Refuses what would reach the other of two across a block, such as a reaction or new words in an old message. What one
 * does for oneself, or takes back, is not held up; nor is anything in a group.
 */
export async function refuseAcrossBlock(db: TenantDb, row: MessageRow, actor: Actor | undefined): Promise<void> {
  if (!actor || row.receiver_type === 'group') return
  const other = row.sender === actor.uid ? row.receiver : row.sender
  const refusal = refusalTo(other, await relationBetween(db, actor.uid, other))
  if (refusal) throw refusal
}

async function refuseByScope(
  db: TenantDb,
  actor: Actor,
  group: GroupRow,
  content: contentRules.ContentToJudge,
  isReply: boolean,
): Promise<void> {
  const scope = await requireScope(db, group, actor.uid)
  const values = await scopeValuesFor(db, actor, { guid: group.guid, scope })
  refuseUnless(scopeRules.maySendHere(values, content, isReply))
}

export function placeFor({ uid }: Pick<Speaker, 'uid'>, receiver: Receiver): Place {
  return receiver.type === 'group' ? placeOfGroup(receiver.group.guid) : placeOfUsers(uid, receiver.user.uid)
}

export function receiverId(receiver: Receiver): string {
  return receiver.type === 'group' ? receiver.group.guid : receiver.user.uid
}

/** The receiver as it was when something was sent to it. A user tells of the conversation with another, not with the app. */
export function entityOf(view: View, receiver: Receiver, { uid }: Pick<Speaker, 'uid'>): Entity {
  if (receiver.type === 'group') return { entity: toGroup(receiver.group), entityType: 'group' }
  const user = toUser(view, receiver.user, { withTags: false })
  // Notes to oneself stand in a conversation, too.
  const entity = uid === systemUid ? user : { ...user, conversationId: conversationId(uid, user.uid) }
  return { entity, entityType: 'user' }
}
