import { closeSync, fdatasync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { DatabaseUnavailable } from './unavailable.ts'

/**
 * A commit stands in the log beside the file, and is durable once the disk has it. SQLite would wait for the disk inside
 * COMMIT, and with it everybody whom this thread serves; here a thread of the runtime waits, and only those who write.
 */
export interface Durability {
  /** Resolves when all that was committed is on disk; after it has failed once, nothing can be promised any more. */
  sync(): Promise<void>
  hasFailed(): boolean
  /** Throws where nothing can be promised. */
  demand(): void
  close(): void
}

export type SyncFile = (descriptor: number) => Promise<void>

const syncFile: SyncFile = promisify(fdatasync)

export function makeDurable(writer: DatabaseSync, file: string, sync = syncFile): Durability {
  // Some disks over a network cannot have a log beside the file; there a commit goes on waiting by itself.
  const { journal_mode } = writer.prepare('PRAGMA journal_mode').get() as { journal_mode: string }
  if (journal_mode !== 'wal') return { sync: async () => {}, hasFailed: () => false, demand() {}, close() {} }
  // Commits no longer wait by themselves; the file is still brought up to date in the right order.
  writer.exec('PRAGMA synchronous = NORMAL')
  let log: number | undefined
  let failure: DatabaseUnavailable | undefined

  return {
    async sync() {
      try {
        // Made by the first commit, it stays until the last connection is closed.
        log ??= openSync(`${file}-wal`, 'r+')
        await sync(log)
      } catch (error) {
        // A system that could not write a page forgets that it ought to: a second try would succeed, and mean nothing.
        failure = new DatabaseUnavailable(error, true)
        throw failure
      }
    },
    hasFailed: () => failure !== undefined,
    demand() {
      if (failure) throw new DatabaseUnavailable(failure.cause)
    },
    close() {
      if (log !== undefined) closeSync(log)
    },
  }
}
