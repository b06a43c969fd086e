import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Stands in a body for a number that no other request has; of the same length as such a number. */
export const serialNumber = '%serial-number%'

export interface Request {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

/** What to send: the requests in turn, over so many connections, for so long; at a fixed rate if one is given. */
export interface Load {
  port: number
  secure: boolean
  connections: number
  seconds: number
  /** Requests a second; as many as the server answers if absent. */
  rate?: number
  requests: Request[]
}

export interface Outcome {
  requests: number
  seconds: number
  statuses: Record<number, number>
  milliseconds: { p50: number; p99: number }
}

type Answer = { ready: true } | { outcome: Outcome } | { failure: string }

export interface Generator {
  /** Runs a load; `around` is called when its connections stand and again when the last answer is in. */
  run(load: Load, around: (moment: 'before' | 'after') => void): Promise<Outcome>
  stop(): void
}

export function startGenerator(): Generator {
  const child = fork(fileURLToPath(new URL('load-generator.ts', import.meta.url)))
  return {
    async run(load, around) {
      await ask(child, load)
      around('before')
      const answer = await ask(child, 'go')
      around('after')
      if (!('outcome' in answer)) throw new Error('The load generator gave no outcome.')
      return answer.outcome
    },
    stop: () => void child.kill(),
  }
}

async function ask(child: ChildProcess, message: Load | 'go'): Promise<Answer> {
  child.send(message)
  const [answer] = (await once(child, 'message')) as [Answer]
  if ('failure' in answer) throw new Error(`The load failed: ${answer.failure}`)
  return answer
}
