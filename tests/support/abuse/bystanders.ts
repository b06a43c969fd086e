import { Worker } from 'node:worker_threads'
import { assertSucceeds } from '../house.ts'
import type { AppOnDisk, ServerProcess } from '../server-process.ts'
import type { Sample, Watch } from './bystanders-thread.ts'

/**
 * Users of another app who go on at a steady pace, whatever happens: they send, list their messages and conversations, and
 * look at each other. They have a thread of their own, so that what abusers do on this side does not keep them waiting.
 */

export type { Sample } from './bystanders-thread.ts'

// So many that nobody comes near their allowance of messages.
const usersCount = 100
const perSecond = 40

export interface Bystanders {
  /** What they have met with since they were last asked. */
  tell(): Promise<Sample[]>
  stop(): Promise<void>
}

export async function startBystanders(app: AppOnDisk, server: ServerProcess, ca: string): Promise<Bystanders> {
  const users: Watch['users'] = []
  for (let n = 0; n < usersCount; n += 1) {
    const { uid, authToken } = assertSucceeds(
      await app.at(server).post('/users', { uid: `neighbour-${n}`, name: `Neighbour ${n}`, withAuthToken: true }),
    ).data
    users.push({ uid, authToken })
  }
  const watch: Watch = { pid: server.pid, port: server.port, ca, host: app.host, users, perSecond }
  const worker = new Worker(new URL('./bystanders-thread.ts', import.meta.url), { workerData: watch })
  const failed = new Promise<never>((_, reject) => worker.once('error', reject))
  failed.catch(() => undefined)
  return {
    tell() {
      const told = new Promise<Sample[]>((resolve) => worker.once('message', resolve))
      worker.postMessage('tell')
      return Promise.race([told, failed])
    },
    async stop() {
      await worker.terminate()
    },
  }
}
