import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** What private copies of services are started and stopped with. */

const readySeconds = 30
const pauseMilliseconds = 100

/** Waits until a check no longer throws. */
export async function until(what: string, check: () => void): Promise<void> {
  const deadline = Date.now() + readySeconds * 1000
  for (;;) {
    try {
      return check()
    } catch {
      if (Date.now() > deadline) throw new Error(`${what} did not become ready in ${readySeconds} s.`)
      await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds))
    }
  }
}

/** A port that nobody listens on at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

const stopMilliseconds = 5_000

export function stopProcess(process: ChildProcess, signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    process.once('exit', () => resolve())
    process.kill(signal)
    setTimeout(() => process.kill('SIGKILL'), stopMilliseconds).unref()
  })
}

/** The first folder of the path that holds a program. */
export function folderOf(program: string): string | undefined {
  return (process.env.PATH ?? '').split(':').find((folder) => existsSync(join(folder, program)))
}
