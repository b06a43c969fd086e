import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type WebSocket, WebSocketServer } from 'ws'
import { listening } from './http.ts'

/** The least that the library can do: whatever is posted goes to every socket, as often as `?times=` says, all in one turn. */

export interface WsFloor {
  cert: string
  key: string
}

async function serve({ cert, key }: WsFloor): Promise<void> {
  const sockets = new Set<WebSocket>()
  const answer: RequestListener = async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString('utf8')
    const times = Number(new URL(request.url ?? '', 'http://floor').searchParams.get('times'))
    for (let n = 0; n < times; n += 1) for (const socket of sockets) socket.send(text)
    response.end()
  }
  const upgrading = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  const servers = [createServer(answer), createSecureServer({ cert, key }, answer)]
  for (const server of servers) {
    server.on('upgrade', (request, socket, head) =>
      upgrading.handleUpgrade(request, socket, head, (device) => {
        sockets.add(device)
        device.on('error', () => {})
        device.on('close', () => sockets.delete(device))
      }),
    )
  }
  const [plain, secure] = await Promise.all(servers.map(listening))
  process.send?.({ plain, secure })
}

process.once('message', (settings: WsFloor) => void serve(settings))
