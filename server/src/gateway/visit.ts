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
import type { CallSessions } from './call-sessions.ts'
import { closeCodes } from './close-codes.ts'
import { encode } from './encode.ts'
import { createFrameAllowance } from './frame-allowance.ts'
import { type FrameIn, type FrameOf, type PresenceWish, parsedFrame, type Ref, readFrame, refIn } from './frames-in.ts'
import { type Line, openLine, type Post } from './line.ts'
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
  calls: CallSessions
  post: Post
  figures: LiveCounts
  /** Begins and ends the trace of what a device asks for. */
  begin(): Trace
  end(trace: Trace, method: string, status: number): void
  /** Lets a session hear who comes and goes. */
  subscribe(session: Session, wish: PresenceWish): void
  /** A device has said who it is. */
  known(visit: Visit): void
  left(visit: Visit, session: Session | undefined, code: number): void
}

// The library closes with a code of its own beyond this; up to it, the contract's is told.
export const frameBytesRead = 128 * 1024
const frameBytesMax = 64 * 1024
// What a device sends is done one after the other; so much may wait.
const waitingBytesMax = 2 * frameBytesMax
const resourceBytes = 12

export function openVisit(device: WebSocket, socket: Duplex, named: NamedApp, parts: VisitParts): Visit {
  return new DeviceVisit(device, openLine(device, socket, parts.post, parts.figures), named, parts)
}

/** A class, because there are very many of them: functions of its own would be most of what each of them takes. */
class DeviceVisit implements Visit {
  readonly arrivedAt = performance.now()
  readonly #device: WebSocket
  readonly #line: Line
  readonly #named: NamedApp
  readonly #parts: VisitParts
  readonly #allowance = createFrameAllowance()
  #heardAt = this.arrivedAt
  #askedAt = this.arrivedAt
  #session: Session | undefined
  #isIn = false
  #waitingBytes = 0
  #lastTurn: Promise<void> | undefined

  constructor(device: WebSocket, line: Line, named: NamedApp, parts: VisitParts) {
    this.#device = device
    this.#line = line
    this.#named = named
    this.#parts = parts
    device.on('message', (data: Buffer, isBinary: boolean) => this.#hear(data, isBinary))
    device.on('pong', () => this.#isAlive())
    device.on('ping', (data: Buffer) => {
      // Whoever does not read the answers gets no more of them.
      if (this.#isAlive() && line.hasRoom()) device.pong(data)
    })
    device.on('error', ignored)
    device.on('close', (code: number) => parts.left(this, this.#session, code))
  }

  heardAt(): number {
    return this.#heardAt
  }

  session(): Session | undefined {
    return this.#session
  }

  askedAt(): number {
    return Math.max(this.#heardAt, this.#askedAt)
  }

  ping(): void {
    this.#askedAt = performance.now()
    this.#device.ping()
  }

  send(frame: object): void {
    this.#line.send(encode(frame))
  }

  close(code: number, reason: string): void {
    this.#line.close(code, reason)
  }

  terminate(): void {
    this.#device.terminate()
  }

  /** Tells what was refused; answers the status that it would have over HTTP. */
  #refuse(error: unknown, ref: Ref, trace: Trace): number {
    const { code, message, details, status } = answerTo(error, trace)
    this.send({ type: 'error', ...refOf(ref), body: { code, message, ...(details && { details }) } })
    if (!this.#isIn) this.#refuseEntry(status)
    if (this.#allowance.error()) this.close(closeCodes.tooMuch, 'too many errors')
    return status
  }

  #hear(data: Buffer, isBinary: boolean): void {
    // What was on its way when the line was closed.
    if (!this.#line.isOpen()) return
    this.#heardAt = performance.now()
    this.#parts.figures.framesIn += 1
    if (data.length > frameBytesMax) return void this.close(closeCodes.frameTooLarge, 'a frame is too large')
    this.#waitingBytes += data.length
    if (this.#waitingBytes > waitingBytesMax) return void this.close(closeCodes.tooMuch, 'too many frames at once')
    if (!this.#allowance.frame()) {
      this.#waitingBytes -= data.length
      return void this.#refuse(tooManyRequests({ retryAfter: 1 }), refOfMany(data), this.#parts.begin())
    }
    this.#lastTurn = this.#answerAfter(this.#lastTurn, data, isBinary)
  }

  async #answerAfter(last: Promise<void> | undefined, data: Buffer, isBinary: boolean): Promise<void> {
    await last
    try {
      await this.#answer(isBinary ? undefined : parsedFrame(data.toString('utf8')))
    } finally {
      this.#waitingBytes -= data.length
    }
  }

  /** Every frame is answered, or refused; none is the end of the server. */
  async #answer(frame: unknown): Promise<void> {
    if (!this.#line.isOpen()) return
    const ref = refIn(frame)
    const trace = this.#parts.begin()
    let status = 200
    try {
      await this.#act(await readFrame(frame), ref, trace)
    } catch (error) {
      status = this.#refuse(error, ref, trace)
    }
    if (trace.operation !== 'none') this.#parts.end(trace, 'FRAME', status)
  }

  /** Whoever is not in yet and cannot come in has nothing more to say. */
  #refuseEntry(status: number): void {
    if (status === 401) this.close(closeCodes.notWelcome, 'log in again')
    else if (status === tooManyRequests.status) this.close(closeCodes.tooMuch, 'too many connections in a short time')
    else if (status >= 500) this.close(closeCodes.tryAgainLater, 'try again later')
    else if (this.#session) this.close(closeCodes.notWelcome, 'log in again')
  }

  async #act(frame: FrameIn, ref: Ref, trace: Trace): Promise<void> {
    if (frame.type === 'ping') return this.send({ type: 'pong', ...refOf(ref), body: { timestamp: Date.now() } })
    if (frame.type === 'auth') return this.#enter(frame, ref, trace)
    const session = this.#session
    if (!session || !this.#isIn) throw badRequest({ type: ['must be auth before anything else'] })
    // The one that it came to, also where it had not named it and there are others by now.
    session.app = await this.#parts.doors.app({ ...this.#named, appId: session.app.id })
    const answer = await this.#obey(session, frame, trace)
    if (ref !== undefined) this.send({ type: 'ack', ref, body: { success: true, ...answer } })
  }

  /** Does what a frame asks for; answers what else the device is told, if it asks for an answer. */
  async #obey(
    here: Session,
    frame: Exclude<FrameIn, { type: 'auth' | 'ping' }>,
    trace: Trace,
  ): Promise<object | undefined> {
    const { subscribe, words, calls } = this.#parts
    switch (frame.type) {
      case 'call_session':
        return calls.obey(here, frame)
      case 'presence':
        subscribe(here, frame.body)
        break
      case 'typing_indicator':
        await this.#throttled('typing_indicator', words.typing(here, frame))
        break
      case 'transient_message':
        await this.#throttled('transient_message', words.transient(here, frame))
        break
      case 'receipts':
        await this.#throttled('receipts', markReceipt(this.#parts, here, frame, trace))
        break
    }
    return undefined
  }

  /** A feature that is used too often is named, beside the error. */
  async #throttled(feature: string, doing: Promise<void>): Promise<void> {
    try {
      await doing
    } catch (error) {
      if (error instanceof ApiError && error.status === tooManyRequests.status) {
        this.send({ type: 'throttled', body: { feature } })
      }
      throw error
    }
  }

  async #enter({ body }: FrameOf<'auth'>, ref: Ref, trace: Trace): Promise<void> {
    if (this.#isIn) throw badRequest({ type: ['must not be auth again'] })
    const { doors, limits, known } = this.#parts
    trace.operation = 'connect'
    const app = await doors.app(this.#named)
    trace.appId = app.id
    const caller = await doors.enter(app, { authToken: body.authToken ?? '' })
    if (caller.kind !== 'client') throw new Error('An auth token makes a client.')
    trace.caller = caller.kind
    trace.actor = caller.uid
    await limits.count(connectRate, [app.id, caller.uid])
    const resource = body.resource ?? randomBytes(resourceBytes).toString('base64url')
    this.#session = { app, caller, line: this.#line, reached: 0, resource }
    known(this)
    await this.#attach(this.#session, body, ref)
  }

  async #attach(here: Session, { position, presence }: FrameOf<'auth'>['body'], ref: Ref): Promise<void> {
    const { attaching, figures, subscribe } = this.#parts
    const user = await ownRecord(this.#parts, here)
    await attaching.attach(here, position, (began) => {
      const { resource } = here
      const resumed = position === undefined ? {} : { resumed: began.isResumed }
      if (position !== undefined) figures[began.isResumed ? 'resumed' : 'resynced'] += 1
      const body = { status: 'OK', user, resource, position: began.position, ...resumed }
      this.send({ type: 'auth', ...refOf(ref), body })
    })
    this.#isIn = true
    if (position !== undefined) this.send({ type: 'caught_up' })
    if (presence) subscribe(here, presence)
  }

  /** Whether more may come: signs of life count as frames, or they would be the one thing to send without end. */
  #isAlive(): boolean {
    if (!this.#line.isOpen()) return false
    this.#heardAt = performance.now()
    if (this.#allowance.frame()) return true
    this.close(closeCodes.tooMuch, 'too many signs of life')
    return false
  }
}

// Whatever the library refuses it closes by itself.
const ignored = () => {}

/** The same operation as over HTTP. */
async function markReceipt(
  { registry, dispatch }: VisitParts,
  { app, caller, resource }: Session,
  { receiver, receiverType, body: { action, messageId } }: FrameOf<'receipts'>,
  trace: Trace,
): Promise<void> {
  const isUser = receiverType === 'user'
  const id = `mark${isUser ? 'User' : 'Group'}Conversation${action === 'read' ? 'Read' : 'Delivered'}`
  const operation = registry.operations.get(id)
  if (!operation) throw new Error(`There is no operation ${id}.`)
  trace.operation = id
  trace.appId = app.id
  const body = messageId === undefined ? {} : { messageId }
  await dispatch(
    {
      ...{ app, caller, operation, actAs: undefined, query: '', device: resource },
      params: isUser ? { uid: receiver } : { guid: receiver },
      sent: async () => ({ text: JSON.stringify(body), body, files: [] }),
      gone: () => new AbortController().signal,
    },
    trace,
  )
}

function ownRecord({ database, tools }: VisitParts, { app, caller }: Session): Promise<object> {
  return database.read(async (connection) => {
    const view = viewIn(connection, app.id, tools, undefined, app)
    return { ...liveUser(toUser(view, await requireActiveUser(view.db, caller.uid))), status: 'online' }
  }, app.id)
}

const refOf = (ref: Ref) => (ref === undefined ? {} : { ref })

// To find the ref of a frame that is refused unread must cost less than to send it.
const refLookedForBytes = 1_024

const refOfMany = (data: Buffer): Ref =>
  data.length > refLookedForBytes ? undefined : refIn(parsedFrame(data.toString('utf8')))
