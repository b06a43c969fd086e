import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'

/** Connections by hand, for what no decent HTTP client would do. */

export interface Wire {
  socket: Socket
  say(text: string | Buffer): void
  /** All that was heard so far. */
  heard(): string
  /** Waits until it has heard something like this; answers all it heard. */
  hears(pattern: RegExp): Promise<string>
  /** Waits until the other side has closed; answers all it heard. */
  closes(): Promise<string>
}

const tooLongMilliseconds = 30_000

/** Opens a connection that listens, unless told not to. */
export async function wire(port: number, { secure = true, deaf = false } = {}): Promise<Wire> {
  const socket = secure
    ? connectSecurely({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false })
    : connect(port, '127.0.0.1')
  const told = new Set<() => void>()
  let text = ''
  const tell = () => told.forEach((each) => void each())
  socket.on('error', () => {})
  if (!deaf) {
    socket.on('data', (part) => {
      text += part.toString('latin1')
      tell()
    })
  }
  socket.on('close', tell)
  await once(socket, secure ? 'secureConnect' : 'connect')

  function when(isSo: () => boolean, what: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${what} has not happened; heard: ${text.slice(0, 2_000)}`)),
        tooLongMilliseconds,
      )
      const look = () => {
        if (!isSo()) return
        clearTimeout(timer)
        told.delete(look)
        resolve(text)
      }
      told.add(look)
      look()
    })
  }

  return {
    socket,
    say: (sent) => void socket.write(sent),
    heard: () => text,
    hears: (pattern) => when(() => pattern.test(text), String(pattern)),
    closes: () => when(() => socket.closed || socket.destroyed, 'the end of the connection'),
  }
}

/** A request as it goes over the wire. */
export function requestText(method: string, path: string, headers: Record<string, string> = {}, body = ''): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`
}
