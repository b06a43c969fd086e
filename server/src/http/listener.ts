import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises'
import type { ApiError } from '../kit/errors.ts'
import { createServer } from '../plain/http.ts'
import type { AdmissionLimits } from './admission.ts'
import { type ClientConnection, connectionOf, openConnection, type Turn } from './connection.ts'
import { openDoorway, type TlsIdentity } from './doorway.ts'
import { createHoldings } from './holdings.ts'
import { endPatience, usualPatience } from './patience.ts'
import { noTunnels, unreadable, upgradeTooEarly } from './refusal.ts'

/**
 * One port for both: the first byte of a connection tells TLS from plain HTTP. Plain requests reach the same pipeline,
 * which refuses them with a readable answer unless a trusted proxy vouches for them. Nothing is ever redirected: by then
 * the key would have been sent in the clear.
 */
export interface Listener {
  port: number
  figures(): Figures
  /** Stops accepting, lets requests in flight finish, then closes; after `milliseconds` whatever is left is cut off. */
  drain(milliseconds: number): Promise<void>
}

/** What it tells the metrics. */
export interface Figures {
  connections: number
  heldBytes: number
  turnedAway: number
  /** Connections that were closed because nothing of an answer was taken for too long. */
  stalled: number
}

export interface ListenerLimits extends AdmissionLimits {
  /** Bytes held for all clients together. */
  heldBytesMax: number
}

/** Another protocol that a connection can go on by. */
export interface Upgrade {
  /** Whether a request asks for it; all others are answered as usual. */
  isAskedFor(request: IncomingMessage): boolean
  /** Takes a connection over, with what came beyond the request; or answers why not. */
  takeOver(request: IncomingMessage, handOver: () => { socket: Duplex; head: Buffer }): ApiError | undefined
}

const noUpgrade: Upgrade = { isAskedFor: () => false, takeOver: () => undefined }

export const usualLimits: ListenerLimits = {
  connectionsMax: 10_000,
  connectionsPerAddressMax: 1_000,
  isProxy: () => false,
  heldBytesMax: 256_000_000,
}

const headBytesMax = 16_384

export async function listen(
  { host, port, ...identity }: { host: string; port: number } & TlsIdentity,
  handler: RequestListener,
  patience = usualPatience,
  limits = usualLimits,
  upgrade = noUpgrade,
): Promise<Listener> {
  const holdings = createHoldings(limits.heldBytesMax)
  const answering = new Set<ServerResponse>()
  let draining = false
  let requestsSeen = 0
  let stalled = 0
  let allDone = () => {}

  const http = createServer({
    keepAliveTimeout: patience.idleMilliseconds,
    maxHeaderSize: headBytesMax,
    // A request without a host is refused like any other, with an answer that says why.
    requireHostHeader: false,
    shouldUpgradeCallback: upgrade.isAskedFor,
  } as ServerOptions)
  // Lines beyond a number would be left out in silence.
  http.maxHeadersCount = 0
  http.on('request', (request, response) => arrive(request, response, false))
  http.on('checkContinue', (request, response) => arrive(request, response, true))
  http.on('checkExpectation', (request, response) => arrive(request, response, false))
  http.on('upgrade', (request, stream: Duplex, head: Buffer) => {
    const connection = connectionOf({ socket: stream })
    if (connection.turns.length > 0) return connection.refuse(upgradeTooEarly())
    const refusal = upgrade.takeOver(request, () => {
      const { socket, rest } = connection.handOver()
      return { socket, head: Buffer.concat([head, rest]) }
    })
    if (refusal) connection.refuse(refusal)
  })
  http.on('connect', (_, stream: Duplex) => connectionOf({ socket: stream }).refuse(noTunnels()))
  http.on('clientError', (error: Error & { code?: string }, stream: Duplex) => {
    const connection = connectionOf({ socket: stream })
    connection.refuse(unreadable(error, connection.firstLineBytes))
  })

  /** Requests of one connection are answered one after the other, however many come at once. */
  function arrive(request: IncomingMessage, response: ServerResponse, asksFirst: boolean): void {
    const connection = connectionOf(request)
    const turn = { request, response, asksFirst, since: 0 }
    connection.addTurn(turn)
    if (connection.turns.length === 1) begin(connection, turn)
  }

  function begin(connection: ClientConnection, turn: Turn): void {
    const { request, response } = turn
    turn.since = performance.now()
    requestsSeen += 1
    answering.add(response)
    // Of what came together with an offer of another protocol, the parser has passed over the rest.
    const isLast = draining || request.headers.upgrade !== undefined
    if (isLast) response.setHeader('Connection', 'close')
    response.once('close', () => {
      answering.delete(response)
      const next = connection.nextTurn()
      if (next) begin(connection, next)
      if (answering.size === 0) allDone()
    })
    handler(request, response)
  }

  const { server, visitors, handshakes, turnedAway } = openDoorway(identity, limits, (visitor, socket) => {
    const connection = openConnection(socket, holdings, () => {
      visitor.isHandedOver = true
      visitor.connection = undefined
    })
    visitor.connection = connection
    const { remoteAddress, remotePort } = socket
    const known = { remoteAddress, remotePort, ...('encrypted' in socket && { encrypted: true }) }
    http.emit('connection', Object.assign(connection.stream, known))
  })
  let checkedAt = performance.now()
  const checking = setInterval(() => {
    const sinceLast = performance.now() - checkedAt
    checkedAt += sinceLast
    // After a pause of our own nobody has been heard for a while, and it is no fault of theirs.
    if (sinceLast > 2 * patience.checkMilliseconds) return
    for (const visitor of visitors) if (endPatience(visitor, patience)) stalled += 1
  }, patience.checkMilliseconds).unref()
  await new Promise<void>((resolve, reject) => {
    // Also hears of connections that could not be accepted later, which nobody else is to suffer from.
    server.on('error', reject)
    server.listen(port, host, resolve)
  })

  function finished(): Promise<void> {
    return new Promise((resolve) => {
      allDone = resolve
      if (answering.size === 0) resolve()
    })
  }

  /** A moment for what is on its way, and the tick after it: a busy process has not read yet what came meanwhile. */
  async function moment(): Promise<void> {
    await pause(patience.arrivalMilliseconds)
    await nextTick()
  }

  /** A request may be on its way over a connection that looks idle, or behind a handshake. */
  async function quiet(): Promise<void> {
    for (let seen = -1; seen !== requestsSeen || handshakes() > 0; ) {
      seen = requestsSeen
      await moment()
      await finished()
    }
  }

  /** The system has accepted connections that this process has not seen: closing at once would reset them. */
  async function closeDoor(): Promise<void> {
    await moment()
    server.close()
  }

  return {
    port: (server.address() as { port: number }).port,
    figures: () => ({
      connections: visitors.size,
      heldBytes: holdings.bytes(),
      turnedAway: turnedAway(),
      stalled,
    }),
    async drain(milliseconds) {
      draining = true
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref())
      for (const response of answering) if (!response.headersSent) response.setHeader('Connection', 'close')
      await closeDoor()
      await Promise.race([finished().then(quiet), deadline])
      clearInterval(checking)
      // Those that go on by another protocol have others to end them.
      for (const { socket, isHandedOver } of visitors) if (!isHandedOver) socket.destroy()
    },
  }
}
