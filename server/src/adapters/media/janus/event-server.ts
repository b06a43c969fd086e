import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

/** Where engines tell what happens: a WebSocket on loopback, at a path that only they know. */
export interface EventServer {
  port: number
  url: string
  close(): Promise<void>
}

const protocol = 'janus-event-handlers'
const batchBytesMax = 16_000_000

/** Engines that were there before tell it where they did before, so it may be asked to be at that port again. */
export async function openEventServer(
  path: string,
  port: number,
  hear: (event: Record<string, unknown>) => void,
): Promise<EventServer> {
  const http = createServer((_request, response) => response.writeHead(404).end())
  const sockets = new WebSocketServer({
    server: http,
    path: `/${path}`,
    maxPayload: batchBytesMax,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
  })
  sockets.on('connection', (socket) => {
    socket.on('error', () => socket.terminate())
    socket.on('message', (data) => {
      for (const event of eventsIn(String(data))) hear(event)
    })
  })
  // It is told with the server's own.
  sockets.on('error', () => {})
  http.listen(port, '127.0.0.1')
  await once(http, 'listening')
  http.unref()
  const taken = (http.address() as AddressInfo).port
  return { port: taken, url: `ws://127.0.0.1:${taken}/${path}`, close: () => closed(http, sockets) }
}

async function closed(http: Server, sockets: WebSocketServer): Promise<void> {
  for (const socket of sockets.clients) socket.terminate()
  http.close()
  http.closeAllConnections()
  await once(http, 'close')
}

/** One event or a list of them, which may have lists in it. */
function eventsIn(text: string): Record<string, unknown>[] {
  try {
    const told: unknown = JSON.parse(text)
    return (Array.isArray(told) ? told.flat() : [told]).filter((each) => typeof each === 'object' && each !== null)
  } catch {
    return []
  }
}
