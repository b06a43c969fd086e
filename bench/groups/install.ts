import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { figureOf, type Group, judged } from '../harness.ts'
import { residentMegabytes, startParley } from '../processes.ts'

const settleMilliseconds = 2_000

export const install: Group = {
  name: 'install',
  about: 'How long the second start of a demo install takes until it is ready, and what it holds in memory when idle',
  async run({ plan }) {
    const folder = mkdtempSync(join(plan.folder, 'start-'))
    const environment = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compile-cache') }
    const start = () => startParley({ data: folder, words: ['--demo'], environment })
    await (await start()).stop()
    const seconds: number[] = []
    const megabytes: number[] = []
    for (let round = 0; round < plan.rounds; round += 1) {
      const startedAt = performance.now()
      const running = await start()
      seconds.push((performance.now() - startedAt) / 1000)
      await new Promise((resolve) => setTimeout(resolve, settleMilliseconds))
      megabytes.push(residentMegabytes(running.pid))
      await running.stop()
    }
    rmSync(folder, { recursive: true })
    const time = figureOf(seconds, 's')
    const memory = figureOf(megabytes, 'MB')
    return [
      judged({ group: 'install', job: 'second start', parley: time, reached: time.median, goal: { atMost: 1 } }),
      judged({ group: 'install', job: 'idle memory', parley: memory, reached: memory.median, goal: { atMost: 120 } }),
    ]
  },
}
