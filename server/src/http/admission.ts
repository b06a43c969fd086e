import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { ClientConnection } from './connection.ts'

/** Whoever has been accepted, from the first moment on. */
export interface Visitor {
  socket: Socket
  /** Whom it counts for. */
  address: string
  arrivedAt: number
  /** There once they have said something, and the TLS handshake is done. */
  connection: ClientConnection | undefined
  /** They go on by another protocol. What was needed for this one is let go of: many stay like that for hours. */
  isHandedOver: boolean
}

export interface AdmissionLimits {
  connectionsMax: number
  connectionsPerAddressMax: number
  /** Behind the address of a trusted proxy are many clients, so only the limit in all counts for it. */
  isProxy: (address: string | undefined) => boolean
}

/**
 * How many connections there may be, in all and from one address. When there are too many, those make room that nobody is
 * waiting for: first whoever has never asked anything, then whoever has been idle for longest. Only when all of them are
 * busy is a newcomer turned away. So neither silent nor idle connections keep anybody out.
 */
export interface Admission {
  visitors: Set<Visitor>
  /** Lets a visitor in, or answers false. */
  admit(visitor: Visitor): boolean
  dismiss(visitor: Visitor): void
}

// Looking for those who make room takes longer than closing them, so several go at once.
const roomShare = 100

export function createAdmission({ connectionsMax, connectionsPerAddressMax, isProxy }: AdmissionLimits): Admission {
  const visitors = new Set<Visitor>()
  const byAddress = new Map<string, Set<Visitor>>()

  function dismiss(visitor: Visitor): void {
    visitors.delete(visitor)
    const neighbours = byAddress.get(visitor.address)
    neighbours?.delete(visitor)
    if (neighbours?.size === 0) byAddress.delete(visitor.address)
  }

  function makeRoom(among: Set<Visitor>, most: number): boolean {
    if (among.size < most) return true
    const idle = [...among].filter((visitor) => !isBusy(visitor)).toSorted(leastMissedFirst)
    for (const visitor of idle.slice(0, Math.ceil(most / roomShare))) {
      dismiss(visitor)
      visitor.socket.destroy()
    }
    return among.size < most
  }

  return {
    visitors,
    admit(visitor) {
      const { address, socket } = visitor
      const neighbours = byAddress.get(address) ?? new Set()
      if (!isProxy(socket.remoteAddress) && !makeRoom(neighbours, connectionsPerAddressMax)) return false
      if (!makeRoom(visitors, connectionsMax)) return false
      visitors.add(visitor)
      byAddress.set(address, neighbours.add(visitor))
      return true
    },
    dismiss,
  }
}

function isBusy({ connection, isHandedOver }: Visitor): boolean {
  return isHandedOver || (connection !== undefined && connection.turns.length > 0)
}

function leastMissedFirst(a: Visitor, b: Visitor): number {
  return Number(hasAsked(a)) - Number(hasAsked(b)) || quietSince(a) - quietSince(b)
}

function hasAsked({ connection }: Visitor): boolean {
  return connection?.hasAsked ?? false
}

function quietSince({ connection, arrivedAt }: Visitor): number {
  return connection?.quietSince ?? arrivedAt
}

const groupsOfNetwork = 4

/** Whom a connection counts for. Whoever has one address of IPv6 has all of its network. */
export function countedAddress(address: string | undefined): string {
  if (!address?.includes(':')) return address ?? ''
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return (parsed as ipaddr.IPv6).parts.slice(0, groupsOfNetwork).join(':')
}
