import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection } from './connection.ts'

/**
 * A durable commit costs one fsync, whatever it holds. Writes that arrive while a commit is under way therefore wait and
 * share the next one: each runs in its own savepoint, so a failing write is undone alone, and every caller is answered only
 * after the commit that holds its change.
 *
 * Whose turn it is goes by the time that each app has had: one that writes little and seldom waits for a single write of
 * one that writes without end, and does not share a commit with what is likely to take long.
 */
interface Writer {
  begin(): void
  savepoint(): void
  release(): void
  undo(): void
  commit(): Promise<void>
  rollback(): void
  /** A batch is over, whatever came of it. */
  ended(): void
  /** Nobody wants to write at the moment. */
  isAtRest(): void
  /** What a failure means to whoever wanted to write. */
  explained(error: unknown): unknown
  connection: Connection
  /** Whoever is answered and goes on writing is back within this time. */
  returnMilliseconds?: number | undefined
}

interface Waiting {
  work: (connection: Connection) => Promise<unknown>
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}

/** What waits of one app. */
interface Line {
  waiting: Waiting[]
  /** How much time it has had, next to the others; the least is next. */
  had: number
  /** What its last write took, in milliseconds. */
  last: number
}

/** How many write at the same time, as far as the last commit could tell, and until when it is worth waiting for them. */
interface Fellows {
  count: number
  until: number
}

// Bound how long the first writer of a batch waits for the last one.
const batchMax = 256
const batchMilliseconds = 20

/** Whose a write is that belongs to no app. */
const nobodys = ''

export function createGroupCommit(writer: Writer) {
  const { returnMilliseconds = 1 } = writer
  const lines = new Map<string, Line>()
  /** What the line had that was served last: whoever comes anew begins there, and has nothing saved up. */
  let served = 0
  let running = false
  let waitingCount = 0
  let fellows: Fellows = { count: 0, until: 0 }
  let allAreThere = () => {}

  /**
   * Those who write all the time fall into groups otherwise, each of which waits for the commits of the others. Whoever
   * writes alone, or seldom, waits for nobody.
   */
  async function gather(): Promise<void> {
    const left = fellows.until - performance.now()
    if (waitingCount >= fellows.count || left <= 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left)
      allAreThere = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    allAreThere = () => {}
  }

  function next(): Line | undefined {
    let first: Line | undefined
    for (const [whose, line] of lines) {
      if (line.waiting.length > 0) first = first && first.had <= line.had ? first : line
      // Whoever has had no more than others is as good as new.
      else if (line.had <= served) lines.delete(whose)
    }
    return first
  }

  async function commitSome(): Promise<void> {
    const batch: Waiting[] = []
    const answers: (() => void)[] = []
    let now = performance.now()
    const end = now + batchMilliseconds
    let longest: Line | undefined
    const hasRoom = (line: Line) => batch.length === 0 || (batch.length < batchMax && now + line.last < end)
    const passed = () => {
      const before = now
      now = performance.now()
      return now - before
    }
    try {
      for (let line = next(); line && hasRoom(line); line = next()) {
        const waiting = line.waiting.shift() as Waiting
        waitingCount -= 1
        batch.push(waiting)
        served = line.had
        if (batch.length === 1) writer.begin()
        answers.push(await runAlone(writer, waiting))
        line.last = passed()
        line.had += line.last
        if (line.last >= (longest?.last ?? 0)) longest = line
      }
      await writer.commit()
    } catch (error) {
      const reason = writer.explained(error)
      for (const { reject } of batch) reject(reason)
      writer.rollback()
      return
    }
    // What a commit takes is mostly for the largest write in it.
    if (longest) {
      const commit = passed()
      longest.had += commit
      longest.last += commit
    }
    for (const answer of answers) answer()
    fellows = { count: waitingCount + batch.length, until: performance.now() + returnMilliseconds }
  }

  async function drain(): Promise<void> {
    try {
      while (next()) {
        await gather()
        await commitSome()
        writer.ended()
      }
    } finally {
      running = false
    }
    await allThatHasArrived()
    if (!running) writer.isAtRest()
  }

  return function write<T>(work: (connection: Connection) => Promise<T>, whose = nobodys): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const line = lines.get(whose) ?? { waiting: [], had: 0, last: 0 }
      if (line.waiting.length === 0) line.had = Math.max(line.had, served)
      line.waiting.push({ work, resolve, reject })
      lines.set(whose, line)
      waitingCount += 1
      if (waitingCount >= fellows.count) allAreThere()
      if (running) return
      running = true
      // Requests read in the same turn of the event loop join the same batch.
      setImmediate(drain)
    })
  }
}

/** Resolves when whatever lay there unread has been read: what arrives together may belong together. */
async function allThatHasArrived(): Promise<void> {
  // The turn that is under way has read before.
  await nextTurn()
  await nextTurn()
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
