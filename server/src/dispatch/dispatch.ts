import { isUid } from '../areas/users/schemas.ts'
import { keyedWriteRate, requestsOfApp, requestsOfUser } from '../common/request-rates.ts'
import { ApiError, badRequest } from '../kit/errors.ts'
import type { Allowance } from '../kit/limits.ts'
import type { Caller, Operation } from '../kit/operation.ts'
import { isBroken } from '../plain/readable.ts'
import type { ReadyMade } from '../plain/ready-made.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'
import { heldToDeclaration } from './declared.ts'
import type { KnownApp } from './directory.ts'
import { noAccess } from './errors.ts'
import { attemptOf } from './idempotency.ts'
import { type FileIntake, openIntake } from './intake.ts'
import { together } from './limits.ts'
import { answerRead, change, nothingSent, type OperationCall, type Sent, type Stage } from './perform.ts'
import type { Mounted } from './registry.ts'
import type { Trace } from './trace.ts'

/** What somebody wants done, once it is known who they are: a request, a frame of a socket, an event of the media engine. */
export interface Ask {
  /** The app that it is about; none at the management door. */
  app: KnownApp | undefined
  caller: Caller
  /** What is to be run, or the refusal for whoever asks for something that is not there. */
  operation: Mounted | ApiError
  params: Record<string, string>
  /** As it stands in an address. */
  query: string
  /** The user to act as, if one was named; blank is not absent. */
  actAs: string | undefined
  /** The connected device of a client that asks, where it has said so; events tell the others only. */
  device?: string | undefined
  /** Makes it happen once, however often it is asked for under this key. */
  once?: Once | undefined
  /** Reads what was sent along, when its turn has come; not asked for by a read. */
  sent: (operation: Operation, receive: Receive | undefined) => Promise<Sent>
  /** Given when nobody waits for the answer any more; asked for by reads that take long. */
  gone: () => AbortSignal
}

/** Where the files go that were sent along; absent where none are taken. */
export type Receive = () => Promise<FileIntake>

export interface Once {
  key: string
  /** What was asked for as it was written, where that tells two asks apart which mean the same. */
  target?: string
}

export type Dispatch = (ask: Ask, trace: Trace) => Promise<ReadyMade>

/**
 * The one way to run an operation, whoever asks and however it came. The order of the steps is part of the contract: the
 * first failure answers, so one without access learns nothing about fields.
 */
export function createDispatch(stage: Stage): Dispatch {
  return async (ask, trace) => {
    const { operation } = ask
    try {
      return await answer(stage, ask, trace)
    } catch (error) {
      throw stage.strict && !(operation instanceof ApiError) ? heldToDeclaration(error, operation.operation) : error
    }
  }
}

async function answer(stage: Stage, ask: Ask, trace: Trace): Promise<ReadyMade> {
  const { app, caller, operation: mounted, params, query, device } = ask
  trace.caller = caller.kind
  trace.allowance = await countRate(stage, ask)
  if (mounted instanceof ApiError) throw mounted
  if (!opens(mounted.operation, caller)) throw noAccess()
  const call: OperationCall = {
    ...{ app, caller, mounted, params, query, trace, device },
    ...{ sent: nothingSent, used: 0, ran: false },
  }
  if (mounted.operation.method !== 'GET') return answerWrite(stage, ask, call)
  readActor(ask, call)
  return answerRead(stage, call, ask.gone)
}

/** What nobody asked for, the server's own parts, counts against nobody. */
async function countRate({ limits }: Stage, { app, caller, operation }: Ask): Promise<Allowance | undefined> {
  if (caller.kind === 'system') return undefined
  const owner = caller.kind === 'management' ? `account ${caller.accountId}` : (app?.id ?? '')
  const rate = operation instanceof ApiError ? 'standard' : operation.operation.rate
  // First: what a user asks for in vain is not at the expense of all others in the app.
  if (caller.kind === 'client') await limits.count(requestsOfUser[rate], [owner, caller.uid])
  return limits.count(requestsOfApp[rate], [owner])
}

function opens({ door, doors, keys }: Operation, caller: Caller): boolean {
  switch (caller.kind) {
    case 'server':
      return doors.includes('server') && keys.includes(caller.scope)
    case 'client':
    case 'system':
      return doors.includes(caller.kind)
    case 'management':
      return door === 'management'
  }
}

/**
 * A write counts against its user before its body is read, so that whoever has nothing left is refused at once; what it
 * did not use in the end is given back.
 */
async function answerWrite(stage: Stage, ask: Ask, call: OperationCall): Promise<ReadyMade> {
  const { once } = ask
  if (once) await countKept(stage, call)
  await takeShare(stage, ask, call)
  try {
    const { body, ...sent } = await ask.sent(call.mounted.operation, receiverOf(stage, ask, call))
    call.sent = { ...sent, body: call.mounted.readLeniently(body) }
    readActor(ask, call)
    await widenShare(stage, call)
    return await change(stage, call, once && attemptFor(once, call))
  } catch (error) {
    await discardAfter(error, call)
    throw error
  } finally {
    const { share, used } = call
    await share?.giveBack(share.granted - used)
  }
}

function attemptFor({ key, target }: Once, { caller, mounted, params, query, actAs, sent }: OperationCall) {
  const { id, method } = mounted.operation
  const actor = caller.kind === 'client' ? `token of ${actAs}` : (actAs ?? '')
  return attemptOf(key, caller, method, target ?? JSON.stringify([id, params, query]), actor, sent.text)
}

/** Every reply that is kept takes room for a day; servers are bounded by the requests of their app. */
async function countKept({ limits }: Stage, { app, caller }: OperationCall): Promise<void> {
  if (app && caller.kind === 'client') await limits.count(keyedWriteRate, [app.id, caller.uid])
}

/**
 * Removes the files of an ask that came to nothing. Where that is not known, or cannot be done now, they stay until they
 * are swept up as files that no message has.
 */
async function discardAfter(error: unknown, { intake }: OperationCall): Promise<void> {
  if (error instanceof DatabaseUnavailable) return
  await intake?.discard()
}

async function takeShare({ limits }: Stage, ask: Ask, call: OperationCall): Promise<void> {
  const { userRate } = call.mounted.operation
  const uid = namedActor(ask, call)
  if (!call.app || !userRate || uid === undefined) return
  const share = await limits.take(userRate, [call.app.id, uid], 1)
  if (share.granted === 0) throw share.refusal()
  call.share = share
}

/** Now that the body is there, as much is taken as it asks for, or as is left. */
async function widenShare({ limits }: Stage, call: OperationCall): Promise<void> {
  const { userRate, userCount } = call.mounted.operation
  const { app, share, actAs } = call
  const wanted = userCount?.(call.sent.body) ?? 1
  if (!app || !userRate || !share || actAs === undefined || wanted <= 1) return
  call.share = together(share, await limits.take(userRate, [app.id, actAs], wanted - 1))
}

/** The user who is named as the one who acts, known or not; nobody, if no user can be called so, or none is counted. */
function namedActor({ actAs }: Ask, { caller, mounted }: OperationCall): string | undefined {
  if (caller.kind === 'client') return caller.uid
  if (caller.kind === 'system' || mounted.operation.onBehalfOf === 'unsupported') return undefined
  const uid = actAs?.trim() ?? ''
  return isUid(uid) ? uid.toLowerCase() : undefined
}

function receiverOf(stage: Stage, ask: Ask, call: OperationCall): Receive | undefined {
  const { app, mounted } = call
  if (!app || !mounted.operation.takesFiles) return undefined
  return async () => {
    readActor(ask, call)
    call.intake = await openIntake(stage, call, app.id)
    return call.intake
  }
}

function readActor(ask: Ask, call: OperationCall): void {
  for (const name in call.params) {
    if (isBroken(call.params[name] ?? '')) throw badRequest({ [name]: ['must be readable text'] })
  }
  call.actAs = actingUid(call.mounted.operation, ask)
}

/** A client acts as the user its token belongs to, whatever else it sends. */
function actingUid({ onBehalfOf }: Operation, { caller, actAs }: Ask): string | undefined {
  if (caller.kind === 'client') return caller.uid
  if (onBehalfOf === 'unsupported') return undefined
  const uid = actAs?.trim().toLowerCase()
  // Blank is not absent: whoever means to act as someone must not end up acting as the app.
  if (uid === '' || (uid === undefined && onBehalfOf === 'required')) {
    throw badRequest({ onBehalfOf: ['must name a user'] })
  }
  return uid
}
