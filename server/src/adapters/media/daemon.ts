import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * A process that outlives this one: it is started apart from it, and whoever comes after finds it by its number. Calls go on
 * while a server is started again.
 */
export interface Daemon {
  pid: number
  isAlive(): boolean
  /** Once; of one that was found, up to half a second later. */
  onExit(listener: () => void): void
  /** Asks it to end, and ends it if it does not. */
  end(): Promise<void>
}

export interface Program {
  binary: string
  words: string[]
  /** Its own folder, which is named among its words: that is how it is known again. */
  folder: string
  /** The user to run it as, where this process may choose. */
  uid?: number
}

const endMilliseconds = 2_000
const lookMilliseconds = 20
const watchMilliseconds = 500
const logBytesMax = 4_000_000
const logFile = 'log'
const ownerOnly = 0o600

export function startDaemon({ binary, words, folder, uid }: Program): Promise<Daemon> {
  // What it says goes to a file: a pipe would break with this process, and end it.
  const logPath = join(folder, logFile)
  const log = openSync(logPath, 'a', ownerOnly)
  if (uid !== undefined) chownSync(logPath, uid, uid)
  const child = spawn(binary, words, {
    cwd: folder,
    env: {},
    detached: true,
    stdio: ['ignore', log, log],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  closeSync(log)
  child.unref()
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('spawn', () => resolve(daemonOf(child)))
  })
}

function daemonOf(child: ChildProcess): Daemon {
  const pid = child.pid ?? 0
  const isAlive = () => child.exitCode === null && child.signalCode === null
  child.on('error', () => {})
  return {
    pid,
    isAlive,
    onExit(listener) {
      if (isAlive()) child.once('exit', listener)
      else listener()
    },
    end: () => endProcess(pid, isAlive),
  }
}

/** One that was started by another process than this; nothing, if what has the number now is something else. */
export function findDaemon(pid: number, folder: string): Daemon | undefined {
  const isAlive = () => commandOf(pid).includes(folder)
  if (!isAlive()) return undefined
  return {
    pid,
    isAlive,
    onExit(listener) {
      const timer = setInterval(() => {
        if (isAlive()) return
        clearInterval(timer)
        listener()
      }, watchMilliseconds)
      timer.unref()
    },
    end: () => endProcess(pid, isAlive),
  }
}

/** What it was started with; empty for one that has ended, also if nobody has taken note of it yet. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return process.platform === 'linux' ? '' : commandByPs(pid)
  }
}

function commandByPs(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
  } catch {
    return ''
  }
}

async function endProcess(pid: number, isAlive: () => boolean): Promise<void> {
  const deadline = performance.now() + endMilliseconds
  if (isAlive()) sendSignal(pid, 'SIGTERM')
  while (isAlive() && performance.now() < deadline) await pause(lookMilliseconds)
  if (isAlive()) sendSignal(pid, 'SIGKILL')
  while (isAlive() && performance.now() < deadline + endMilliseconds) await pause(lookMilliseconds)
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has just ended.
  }
}

/** Whoever makes an engine complain all the time does not fill the disk. */
export function boundLog(folder: string): void {
  const path = join(folder, logFile)
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax) truncateSync(path)
}

/** The last lines of what it said, for whoever wants to know why it has ended. */
export function lastWordsIn(folder: string): string {
  try {
    return readFileSync(join(folder, logFile), 'utf8').trim().split('\n').slice(-lastLines).join(' | ')
  } catch {
    return ''
  }
}

const lastLines = 3
