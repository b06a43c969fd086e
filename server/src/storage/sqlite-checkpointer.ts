import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { busyMilliseconds } from './sqlite-file.ts'

/** The program of the thread that brings the database file up to date, whenever it is asked to; see sqlite-checkpoints.ts. */

const database = new DatabaseSync(workerData as string, { timeout: busyMilliseconds })
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')

parentPort?.on('message', () => {
  try {
    checkpoint.get()
  } catch {
    // A full disk, or somebody else is at it; the log keeps what it holds, and there will be a next time.
  }
  parentPort?.postMessage('done')
})
