import type { Socket } from 'node:net'
import type { Holder, Holdings } from './holdings.ts'

/** Hands answers to a socket in slices, each when the one before was taken: a TLS socket copies all that it is given. */
export interface Sender {
  send(parts: Written[], done: SendingDone): void
  /** When something was last taken, or begun to be sent. */
  takenAt(): number
}

export type SendingDone = (error?: Error | null) => void
export type Written = { chunk: string | Buffer; encoding: BufferEncoding }

const sliceBytes = 65_536

const sharedBytes = new WeakSet<object>()

/** Bytes that many answers have in common: they are held once, however many clients have not taken them yet. */
export function shared(bytes: Buffer): Buffer {
  sharedBytes.add(bytes)
  return bytes
}

export function createSender(socket: Socket, holder: Holder, holdings: Holdings): Sender {
  let takenAt = 0

  function atOnce(parts: Written[], done: SendingDone): void {
    const last = parts.length - 1
    if (last > 0) socket.cork()
    for (let n = 0; n <= last; n += 1) {
      const { chunk, encoding } = parts[n] as Written
      socket.write(chunk, encoding, n === last ? done : undefined)
    }
    if (last > 0) socket.uncork()
  }

  function inSlices(parts: Written[], done: SendingDone): void {
    const slices = slicesOf(parts)
    const sendNext: SendingDone = (error) => {
      const { value } = error ? { value: undefined } : slices.next()
      if (value === undefined) return done(error)
      takenAt = performance.now()
      holdings.moved(holder)
      socket.write(value, sendNext)
    }
    sendNext()
  }

  return {
    takenAt: () => takenAt,
    send(parts, done) {
      const { bytes, held } = sizeOf(parts)
      takenAt = performance.now()
      holdings.hold(holder, held)
      const taken: SendingDone = (error) => {
        holdings.release(holder, held)
        holdings.moved(holder)
        done(error)
      }
      if (bytes <= sliceBytes) atOnce(parts, taken)
      else inSlices(parts, taken)
    },
  }
}

function sizeOf(parts: Written[]): { bytes: number; held: number } {
  let bytes = 0
  let held = 0
  for (const { chunk } of parts) {
    bytes += chunk.length
    held += typeof chunk === 'object' && sharedBytes.has(chunk) ? sliceBytes : chunk.length
  }
  return { bytes, held }
}

function* slicesOf(parts: Written[]): Generator<Buffer> {
  for (const { chunk, encoding } of parts) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes)
  }
}
