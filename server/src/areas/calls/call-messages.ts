import type { View, Work } from '../../kit/work.ts'
import { type GroupRow, keepGroupIfThere, toGroupCard } from '../groups/index.ts'
import {
  conversationIdOf,
  type Entity,
  type Place,
  placeOfGroup,
  placeOfUsers,
  type WrittenDeed,
  writeDeed,
} from '../timeline/index.ts'
import { toUser, type UserRow, usersByUid } from '../users/index.ts'
import type { Fact, InitiatedFact } from './facts.ts'
import type { CallState } from './state.ts'

/**
 * What the conversation of a ringing call is told of it: a message for every step that people notice. Each follows from a
 * fact, in the transaction in which that is written down, whoever brought it about: a device, an app or time itself.
 */

export const callActions = ['initiated', 'ongoing', 'busy', 'rejected', 'cancelled', 'unanswered', 'ended'] as const
export type CallAction = (typeof callActions)[number]

/** A step, and whose it is. */
export interface CallStep {
  action: CallAction
  by: string
}

/** The step that a fact is; nothing, where the conversation is not told of it. */
export function stepOf(before: CallState | undefined, { start }: CallState, fact: Fact): CallStep | undefined {
  if (start.mode !== 'call') return undefined
  const { initiator } = start
  switch (fact.kind) {
    case 'initiated':
      return { action: 'initiated', by: initiator }
    case 'joined':
      return isAnswer(before, initiator, fact.uid) ? { action: 'ongoing', by: fact.uid } : undefined
    case 'rejected':
      return { action: fact.cause === 'busy' ? 'busy' : 'rejected', by: fact.uid }
    case 'canceled':
      return { action: 'cancelled', by: initiator }
    case 'unanswered':
      return { action: 'unanswered', by: initiator }
    case 'ended':
      return { action: 'ended', by: fact.by ?? initiator }
    default:
      return undefined
  }
}

/** Somebody who was rung is there for the first time; whoever comes back, or with another device, has answered before. */
function isAnswer(before: CallState | undefined, initiator: string, uid: string): boolean {
  return uid !== initiator && !before?.entries.some((entry) => entry.uid === uid && entry.deviceId !== undefined)
}

/** Who can be named in a message: of those who are gone nothing more is said. */
interface Parties {
  by: UserRow
  initiator: UserRow
  receiver: { type: 'user'; user: UserRow } | { type: 'group'; group: GroupRow }
}

async function partiesOf({ db }: View, { start }: CallState, by: string): Promise<Parties | undefined> {
  const { receiver, receiverType } = start
  // It stays until the message is written.
  const found = receiverType === 'group' ? await keepGroupIfThere(db, receiver) : undefined
  const group = found && isGroupCalled(start, found) ? found : undefined
  const users = await usersByUid(db, [by, start.initiator, ...(receiverType === 'user' ? [receiver] : [])])
  const [acting, initiator, called] = [users.get(by), users.get(start.initiator), users.get(receiver)]
  if (!acting || !initiator) return undefined
  if (receiverType === 'group') return group && { by: acting, initiator, receiver: { type: 'group', group } }
  return called && { by: acting, initiator, receiver: { type: 'user', user: called } }
}

/** Whether a group is the one that was called; one that was made anew under its GUID is another. Scripts do not say. */
export function isGroupCalled({ groupId }: InitiatedFact, { id }: GroupRow): boolean {
  return groupId === undefined || groupId === id
}

/** Writes the message of a step; none, where one of the two, or the group, is gone. */
export async function writeCallMessage(
  work: Work,
  sessionId: string,
  state: CallState,
  step: CallStep,
  device: string | undefined,
): Promise<WrittenDeed | undefined> {
  const parties = await partiesOf(work, state, step.by)
  if (!parties) return undefined
  const { start } = state
  const { receiver } = parties
  const other = receiver.type === 'group' ? receiver.group.guid : otherOf(parties, receiver.user).uid
  const metadata = start.metaData && { metadata: start.metaData }
  return writeDeed(work, placeOf(state), 'call', {
    ...{ type: start.type, action: step.action, sender: step.by, receiver: other },
    by: userEntity(work, parties.by),
    on: { entity: callEntity(work, sessionId, state, step, parties), entityType: 'call' },
    for: forEntity(work, parties),
    more: { ...metadata, ...(device !== undefined && { resource: device }) },
  })
}

function placeOf({ start: { initiator, receiver, receiverType } }: CallState): Place {
  return receiverType === 'group' ? placeOfGroup(receiver) : placeOfUsers(initiator, receiver)
}

const otherOf = ({ by, initiator }: Parties, receiver: UserRow) => (by.uid === initiator.uid ? receiver : initiator)

/** Their metadata stays out: it would be copied into every message. */
function userEntity(view: View, row: UserRow, actorUid?: string): Entity {
  const how = { withTags: false, ...(actorUid !== undefined && { actorUid }) }
  return { entity: toUser(view, { ...row, metadata: null }, how), entityType: 'user' }
}

function forEntity(view: View, parties: Parties): Entity {
  const { receiver, by } = parties
  return receiver.type === 'group'
    ? groupEntity(receiver.group)
    : userEntity(view, otherOf(parties, receiver.user), by.uid)
}

const groupEntity = (row: GroupRow): Entity => ({ entity: toGroupCard(row), entityType: 'group' })

/** The call as it stood then, in the words of the reference service. */
function callEntity(view: View, sessionId: string, state: CallState, { action, by }: CallStep, parties: Parties) {
  const { start, entries, statusChanges, endedAt } = state
  const startedAt = statusChanges.find(({ status }) => status === 'ongoing')?.at
  const joinedAt = entries.find((entry) => entry.uid === by && entry.joinedAt !== undefined)?.joinedAt
  const { receiver } = parties
  const called = receiver.type === 'group' ? groupEntity(receiver.group) : userEntity(view, receiver.user)
  return {
    sessionid: sessionId,
    conversationId: conversationIdOf(placeOf(state).conversationKey),
    ...{ sender: start.initiator, receiver: start.receiver, receiverType: start.receiverType },
    ...{ status: action, type: start.type, initiatedAt: start.at, joinedAt: joinedAt ?? start.at },
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    data: {
      entities: { sender: userEntity(view, parties.initiator), receiver: called },
      ...(start.metaData && { metadata: start.metaData }),
    },
  }
}
