import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order, Place, Report } from './socket-crowd.ts'

/** A crowd of devices, over as many processes as have a core to themselves. */
export interface Crowd {
  open(place: Place): Promise<void>
  /** All of them together have heard so many messages more. */
  heard(messages: number): Promise<void>
  ask(order: Order): Promise<Report>
  cut(): Promise<void>
  /** Answers after how many seconds all were back, and how many were not told exactly so much. */
  comeBack(missed: number): Promise<{ seconds: number; wrong: number }>
  stop(): void
}

export function startCrowd(processes = 1): Crowd {
  const file = fileURLToPath(new URL('socket-crowd.ts', import.meta.url))
  const children = Array.from({ length: processes }, () =>
    fork(file, { execArgv: ['--disable-warning=ExperimentalWarning'] }),
  )

  async function askOne(n: number, order: Order): Promise<Report> {
    const child = children[n]
    if (!child) throw new Error('There is no such process.')
    child.send(order)
    const [report] = (await once(child, 'message')) as [Report]
    if (report.failure !== undefined) throw new Error(`The devices failed: ${report.failure}`)
    return report
  }

  const askAll = (order: (n: number) => Order) => Promise.all(children.map((_, n) => askOne(n, order(n))))

  return {
    async open({ count, tokens, ...place }) {
      const share = Math.ceil(count / processes)
      await askAll((n) => {
        const own = tokens?.slice(n * share, (n + 1) * share)
        return { open: { ...place, count: Math.min(share, count - n * share), ...(own && { tokens: own }) } }
      })
    },
    async heard(messages) {
      await askAll(() => ({ heard: messages / processes }))
    },
    ask: (order) => askOne(0, order),
    async cut() {
      await askAll(() => ({ cut: true }))
    },
    async comeBack(missed) {
      const reports = await askAll(() => ({ comeBack: missed }))
      return {
        seconds: Math.max(...reports.map(({ seconds }) => seconds)),
        wrong: reports.reduce((sum, { wrong = 0 }) => sum + wrong, 0),
      }
    },
    stop() {
      for (const child of children) child.disconnect()
    },
  }
}
