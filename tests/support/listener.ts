import type { WebSocket } from 'ws'

/** Ids of messages, by the id of their conversation. */
export type Said = Map<string, string[]>

/**
 * A device that is cut off and comes back to where it was. Of what it is told it keeps the ids of messages alone, so that it
 * can be told very many.
 */
export interface Listener {
  name: string
  /** In the order in which it was told them, over all its connections. */
  heard: Said
  heardCount: number
  resumed: number
  resynced: number
  isThere(): boolean
  /** Logs in, or goes on where it was cut off. */
  come(): Promise<void>
  cut(): void
  /** How its last connection ended, when it has. */
  ended(): Promise<End>
}

export interface End {
  code: number
  /** Whether the node said before that it goes. */
  wasTold: boolean
}

interface Connection {
  socket: WebSocket
  wasTold: boolean
}

export function createListener(name: string, authToken: string, open: () => WebSocket): Listener {
  let connection: Connection | undefined
  let ended = Promise.withResolvers<End>().promise
  let resource: string | undefined
  let position: string | undefined

  const listener: Listener = {
    ...{ name, heard: new Map(), heardCount: 0, resumed: 0, resynced: 0 },
    isThere: () => connection !== undefined,
    come,
    cut() {
      connection?.socket.terminate()
      connection = undefined
    },
    ended: () => ended,
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into frames freely
  function welcome({ resumed, ...body }: any): void {
    if (position !== undefined) listener[resumed ? 'resumed' : 'resynced'] += 1
    // Whoever is cut off before they are told anything goes on from here.
    if (!resumed) position = body.position
    resource = body.resource
  }

  function hear({ category, conversationId, id }: { category: string; conversationId: string; id: string }): void {
    if (category !== 'message') return
    const heard = listener.heard.get(conversationId)
    if (heard) heard.push(id)
    else listener.heard.set(conversationId, [id])
    listener.heardCount += 1
  }

  function come(): Promise<void> {
    const socket = open()
    const welcomed = Promise.withResolvers<void>()
    const end = Promise.withResolvers<End>()
    const own: Connection = { socket, wasTold: false }
    socket.on('open', () => {
      const from = position === undefined ? {} : { position, resource }
      socket.send(JSON.stringify({ type: 'auth', body: { authToken, ...from } }))
    })
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data))
      if (frame.type === 'auth') {
        welcome(frame.body)
        connection = own
        ended = end.promise
        welcomed.resolve()
      } else if (connection !== own) {
        // What comes after it was cut off was never told; what comes before it is in is a refusal.
        welcomed.reject(new Error(`${name} was answered ${String(data)}`))
        socket.terminate()
        return
      }
      position = frame.position ?? position
      if (frame.type === 'message') hear(frame.body)
      if (frame.type === 'reconnect') own.wasTold = true
    })
    socket.on('error', welcomed.reject)
    socket.on('close', (code) => {
      if (connection === own) connection = undefined
      welcomed.reject(new Error(`${name} was let go with ${code}`))
      end.resolve({ code, wasTold: own.wasTold })
    })
    return welcomed.promise
  }

  return listener
}

/** What is wrong with what was heard: left out, told twice or in another order, or never said. */
export function differenceBetween(heard: Said, said: Said): string | undefined {
  for (const conversation of new Set([...heard.keys(), ...said.keys()])) {
    const [told = [], spoken = []] = [heard.get(conversation), said.get(conversation)]
    const at = Array.from({ length: Math.max(told.length, spoken.length) }).findIndex((_, n) => told[n] !== spoken[n])
    if (at >= 0) return `of ${conversation}, number ${at} is ${told[at]} instead of ${spoken[at]}`
  }
  return undefined
}
