import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { setPriority } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RunStatement, StatementOutcome } from './connection.ts'
import { asObjects } from './sqlite-file.ts'
import type { Greeting, Question, ReaderAnswer } from './sqlite-reader.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/**
 * Processes in which statements run that may take long. The server's own thread would answer nobody meanwhile, and of a
 * process, unlike of a thread, a statement under way can be ended: by killing it, which costs a reader of SQLite nothing.
 * They are started when they are needed and ended when they are not.
 */
export interface Readers {
  /** Lends a reader to `work`; it is killed as soon as the signal is given. */
  lend<T>(work: (run: RunStatement) => Promise<T>, signal: AbortSignal): Promise<T>
  close(): Promise<void>
}

interface Waiting {
  rows: object[]
  resolve: (outcome: StatementOutcome) => void
  reject: (reason: unknown) => void
}

interface Reader {
  child: ChildProcess
  /** Resolves when it can be asked. */
  started: Promise<void>
  /** Statements that are not answered yet, in their order. */
  waiting: Waiting[]
  /** Why it answers no more. */
  lost?: unknown
  idleTimer?: NodeJS.Timeout
}

const program = fileURLToPath(new URL('sqlite-reader.ts', import.meta.url))
const idleMilliseconds = 120_000
// Rows of the largest answers fit in several times; what does not is ended by the process itself.
const heapMegabytes = 512

interface RestOptions {
  whenAtRest: () => void
  /** For how long readers may follow each other without a break. */
  busyMilliseconds?: number
}

export function createReaders(file: string, options: RestOptions): Readers {
  const all = new Set<Reader>()
  const idle: Reader[] = []
  const rest = restBetween(options)

  function start(): Reader {
    const child = fork(program, [file, String(process.pid)], {
      serialization: 'advanced',
      execArgv: ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${heapMegabytes}`],
      env: environment(),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const { promise: started, resolve: begin, reject: fail } = Promise.withResolvers<void>()
    const reader: Reader = { child, started, waiting: [] }
    all.add(reader)
    // It must not keep the server from ending.
    child.unref()
    child.channel?.unref()
    yieldToServer(child)
    child.on('message', (said: ReaderAnswer | Greeting) => (said === 'ready' ? begin() : take(reader, said)))
    const end = (why: Error) => {
      lose(reader, why)
      fail(why)
    }
    child.on('error', end)
    child.on('exit', (code, signal) => end(new DatabaseUnavailable(`a reader process ended with ${signal ?? code}`)))
    return reader
  }

  function lose(reader: Reader, why: unknown): void {
    all.delete(reader)
    const place = idle.indexOf(reader)
    if (place >= 0) idle.splice(place, 1)
    clearTimeout(reader.idleTimer)
    reader.lost ??= why
    for (const { reject } of reader.waiting.splice(0)) reject(reader.lost)
  }

  function end(reader: Reader, why: unknown): void {
    lose(reader, why)
    reader.child.kill('SIGKILL')
  }

  function giveBack(reader: Reader): void {
    if (reader.lost !== undefined) return
    idle.push(reader)
    reader.idleTimer = setTimeout(() => end(reader, new Error('An idle reader was ended.')), idleMilliseconds).unref()
  }

  async function lendOne<T>(work: (run: RunStatement) => Promise<T>, signal: AbortSignal): Promise<T> {
    const reader = idle.pop() ?? start()
    clearTimeout(reader.idleTimer)
    try {
      await reader.started
      signal.throwIfAborted()
      const stop = () => end(reader, signal.reason)
      signal.addEventListener('abort', stop)
      try {
        return await work((text, parameters) => ask(reader, text, parameters))
      } finally {
        signal.removeEventListener('abort', stop)
      }
    } finally {
      giveBack(reader)
    }
  }

  return {
    async lend(work, signal) {
      await rest.begin()
      try {
        signal.throwIfAborted()
        return await lendOne(work, signal)
      } finally {
        rest.end()
      }
    },
    async close() {
      const ending = [...all].map(async (reader) => {
        const ended = once(reader.child, 'exit')
        reader.child.ref()
        end(reader, new Error('The database is closed.'))
        await ended
      })
      await Promise.all(ending)
    },
  }
}

/** Nothing of the server's own, which holds secrets: only where code is kept that is compiled already. */
function environment(): NodeJS.ProcessEnv {
  // This is the part of it for this version of Node.
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

// Lower than usual, but not so low that it stands still on a busy machine.
const priority = 3

/** Whoever waits for a long read has time; whoever waits for the server has none. */
function yieldToServer({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, priority)
  } catch {
    // Some systems do not let a process decide that.
  }
}

function ask(reader: Reader, text: string, parameters: readonly unknown[]): Promise<StatementOutcome> {
  return new Promise((resolve, reject) => {
    if (reader.lost !== undefined) return reject(reader.lost)
    reader.waiting.push({ rows: [], resolve, reject })
    const question: Question = { text, parameters }
    // Where it fails, the process is gone and says so by itself.
    reader.child.send(question, () => {})
  })
}

function take({ waiting }: Reader, answer: ReaderAnswer): void {
  const [first] = waiting
  if (!first) return
  if ('rows' in answer) {
    for (const row of asObjects(answer.columns, answer.rows)) first.rows.push(row)
    if (!answer.isLast) return
    first.resolve({ rows: first.rows, changes: first.rows.length })
  } else first.reject(new Error(answer.failure))
  waiting.shift()
}

/**
 * While anybody reads, the log of changes that stands beside the file cannot begin anew and only grows. Where readers have
 * followed each other without a break for a while, those who come next wait until all have finished.
 */
function restBetween({ whenAtRest, busyMilliseconds = 10_000 }: RestOptions) {
  let reading = 0
  let since = 0
  let resting: { over: Promise<void>; end: () => void } | undefined

  return {
    async begin(): Promise<void> {
      while (resting || (reading > 0 && performance.now() - since > busyMilliseconds)) {
        if (!resting) {
          const { promise, resolve } = Promise.withResolvers<void>()
          resting = { over: promise, end: resolve }
        }
        await resting.over
      }
      if (reading === 0) since = performance.now()
      reading += 1
    },
    end(): void {
      reading -= 1
      if (reading > 0 || !resting) return
      const { end } = resting
      resting = undefined
      try {
        whenAtRest()
      } catch {
        // What the rest was for can wait for the next one; those who want to read cannot.
      }
      end()
    },
  }
}
