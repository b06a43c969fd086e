import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createSocketServer, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { ApiError } from '../kit/errors.ts'
import { errorText } from './errors.ts'

/**
 * One port for both: the first byte of a connection tells TLS from plain HTTP. Plain requests reach the same pipeline,
 * which refuses them with a readable answer unless a trusted proxy vouches for them. Nothing is ever redirected: by then
 * the key would have been sent in the clear.
 */
export interface Listener {
  port: number
  /** Stops accepting, lets requests in flight finish, then closes; after `milliseconds` whatever is left is cut off. */
  drain(milliseconds: number): Promise<void>
}

/** How long a client may take. */
export interface Patience {
  /** Until a connection has said something, and until its TLS handshake is done. */
  handshakeMilliseconds: number
  headersMilliseconds: number
  requestMilliseconds: number
  /** The same for a request that has been given time for a large body. */
  uploadMilliseconds: number
  /** How often the last three are looked at. */
  checkMilliseconds: number
}

const usualPatience: Patience = {
  handshakeMilliseconds: 10_000,
  headersMilliseconds: 20_000,
  requestMilliseconds: 60_000,
  uploadMilliseconds: 1_800_000,
  checkMilliseconds: 2_000,
}

const givenTime = new WeakSet<IncomingMessage>()

/** Gives a request the time that a large body needs. */
export function takeTime(request: IncomingMessage): void {
  givenTime.add(request)
}

const answerHeardMilliseconds = 1_000

/**
 * Ends an answer to a client that is still sending. A connection that is closed at once, with bytes unread, loses the
 * answer on its way; so what comes is passed over for a moment.
 */
export function endHeard(request: IncomingMessage, response: ServerResponse, body: string | Buffer): void {
  const end = () => void response.end()
  const timer = setTimeout(end, answerHeardMilliseconds)
  request.once('close', end)
  response.once('close', () => clearTimeout(timer))
  request.resume()
  response.write(body)
}

const tlsHandshakeByte = 0x16
const keepAliveMilliseconds = 65_000
const idleGraceMilliseconds = 250

export async function listen(
  options: { host: string; port: number; cert: string; key: string },
  handler: RequestListener,
  patience = usualPatience,
): Promise<Listener> {
  const answering = new Set<ServerResponse>()
  const receiving = new Map<IncomingMessage, number>()
  let draining = false
  let requestsSeen = 0
  let allDone = () => {}

  function tracked(request: IncomingMessage, response: ServerResponse): void {
    answering.add(response)
    requestsSeen += 1
    if (!request.complete) {
      const since = performance.now()
      receiving.set(request, since)
      request.once('close', () => receiving.delete(request))
    }
    if (draining) response.setHeader('Connection', 'close')
    response.once('close', () => {
      answering.delete(response)
      if (answering.size === 0) allDone()
    })
    handler(request, response)
  }

  const limits = {
    headersTimeout: patience.headersMilliseconds,
    requestTimeout: patience.uploadMilliseconds,
    keepAliveTimeout: keepAliveMilliseconds,
    connectionsCheckingInterval: patience.checkMilliseconds,
    // A request without a host is for the install's only app, if it has one.
    requireHostHeader: false,
  }
  const { cert, key, host, port } = options
  const secure = createSecureServer({ cert, key, ...limits }, tracked) as unknown as Server
  const plain = createServer(limits, tracked)
  const handshakes = awaitedHandshakes(secure, patience)
  for (const server of [secure, plain]) {
    server.on('clientError', refuseBrokenRequest)
    // These two never listen themselves, and enforce their time limits only once they believe to.
    server.emit('listening')
  }
  const lookingAtBodies = setInterval(() => {
    const oldest = performance.now() - patience.requestMilliseconds
    for (const [request, since] of receiving) {
      if (since > oldest) return
      if (!givenTime.has(request)) refuseBrokenRequest(tooSlow, request.socket)
    }
  }, patience.checkMilliseconds).unref()
  const sockets = new Set<Socket>()
  const front = createSocketServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    handOver(socket, patience, (first) => {
      if (first !== tlsHandshakeByte) return plain
      handshakes.expect(socket)
      return secure
    })
  })
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject)
    front.listen(port, host, resolve)
  })

  function finished(): Promise<void> {
    return new Promise((resolve) => {
      allDone = resolve
      if (answering.size === 0) resolve()
    })
  }

  /** A moment for what is on its way, and the turn after it: a busy process has not read yet what came meanwhile. */
  async function moment(): Promise<void> {
    await pause(idleGraceMilliseconds)
    await nextTurn()
  }

  /** A request may be on its way over a connection that looks idle, or behind a handshake. */
  async function quiet(): Promise<void> {
    for (let seen = -1; seen !== requestsSeen || handshakes.underWay() > 0; ) {
      seen = requestsSeen
      await moment()
      await finished()
    }
  }

  /** The system has accepted connections that this process has not seen: closing at once would reset them. */
  async function closeDoor(): Promise<void> {
    await moment()
    front.close()
  }

  return {
    port: (front.address() as { port: number }).port,
    async drain(milliseconds) {
      draining = true
      clearInterval(lookingAtBodies)
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref())
      for (const response of answering) if (!response.headersSent) response.setHeader('Connection', 'close')
      await closeDoor()
      await Promise.race([finished().then(quiet), deadline])
      for (const server of [secure, plain]) server.close(() => {})
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Waits for the first byte and gives the connection to the server it calls for. */
function handOver(
  socket: Socket,
  { handshakeMilliseconds }: Patience,
  serverFor: (firstByte: number | undefined) => Server,
): void {
  socket.setTimeout(handshakeMilliseconds, () => socket.destroy())
  socket.once('error', () => socket.destroy())
  socket.once('readable', () => {
    const first: Buffer | null = socket.read()
    socket.setTimeout(0)
    if (first === null) return void socket.destroy()
    socket.unshift(first)
    serverFor(first[0]).emit('connection', socket)
  })
}

interface Handshakes {
  expect(socket: Socket): void
  underWay(): number
}

/** Closes connections whose TLS handshake does not come to an end. */
function awaitedHandshakes(secure: Server, { handshakeMilliseconds }: Patience): Handshakes {
  const waiting = new Map<string, NodeJS.Timeout>()
  // A server with several addresses can have several connections from one port of a client.
  const nameOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket) =>
    `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
  const settle = (name: string) => {
    clearTimeout(waiting.get(name))
    waiting.delete(name)
  }
  secure.on('secureConnection', (socket: Socket) => settle(nameOf(socket)))
  return {
    underWay: () => waiting.size,
    expect(socket) {
      const name = nameOf(socket)
      waiting.set(
        name,
        setTimeout(() => socket.destroy(), handshakeMilliseconds),
      )
      socket.once('close', () => settle(name))
    },
  }
}

const statusTexts: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

const tooSlow = Object.assign(new Error('The body takes too long.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/** A request that is not HTTP, too slow, or with headers too large never reaches the pipeline. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket | TLSSocket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  const text = errorText(new ApiError('ERR_BAD_REQUEST', status, 'The request could not be read.'), 'chat-api')
  socket.end(
    `HTTP/1.1 ${status} ${statusTexts[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  )
}
