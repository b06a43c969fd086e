import { flushCompileCache } from 'node:module'
import { Worker } from 'node:worker_threads'
import { openFile, type RawOutcome, statementsOn } from './sqlite-file.ts'

/** The program of a reader process: it answers one statement after the other, and knows nothing else of Parley. */

export interface Question {
  text: string
  parameters: readonly unknown[]
}

/** Rows come in parts, so that whoever takes them has time for others in between. */
export type ReaderAnswer = { columns: string[]; rows: unknown[][]; isLast: boolean } | { failure: string }

/** What a reader says before it is asked anything. */
export type Greeting = 'ready'

const partCharacters = 100_000
const watchMilliseconds = 500

const say = (what: ReaderAnswer | Greeting) => void process.send?.(what)

function answer({ columns, rows }: RawOutcome): void {
  let first = 0
  let characters = 0
  for (const [n, row] of rows.entries()) {
    for (const value of row) characters += typeof value === 'string' ? value.length : 8
    if (characters < partCharacters) continue
    say({ columns, rows: rows.slice(first, n + 1), isLast: false })
    first = n + 1
    characters = 0
  }
  say({ columns, rows: first === 0 ? rows : rows.slice(first), isLast: true })
}

/**
 * A server that is killed closes the channel, but in the midst of a statement nobody here would hear of it. A thread
 * looks whose child this process is, and ends it with the server.
 */
function endWith(server: number): void {
  const watch = `setInterval(() => process.ppid === ${server} || process.kill(process.pid, 'SIGKILL'), ${watchMilliseconds})`
  const resourceLimits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 8, stackSizeMb: 1 }
  new Worker(watch, { eval: true, resourceLimits }).unref()
}

const [file = '', server] = process.argv.slice(2)
endWith(Number(server))
const { run } = statementsOn(openFile(file, { readOnly: true }))
process.on('message', ({ text, parameters }: Question) => {
  try {
    answer(run(text, parameters))
  } catch (error) {
    say({ failure: error instanceof Error ? error.message : String(error) })
  }
})
process.on('disconnect', () => process.exit())
say('ready')
// For the next one, as a reader is killed in the end and writes down nothing by itself.
flushCompileCache()
