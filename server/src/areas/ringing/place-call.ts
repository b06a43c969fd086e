import { badRequest } from '../../kit/errors.ts'
import type { Portion } from '../../kit/limits.ts'
import { useOne } from '../../kit/limits.ts'
import type { Actor, App } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { callingSelf } from '../calls/errors.ts'
import { beginCall, callRules, isGroupInCall, isInCall, newSessionId } from '../calls/index.ts'
import { keepGroup } from '../groups/index.ts'
import { memberScopes } from '../groups/schemas.ts'
import { scopeRules } from '../scope-permissions/index.ts'
import { userNotFound } from '../users/errors.ts'
import { requireActiveUser, userActing } from '../users/index.ts'
import { busyGroup, busySelf, busyUser } from './errors.ts'
import { rungIn } from './invited.ts'
import { refuseCallTo, refuseCallToGroup } from './permissions.ts'
import type { CallCreate } from './schemas.ts'

/** Whom a call goes to, once nothing stands in its way. */
interface Called {
  receiver: string
  invited: string[]
  groupId?: string
  ringsOnlyInvited?: true
}

const metadataCharactersMax = 10_000

/** Who places a call. */
export interface Placing {
  app: App
  actor: Actor
  portion: Portion | undefined
}

/** Places a call and lets it ring; answers its session id. */
export async function placeCall(work: Work, { app, actor, portion }: Placing, body: CallCreate): Promise<string> {
  const { receiverType, type, metadata, timeout } = body
  if (JSON.stringify(metadata ?? {}).length > metadataCharactersMax) {
    throw badRequest({ metadata: [`must not be longer than ${metadataCharactersMax} characters`] })
  }
  if (await isInCall(work, actor.uid)) throw busySelf()
  const called =
    receiverType === 'user' ? await callUser(work, actor, body.receiver) : await callGroup(work, actor, body)
  useOne(portion)
  const sessionId = newSessionId(app.region, app.id, work.now)
  const start = callRules.initiate({
    ...{ at: work.now, initiator: actor.uid, receiverType, type, mode: 'call', tags: [], ...called },
    ...(metadata && Object.keys(metadata).length > 0 && { metaData: metadata }),
    ...(timeout !== undefined && { ringSeconds: timeout }),
  })
  await beginCall(work, sessionId, start)
  return sessionId
}

async function callUser(work: Work, actor: Actor, uid: string): Promise<Called> {
  const user = await requireActiveUser(work.db, uid)
  if (user.uid === actor.uid) throw callingSelf()
  const acting = await userActing(work.db, actor)
  if (!acting) throw userNotFound({ uid: actor.uid })
  await refuseCallTo(work.db, { ...actor, id: acting.id }, user)
  if (await isInCall(work, user.uid)) throw busyUser({ uid: user.uid })
  return { receiver: user.uid, invited: [user.uid] }
}

async function callGroup(work: Work, actor: Actor, { receiver, type }: CallCreate): Promise<Called> {
  const group = await keepGroup(work.db, receiver)
  const values = await refuseCallToGroup(work.db, actor, group, type)
  if (await isGroupInCall(work, group.guid)) throw busyGroup({ guid: group.guid })
  const { uids, only } = await rungIn(
    work.db,
    group,
    memberScopes.filter((scope) => !scopeRules.isRung(values, scope)),
  )
  return { receiver: group.guid, groupId: group.id, invited: uids, ...(only && { ringsOnlyInvited: true }) }
}
