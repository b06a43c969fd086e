import { Agent, request as httpsRequest } from 'node:https'
import { createSecureContext } from 'node:tls'

/**
 * A plain HTTPS client: every name leads to the loopback address, the way DNS would in a real install. A handshake costs more
 * than most requests, so connections are shared by all names of the server, and what they are opened to is one of them.
 */

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  body: any
}

export interface Sending {
  method?: string
  headers?: Record<string, string>
  body?: unknown
  /** Sent as it is, instead of a JSON body. */
  raw?: string | Buffer
  /** Goes away without an answer. */
  signal?: AbortSignal
}

export interface Client {
  send(host: string, path: string, sending?: Sending): Promise<Answer>
  close(): void
}

// Every certificate is for it, whatever else it is for.
const servername = 'localhost'

export function httpsClient(port: number, ca: string): Client {
  // One for all connections: each would read the certificate again.
  const agent = new Agent({ keepAlive: true, maxSockets: 64, secureContext: createSecureContext({ ca }) })
  return {
    send: (host, path, { method = 'GET', headers = {}, body, raw, signal } = {}) =>
      new Promise((resolve, reject) => {
        const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
        const request = httpsRequest(
          {
            agent,
            host: '127.0.0.1',
            port,
            servername,
            path,
            method,
            ...(signal && { signal }),
            headers: {
              host: `${host}:${port}`,
              ...(payload !== undefined && {
                'content-type': 'application/json',
                'content-length': Buffer.byteLength(payload),
              }),
              ...headers,
            },
          },
          (response) => {
            const chunks: Buffer[] = []
            response.on('data', (chunk) => chunks.push(chunk))
            response.on('error', reject)
            response.on('end', () => {
              const text = Buffer.concat(chunks).toString('utf8')
              resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) })
            })
          },
        )
        request.on('error', reject)
        request.end(payload)
      }),
    close: () => agent.destroy(),
  }
}

/** The JSON in a text, if it is any. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
