import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { fileURLToPath } from 'node:url'
import { freePort } from '../scripts/processes.ts'

/** A server under test, in a process of its own. */
export interface Running {
  pid: number
  /** Where it answers plain HTTP, and where TLS; Parley does both on one port. */
  ports: { plain: number; secure: number }
  stop(): Promise<void>
}

const mainFile = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
const readySeconds = 60

/** Plain HTTP as a trusted proxy would send it. */
export const throughProxy = { 'x-forwarded-proto': 'https' }

export interface ParleyOptions {
  data: string
  words?: string[]
  environment?: Record<string, string>
  /** Where the process leaves a CPU profile when it stops. */
  profileFolder?: string | undefined
}

/** Starts Parley as in production: every request logged, the lines thrown away; only its limits are out of the way. */
export async function startParley({ data, words = [], environment, profileFolder }: ParleyOptions): Promise<Running> {
  const port = await freePort()
  const flags = profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`] : []
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...flags, mainFile, 'start', ...words],
    {
      env: {
        ...withoutSettings(process.env),
        PARLEY_DATA: data,
        PARLEY_PORT: String(port),
        PARLEY_TRUST_PROXY: '127.0.0.1',
        PARLEY_LIMIT_CORE: '1000000000',
        PARLEY_LIMIT_STANDARD: '1000000000',
        ...environment,
      },
      stdio: ['ignore', openSync('/dev/null', 'w'), 'inherit'],
    },
  )
  await ready(child, port)
  return { pid: child.pid as number, ports: { plain: port, secure: port }, stop: () => stop(child) }
}

/** Runs a command of Parley to its end and answers what it printed. */
export function parley(data: string, ...words: string[]): string {
  return execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', mainFile, ...words], {
    env: { ...withoutSettings(process.env), PARLEY_DATA: data },
    encoding: 'utf8',
  })
}

/** Starts a floor: it is sent its settings, and answers with its ports once it listens. */
export async function startFloor(name: string, settings: object): Promise<Running> {
  const child = fork(fileURLToPath(new URL(`floors/${name}.ts`, import.meta.url)), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  child.send(settings)
  const [ports] = (await once(child, 'message')) as [Running['ports']]
  return { pid: child.pid as number, ports, stop: () => stop(child) }
}

function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('PARLEY_')))
}

async function ready(child: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + readySeconds * 1000
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error('Parley stopped before it was ready.')
    if (performance.now() > deadline) throw new Error(`Parley was not ready in ${readySeconds} s.`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(
      { port, host: '127.0.0.1', path: '/readyz', headers: throughProxy, agent: false },
      (response) => {
        response.resume()
        resolve(response.statusCode === 200)
      },
    )
    request.on('error', () => resolve(false))
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** CPU time that a process has used so far, with all its threads and the processes it has started, in seconds. */
export function cpuSeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return children.reduce((sum, child) => sum + ownSeconds(Number(child)), ownSeconds(pid))
}

function ownSeconds(pid: number): number {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is a name in brackets and may hold blanks; user and system time are the 12th and 13th after it.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}
