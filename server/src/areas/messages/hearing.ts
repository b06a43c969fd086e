import type { Channel, Shows } from '../../kit/channel.ts'
import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { policyOf, roleRules } from '../rbac/index.ts'
import { isRuled, type Membership, ruledGroupsOf, scopeRules } from '../scope-permissions/index.ts'
import { groupChannel } from '../timeline/events.ts'
import type { Entity } from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import { friendsOf, systemUid } from '../users/index.ts'

/**
 * Which messages may be told live to a user: those that a list would hold for them (`listedFor`), decided from what was
 * read about the user beforehand, by the rules of their role and of their scope in each group.
 */

interface Listener {
  uid: string
  listed: roleRules.ListedMessages | 'none'
  friends: ReadonlySet<string>
  groups: ReadonlyMap<string, Membership>
}

export async function messagesShownTo(db: TenantDb, uid: string, actor: Actor | undefined): Promise<Shows | undefined> {
  const listener = await listenerOf(db, uid, actor)
  if (listener.groups.size === 0 && roleRules.areAllMessagesListed(listener.listed)) return undefined
  return {
    isTold: ({ tellsOf }, payload) =>
      tellsOf === undefined || tellsOf(payload as never).every((message) => isListed(listener, message as Message)),
  }
}

/** In most groups, all members are shown the same. */
export async function isGroupRuled(db: TenantDb, { kind, id }: Channel): Promise<boolean> {
  return kind === groupChannel(id).kind && (await isRuled(db, id))
}

async function listenerOf(db: TenantDb, uid: string, actor: Actor | undefined): Promise<Listener> {
  if (!actor) return { uid, listed: 'none', friends: new Set(), groups: new Map() }
  const listed = roleRules.listedMessages(await policyOf(db, actor))
  const asksForFriends = listed !== 'none' && listed.friendsOnly
  return {
    uid,
    listed,
    friends: asksForFriends ? await friendsOf(db, uid) : new Set(),
    groups: await ruledGroupsOf(db, actor),
  }
}

/** An action has the message inside of which it tells, and is kept back with it. */
function isListed(listener: Listener, message: Message): boolean {
  const told = toldBy(message)
  return isListedAlone(listener, message, told ?? message) && (!told || isListedAlone(listener, told, told))
}

/** `between` is a message of the conversation that tells who the two are: the app may act for one of them. */
function isListedAlone({ uid, listed, friends, groups }: Listener, message: Message, between: Message): boolean {
  const { receiverType, category, type, sender, receiver } = message
  const other = between.sender === uid ? between.receiver : between.sender
  const byRole = roleRules.isMessageListed(listed, {
    ...{ receiverType, category, type },
    senderRole: roleOfSender(message),
    isOwn: sender === uid || sender === systemUid,
    isWithFriend: other === uid || other === systemUid || friends.has(other),
  })
  const membership = receiverType === 'group' ? groups.get(receiver) : undefined
  return byRole && (!membership || scopeRules.isMessageListedHere(membership.values, message, membership.joinedAt))
}

type Entities = Partial<Record<'sender' | 'by' | 'on', Entity>>

const entitiesOf = ({ data }: Message) => (data.entities ?? {}) as Entities

function toldBy(message: Message): Message | undefined {
  const { on } = entitiesOf(message)
  return message.category === 'action' && on?.entityType === 'message' ? (on.entity as Message) : undefined
}

function roleOfSender(message: Message): string {
  const { sender, by } = entitiesOf(message)
  const entity: { role?: string } | undefined = (sender ?? by)?.entity
  return entity?.role ?? ''
}
