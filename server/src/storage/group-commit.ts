import type { Connection } from './connection.ts'

/**
 * A durable commit costs one fsync, whatever it holds. Writes that arrive while a commit is under way therefore wait and
 * share the next one: each runs in its own savepoint, so a failing write is undone alone, and every caller is answered only
 * after the commit that holds its change. Apps take turns, write by write, so that nobody waits for all that another app
 * has to write.
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

// Bound how long the first writer of a batch waits for the last one.
const batchMax = 256
const batchMilliseconds = 20

/** Whose a write is that belongs to no app. */
const nobodys = ''

export function createGroupCommit(writer: Writer) {
  /** What waits, by app, in the order of their next turns. */
  const lines = new Map<string, Waiting[]>()
  let running = false

  function next(): Waiting | undefined {
    const [turn] = lines
    if (!turn) return undefined
    const [whose, line] = turn
    lines.delete(whose)
    const waiting = line.shift()
    if (line.length > 0) lines.set(whose, line)
    return waiting
  }

  async function drain(): Promise<void> {
    try {
      while (lines.size > 0) await commitTogether(writer, next)
    } finally {
      running = false
    }
  }

  return function write<T>(work: (connection: Connection) => Promise<T>, whose = nobodys): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const line = lines.get(whose) ?? []
      line.push({ work, resolve, reject })
      lines.set(whose, line)
      if (running) return
      running = true
      // Requests read in the same turn of the event loop join the same batch.
      setImmediate(drain)
    })
  }
}

async function commitTogether(writer: Writer, next: () => Waiting | undefined): Promise<void> {
  const batch: Waiting[] = []
  const answers: (() => void)[] = []
  const end = performance.now() + batchMilliseconds
  const hasRoom = () => batch.length < batchMax && performance.now() < end
  try {
    for (let waiting = next(); waiting; waiting = hasRoom() ? next() : undefined) {
      batch.push(waiting)
      if (batch.length === 1) writer.begin()
      answers.push(await runAlone(writer, waiting))
    }
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
