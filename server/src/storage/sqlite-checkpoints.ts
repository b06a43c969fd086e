import type { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

/**
 * What was committed goes from the log into the file now and then, and the disk has to keep up with it twice. That is done
 * by a thread, since whoever commits would wait for it, and with them everybody whom the server's own thread serves.
 */
export interface Checkpoints {
  /** Something was committed. */
  committed(): void
  close(): Promise<void>
}

// About as many pages have changed then as SQLite itself would let pass.
const rowsBetween = 1_000
// The log can begin anew only where nobody writes meanwhile: here the writer does what is left. Mostly little is.
const pagesLeftToWriter = 4_000

const program = fileURLToPath(new URL('sqlite-checkpointer.ts', import.meta.url))
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 16, stackSizeMb: 1 }

export function createCheckpoints(writer: DatabaseSync, file: string): Checkpoints {
  writer.exec(`PRAGMA wal_autocheckpoint = ${pagesLeftToWriter}`)
  const changes = writer.prepare('SELECT total_changes() AS rows')
  let last = 0
  let worker: Worker | undefined
  let isUnderWay = false

  /** Most installs never need it, so it is started once they do. */
  function start(): Worker {
    const started = new Worker(program, { workerData: file, resourceLimits })
    started.unref()
    started.on('message', () => {
      isUnderWay = false
    })
    // Without it the writer does it all.
    started.on('error', () => writer.isOpen && writer.exec(`PRAGMA wal_autocheckpoint = ${rowsBetween}`))
    return started
  }

  return {
    committed() {
      if (isUnderWay) return
      const { rows } = changes.get() as { rows: number }
      if (rows - last < rowsBetween) return
      last = rows
      isUnderWay = true
      worker ??= start()
      worker.postMessage('checkpoint')
    },
    close: async () => void (await worker?.terminate()),
  }
}
