import { keepFile } from '../areas/files/index.ts'
import { authorise } from '../areas/rbac/index.ts'
import { userNotFound } from '../areas/users/errors.ts'
import { actorOf } from '../areas/users/index.ts'
import { workIn } from '../common/work-in.ts'
import { tooManyRequests } from '../kit/errors.ts'
import type { Limits, Share } from '../kit/limits.ts'
import { type Actor, type Caller, type ReceivedFile, Unprepared } from '../kit/operation.ts'
import type { Tools } from '../kit/ports.ts'
import type { Work } from '../kit/work.ts'
import { ReadyMade } from '../plain/ready-made.ts'
import { type Connection, TakesLong } from '../storage/connection.ts'
import type { Database } from '../storage/database.ts'
import { tenantDb } from '../storage/tenant.ts'
import { declaredFields } from './body-check.ts'
import type { Directory, KnownApp } from './directory.ts'
import { authTokenUnknown } from './errors.ts'
import { type Attempt, keptReply, once } from './idempotency.ts'
import type { FileIntake } from './intake.ts'
import type { LongReads } from './long-reads.ts'
import type { Mounted } from './registry.ts'
import type { Trace } from './trace.ts'

/** What running an operation takes, whichever it is. */
export interface Stage {
  database: Database
  directory: Directory
  limits: Limits
  longReads: LongReads
  tools: Tools
  /** In tests every reply is held against its schema, and every error against the operation's list. */
  strict: boolean
}

/** A call of an operation, once it is known who calls, and what was sent. */
export interface OperationCall {
  app: KnownApp | undefined
  caller: Caller
  mounted: Mounted
  params: Record<string, string>
  query: string
  sent: Sent
  /** What takes the files that come along, once some do. */
  intake?: FileIntake
  trace: Trace
  actAs?: string | undefined
  /** The connected device that asks. */
  device?: string | undefined
  /** What was taken of the acting user's allowance, and how much of it was used. */
  share?: Share
  used: number
  /** The operation has run; not so where a repeated request is answered from what was kept. */
  ran: boolean
}

/** What came along with a call; `text` tells one from another. The body is not checked yet. */
export interface Sent {
  text: string
  body: Record<string, unknown>
  files: ReceivedFile[]
}

export const nothingSent: Sent = { text: '', body: {}, files: [] }

/**
 * A read, on the connection that all share; unless it turns out to be one that may take long. `gone` is given when nobody
 * waits for the answer any more.
 */
export async function answerRead(stage: Stage, call: OperationCall, gone: () => AbortSignal): Promise<ReadyMade> {
  try {
    return await readFor(stage, call, (connection) =>
      perform(stage, { ...connection, isShared: true }, call, undefined),
    )
  } catch (error) {
    if (!(error instanceof TakesLong)) throw error
  }
  const { id, mayTakeLong } = call.mounted.operation
  if (stage.strict && !mayTakeLong) throw new Error(`${id} does not declare that it may take long.`)
  const asker = { appId: call.app?.id ?? '', uid: call.actAs }
  return stage.longReads.run(asker, gone(), (connection) => perform(stage, connection, call, undefined))
}

/** On the connection that its app reads on. */
function readFor<T>(
  { database }: Stage,
  { app }: OperationCall,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return app ? database.read(work, app.id) : work(database.reader)
}

/** A write: what takes long is prepared, then comes one transaction; then the caller is answered. */
export async function change(stage: Stage, call: OperationCall, attempt: Attempt | undefined): Promise<ReadyMade> {
  const { directory, tools } = stage
  const text = await write(stage, call, attempt)
  if (!call.ran) await call.intake?.discard()
  if (call.mounted.operation.changesCallers) directory.forget(call.app?.id)
  const { after } = call.mounted.operation
  if (after) await after(tools, JSON.parse(text))
  return new ReadyMade(text)
}

const triesMax = 3

/** Whatever was prepared is about what was there before the transaction; if that has changed, it is prepared again. */
async function write(stage: Stage, call: OperationCall, attempt: Attempt | undefined): Promise<string> {
  const { database, tools } = stage
  for (let tries = 1; ; tries += 1) {
    const given = await prepare(stage, call, attempt, tries > 1)
    try {
      return await database.write((connection) => {
        // The database may begin the transaction anew, and by then the reply of a repeated request may be there.
        call.ran = false
        call.used = 0
        return once(tenantDb(connection, ownerOf(call)), tools.secrets, tools.clock.now(), attempt, () =>
          perform(stage, connection, call, given),
        )
      }, call.app?.id)
    } catch (error) {
      call.used = 0
      if (!(error instanceof Unprepared)) throw error
      if (tries === triesMax) throw tooManyRequests({ retryAfter: 1 })
    }
  }
}

/** Takes every step that can refuse the caller, on a connection for reading, and only then what takes long. */
async function prepare(
  stage: Stage,
  call: OperationCall,
  attempt: Attempt | undefined,
  again: boolean,
): Promise<unknown> {
  const { tools, limits } = stage
  const { operation } = call.mounted
  if (!operation.prepare) return undefined
  return readFor(stage, call, async (connection) => {
    const isAnswered = async () =>
      attempt !== undefined &&
      (await keptReply(tenantDb(connection, ownerOf(call)), attempt, tools.clock.now())) !== undefined
    if (await isAnswered()) return undefined
    try {
      const { emit: _, emitEach: __, later: ___, ...known } = (await ready(stage, connection, call)) as Partial<Work>
      return await operation.prepare?.({ ...known, limits, again } as never)
    } catch (error) {
      // The same request, sent twice, may have come through meanwhile; its reply is no refusal.
      if (await isAnswered()) return undefined
      throw error
    }
  })
}

/** Whose replies are kept under a key: the app's, or the account's that runs apps. */
function ownerOf({ app, caller }: OperationCall): string {
  return app?.id ?? `account ${caller.kind === 'management' ? caller.accountId : ''}`
}

/** The operation itself, once nothing stands in its way. */
async function perform(stage: Stage, connection: Connection, call: OperationCall, given: unknown): Promise<ReadyMade> {
  const { tools, strict } = stage
  const { operation, checkReply } = call.mounted
  const { files } = call.sent
  const known = await ready(stage, connection, call)
  if (call.app) for (const file of files) await keepFile(workIn(connection, call.app.id, tools), file)
  const portion = call.share && { left: call.share.granted, refusal: call.share.refusal }
  const result = await operation.run({ ...known, files, given, portion } as never)
  call.used = (call.share?.granted ?? 0) - (portion?.left ?? 0)
  call.ran = true
  const reply = result instanceof ReadyMade ? result : new ReadyMade(JSON.stringify(result))
  if (strict) await checkReply(JSON.parse(reply.text))
  return reply
}

/** The acting user, what the path names, the input, and whether the role allows it: each refuses in its turn. */
async function ready({ tools }: Stage, connection: Connection, call: OperationCall) {
  const { mounted, caller, params, app } = call
  const { operation } = mounted
  const inApp = (appId: string) => workIn(connection, appId, tools)
  const work = app
    ? workIn(connection, app.id, tools, undefined, { ...app, device: call.device })
    : { platform: connection.query, inApp, now: tools.clock.now(), tools }
  const actor =
    app && call.actAs !== undefined ? await requireActor(connection, app.id, call.actAs, caller.kind) : undefined
  call.trace.actor = actor?.uid
  const known = { ...work, app, caller, actor, params }
  const found = await operation.find?.(known as never)
  const query = mounted.readQuery(call.query)
  if (operation.hasBody) await mounted.checkBody(call.sent.body)
  const body = declaredFields(operation.body, call.sent.body)
  if (app && actor && operation.may) await authorise(tenantDb(connection, app.id), actor, operation.may)
  return { ...known, found, query, body }
}

export async function requireActor(
  connection: Connection,
  appId: string,
  uid: string,
  door: Caller['kind'],
): Promise<Actor> {
  const actor = await actorOf(tenantDb(connection, appId), uid)
  if (!actor) throw door === 'client' ? authTokenUnknown() : userNotFound({ uid })
  return actor
}
