import { abortedError, ParleyError, usageError } from '../http/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Frame } from '../socket/frame.ts'
import { type Link, openLink } from '../socket/link.ts'
import { cell, type Readable } from '../store/cell.ts'
import { refusedError, type Tokens } from './token.ts'
import { waitAfter } from './waits.ts'

/** A user's stay: connected, cut off, connected again, until they log out or are not let in any more. */

export interface ConnectionState {
  /** `connected` means that nothing is missing: all that happened meanwhile is there. */
  readonly state: 'offline' | 'connecting' | 'catchingUp' | 'connected'
  /** When it is tried again, in milliseconds of the runtime's `now`. */
  readonly retryAt?: number
  /** Why the last attempt failed; without `retryAt`, why nothing is tried any more. */
  readonly error?: ParleyError
}

/** The user as the gateway tells it: `online` where the API says `available`. */
export type LiveUser = Record<string, unknown> & { readonly uid: string; readonly name: string }

export interface Session {
  readonly connection: Readable<ConnectionState>
  /** Begins, if it has not; resolves when the user is let in. */
  start(): Promise<LiveUser>
  /** Ends; whatever was under way with it. */
  stop(): void
  /** Says something now, or never: answers whether there was anybody to say it to. */
  say(frame: object): boolean
  /** There is something to do: a wait is cut short. */
  hurry(): void
  user(): LiveUser | undefined
}

export interface SessionParts {
  url: string
  /** What every `auth` says. */
  hello: object
  tokens: Tokens
  runtime: Runtime
  /** Takes in what is told, in order. */
  hear(frame: Frame): void
  /** What was missed is not told: everything has to be fetched that is on show. */
  refetch(): Promise<void>
  /** All is there that was missed, and told from now on. */
  connected(): void
  /** The server has let somebody in. */
  met(user: LiveUser): void
  /** Somebody looks again, or the network is there again. */
  woken(): void
  /** What the user was shown is nobody's any more. `isWanted`: they have gone themselves. */
  ended(isWanted: boolean): void
}

interface Welcome {
  user: LiveUser
  resource: string
  position: string
  resumed?: boolean
}

// More than this while everything is fetched anew: it is better to begin again.
const heldMax = 5_000
const betweenCutsMs = 2_000
const offline: ConnectionState = { state: 'offline' }

export function createSession({
  url,
  hello,
  tokens,
  runtime,
  hear,
  refetch,
  connected,
  ended,
  met,
  woken,
}: SessionParts): Session {
  const connection = cell<ConnectionState>(offline)
  /** Counts up with every attempt: what belongs to an earlier one is over. */
  let attempt = 0
  let isRunning = false
  let link: Link | undefined
  let user: LiveUser | undefined
  let position: string | undefined
  let resource: string | undefined
  let token = ''
  /** Attempts since the last welcome. */
  let tried = 0
  let isRenewed = false
  /** When the server has asked to come back. */
  let returnAt: number | undefined
  /** Frames that wait until all is fetched. */
  let held: Frame[] | undefined
  let mayBeCut = false
  let attemptedAt = Number.NEGATIVE_INFINITY
  let callOffRetry = () => {}
  let stopWaking = () => {}
  let starting: { promise: Promise<LiveUser>; resolve(user: LiveUser): void; reject(error: unknown): void } | undefined

  function show(state: ConnectionState): void {
    connection.set(state)
  }

  async function connect(): Promise<void> {
    attempt += 1
    const own = attempt
    attemptedAt = runtime.now()
    mayBeCut = false
    callOffRetry()
    link?.close()
    link = undefined
    held = undefined
    returnAt = undefined
    show({ state: 'connecting' })
    try {
      requireSockets(runtime)
      token = await tokens.current()
      if (own !== attempt) return
      const auth = { ...hello, authToken: token, ...(position && { position }), ...(resource && { resource }) }
      link = openLink(
        url,
        auth,
        {
          frame: (frame) => take(frame, own),
          lost: (code) => lost(code, own),
        },
        runtime,
      )
    } catch (error) {
      if (own === attempt) fail(error)
    }
  }

  /** There was no connection at all. What no other attempt can change ends it. */
  function fail(error: unknown): void {
    const known = ParleyError.is(error) ? error : networkError(error)
    if (known.kind === 'auth' || known.kind === 'usage') end(known)
    else retry(undefined, known)
  }

  function lost(code: number | undefined, own: number): void {
    if (own !== attempt) return
    link = undefined
    if (code === 4401) void renew(own)
    else retry(code, networkError(code === undefined ? 'no answer' : `closed with ${code}`))
  }

  /** One chance for another token; the server has to take one before there is a second. */
  async function renew(own: number): Promise<void> {
    show({ state: 'connecting' })
    if (isRenewed) return end(refusedError())
    try {
      await tokens.renewed(token)
      if (own !== attempt) return
      isRenewed = true
      void connect()
    } catch (error) {
      if (own === attempt) fail(error)
    }
  }

  function retry(code: number | undefined, error: ParleyError): void {
    attempt += 1
    const returnMs = returnAt === undefined ? undefined : Math.max(0, returnAt - runtime.now())
    const wait = waitAfter(code, tried, returnMs, runtime)
    tried += 1
    mayBeCut = wait.mayBeCut
    callOffRetry()
    const isTimed = wait.milliseconds !== Number.POSITIVE_INFINITY
    show({ state: 'offline', error, ...(isTimed && { retryAt: runtime.now() + wait.milliseconds }) })
    if (isTimed) callOffRetry = runtime.after(wait.milliseconds, connect)
  }

  function hurry(): void {
    if (!mayBeCut) return
    mayBeCut = false
    callOffRetry()
    const since = runtime.now() - attemptedAt
    if (since >= betweenCutsMs) void connect()
    else callOffRetry = runtime.after(betweenCutsMs - since, connect)
  }

  function take(frame: Frame, own: number): void {
    if (own !== attempt) return
    if (frame.type === 'auth') return void welcome(frame.body as unknown as Welcome, own)
    if (frame.type === 'caught_up' && !held) return void reached()
    if (frame.type === 'reconnect') {
      returnAt = runtime.now() + (Number(frame.body.retryAfterMs) || 0)
      return
    }
    if (!held) return void note(frame)
    held.push(frame)
    if (held.length > heldMax) startOver(own)
  }

  /** A position is noted when what it stands for is in the store, not before. */
  function note(frame: Frame): void {
    if (frame.position !== undefined && frame.position === position) return
    hear(frame)
    if (frame.position !== undefined) position = frame.position
  }

  function welcome(told: Welcome, own: number): void {
    user = told.user
    met(told.user)
    resource = told.resource
    tried = 0
    isRenewed = false
    show({ state: 'catchingUp' })
    starting?.resolve(told.user)
    if (told.resumed === true) return
    held = []
    void beginAnew(told.position, own)
  }

  async function beginAnew(from: string, own: number): Promise<void> {
    position = undefined
    try {
      await refetch()
    } catch {
      if (own === attempt) startOver(own)
      return
    }
    if (own !== attempt) return
    position = from
    const waiting = held ?? []
    held = undefined
    for (const frame of waiting) note(frame)
    reached()
  }

  function reached(): void {
    if (connection.get().state === 'connected') return
    show({ state: 'connected' })
    connected()
  }

  function startOver(own: number): void {
    if (own !== attempt) return
    link?.close()
    link = undefined
    tried += 1
    retry(undefined, networkError('what was missed could not be fetched'))
  }

  function wake(): void {
    link?.probe()
    hurry()
    woken()
  }

  function end(error: ParleyError | undefined): void {
    attempt += 1
    isRunning = false
    mayBeCut = false
    callOffRetry()
    stopWaking()
    link?.close()
    link = undefined
    held = undefined
    position = undefined
    resource = undefined
    user = undefined
    tried = 0
    isRenewed = false
    tokens.forget()
    ended(error === undefined)
    show(error ? { state: 'offline', error } : offline)
    starting?.reject(error ?? abortedError())
    starting = undefined
  }

  return {
    connection,
    start() {
      if (!starting) {
        starting = promised()
        // Whoever does not wait for it looks at `connection`.
        starting.promise.catch(() => {})
      }
      const { promise } = starting
      if (!isRunning) {
        isRunning = true
        stopWaking = runtime.onWake(wake)
        void connect()
      } else hurry()
      return promise
    },
    stop() {
      if (isRunning) end(undefined)
    },
    say(frame) {
      const { state } = connection.get()
      if (link === undefined || (state !== 'connected' && state !== 'catchingUp')) return false
      link.send(frame)
      return true
    },
    hurry,
    user: () => user,
  }
}

function promised() {
  let resolve: (user: LiveUser) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<LiveUser>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

function networkError(cause: unknown): ParleyError {
  const message = 'There is no connection to the server.'
  return new ParleyError({ code: 'ERR_NETWORK', kind: 'network', message, cause })
}

/** A place without WebSockets has none however often it is tried. */
function requireSockets(runtime: Runtime): void {
  try {
    runtime.webSocket()
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error))
  }
}
