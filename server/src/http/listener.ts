import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createSocketServer, type Socket } from 'node:net'
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

const tlsHandshakeByte = 0x16
const firstByteMilliseconds = 10_000
const idleGraceMilliseconds = 150

export async function listen(
  options: { host: string; port: number; cert: string; key: string },
  handler: RequestListener,
): Promise<Listener> {
  let inFlight = 0
  let draining = false
  let allDone = () => {}

  function tracked(request: IncomingMessage, response: ServerResponse): void {
    inFlight += 1
    if (draining) response.setHeader('Connection', 'close')
    response.once('close', () => {
      inFlight -= 1
      if (inFlight === 0) allDone()
    })
    handler(request, response)
  }

  const secure = createSecureServer({ cert: options.cert, key: options.key }, tracked)
  const plain = createServer(tracked)
  for (const server of [secure, plain]) {
    server.on('clientError', refuseBrokenRequest)
    server.keepAliveTimeout = 65_000
  }
  const sockets = new Set<Socket>()
  const front = createSocketServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    handOver(socket, secure as unknown as Server, plain)
  })
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject)
    front.listen(options.port, options.host, resolve)
  })

  return {
    port: (front.address() as { port: number }).port,
    async drain(milliseconds) {
      draining = true
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref())
      front.close()
      const finished = () =>
        new Promise<void>((resolve) => {
          allDone = resolve
          if (inFlight === 0) resolve()
        })
      await Promise.race([finished(), deadline])
      // A request may be on its way over a connection that looks idle; give it a moment to arrive.
      await new Promise((resolve) => setTimeout(resolve, idleGraceMilliseconds))
      await Promise.race([finished(), deadline])
      secure.closeIdleConnections()
      plain.closeIdleConnections()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function handOver(socket: Socket, secure: Server, plain: Server): void {
  socket.setTimeout(firstByteMilliseconds, () => socket.destroy())
  socket.once('error', () => socket.destroy())
  socket.once('readable', () => {
    const first: Buffer | null = socket.read()
    socket.setTimeout(0)
    if (first === null) return void socket.destroy()
    socket.unshift(first)
    const target = first[0] === tlsHandshakeByte ? secure : plain
    target.emit('connection', socket)
  })
}

const statusTexts: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

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
