import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { parsed } from './http.ts'

/** Requests whose bodies come in pieces, and answers that are bytes. */

export interface BytesAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  body: any
}

export interface Streaming {
  method?: string
  headers?: Record<string, string>
  /** Pieces of the body; the request breaks off where this fails. */
  pieces?: AsyncIterable<Buffer | string> | Iterable<Buffer | string>
}

/** Whatever listens on a port of this machine. */
interface Listening {
  service: { port: number }
}

/** Sends to an address of this house, whatever its host, and answers what came back; fails when the connection breaks. */
export function stream({ service }: Listening, url: string, sending: Streaming = {}): Promise<BytesAnswer> {
  const { host, hostname, pathname, search } = new URL(url)
  const { method = 'GET', headers = {}, pieces } = sending
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        ...{ host: '127.0.0.1', port: service.port, servername: hostname, path: `${pathname}${search}`, method },
        headers: { host, ...headers },
        rejectUnauthorized: false,
        agent: false,
      },
      (response) => {
        buffer(response).then((bytes) => {
          answered = true
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes,
            body: parsed(bytes.toString('utf8')),
          })
          request.destroy()
        }, reject)
      },
    )
    let answered = false
    const closed = new Promise((go) => request.once('close', go))
    request.on('error', (error) => answered || reject(error))
    void (async () => {
      try {
        for await (const piece of pieces ?? []) {
          if (answered || request.destroyed) return
          if (!request.write(piece)) await Promise.race([once(request, 'drain'), closed])
        }
        request.end()
      } catch {
        request.destroy()
      }
    })()
  })
}

export interface Part {
  field: string
  content: string | Buffer
  /** With a name it is a file. */
  filename?: string
  type?: string
}

export const boundary = 'parley-test-boundary'
export const formType = `multipart/form-data; boundary=${boundary}`

/** A form as bytes. */
export function form(...parts: Part[]): Buffer {
  const pieces = parts.flatMap((part) => [partHead(part), Buffer.from(part.content), Buffer.from('\r\n')])
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)])
}

export function partHead({ field, filename, type }: Omit<Part, 'content'>): Buffer {
  const named = filename === undefined ? '' : `; filename="${filename}"`
  const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`
  return Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${field}"${named}\r\n${typed}\r\n`)
}

/** Content without end, and how much of it was taken. */
export function endless(head: Buffer): { pieces: AsyncIterable<Buffer>; sent(): number } {
  let sent = 0
  const piece = Buffer.alloc(65_536, 'x')
  async function* pieces() {
    yield head
    for (;;) {
      sent += piece.length
      yield piece
    }
  }
  return { pieces: pieces(), sent: () => sent }
}
