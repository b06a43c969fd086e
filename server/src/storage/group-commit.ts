import type { Connection } from './connection.ts'

/**
 * A durable commit costs one fsync, whatever it holds. Writes that arrive while a commit is under way therefore wait in
 * a queue and share the next one: each runs in its own savepoint, so a failing write is undone alone, and every caller is
 * answered only after the commit that holds its change.
 */
interface Writer {
  begin(): void
  savepoint(): void
  release(): void
  undo(): void
  commit(): Promise<void>
  rollback(): void
  /** What a failure means to whoever wanted to write. */
  explained(error: unknown): unknown
  connection: Connection
}

interface Waiting {
  work: (connection: Connection) => Promise<unknown>
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}

// Bounds how long the first writer of a batch waits for the last one.
const batchMax = 256

export function createGroupCommit(writer: Writer) {
  const queue: Waiting[] = []
  let running = false

  async function drain(): Promise<void> {
    try {
      while (queue.length > 0) await commitTogether(writer, queue.splice(0, batchMax))
    } finally {
      running = false
    }
  }

  return function write<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      queue.push({ work, resolve, reject })
      if (running) return
      running = true
      // Requests read in the same turn of the event loop join the same batch.
      setImmediate(drain)
    })
  }
}

async function commitTogether(writer: Writer, batch: Waiting[]): Promise<void> {
  const answers: (() => void)[] = []
  try {
    writer.begin()
    for (const waiting of batch) answers.push(await runAlone(writer, waiting))
    await writer.commit()
  } catch (error) {
    const reason = writer.explained(error)
    for (const { reject } of batch) reject(reason)
    writer.rollback()
    return
  }
  for (const answer of answers) answer()
}

async function runAlone(writer: Writer, { work, resolve, reject }: Waiting): Promise<() => void> {
  writer.savepoint()
  try {
    const value = await work(writer.connection)
    writer.release()
    return () => resolve(value as never)
  } catch (error) {
    undoOne(writer, error)
    return () => reject(writer.explained(error))
  }
}

/** Some failures, such as a full disk, undo the whole transaction: then all that share it have failed, for that reason. */
function undoOne(writer: Writer, reason: unknown): void {
  try {
    writer.undo()
  } catch {
    throw reason
  }
}
