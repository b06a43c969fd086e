import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const inMemory = '/dev/shm'
const roomBytes = 2 ** 32

/**
 * Where the tests' data folders and databases are: in memory where the system has room for that, as waiting for a disk is
 * most of what a small write costs. Tests end Parley, never the machine, so nothing hangs on what reached a disk.
 */
export function memoryFolder(): string {
  return hasRoom(inMemory) ? inMemory : tmpdir()
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= roomBytes
  } catch {
    return false
  }
}
