import type { IncomingMessage } from 'node:http'
import type { Visitor } from './admission.ts'
import { tooSlow } from './refusal.ts'

/** How long a client may take. */
export interface Patience {
  /** Until a connection has said something, and its TLS handshake is done. */
  handshakeMilliseconds: number
  headersMilliseconds: number
  requestMilliseconds: number
  /** The same for a request that has been given time for a large body. */
  uploadMilliseconds: number
  /**
   * Without taking anything of an answer. A client that goes on reading is served to the end, however long that takes. What
   * the system holds for it shows only in steps of up to two megabytes where it reads slowly by itself, and of far less
   * where its network is slow: to be seen in five minutes, it has to take some 6 kB a second.
   */
  stallMilliseconds: number
  /** Between two requests. */
  idleMilliseconds: number
  /** How often all of this is looked at. */
  checkMilliseconds: number
  /** What has been sent when the door closes has so long to arrive. */
  arrivalMilliseconds: number
}

export const usualPatience: Patience = {
  handshakeMilliseconds: 10_000,
  headersMilliseconds: 20_000,
  requestMilliseconds: 60_000,
  uploadMilliseconds: 1_800_000,
  stallMilliseconds: 60_000,
  idleMilliseconds: 65_000,
  checkMilliseconds: 2_000,
  arrivalMilliseconds: 250,
}

const givenTime = new WeakSet<IncomingMessage>()

/** Gives a request the time that a large body needs. */
export function takeTime(request: IncomingMessage): void {
  givenTime.add(request)
}

/** Closes the connection of whoever has taken too long; answers whether it was over an answer that nobody took. */
export function endPatience({ connection, isHandedOver, socket, arrivedAt }: Visitor, patience: Patience): boolean {
  if (isHandedOver) return false
  const now = performance.now()
  if (!connection) {
    if (now - arrivedAt > patience.handshakeMilliseconds) socket.destroy()
    return false
  }
  const untakenSince = connection.untakenSince() ?? now
  if (now - untakenSince > patience.stallMilliseconds) {
    connection.close()
    return true
  }
  const [turn] = connection.turns
  const quietMilliseconds = now - connection.quietSince
  if (turn) {
    const { requestMilliseconds, uploadMilliseconds } = patience
    const most = givenTime.has(turn.request) ? uploadMilliseconds : requestMilliseconds
    if (!turn.request.complete && now - turn.since > most) connection.refuse(tooSlow())
  } else if (connection.sendsHead) {
    if (quietMilliseconds > patience.headersMilliseconds) connection.refuse(tooSlow())
  } else if (quietMilliseconds > patience.idleMilliseconds) connection.leave()
  return false
}
