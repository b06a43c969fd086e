import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A folder for what this server remembers of its engines. Several servers of one install may share a data folder, and none of
 * them must take the engines of another that lives; so each has the first folder that no other server holds. It is held by a
 * socket, which ends with the process, however that ends.
 */
export interface OwnFolder {
  folder: string
  release(): Promise<void>
}

const serversMax = 64

export async function takeOwnFolder(base: string): Promise<OwnFolder> {
  for (let n = 1; n <= serversMax; n += 1) {
    const folder = n === 1 ? base : `${base}-${n}`
    const server = await hold(socketFor(folder))
    if (server) return { folder, release: () => new Promise((resolve) => server.close(() => resolve())) }
  }
  throw new Error(`More than ${serversMax} servers use ${base}.`)
}

const nameCharacters = 24

/** Not in the folder itself: the names of sockets must be short. */
function socketFor(folder: string): string {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, nameCharacters)
  return join(tmpdir(), `parley-media-${name}.lock`)
}

async function hold(path: string): Promise<Server | undefined> {
  const first = await listen(path)
  if (first || (await isHeld(path))) return first
  // Whoever held it was killed.
  rmSync(path, { force: true })
  return listen(path)
}

function listen(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined))
    server.listen(path, () => resolve(server.unref()))
  })
}

function isHeld(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const answer = (held: boolean) => {
      socket.destroy()
      resolve(held)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => answer(code !== 'ECONNREFUSED' && code !== 'ENOENT'))
  })
}
