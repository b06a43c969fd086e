import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import type { LiveCounts } from '../dispatch/live-figures.ts'
import { mapInTurns } from '../plain/map-in-turns.ts'
import { closeCodes } from './close-codes.ts'

/** The line to one device. What it is sent in a turn of the event loop is written together after it. */
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
// A device that does not read does not read that it is let go either.
const lastWordsMilliseconds = 1_000
// For whoever is told what they missed, and does not take it.
const roomMilliseconds = 60_000

/** One that cannot be written to keeps nobody else from being told. */
function writeTo(line: Due): void {
  try {
    line.write()
  } catch {
    line.cut()
  }
}

/** Writes for all lines that have something to write: once to each of them, for all that has come for it by then. */
export interface Post {
  later(line: Due): void
}

interface Due {
  write(): void
  /** Ends it at once: whoever was not told something is to come back for it. */
  cut(): void
}

// Writing to so many takes a while. Over TLS most of a write is the same for one frame and for ten, so it begins a little
// later, by about a third of that, and whatever comes meanwhile goes along.
const manyLines = 100
const waitMillisecondsPerLine = 0.01
const waitMillisecondsMax = 10

export function openPost(): Post {
  let due: Due[] = []
  let many: Due[] = []
  let isWritingToMany = false

  /** A few are written to after each turn, also while others write to many. */
  function writeDue(): void {
    const lines = due
    due = []
    if (lines.length < manyLines) for (const line of lines) writeTo(line)
    else {
      many = many.concat(lines)
      if (!isWritingToMany) void writeToMany()
    }
  }

  async function writeToMany(): Promise<void> {
    isWritingToMany = true
    while (many.length > 0) {
      await pause(Math.min(many.length * waitMillisecondsPerLine, waitMillisecondsMax))
      await mapInTurns(many.splice(0), writeTo)
    }
    isWritingToMany = false
  }

  return {
    later(line) {
      if (due.length === 0) setImmediate(writeDue)
      due.push(line)
    },
  }
}

export function openLine(device: WebSocket, socket: Duplex, post: Post, figures: LiveCounts): Line {
  return new DeviceLine(device, socket, post, figures)
}

let lastJoined: { frames: Buffer[]; bytes: Buffer } = { frames: [], bytes: Buffer.alloc(0) }

/** Frames one after the other. Most devices are told the same as the one before them: that is made once. */
function joined(frames: Buffer[]): Buffer {
  const [first] = frames
  if (frames.length === 1) return first as Buffer
  const { frames: last, bytes } = lastJoined
  if (last.length === frames.length && last.every((frame, n) => frame === frames[n])) return bytes
  lastJoined = { frames, bytes: Buffer.concat(frames) }
  return lastJoined.bytes
}

/** A class, because there are very many of them: functions of its own would be most of what each of them takes. */
class DeviceLine implements Line {
  readonly #device: WebSocket
  readonly #socket: Duplex
  readonly #post: Post
  readonly #figures: LiveCounts
  #waiting: Buffer[] | undefined
  #waitingBytes = 0

  constructor(device: WebSocket, socket: Duplex, post: Post, figures: LiveCounts) {
    this.#device = device
    this.#socket = socket
    this.#post = post
    this.#figures = figures
  }

  isOpen(): boolean {
    return this.#device.readyState === this.#device.OPEN
  }

  untakenBytes(): number {
    return this.#socket.writableLength + this.#waitingBytes
  }

  hasRoom(): boolean {
    return this.untakenBytes() <= signalBytesMax
  }

  send(frame: Buffer): void {
    if (!this.isOpen()) return
    if (this.untakenBytes() <= untakenBytesMax) this.#put(frame)
    else this.letGo()
  }

  signal(frame: Buffer): void {
    if (!this.isOpen()) return
    if (this.hasRoom()) this.#put(frame)
    else this.#figures.signalsDropped += 1
  }

  #put(frame: Buffer): void {
    if (this.#waiting) this.#waiting.push(frame)
    else {
      this.#waiting = [frame]
      this.#post.later(this)
    }
    this.#waitingBytes += frame.length
    this.#figures.framesOut += 1
  }

  // Frames are written past the library, whole and one after the other, as it would write them itself: without
  // compression and fragments it keeps nothing about them.
  write(): void {
    const frames = this.#takeWaiting()
    if (frames.length > 0 && this.isOpen()) this.#socket.write(joined(frames))
  }

  #takeWaiting(): Buffer[] {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    this.#waitingBytes = 0
    return waiting
  }

  cut(): void {
    this.#device.terminate()
  }

  close(code: number, reason: string): void {
    if (!this.isOpen()) return
    this.write()
    this.#device.close(code, reason)
    setTimeout(() => this.#device.terminate(), lastWordsMilliseconds).unref()
  }

  letGo(): void {
    if (!this.isOpen()) return
    this.#figures.tooSlow += 1
    this.#takeWaiting()
    this.close(closeCodes.tooSlow, 'what was sent was not taken: come back and resume')
  }

  async room(): Promise<boolean> {
    const deadline = performance.now() + roomMilliseconds
    while (this.isOpen() && !this.hasRoom()) {
      if (performance.now() > deadline) this.letGo()
      await this.#change()
    }
    return this.isOpen()
  }

  /** Until something of what was sent is taken, or the line is closed. */
  #change(): Promise<void> {
    const socket = this.#socket
    return new Promise<void>((resolve) => {
      const goOn = () => {
        clearTimeout(timer)
        socket.off('drain', goOn)
        socket.off('close', goOn)
        resolve()
      }
      // Whatever is written after this turn may fit without the socket having to say so.
      const timer = setTimeout(goOn, 50)
      socket.on('drain', goOn)
      socket.on('close', goOn)
    })
  }
}
