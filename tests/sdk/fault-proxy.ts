import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { House } from '../support/house.ts'

/** Stands between a client and the house, and does to each request what its turn in the list says. */

export type Fault =
  /** The house answers, and the answer goes through. */
  | 'pass'
  /** The house has done it; the connection ends before the answer. */
  | 'lose'
  /** The connection ends before the house hears of it. */
  | 'cut'
  /** Nobody ever answers. */
  | 'hang'
  /** Answered by something else, in front of the house. */
  | { status: number; headers?: Record<string, string>; body?: string }

export interface FaultProxy {
  url: string
  /** What becomes of the next requests; all after them pass. */
  plan(...faults: Fault[]): void
  /** What has come in since the plan was made. */
  seen: { method: string; key: string | undefined }[]
  /** Resolves when the next request hangs. */
  hanging(): Promise<void>
  close(): Promise<void>
}

export async function faultProxy({ client }: House, host: string): Promise<FaultProxy> {
  let planned: Fault[] = []
  let hung = () => {}
  const seen: FaultProxy['seen'] = []
  const server = createServer(async (request, response) => {
    seen.push({ method: request.method ?? '', key: request.headers['idempotency-key'] as string | undefined })
    const fault = planned.shift() ?? 'pass'
    if (fault === 'hang') return hung()
    if (fault === 'cut') return void request.socket.destroy()
    if (typeof fault === 'object') return void response.writeHead(fault.status, fault.headers).end(fault.body)
    const answer = await passOn(request)
    if (fault === 'lose') request.socket.destroy()
    else reply(response, answer)
  })

  async function passOn(request: IncomingMessage) {
    const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...headers } = request.headers
    const raw = await buffer(request)
    const sending = { method: request.method ?? 'GET', headers: headers as Record<string, string> }
    return client.send(host, request.url ?? '/', raw.length > 0 ? { ...sending, raw } : sending)
  }

  function reply(response: ServerResponse, { status, headers, text }: Awaited<ReturnType<typeof passOn>>): void {
    const { connection: _, ...kept } = headers
    response.writeHead(status, kept).end(text)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    plan(...faults) {
      planned = faults
      seen.length = 0
    },
    seen,
    hanging: () =>
      new Promise((resolve) => {
        hung = resolve
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
