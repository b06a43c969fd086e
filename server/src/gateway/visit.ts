import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { requireActiveUser, toUser } from '../areas/users/index.ts'
import { connectRate } from '../common/request-rates.ts'
import { viewIn } from '../common/work-in.ts'
import type { Dispatch } from '../dispatch/dispatch.ts'
import type { NamedApp } from '../dispatch/doors/app.ts'
import type { Doors } from '../dispatch/doors/doors.ts'
import { answerTo } from '../dispatch/errors.ts'
import type { LiveCounts } from '../dispatch/live-figures.ts'
import type { Registry } from '../dispatch/registry.ts'
import type { Trace } from '../dispatch/trace.ts'
import { ApiError, badRequest, tooManyRequests } from '../kit/errors.ts'
import type { Limits } from '../kit/limits.ts'
import type { Tools } from '../kit/ports.ts'
import type { Database } from '../storage/database.ts'
import type { Attaching } from './attach.ts'
import { closeCodes } from './close-codes.ts'
import { encode } from './encode.ts'
import { createFrameAllowance } from './frame-allowance.ts'
import { type FrameIn, type FrameOf, type PresenceWish, parsedFrame, type Ref, readFrame, refIn } from './frames-in.ts'
import { openLine, type Post } from './line.ts'
import { liveUser } from './live-user.ts'
import type { Session } from './session.ts'
import type { Words } from './words.ts'

/** A connection from its first moment to its last: what is said over it, and what is answered. */
export interface Visit {
  readonly arrivedAt: number
  /** When something was last heard of the device. */
  heardAt(): number
  /** There once the device has said who it is. */
  session(): Session | undefined
  /** When it was last asked for a sign of life, or gave one. */
  askedAt(): number
  ping(): void
  send(frame: object): void
  close(code: number, reason: string): void
  terminate(): void
}

export interface VisitParts {
  database: Database
  tools: Tools
  doors: Doors
  limits: { count(...counted: Parameters<Limits['count']>): Promise<unknown> }
  dispatch: Dispatch
  registry: Registry
  attaching: Attaching
  words: Words
  post: Post
  figures: LiveCounts
  /** Begins and ends the trace of what a device asks for. */
  begin(): Trace
  end(trace: Trace, method: string, status: number): void
  /** Lets a session hear who comes and goes. */
  subscribe(session: Session, wish: PresenceWish): void
  /** A device has said who it is. */
  known(visit: Visit): void
  left(visit: Visit, session: Session | undefined): void
}

// The library closes with a code of its own beyond this; up to it, the contract's is told.
export const frameBytesRead = 128 * 1024
const frameBytesMax = 64 * 1024
// What a device sends is done one after the other; so much may wait.
const waitingBytesMax = 2 * frameBytesMax
const resourceBytes = 12

export function openVisit(device: WebSocket, socket: Duplex, named: NamedApp, parts: VisitParts): Visit {
  const { figures, words, attaching } = parts
  const line = openLine(device, socket, parts.post, figures)
  const allowance = createFrameAllowance()
  const arrivedAt = performance.now()
  let heardAt = arrivedAt
  let askedAt = arrivedAt
  let session: Session | undefined
  let isIn = false
  let waitingBytes = 0
  let lastTurn = Promise.resolve()

  const send = (frame: object) => line.send(encode(frame))

  const visit: Visit = {
    arrivedAt,
    heardAt: () => heardAt,
    session: () => session,
    askedAt: () => Math.max(heardAt, askedAt),
    ping() {
      askedAt = performance.now()
      device.ping()
    },
    send,
    close: line.close,
    terminate: () => device.terminate(),
  }

  /** Tells what was refused; answers the status that it would have over HTTP. */
  function refuse(error: unknown, ref: Ref, trace: Trace): number {
    const { code, message, details, status } = answerTo(error, trace)
    send({ type: 'error', ...refOf(ref), body: { code, message, ...(details && { details }) } })
    if (!isIn) refuseEntry(status)
    if (allowance.error()) line.close(closeCodes.tooMuch, 'too many errors')
    return status
  }

  function hear(data: Buffer, isBinary: boolean): void {
    // What was on its way when the line was closed.
    if (!line.isOpen()) return
    heardAt = performance.now()
    figures.framesIn += 1
    if (data.length > frameBytesMax) return void line.close(closeCodes.frameTooLarge, 'a frame is too large')
    waitingBytes += data.length
    if (waitingBytes > waitingBytesMax) return void line.close(closeCodes.tooMuch, 'too many frames at once')
    if (!allowance.frame()) {
      waitingBytes -= data.length
      return void refuse(tooManyRequests({ retryAfter: 1 }), refOfMany(data), parts.begin())
    }
    lastTurn = lastTurn
      .then(() => answer(isBinary ? undefined : parsedFrame(data.toString('utf8'))))
      .finally(() => {
        waitingBytes -= data.length
      })
  }

  /** Every frame is answered, or refused; none is the end of the server. */
  async function answer(frame: unknown): Promise<void> {
    if (!line.isOpen()) return
    const ref = refIn(frame)
    const trace = parts.begin()
    let status = 200
    try {
      await act(await readFrame(frame), ref, trace)
    } catch (error) {
      status = refuse(error, ref, trace)
    }
    if (trace.operation !== 'none') parts.end(trace, 'FRAME', status)
  }

  /** Whoever is not in yet and cannot come in has nothing more to say. */
  function refuseEntry(status: number): void {
    if (status === 401) line.close(closeCodes.notWelcome, 'log in again')
    else if (status === tooManyRequests.status) line.close(closeCodes.tooMuch, 'too many connections in a short time')
    else if (status >= 500) line.close(closeCodes.tryAgainLater, 'try again later')
    else if (session) line.close(closeCodes.notWelcome, 'log in again')
  }

  async function act(frame: FrameIn, ref: Ref, trace: Trace): Promise<void> {
    if (frame.type === 'ping') return send({ type: 'pong', ...refOf(ref), body: { timestamp: Date.now() } })
    if (frame.type === 'auth') return enter(frame, trace)
    if (!session || !isIn) throw badRequest({ type: ['must be auth before anything else'] })
    // The one that it came to, also where it had not named it and there are others by now.
    session.app = await parts.doors.app({ ...named, appId: session.app.id })
    await obey(session, frame, trace)
    if (ref !== undefined) send({ type: 'ack', ref, body: { success: true } })
  }

  async function obey(here: Session, frame: Exclude<FrameIn, { type: 'auth' | 'ping' }>, trace: Trace): Promise<void> {
    switch (frame.type) {
      case 'presence':
        return parts.subscribe(here, frame.body)
      case 'typing_indicator':
        return throttled('typing_indicator', words.typing(here, frame))
      case 'transient_message':
        return throttled('transient_message', words.transient(here, frame))
      case 'receipts':
        return throttled('receipts', markReceipt(here, frame, trace))
    }
  }

  /** A feature that is used too often is named, beside the error. */
  async function throttled(feature: string, doing: Promise<void>): Promise<void> {
    try {
      await doing
    } catch (error) {
      if (error instanceof ApiError && error.status === tooManyRequests.status) {
        send({ type: 'throttled', body: { feature } })
      }
      throw error
    }
  }

  /** The same operation as over HTTP. */
  async function markReceipt(
    { app, caller, resource }: Session,
    { receiver, receiverType, body: { action, messageId } }: FrameOf<'receipts'>,
    trace: Trace,
  ): Promise<void> {
    const isUser = receiverType === 'user'
    const id = `mark${isUser ? 'User' : 'Group'}Conversation${action === 'read' ? 'Read' : 'Delivered'}`
    const operation = parts.registry.operations.get(id)
    if (!operation) throw new Error(`There is no operation ${id}.`)
    trace.operation = id
    trace.appId = app.id
    const body = messageId === undefined ? {} : { messageId }
    await parts.dispatch(
      {
        ...{ app, caller, operation, actAs: undefined, query: '', device: resource },
        params: isUser ? { uid: receiver } : { guid: receiver },
        sent: async () => ({ text: JSON.stringify(body), body, files: [] }),
        gone: () => new AbortController().signal,
      },
      trace,
    )
  }

  async function enter({ body }: FrameOf<'auth'>, trace: Trace): Promise<void> {
    if (isIn) throw badRequest({ type: ['must not be auth again'] })
    trace.operation = 'connect'
    const app = await parts.doors.app(named)
    trace.appId = app.id
    const caller = await parts.doors.enter(app, { authToken: body.authToken ?? '' })
    if (caller.kind !== 'client') throw new Error('An auth token makes a client.')
    trace.caller = caller.kind
    trace.actor = caller.uid
    await parts.limits.count(connectRate, [app.id, caller.uid])
    const resource = body.resource ?? randomBytes(resourceBytes).toString('base64url')
    session = { app, caller, line, reached: 0, resource }
    parts.known(visit)
    await attach(session, body)
  }

  async function attach(here: Session, { position, presence }: FrameOf<'auth'>['body']): Promise<void> {
    const user = await ownRecord(here)
    await attaching.attach(here, position, (began) => {
      const { resource } = here
      const resumed = position === undefined ? {} : { resumed: began.isResumed }
      if (position !== undefined) figures[began.isResumed ? 'resumed' : 'resynced'] += 1
      send({ type: 'auth', body: { status: 'OK', user, resource, position: began.position, ...resumed } })
    })
    isIn = true
    if (position !== undefined) send({ type: 'caught_up' })
    if (presence) parts.subscribe(here, presence)
  }

  function ownRecord({ app, caller }: Session): Promise<object> {
    return parts.database.read(async (connection) => {
      const view = viewIn(connection, app.id, parts.tools, undefined, app)
      return { ...liveUser(toUser(view, await requireActiveUser(view.db, caller.uid))), status: 'online' }
    }, app.id)
  }

  device.on('message', (data: Buffer, isBinary: boolean) => hear(data, isBinary))
  /** Whether more may come: signs of life count as frames, or they would be the one thing to send without end. */
  function isAlive(): boolean {
    if (!line.isOpen()) return false
    heardAt = performance.now()
    if (allowance.frame()) return true
    line.close(closeCodes.tooMuch, 'too many signs of life')
    return false
  }
  device.on('pong', isAlive)
  device.on('ping', (data: Buffer) => {
    // Whoever does not read the answers gets no more of them.
    if (isAlive() && line.hasRoom()) device.pong(data)
  })
  // Whatever the library refuses it closes by itself.
  device.on('error', () => {})
  device.on('close', () => parts.left(visit, session))
  return visit
}

const refOf = (ref: Ref) => (ref === undefined ? {} : { ref })

// To find the ref of a frame that is refused unread must cost less than to send it.
const refLookedForBytes = 1_024

const refOfMany = (data: Buffer): Ref =>
  data.length > refLookedForBytes ? undefined : refIn(parsedFrame(data.toString('utf8')))
