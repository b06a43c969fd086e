import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** What Linux tells of processes; elsewhere nothing can be asked. */

export const canBeAsked = existsSync('/proc/self/status')

/** The processes that another has started, by a word in their command. */
export function childrenOf(pid: number, word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => told(child, 'status', /^PPid:\s+(\d+)/m) === String(pid))
    .filter((child) => told(child, 'cmdline', new RegExp(`(${word})`)) !== undefined)
}

/** The most memory that a process has held so far. */
export function peakBytes(pid: number): number {
  return Number(told(pid, 'status', /^VmHWM:\s+(\d+) kB/m) ?? 0) * 1024
}

/** What a process has asked the system for, which `ulimit -d` is about. */
export function dataKilobytesOf(pid: number): number {
  return Number(told(pid, 'status', /^VmData:\s+(\d+) kB/m) ?? 0)
}

/** The memory that a process and all that it has started hold together; what they share counts for each. */
export function residentBytesOfTree(pid: number): number {
  const own = Number(told(pid, 'status', /^VmRSS:\s+(\d+) kB/m) ?? 0) * 1024
  const children = (told(pid, `task/${pid}/children`, /^([\d ]*)$/m) ?? '').split(' ').filter((id) => id !== '')
  return children.reduce((sum, child) => sum + residentBytesOfTree(Number(child)), own)
}

/** How long the main thread of a process, or this thread, could have gone on so far while the machine did something else. */
export function heldUpMilliseconds(pid?: number): number {
  const thread = pid === undefined ? 'thread-self' : `${pid}/task/${pid}`
  return Number(told(thread, 'schedstat', /^\d+ (\d+)/) ?? 0) / 1_000_000
}

export function environmentOf(pid: number): string[] {
  return (told(pid, 'environ', /^([\s\S]*)$/) ?? '').split('\0').filter((entry) => entry !== '')
}

/** A process may end while it is looked at. */
function told(pid: number | string, file: string, pattern: RegExp): string | undefined {
  try {
    return pattern.exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

/** Looks again and again at some processes, which may come and go; answers the most memory that one of them has held. */
export function watchPeak(pids: () => number[]): () => number {
  let peak = 0
  const look = () => {
    peak = Math.max(peak, ...pids().map(peakBytes))
  }
  const timer = setInterval(look, 20)
  return () => {
    clearInterval(timer)
    look()
    return peak
  }
}
