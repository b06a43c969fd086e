import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { ApiError } from '../kit/errors.ts'
import type { Holder, Holdings } from './holdings.ts'
import { refusalText } from './refusal.ts'
import { createSender } from './sending.ts'

/** A request and its answer. */
export interface Turn {
  request: IncomingMessage
  response: ServerResponse
  /** When it began to be answered. */
  since: number
  /** The client wants to hear that its body is welcome before it sends it. */
  asksFirst: boolean
}

/**
 * A client's connection as the HTTP server sees it. It stands before the socket, because a socket takes all that is written
 * to it, and the parser all that comes in: here, both move on only as fast as what was there before is used.
 */
export interface ClientConnection extends Holder {
  /** What the HTTP server reads and writes. */
  stream: Duplex
  /** The request that is being answered, and behind it those that came in meanwhile. */
  turns: Turn[]
  addTurn(turn: Turn): void
  /** Ends the first turn; answers the one that comes next, if there is any and somebody to answer. */
  nextTurn(): Turn | undefined
  /** Bytes of a body that are kept; until the turn is over, unless they are given back before. */
  keep(bytes: number): void
  giveBack(bytes: number): void
  /** Since when nothing of what was written has been taken; nothing, while all of it has. */
  untakenSince(): number | undefined
  /** Whether it has ever brought a request. */
  hasAsked: boolean
  /** Since when it has been without a request; or, if it `sendsHead`, since the first byte of one. */
  quietSince: number
  sendsHead: boolean
  /** How long the first line is of the request that is coming in, as far as it has come. */
  firstLineBytes: number
  /** Answers what could not be read, after all that came before it, and ends the connection. */
  refuse(error: ApiError): void
  /** Ends the connection; what has been written is still sent. */
  leave(): void
  /** Lets go of the socket, which goes on by another protocol, and of what it has brought beyond the request for it. */
  handOver(): { socket: Socket; rest: Buffer }
}

// A client may send so much ahead; then nothing more is read until a turn is over.
const turnsMax = 17
const aheadBytesMax = 65_536
// About what a request that waits for its turn takes besides its body.
const turnBytes = 4_096
const lastWordsMilliseconds = 1_000
const lineFeed = 0x0a
const headEnd = Buffer.from('\r\n\r\n')
// What looks like the end of a head may be part of a body, and a body may be full of that.
const headlessBytesMax = 1_024

const connections = new WeakMap<object, ClientConnection>()

/** The connection that a request came over. */
export function connectionOf({ socket }: { socket: object }): ClientConnection {
  const connection = connections.get(socket)
  if (!connection) throw new Error('This did not come over a connection of the listener.')
  return connection
}

/** Tells a client that asks first that its body is welcome. Until then it can be refused without having sent it. */
export function welcomeBody(request: IncomingMessage): void {
  const turn = connectionOf(request).turns[0]
  if (turn?.request !== request || !turn.asksFirst) return
  turn.asksFirst = false
  turn.response.writeContinue()
}

/** Content of a request, of which up to so much stays in memory while it comes in. */
export async function* keptInPart(
  request: IncomingMessage,
  content: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Buffer> {
  const connection = connectionOf(request)
  let kept = 0
  try {
    for await (const chunk of content) {
      const more = Math.min(bytesMax - kept, chunk.length)
      if (more > 0) connection.keep(more)
      kept += more
      yield chunk
    }
  } finally {
    connection.giveBack(kept)
  }
}

/** `handedOver` is called when the socket goes on by another protocol. */
export function openConnection(socket: Socket, holdings: Holdings, handedOver: () => void): ClientConnection {
  const turns: Turn[] = []
  let unread: Buffer | undefined
  /** The request whose body is not complete; it may have been answered already. */
  let comingIn: IncomingMessage | undefined
  /** Bytes read since a second request came in. */
  let aheadBytes = 0
  let inputHeld = 0
  let bodyHeld = 0
  let firstLineEnded = false
  /** More is read at a time where no request comes of what looks like the ends of heads. */
  let bytesAtOnce = 0
  let ended = false
  let leaving = false
  let brokenBy: ApiError | undefined

  const stream = new Duplex({
    decodeStrings: false,
    read() {},
    write: (chunk, encoding, done) => sender.send([{ chunk, encoding }], done),
    writev: (parts, done) => sender.send(parts, done),
    final(done) {
      done()
      leave()
    },
    destroy(error, done) {
      if (!leaving) socket.destroy()
      holdings.release(connection, connection.heldBytes)
      done(error)
    },
  })

  const connection: ClientConnection = {
    stream,
    turns,
    addTurn(turn) {
      turns.push(turn)
      comingIn = turn.request
      connection.hasAsked = true
      connection.sendsHead = false
      connection.firstLineBytes = 0
      firstLineEnded = false
      bytesAtOnce = 0
    },
    nextTurn,
    keep(bytes) {
      if (stream.destroyed) return
      bodyHeld += bytes
      holdings.hold(connection, bytes)
      holdings.moved(connection)
    },
    giveBack(bytes) {
      const left = Math.min(bytes, bodyHeld)
      bodyHeld -= left
      holdings.release(connection, left)
    },
    untakenSince: () => (stream.writableLength > 0 ? sender.takenAt() : undefined),
    hasAsked: false,
    quietSince: performance.now(),
    sendsHead: false,
    firstLineBytes: 0,
    refuse,
    leave,
    handOver,
    heldBytes: 0,
    close: () => void stream.destroy(),
  }

  const sender = createSender(socket, connection, holdings)

  function takeIn(chunk: Buffer): void {
    unread = unread ? Buffer.concat([unread, chunk]) : chunk
    readOn()
  }

  function readOn(): void {
    while (unread && !isFull()) {
      const cut = Math.max(afterTwoHeads(unread), Math.min(bytesAtOnce, unread.length))
      const slice = unread.subarray(0, cut)
      unread = cut < unread.length ? unread.subarray(cut) : undefined
      if (unread) bytesAtOnce = Math.min(2 * cut, headlessBytesMax)
      read(slice)
    }
    accountForInput()
    if (unread) socket.pause()
    else if (socket.isPaused()) socket.resume()
    if (ended && !unread) stream.push(null)
  }

  function isFull(): boolean {
    const isAhead = turns.length >= turnsMax || aheadBytes >= aheadBytesMax
    return isAhead || brokenBy !== undefined || stream.isPaused() || stream.destroyed
  }

  function read(slice: Buffer): void {
    const isBody = comingIn !== undefined
    if (!firstLineEnded) measureFirstLine(slice)
    stream.push(slice)
    if (comingIn?.complete) comingIn = undefined
    if (turns.length > 1) aheadBytes += slice.length
    if (isBody || turns.length > 0 || connection.sendsHead) return
    connection.sendsHead = true
    connection.quietSince = performance.now()
  }

  function measureFirstLine(slice: Buffer): void {
    const end = slice.indexOf(lineFeed)
    firstLineEnded = end >= 0
    connection.firstLineBytes += firstLineEnded ? end : slice.length
  }

  function accountForInput(): void {
    const waiting = Math.max(0, turns.length - 1)
    const bytes = (unread?.length ?? 0) + aheadBytes + waiting * turnBytes
    if (bytes > inputHeld) holdings.hold(connection, bytes - inputHeld)
    if (bytes < inputHeld) holdings.release(connection, inputHeld - bytes)
    inputHeld = bytes
  }

  function nextTurn(): Turn | undefined {
    turns.shift()
    if (turns.length < 2) aheadBytes = 0
    holdings.release(connection, bodyHeld)
    bodyHeld = 0
    const [next] = turns
    if (stream.destroyed) turns.length = 0
    else if (brokenBy && !next?.request.complete) leave(refusalText(brokenBy))
    else readOn()
    connection.quietSince = performance.now()
    return stream.destroyed ? undefined : next
  }

  function refuse(error: ApiError): void {
    const [first, second] = turns
    if (second || first?.request.complete) brokenBy = error
    else if (first?.response.headersSent) stream.destroy()
    else leave(refusalText(error))
  }

  /** A connection that is closed with bytes unread loses the answer on its way; so what comes is passed over for a moment. */
  function leave(lastWords = ''): void {
    if (leaving || socket.destroyed) return
    leaving = true
    const timer = setTimeout(() => socket.destroy(), lastWordsMilliseconds)
    socket.once('close', () => clearTimeout(timer))
    socket.off('data', takeIn)
    socket.once('end', () => socket.destroy())
    socket.end(lastWords, () => ended && socket.destroy())
    socket.resume()
    stream.destroy()
  }

  function handOver(): { socket: Socket; rest: Buffer } {
    const rest = unread ?? Buffer.alloc(0)
    unread = undefined
    handedOver()
    leaving = true
    socket.off('data', takeIn).off('end', atEnd).off('error', atError).off('close', atClose)
    stream.destroy()
    return { socket, rest }
  }

  const atEnd = () => {
    ended = true
    readOn()
  }
  const atError = (error: Error) => stream.destroy(error)
  const atClose = () => stream.destroy()

  connections.set(stream, connection)
  // Before it flows, what is pushed into it is not read at once, and the number of turns says nothing.
  stream.once('resume', () => socket.on('data', takeIn))
  stream.on('resume', readOn)
  socket.on('end', atEnd).on('error', atError).on('close', atClose)
  return connection
}

/** Where to cut, so that the parser gets at most two requests at a time, however many a packet holds. */
function afterTwoHeads(bytes: Buffer): number {
  const first = bytes.indexOf(headEnd)
  const second = first < 0 ? -1 : bytes.indexOf(headEnd, first + headEnd.length)
  return second < 0 ? bytes.length : second + headEnd.length
}
