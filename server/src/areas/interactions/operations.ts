import { Done, done } from '../../common/reply.ts'
import { channelKey } from '../../kit/channel.ts'
import { badRequest } from '../../kit/errors.ts'
import { type Actor, operation } from '../../kit/operation.ts'
import { FilledText, Id, Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { blockedReceiver, blockedSender } from '../blocked-users/errors.ts'
import { notAccessible } from '../conversations/errors.ts'
import { readUpTo } from '../conversations/index.ts'
import { actionNotAllowed, messageNotAccessible, messageNotFound } from '../messages/errors.ts'
import {
  elementIdMax,
  elementsIn,
  goalOf,
  isGoalMet,
  refuseAcrossBlock,
  refuseUntouchable,
  requireMessage,
} from '../messages/index.ts'
import { audienceFor, type MessageRow } from '../timeline/index.ts'
import { userChannel } from '../users/events.ts'
import { findUser, holdUsers, toUser } from '../users/index.ts'
import { goalCompleted } from './events.ts'
import { addInteractions, interactionsWith } from './store.ts'

const Elements = Type.Array(Id(FilledText(elementIdMax)), { minItems: 1, description: 'Ids of elements' })

const errors = [messageNotFound, messageNotAccessible, actionNotAllowed, blockedReceiver, blockedSender]

const interact = operation({
  id: 'recordInteractions',
  route: 'PATCH /messages/{id}/interacted',
  summary: 'Record what a user did with an interactive message',
  doors: ['server', 'client'],
  onBehalfOf: 'required',
  body: Type.Object({ interactions: Elements }),
  reply: Done,
  errors,
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  run: (call) => record(call, call.found, call.actor, call.body.interactions),
})

const interactOrRead = operation({
  id: 'recordInteractionsOrRead',
  route: 'POST /messages/{id}/interactions',
  summary: 'Record interactions, or that a message is read',
  description:
    'With `interactions` as `PATCH /messages/{id}/interacted`. Without them the conversation is read up to this message, ' +
    'of whatever kind it is.',
  doors: ['server', 'client'],
  onBehalfOf: 'required',
  body: Type.Object({ interactions: Type.Optional(Elements) }),
  reply: Done,
  errors: [...errors, notAccessible],
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { found, actor, body } = call
    if (body.interactions) return record(call, found, actor, body.interactions)
    await readUpTo(call, found, actor?.uid ?? '')
    return done('Messages are marked as read.')
  },
})

async function record(work: Work, found: MessageRow, actor: Actor | undefined, elementIds: string[]) {
  const { db } = work
  const uid = actor?.uid ?? ''
  if (found.category !== 'interactive') throw badRequest({ interactions: ['are for interactive messages'] })
  refuseUntouchable(found)
  const data = JSON.parse(found.data)
  const known = new Set(elementsIn(data.interactiveData).map(({ elementId }) => elementId))
  if (elementIds.some((id) => !known.has(id))) {
    throw badRequest({ interactions: ['must name elements of the message'] })
  }
  if (uid === found.sender && data.allowSenderInteraction !== true) throw actionNotAllowed({ id: found.id })
  await refuseAcrossBlock(db, found, actor)
  // Of two at once the second counts the first.
  await holdUsers(db, [uid])
  const before = (await interactionsWith(db, [found.id], uid)).get(found.id) ?? []
  await addInteractions(work, found.id, uid, elementIds)
  const after = (await interactionsWith(db, [found.id], uid)).get(found.id) ?? []
  const goal = goalOf(data)
  const elements = (all: typeof before) => new Set(all.map(({ elementId }) => elementId))
  if (!isGoalMet(goal, elements(before)) && isGoalMet(goal, elements(after))) {
    const user = await findUser(db, uid)
    await work.emit(goalCompleted, {
      messageId: String(found.id),
      sender: user ? toUser(work, user, { withTags: false }) : { uid },
      receiverId: found.receiver,
      receiverType: found.receiver_type,
      interactions: after,
      audience: await toldOfGoal(db, found, uid),
    })
  }
  return done('The interactions are recorded.')
}

/** The sender, and the devices of the user. */
async function toldOfGoal(db: TenantDb, row: MessageRow, uid: string): Promise<string[]> {
  return row.receiver_type === 'user'
    ? audienceFor(db, row, uid)
    : [...new Set([row.sender, uid])].map((each) => channelKey(userChannel(each)))
}

export const operations = [interact, interactOrRead]
