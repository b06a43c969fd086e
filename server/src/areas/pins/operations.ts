import { one } from '../../common/reply.ts'
import { type Actor, operation } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { blockedReceiver, blockedSender } from '../blocked-users/errors.ts'
import { actionNotAllowed, messageNotAccessible, messageNotFound } from '../messages/errors.ts'
import {
  refuseAcrossBlock,
  refuseUnread,
  refuseUntouchable,
  requireMessage,
  scopeOver,
  seenMessage,
} from '../messages/index.ts'
import { permissionDenied } from '../rbac/errors.ts'
import { refuseUnless } from '../rbac/index.ts'
import { audienceFor, type MessageRow } from '../timeline/index.ts'
import { Message } from '../timeline/schemas.ts'
import { systemUid } from '../users/index.ts'
import { tooManyPinned, tooManySaved } from './errors.ts'
import { messagePinned, messageSaved, messageUnpinned, messageUnsaved } from './events.ts'
import { pinMessage, saveMessage, unpinMessage, unsaveMessage } from './store.ts'

const doors: ('server' | 'client')[] = ['server', 'client']
const messageErrors = [messageNotFound, messageNotAccessible, actionNotAllowed, permissionDenied]

/** In a group, admins and moderators pin; between two, both do. */
async function refusePinning(db: TenantDb, row: MessageRow, actor: Actor | undefined): Promise<void> {
  await refuseUnread(db, actor, row)
  if (!actor || row.receiver_type === 'user') return
  const scope = await scopeOver(db, row, actor.uid)
  refuseUnless(scope === 'admin' || scope === 'moderator')
}

async function tell(work: Work, event: typeof messagePinned, row: MessageRow, by: string): Promise<void> {
  const message = await seenMessage(work, row.id, undefined)
  await work.emit(event, { message, by, at: work.now, audience: await audienceFor(work.db, row, by) })
}

const pin = operation({
  id: 'pinMessage',
  route: 'POST /messages/{id}/pin',
  summary: 'Pin a message in its conversation',
  doors,
  onBehalfOf: 'optional',
  reply: one(Message),
  errors: [...messageErrors, tooManyPinned, blockedReceiver, blockedSender],
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { db, found, actor } = call
    refuseUntouchable(found)
    await refusePinning(db, found, actor)
    await refuseAcrossBlock(db, found, actor)
    const by = actor?.uid ?? systemUid
    await pinMessage(call, found, by)
    await tell(call, messagePinned, found, by)
    return { data: await seenMessage(call, found.id, actor) }
  },
})

const unpin = operation({
  id: 'unpinMessage',
  route: 'DELETE /messages/{id}/pin',
  summary: 'Unpin a message',
  doors,
  onBehalfOf: 'optional',
  reply: one(Message),
  errors: messageErrors,
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { db, found, actor } = call
    await refusePinning(db, found, actor)
    if (await unpinMessage(db, found)) await tell(call, messageUnpinned, found, actor?.uid ?? systemUid)
    return { data: await seenMessage(call, found.id, actor) }
  },
})

/** Whether the user follows its thread is for whoever fetches a message, not for whom it is pushed to. */
function pushed({ threadSubscribed: _, ...message }: Message): Message {
  return message
}

const save = operation({
  id: 'saveMessage',
  route: 'POST /messages/{id}/save',
  summary: 'Save a message for oneself',
  doors,
  onBehalfOf: 'required',
  reply: one(Message),
  errors: [...messageErrors, tooManySaved],
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { db, found } = call
    const uid = call.actor?.uid ?? ''
    refuseUntouchable(found)
    await refuseUnread(db, call.actor, found)
    const isNew = await saveMessage(call, found, uid)
    const message = await seenMessage(call, found.id, call.actor)
    if (isNew) await call.emit(messageSaved, { uid, message: pushed(message) })
    return { data: message }
  },
})

const unsave = operation({
  id: 'unsaveMessage',
  route: 'DELETE /messages/{id}/save',
  summary: 'Drop a saved message',
  doors,
  onBehalfOf: 'required',
  reply: one(Message),
  errors: messageErrors,
  find: ({ db, params, actor }) => requireMessage(db, params.id, actor),
  async run(call) {
    const { db, found } = call
    const uid = call.actor?.uid ?? ''
    await refuseUnread(db, call.actor, found)
    const wasSaved = await unsaveMessage(db, found, uid)
    const message = await seenMessage(call, found.id, call.actor)
    if (wasSaved) await call.emit(messageUnsaved, { uid, message: pushed(message) })
    return { data: message }
  },
})

export const operations = [pin, unpin, save, unsave]
