import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { type AdmissionLimits, countedAddress, createAdmission, type Visitor } from './admission.ts'
import { refusalText, tooManyConnections } from './refusal.ts'
import { keyOfTheDay, resumption, type TicketKeys } from './ticket-keys.ts'

/** Where connections come in: they are counted, and their first byte tells TLS from plain HTTP. */
export interface Doorway {
  server: Server
  visitors: ReadonlySet<Visitor>
  /** How many are in the middle of a TLS handshake. */
  handshakes(): number
  turnedAway(): number
}

const tlsHandshakeByte = 0x16
// Whoever finds no room may wait so long for an answer that says so, and so many at a time.
const turnAwayMilliseconds = 1_000
const turnAwayMax = 100

/** Whom clients see, and the keys that let them come back in short; without these, at this process alone. */
export interface TlsIdentity {
  cert: string
  key: string
  ticketKeys?: TicketKeys
}

/** Hands over every visitor with the socket to talk to it by: its own, or the one inside of TLS. */
export function openDoorway(
  { cert, key, ticketKeys }: TlsIdentity,
  limits: AdmissionLimits,
  welcome: (visitor: Visitor, socket: Socket) => void,
): Doorway {
  const { visitors, admit, dismiss } = createAdmission(limits)
  const shakingHands = new Map<string, { visitor: Visitor; gone(): void }>()
  let turnedAway = 0
  let beingTurnedAway = 0

  const secure = createSecureServer({ cert, key, ...resumption, ALPNProtocols: ['http/1.1'] }, (socket) => {
    const ends = endsOf(socket)
    const shaking = shakingHands.get(ends)
    shakingHands.delete(ends)
    if (!shaking) return void socket.destroy()
    // Many stay for hours: nothing of the handshake is kept for them.
    shaking.visitor.socket.off('close', shaking.gone)
    welcome(shaking.visitor, socket)
  })
  const takeKeyOfTheDay = ticketKeys && keyOfTheDay(secure, ticketKeys)

  function shakeHands(visitor: Visitor): void {
    const { socket } = visitor
    const ends = endsOf(socket)
    const gone = () => shakingHands.get(ends)?.visitor === visitor && shakingHands.delete(ends)
    shakingHands.set(ends, { visitor, gone })
    socket.on('close', gone)
    takeKeyOfTheDay?.()
    secure.emit('connection', socket)
  }

  /** Plain HTTP is told that there is no room; a handshake to say it would cost what is to be saved. */
  function turnAway(socket: Socket): void {
    turnedAway += 1
    if (beingTurnedAway >= turnAwayMax) return void socket.destroy()
    beingTurnedAway += 1
    socket.once('close', () => {
      beingTurnedAway -= 1
    })
    setTimeout(() => socket.destroy(), turnAwayMilliseconds).unref()
    onFirstByte(socket, (byte) => {
      if (byte === tlsHandshakeByte) return void socket.destroy()
      socket.resume()
      socket.end(refusalText(tooManyConnections()))
    })
  }

  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    const address = countedAddress(socket.remoteAddress)
    const visitor: Visitor = {
      ...{ socket, address, arrivedAt: performance.now() },
      ...{ connection: undefined, isHandedOver: false },
    }
    if (!admit(visitor)) return turnAway(socket)
    socket.on('close', () => dismiss(visitor))
    onFirstByte(socket, (byte) => (byte === tlsHandshakeByte ? shakeHands(visitor) : welcome(visitor, socket)))
  })

  return { server, visitors, handshakes: () => shakingHands.size, turnedAway: () => turnedAway }
}

/** Both ends: a server with several addresses can have several connections from one port of a client. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}

function onFirstByte(socket: Socket, tell: (byte: number | undefined) => void): void {
  socket.once('readable', () => {
    const first: Buffer | null = socket.read()
    if (first === null) return void socket.destroy()
    socket.unshift(first)
    tell(first[0])
  })
}
