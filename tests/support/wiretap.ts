import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** Stands between a server and its PostgreSQL, and does to connections what networks do. */
export interface Wiretap {
  /** The address of the database, through here. */
  url: string
  /** From now on not a byte gets through, and nobody is told. */
  goSilent(): void
  /** Everybody is let through again, except those who met the silence. */
  recover(): void
  /** The next connection that sends these texts, one after the other, ends before the answer to the last of them. */
  cutOffAfter(...texts: string[]): void
  /** How often the database has said a text that is listened for. */
  told(text: string): number
  close(): void
}

export async function wiretap(databaseUrl: string, listenedFor: string[] = []): Promise<Wiretap> {
  const { hostname, port } = new URL(databaseUrl)
  const isSocket = hostname.startsWith(encodeURIComponent('/'))
  const address = isSocket
    ? { path: join(decodeURIComponent(hostname), `.s.PGSQL.${port}`) }
    : { host: hostname, port: Number(port) }
  const sockets = new Set<Socket>()
  let silent = false
  let awaited: string[] = []
  const counts = new Map(listenedFor.map((text) => [text, 0]))

  const server = createServer((client) => {
    const database = connect(address)
    let listeningFor = awaited
    let heard = 0
    let isCut = false
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        if (!silent) for (const other of [client, database]) other.destroy()
      })
    }
    client.on('data', (bytes) => {
      if (silent) return
      if (listeningFor !== awaited) {
        listeningFor = awaited
        heard = 0
      }
      const next = awaited[heard]
      if (next !== undefined && bytes.includes(next)) heard += 1
      if (heard > 0 && heard === awaited.length) {
        isCut = true
        awaited = []
      }
      database.write(bytes)
    })
    database.on('data', (bytes) => {
      for (const [text, count] of counts) if (bytes.includes(text)) counts.set(text, count + 1)
      if (silent) return
      if (isCut) client.destroy()
      else client.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)

  return {
    url: url.href,
    goSilent() {
      silent = true
    },
    recover() {
      for (const socket of sockets) socket.destroy()
      silent = false
    },
    cutOffAfter(...texts) {
      awaited = texts
    },
    told: (text) => counts.get(text) ?? 0,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
