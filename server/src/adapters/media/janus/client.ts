import { randomBytes } from 'node:crypto'
import { WebSocket } from 'ws'

/** One connection to the API of the engine: requests, what they are answered, and what comes unasked. */
export interface JanusClient {
  createSession(): Promise<number>
  /** A session of a connection that is gone is this one's from now on; whether there still was one. */
  claimSession(session: number): Promise<boolean>
  destroySession(session: number): Promise<void>
  keepAlive(session: number): Promise<void>
  attach(session: number, opaqueId?: string): Promise<JanusHandle>
  /** A handle that was attached over another connection. */
  handle(session: number, id: number): JanusHandle
  ping(): Promise<void>
  /** What comes unasked over a handle. */
  onUnasked(listener: (handle: number, said: JanusSaid) => void): void
  /** Once, whoever ended it. */
  onClose(listener: () => void): void
  close(): void
}

export interface JanusHandle {
  session: number
  id: number
  request(body: RoomRequest, jsep?: Jsep): Promise<RoomAnswer>
  /** Nothing more comes if it is null. */
  trickle(candidate: unknown): Promise<void>
  detach(): Promise<void>
}

export interface Jsep {
  type: 'offer' | 'answer'
  sdp: string
}

export interface RoomRequest {
  request: string
  [field: string]: unknown
}

/** What the plug-in says; of what is in it nothing is taken for granted. */
export interface RoomAnswer {
  data: Record<string, unknown>
  jsep?: Jsep
}

export type JanusSaid =
  | { kind: 'event'; answer: RoomAnswer }
  | { kind: 'webrtcup' }
  | { kind: 'hangup'; reason: string }
  | { kind: 'detached' }

/** The engine refuses; the codes are those of its documentation. */
export class JanusError extends Error {
  override name = 'JanusError'
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** The engine has not answered in time, or is gone; what it has done nobody knows. */
export class JanusSilent extends Error {
  override name = 'JanusSilent'
}

export function isRefusal(error: unknown, ...codes: number[]): boolean {
  return error instanceof JanusError && codes.includes(error.code)
}

export const janusErrors = {
  noSession: 458,
  noHandle: 459,
  noSuchRoom: 426,
  roomExists: 427,
  noSuchFeed: 428,
  publishersFull: 432,
} as const

const plugin = 'janus.plugin.videoroom'
const protocol = 'janus-protocol'
const answerBytesMax = 4_000_000

interface Address {
  port: number
  secret: string
  answerMilliseconds: number
}

interface Waiting {
  resolve(message: Message): void
  reject(error: Error): void
  /** Whether it is answered by no more than a nod. */
  takesAck: boolean
  timer: NodeJS.Timeout
}

type Message = Record<string, unknown>

export async function connectJanus({ port, secret, answerMilliseconds }: Address): Promise<JanusClient> {
  const socket = await opened(port, answerMilliseconds)
  const waiting = new Map<string, Waiting>()
  const closeListeners = new Set<() => void>()
  let hearUnasked: (handle: number, said: JanusSaid) => void = () => {}
  let isClosed = false

  function ask(message: Message, takesAck = false): Promise<Message> {
    if (isClosed) return Promise.reject(new JanusSilent('The media engine is gone.'))
    const transaction = randomBytes(9).toString('base64url')
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(transaction)
        reject(new JanusSilent(`The media engine has not answered "${String(message.janus)}" in time.`))
      }, answerMilliseconds)
      waiting.set(transaction, { resolve, reject, takesAck, timer })
      socket.send(JSON.stringify({ ...message, transaction, apisecret: secret }))
    })
  }

  /** Answers that come too late find nobody waiting; of those only what belongs to a handle is still of use. */
  function take(message: Message): void {
    const asker = waiting.get(String(message.transaction))
    if (message.janus === 'ack' && !asker?.takesAck) return
    if (!asker) {
      takeUnasked(message)
      return
    }
    waiting.delete(String(message.transaction))
    clearTimeout(asker.timer)
    const refusal = refusalIn(message)
    if (refusal) asker.reject(refusal)
    else asker.resolve(message)
  }

  function takeUnasked(message: Message): void {
    const said = saidIn(message)
    if (said && typeof message.sender === 'number') hearUnasked(message.sender, said)
  }

  function end(): void {
    if (isClosed) return
    isClosed = true
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer)
      reject(new JanusSilent('The media engine is gone.'))
    }
    waiting.clear()
    for (const listener of closeListeners) listener()
  }

  socket.on('message', (data) => {
    const message = readMessage(String(data))
    if (message) take(message)
  })
  socket.on('close', end)
  socket.on('error', () => socket.terminate())

  function handle(session: number, id: number): JanusHandle {
    const to = { session_id: session, handle_id: id }
    return {
      session,
      id,
      async request(body, jsep) {
        const answer = await ask({ janus: 'message', ...to, body, ...(jsep && { jsep }) })
        return answerIn(answer)
      },
      async trickle(candidate) {
        await ask({ janus: 'trickle', ...to, candidate: candidate ?? { completed: true } }, true)
      },
      async detach() {
        await ask({ janus: 'detach', ...to }).catch(unlessGone)
      },
    }
  }

  return {
    createSession: async () => idIn(await ask({ janus: 'create' })),
    async claimSession(session) {
      try {
        await ask({ janus: 'claim', session_id: session })
        return true
      } catch (error) {
        if (isRefusal(error, janusErrors.noSession)) return false
        throw error
      }
    },
    async destroySession(session) {
      await ask({ janus: 'destroy', session_id: session }).catch(unlessGone)
    },
    async keepAlive(session) {
      await ask({ janus: 'keepalive', session_id: session }, true)
    },
    async attach(session, opaqueId) {
      const said = { ...(opaqueId !== undefined && { opaque_id: opaqueId }) }
      return handle(session, idIn(await ask({ janus: 'attach', session_id: session, plugin, ...said })))
    },
    handle,
    async ping() {
      await ask({ janus: 'ping' })
    },
    onUnasked(listener) {
      hearUnasked = listener
    },
    onClose(listener) {
      if (isClosed) listener()
      else closeListeners.add(listener)
    },
    close() {
      socket.terminate()
      end()
    },
  }
}

function opened(port: number, milliseconds: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, protocol, {
    handshakeTimeout: milliseconds,
    maxPayload: answerBytesMax,
    perMessageDeflate: false,
  })
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket))
    socket.once('error', reject)
  })
}

function readMessage(text: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(text)
    return typeof message === 'object' && message !== null ? (message as Message) : undefined
  } catch {
    return undefined
  }
}

const fieldsOf = (value: unknown): Message => (typeof value === 'object' && value !== null ? (value as Message) : {})

function refusalIn(message: Message): JanusError | undefined {
  if (message.janus === 'error') {
    const { code, reason } = fieldsOf(message.error)
    return new JanusError(Number(code), String(reason))
  }
  const { error_code: code, error } = fieldsOf(fieldsOf(message.plugindata).data)
  return code === undefined ? undefined : new JanusError(Number(code), String(error))
}

function answerIn(message: Message): RoomAnswer {
  const jsep = fieldsOf(message.jsep)
  return {
    data: fieldsOf(fieldsOf(message.plugindata).data),
    ...(typeof jsep.sdp === 'string' && {
      jsep: { type: jsep.type === 'offer' ? 'offer' : 'answer', sdp: jsep.sdp },
    }),
  }
}

function saidIn(message: Message): JanusSaid | undefined {
  if (message.janus === 'event') return { kind: 'event', answer: answerIn(message) }
  if (message.janus === 'hangup') return { kind: 'hangup', reason: String(message.reason) }
  if (message.janus === 'webrtcup' || message.janus === 'detached') return { kind: message.janus }
  return undefined
}

function idIn(message: Message): number {
  const { id } = fieldsOf(message.data)
  if (typeof id !== 'number') throw new JanusSilent('The media engine has answered something else than an id.')
  return id
}

/** What is to be ended and is not there has ended. */
function unlessGone(error: unknown): void {
  if (!isRefusal(error, janusErrors.noSession, janusErrors.noHandle)) throw error
}
