import type { Server } from 'node:tls'
import type { Secrets } from '../kit/ports.ts'

/**
 * Whoever was here before shows a ticket, and the handshake is short. A ticket is sealed with a key that all nodes of an
 * install derive from the master key, so it is good at each of them and after a restart. Node knows one key at a time: when
 * the day ends, so do its tickets, and everybody's next handshake is a whole one.
 */
export interface TicketKeys {
  /** The key of the n-th day since 1970. */
  ofDay(day: number): Buffer
}

// A name, a key for the seal and one for the encryption.
const ticketKeyBytes = 48
const daySeconds = 24 * 3600

/** What all nodes must say alike: by itself, Node derives the context from the words that the process was started with. */
export const resumption = { sessionIdContext: 'parley', sessionTimeout: daySeconds }

export function ticketKeysUnder({ derive }: Secrets): TicketKeys {
  return { ofDay: (day) => derive(`tickets of day ${day}`, ticketKeyBytes) }
}

/** Gives a server the key of the day; to be called before each handshake. */
export function keyOfTheDay(server: Server, { ofDay }: TicketKeys): () => void {
  let current: number | undefined
  return () => {
    const day = Math.floor(Date.now() / 1000 / daySeconds)
    if (day === current) return
    current = day
    server.setTicketKeys(ofDay(day))
  }
}
