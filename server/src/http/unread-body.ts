import type { IncomingMessage } from 'node:http'

const skippedBytesMax = 65_536

/** A short body that was not read is passed over; after a long or endless one the connection ends with the answer. */
export function leavesTooMuchUnread({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > skippedBytesMax
}
