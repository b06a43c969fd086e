import { acting } from '../../common/acting.ts'
import { one } from '../../common/reply.ts'
import { type Actor, operation } from '../../kit/operation.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import { blockedReceiver, blockedSender } from '../blocked-users/errors.ts'
import { callNotFound, callRuleErrors, callTerminated, notAPart } from '../calls/errors.ts'
import { isFinal, requireCall } from '../calls/index.ts'
import { bannedFromGroup, groupNotFound, groupNotJoined } from '../groups/errors.ts'
import { seenMessage } from '../messages/index.ts'
import { permissionDenied } from '../rbac/errors.ts'
import { Message } from '../timeline/schemas.ts'
import { userNotFound } from '../users/errors.ts'
import { actOf, changeCall } from './change-call.ts'
import { busyGroup, busySelf, busyUser, invalidInit } from './errors.ts'
import { requirePart } from './parts.ts'
import { refuseJoining } from './permissions.ts'
import { placeCall } from './place-call.ts'
import { ringRate } from './rates.ts'
import { CallChange, CallCreate } from './schemas.ts'
import { callToken, tokenSeconds } from './tokens.ts'

/** What whoever changed a call is answered: the newest message that tells of it. */
async function newestMessage(work: Work, sessionId: string, actor: Actor): Promise<Message> {
  const { message_id } = await requireCall(work.db, sessionId, undefined)
  if (message_id === null) throw callNotFound({ sessionId })
  return seenMessage(work, message_id, actor)
}

const createCall = operation({
  id: 'createCall',
  route: 'POST /calls',
  summary: 'Place a call',
  description:
    'Rings a user, or the members of a group, until somebody accepts, everybody refuses, the caller gives up or the time is ' +
    'over. The answer, and what everybody concerned is told live, is the call message in their conversation; the session ' +
    'id is `data.entities.on.entity.sessionid`.',
  doors: ['server', 'client'],
  onBehalfOf: 'required',
  may: 'createCall',
  userRate: ringRate,
  body: CallCreate,
  bodyBytesMax: 32_768,
  reply: one(Message),
  errors: [
    ...callRuleErrors,
    ...[busySelf, busyUser, busyGroup, userNotFound, groupNotFound, groupNotJoined, bannedFromGroup],
    ...[blockedReceiver, blockedSender, permissionDenied],
  ],
  async run(call) {
    const { app, body, portion } = call
    const actor = acting(call.actor)
    const sessionId = await placeCall(call, { app, actor, portion }, body)
    return { data: await newestMessage(call, sessionId, actor) }
  },
})

const updateCall = operation({
  id: 'updateCall',
  route: 'PUT /calls/{sessionId}',
  summary: 'Accept, refuse, take back or end a call',
  description:
    'Accepting is joining: minutes run from then on, and the device must be heard of within the lease. Where two talk, ' +
    '`ended` ends the call for both; from a call of a group it takes only the acting user.',
  doors: ['server', 'client'],
  onBehalfOf: 'required',
  may: 'updateCall',
  body: CallChange,
  reply: one(Message),
  errors: [...callRuleErrors, callNotFound, invalidInit, groupNotJoined, bannedFromGroup, permissionDenied],
  find: (call) => requirePart(call, call.params.sessionId, acting(call.actor)),
  async run(call) {
    const { found, body } = call
    const actor = acting(call.actor)
    const act = actOf(body.status)
    if (act === 'join') await refuseJoining(call.db, actor, found.group)
    await changeCall(call, found.sessionId, act, actor)
    return { data: await newestMessage(call, found.sessionId, actor) }
  },
})

const CallToken = Type.Object(
  { token: Type.String({ description: 'To join the session with, within five minutes' }) },
  { title: 'CallToken' },
)

const createCallToken = operation({
  id: 'createCallToken',
  route: 'POST /calls/{sessionId}/token',
  summary: 'Get a call token',
  description:
    'For whoever was rung, the caller, and members of the group. A device joins the session of the call with it.',
  doors: ['server', 'client'],
  onBehalfOf: 'required',
  reply: one(CallToken),
  errors: [callNotFound, callTerminated, notAPart, groupNotJoined, bannedFromGroup, permissionDenied],
  find: (call) => requirePart(call, call.params.sessionId, acting(call.actor)),
  async run({ db, app, found, now, tools, ...call }) {
    const actor = acting(call.actor)
    if (isFinal(found.status)) throw callTerminated()
    await refuseJoining(db, actor, found.group)
    const { sessionId } = found
    const until = now + tokenSeconds
    return { data: { token: callToken(tools.secrets, { appId: app.id, sessionId, uid: actor.uid, until }) } }
  },
})

export const operations = [createCall, updateCall, createCallToken]
