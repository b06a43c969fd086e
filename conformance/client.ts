import { request as httpRequest } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { type ClientOptions, WebSocket } from 'ws'

/** What a server said, and what it was asked; all that a check can know about it. */
export interface Answer {
  /** The question in short, without credentials. */
  question: string
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: the other side may answer anything
  body: any
}

export interface Sending {
  headers?: Record<string, string>
  body?: unknown
  /** Sent as it is, instead of a JSON body. */
  raw?: string
}

/** Sends to one address with one set of credentials. */
export interface Caller {
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  delete(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  send(method: string, path: string, sending?: Sending): Promise<Answer>
}

export interface Connection {
  send(method: string, url: string, sending?: Sending): Promise<Answer>
  caller(base: string, credentials: Record<string, string>): Caller
  /** A WebSocket to an address that is written as that of a request. */
  socket(url: string): WebSocket
  close(): void
}

export interface ConnectionOptions {
  /** Certificate authorities to trust, as PEM text. */
  ca?: string | undefined
  /** Where every name leads, instead of asking DNS; `host:port`. */
  connectTo?: string | undefined
  /** Sees every answer. */
  onAnswer?: (answer: Answer) => void
}

const patienceMilliseconds = 15_000
const questionCharactersMax = 160

export function connect({ ca, connectTo, onAnswer }: ConnectionOptions): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 16, ...(ca !== undefined && { ca }) })

  async function send(method: string, url: string, sending: Sending = {}): Promise<Answer> {
    const answer = await exchange(agent, connectTo, method, new URL(url), sending)
    onAnswer?.(answer)
    return answer
  }

  return {
    send,
    caller: (base, credentials) => callerAt(send, base, credentials),
    socket: (url) => socketTo(new URL(url), ca, connectTo),
    close: () => agent.destroy(),
  }
}

function callerAt(send: Connection['send'], base: string, credentials: Record<string, string>): Caller {
  const sendWith = (method: string, path: string, sending: Sending = {}) =>
    send(method, `${base}${path}`, { ...sending, headers: { ...credentials, ...sending.headers } })
  const withBody = (method: string) => (path: string, body?: unknown, headers?: Record<string, string>) =>
    sendWith(method, path, { body, ...(headers && { headers }) })
  return {
    send: sendWith,
    get: (path, headers) => sendWith('GET', path, headers ? { headers } : {}),
    post: withBody('POST'),
    put: withBody('PUT'),
    delete: withBody('DELETE'),
  }
}

function socketTo(url: URL, ca: string | undefined, connectTo: string | undefined): WebSocket {
  const protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  // The types of the package leave out what it hands on to TLS.
  const options: ClientOptions & { servername: string } = {
    ...(ca !== undefined && { ca }),
    servername: url.hostname,
    headers: { host: url.host },
    handshakeTimeout: patienceMilliseconds,
  }
  return new WebSocket(`${protocol}//${connectTo ?? url.host}${url.pathname}${url.search}`, options)
}

function exchange(
  agent: Agent,
  connectTo: string | undefined,
  method: string,
  url: URL,
  { headers = {}, body, raw }: Sending,
): Promise<Answer> {
  const secure = url.protocol === 'https:'
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const [host, port] = connectTo?.split(':') ?? [url.hostname, url.port || (secure ? '443' : '80')]
  const options = {
    host,
    port,
    method,
    path: `${url.pathname}${url.search}`,
    timeout: patienceMilliseconds,
    headers: {
      host: url.host,
      ...(payload !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(payload)),
      }),
      ...headers,
    },
  }
  const question = `${method} ${url.pathname}${url.search}${payload ? ` ${payload}` : ''}`
  return new Promise((resolve, reject) => {
    const outgoing = secure
      ? httpsRequest({ ...options, agent, servername: url.hostname })
      : httpRequest({ ...options, agent: false })
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({
          question: shortened(question, questionCharactersMax),
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: parsed(text),
        })
      })
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${question} was not answered in time`)))
    outgoing.on('error', reject)
    outgoing.end(payload)
  })
}

export function shortened(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
