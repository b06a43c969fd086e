import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'

/** The least that a Node server can do: answer ready bytes, over plain HTTP and over TLS. */

export interface FixedAnswer {
  status: number
  /** Names and values in turn. */
  headers: string[]
  body: string
}

export interface HttpFloor {
  answers: Record<string, FixedAnswer>
  cert: string
  key: string
}

/** Listens on a free port. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function serve({ answers, cert, key }: HttpFloor): Promise<void> {
  const byPath = new Map(Object.entries(answers))
  const answer: RequestListener = (request, response) => {
    const fixed = byPath.get(request.url ?? '')
    if (!fixed) return void response.writeHead(404).end()
    response.writeHead(fixed.status, fixed.headers)
    response.end(fixed.body)
  }
  const plain = await listening(createServer(answer))
  const secure = await listening(createSecureServer({ cert, key }, answer))
  process.send?.({ plain, secure })
}

if (process.argv[1] === import.meta.filename) process.once('message', (settings: HttpFloor) => void serve(settings))
