import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { LiveCounts } from '../dispatch/live-figures.ts'
import { createLineUp } from '../plain/line-up.ts'
import { closeCodes } from './close-codes.ts'

/** The line to one device. What it is sent in a turn of the event loop is written together at its end. */
export interface Line {
  /** Sends what must not be missed: whoever does not take it is let go, to come back and resume. */
  send(frame: Buffer): void
  /** Sends what may be missed: it is, where the device has not taken what it was sent before. */
  signal(frame: Buffer): void
  /** How much it was sent and has not taken. */
  untakenBytes(): number
  hasRoom(): boolean
  /** Waits until a good part of that is taken; answers whether it was. Whoever takes nothing for too long is let go. */
  room(): Promise<boolean>
  /** Lets go of a device that does not take what it was sent; it is to come back and resume. */
  letGo(): void
  close(code: number, reason: string): void
  isOpen(): boolean
}

const signalBytesMax = 256 * 1024
const untakenBytesMax = 1024 * 1024
const turnMilliseconds = 10
// A device that does not read does not read that it is let go either.
const lastWordsMilliseconds = 1_000
// For whoever is told what they missed, and does not take it.
const roomMilliseconds = 60_000

/** Writes at the end of each turn, for the lines that have something to write: for all of them, if that does not take long. */
export interface Post {
  later(write: () => void): void
}

export function openPost(): Post {
  const writes = createLineUp<() => void>()
  /** What goes to thousands takes more than a turn: those who wait for theirs are sent all that comes meanwhile along with it. */
  function writeSome(): void {
    const end = performance.now() + turnMilliseconds
    for (let write = writes.takeFirst(); write; write = writes.takeFirst()) {
      write()
      if (writes.length > 0 && performance.now() > end) return void setImmediate(writeSome)
    }
  }
  return {
    later(write) {
      if (writes.length === 0) setImmediate(writeSome)
      writes.add(write)
    },
  }
}

export function openLine(device: WebSocket, socket: Duplex, post: Post, figures: LiveCounts): Line {
  let waiting: Buffer[] = []
  let waitingBytes = 0

  const isOpen = () => device.readyState === device.OPEN
  const untakenBytes = () => socket.writableLength + waitingBytes
  const hasRoom = () => untakenBytes() <= signalBytesMax

  // Frames are written past the library, whole and one after the other, as it would write them itself: without
  // compression and fragments it keeps nothing about them.
  function write(): void {
    const [first, ...others] = waiting
    waiting = []
    waitingBytes = 0
    if (first && isOpen()) socket.write(others.length === 0 ? first : Buffer.concat([first, ...others]))
  }

  function put(frame: Buffer): void {
    if (waiting.length === 0) post.later(write)
    waiting.push(frame)
    waitingBytes += frame.length
    figures.framesOut += 1
  }

  function close(code: number, reason: string): void {
    if (!isOpen()) return
    write()
    device.close(code, reason)
    setTimeout(() => device.terminate(), lastWordsMilliseconds).unref()
  }

  function letGo(): void {
    if (!isOpen()) return
    figures.tooSlow += 1
    waiting = []
    waitingBytes = 0
    close(closeCodes.tooSlow, 'what was sent was not taken: come back and resume')
  }

  return {
    send(frame) {
      if (!isOpen()) return
      if (untakenBytes() <= untakenBytesMax) put(frame)
      else letGo()
    },
    signal(frame) {
      if (!isOpen()) return
      if (hasRoom()) put(frame)
      else figures.signalsDropped += 1
    },
    untakenBytes,
    hasRoom,
    async room() {
      const deadline = performance.now() + roomMilliseconds
      while (isOpen() && !hasRoom()) {
        if (performance.now() > deadline) letGo()
        await new Promise<void>((resolve) => {
          const goOn = () => {
            clearTimeout(timer)
            socket.off('drain', goOn)
            socket.off('close', goOn)
            resolve()
          }
          // Whatever is written at the end of this turn may fit without the socket having to say so.
          const timer = setTimeout(goOn, 50)
          socket.on('drain', goOn)
          socket.on('close', goOn)
        })
      }
      return isOpen()
    },
    letGo,
    close,
    isOpen,
  }
}
