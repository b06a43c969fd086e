import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { folderOf, freePort, stopProcess, until } from './processes.ts'

/** A private Redis on a free loopback port, which keeps nothing. */
export interface PrivateRedis {
  url: string
  start(): Promise<void>
  stop(): Promise<void>
  /** It keeps its connections, and answers nobody until it goes on. */
  pause(): void
  resume(): void
}

export const hasRedis = () => folderOf('redis-server') !== undefined

/** Makes one that is not running yet. */
export async function makeRedis(): Promise<PrivateRedis> {
  const port = await freePort()
  let server: ChildProcess | undefined
  return {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
      server = spawn('redis-server', words, { stdio: 'ignore' })
      await until(`Redis on port ${port}`, () => {
        execFileSync('redis-cli', ['-p', String(port), 'ping'], { stdio: 'ignore' })
      })
    },
    async stop() {
      if (server) await stopProcess(server)
      server = undefined
    },
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
  }
}
