import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * With `npm test -- --times`: what each process of tests has computed for, with the processes that it has started and seen
 * the end of. Seconds of the processor, as those of the clock tell how busy the machine was. What databases compute is
 * not in it. Linux alone tells what child processes took.
 */

const variable = 'PARLEY_TEST_TIMES'
const ticksPerSecond = 100

/** For the process of tests: it says at its end what it took. */
export function tellTimes(): void {
  const file = process.env[variable]
  const testFile = process.argv[1]
  if (!file || !testFile?.includes('.test.')) return
  process.on('exit', () => appendFileSync(file, `${secondsOfProcess().toFixed(1)} ${testFile}\n`))
}

export function timesTold(file: string): Record<string, string> {
  return { [variable]: file }
}

/** The most expensive first, by the names of the files that a process was made for. */
export function printTimes(file: string): void {
  if (!existsSync(file)) return
  const told = readFileSync(file, 'utf8').trim().split('\n')
  const times = told.map((line) => ({ seconds: Number.parseFloat(line), share: line.slice(line.indexOf(' ') + 1) }))
  for (const { seconds, share } of times.toSorted((a, b) => b.seconds - a.seconds)) {
    printLine(seconds, filesOf(share).join(' '))
  }
  const all = times.reduce((sum, { seconds }) => sum + seconds, 0)
  printLine(all, 'in all')
}

function printLine(seconds: number, what: string): void {
  console.log(`${seconds.toFixed(1).padStart(6)}  ${what}`)
}

function filesOf(share: string): string[] {
  const imports = readFileSync(share, 'utf8').matchAll(/import '(.*)'/g)
  return [...imports].map(([, url]) => relative(process.cwd(), fileURLToPath(url as string)))
}

function secondsOfProcess(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000 + secondsOfChildren()
}

function secondsOfChildren(): number {
  const stat = '/proc/self/stat'
  if (!existsSync(stat)) return 0
  // The name of the program is in brackets, and may hold anything.
  const [, afterName = ''] = readFileSync(stat, 'utf8').split(/\) (?!.*\) )/s)
  const [userTicks, systemTicks] = afterName.split(' ').slice(13, 15)
  return (Number(userTicks) + Number(systemTicks)) / ticksPerSecond
}
