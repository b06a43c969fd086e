import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer } from '../plain/http.ts'

/**
 * Sends connections for some host names to a server on this machine, for clients that are told of a proxy: they go on
 * using the names they know, and neither DNS nor the system has to be changed. It passes on bytes and sees none of them
 * in the clear, since TLS is between the client and the server. Whatever it was not made for it refuses, so nothing that
 * a client asks for during a trial reaches anybody else.
 */
export interface TrialProxy {
  port: number
  /** Takes nobody in any more; whoever is being served is served on. */
  stopAccepting(): void
  /** Ends everything. */
  close(): Promise<void>
}

export interface TrialRoute {
  /** Where the proxy listens; 0 takes a free port. */
  port: number
  /** Whether a host name is one of those to be sent on. */
  isMapped: (host: string) => boolean
  /** Port of the server that they are sent to. */
  target: number
}

export interface TrialLimits {
  connectionsMax: number
  headMilliseconds: number
  idleMilliseconds: number
}

const usualLimits: TrialLimits = { connectionsMax: 256, headMilliseconds: 10_000, idleMilliseconds: 120_000 }

// Nobody but this machine may use it, so there is no setting for the address.
const loopback = '127.0.0.1'
const mappedPort = 443
const headBytesMax = 4_096
const checkMilliseconds = 1_000

export async function openTrialProxy(route: TrialRoute, limits = usualLimits): Promise<TrialProxy> {
  const sockets = new Set<Socket>()
  const server = createServer({
    maxHeaderSize: headBytesMax,
    headersTimeout: limits.headMilliseconds,
    requestTimeout: limits.headMilliseconds,
    keepAliveTimeout: limits.headMilliseconds,
    connectionsCheckingInterval: Math.min(checkMilliseconds, limits.headMilliseconds),
  })
  server.maxConnections = limits.connectionsMax
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // A client that goes away in the middle of anything is no reason to say, or to end, anything else.
    socket.on('error', () => socket.destroy())
    socket.setTimeout(limits.idleMilliseconds, () => socket.destroy())
  })
  server.on('connect', (request: IncomingMessage, client: Socket, first: Buffer) => {
    const refusal = refusalOf(request.url ?? '', route.isMapped)
    if (refusal) refuse(client, refusal.status, refusal.reason)
    else tunnel(client, first, route.target, limits)
  })
  server.on('request', (_, response) => {
    const text = 'This proxy takes CONNECT only.\n'
    response.writeHead(405, { Allow: 'CONNECT', Connection: 'close', 'Content-Type': 'text/plain' }).end(text)
  })
  server.on('clientError', (error: Error & { code?: string }, socket: Duplex) => {
    const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
    refuse(socket, tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request', 'This could not be read.')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(route.port, loopback, resolve)
  })
  // Connections that could not be accepted are nobody else's trouble.
  server.on('error', () => {})

  return {
    port: (server.address() as AddressInfo).port,
    stopAccepting: () => void server.close(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function refusalOf(
  authority: string,
  isMapped: TrialRoute['isMapped'],
): { status: string; reason: string } | undefined {
  const [, host, port] = /^([^\s:/@[\]]+):(\d{1,5})$/.exec(authority) ?? []
  if (host === undefined) return { status: '400 Bad Request', reason: 'CONNECT must name a host and a port.' }
  if (Number(port) === mappedPort && isMapped(host.toLowerCase().replace(/\.$/, ''))) return undefined
  return { status: '403 Forbidden', reason: 'This name and port are not part of the trial.' }
}

function refuse(socket: Duplex, status: string, reason: string): void {
  if (!socket.writable) return void socket.destroy()
  const text = `${reason}\n`
  const head = ['Content-Type: text/plain', `Content-Length: ${text.length}`, 'Connection: close']
  socket.end([`HTTP/1.1 ${status}`, ...head, '', text].join('\r\n'))
  // Whoever keeps it open all the same would keep a place from others.
  const patience = setTimeout(() => socket.destroy(), refusedMilliseconds)
  socket.once('close', () => clearTimeout(patience))
}

const refusedMilliseconds = 1_000

/** Passes on both ways until either side has had enough, or neither has said anything for long. */
function tunnel(client: Socket, first: Buffer, target: number, { idleMilliseconds }: TrialLimits): void {
  const server = connect({ host: loopback, port: target, noDelay: true })
  let open = false
  const end = () => {
    client.destroy()
    server.destroy()
  }
  server.setTimeout(idleMilliseconds, end)
  client.once('close', end)
  server.once('close', () => (open ? client.end() : undefined))
  server.on('error', () => {
    if (open) end()
    else refuse(client, '502 Bad Gateway', 'The server of the trial does not answer.')
  })
  server.once('connect', () => {
    open = true
    client.setNoDelay(true)
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    server.write(first)
    client.pipe(server)
    server.pipe(client)
  })
}
