import { createServer, type IncomingMessage } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { type FixedAnswer, listening } from './http.ts'

/**
 * The least that a durable write can be: read the body, insert one row, answer after the commit that holds it. Requests
 * that were read in the same turn of the event loop share a commit.
 */

export interface SendFloor {
  file: string
  /** The row to insert; its size is what matters. */
  row: string
  answer: FixedAnswer
}

async function serve({ file, row, answer }: SendFloor): Promise<void> {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000')
  database.exec('CREATE TABLE IF NOT EXISTS records (id integer PRIMARY KEY, body text NOT NULL, row text NOT NULL)')
  const insert = database.prepare('INSERT INTO records (body, row) VALUES (?, ?)')
  let waiting: { body: string; done: () => void }[] = []

  function commit(): void {
    const batch = waiting
    waiting = []
    database.exec('BEGIN IMMEDIATE')
    for (const { body } of batch) insert.run(body, row)
    database.exec('COMMIT')
    for (const { done } of batch) done()
  }

  const server = createServer(async (request, response) => {
    const body = await textOf(request)
    if (waiting.length === 0) setImmediate(commit)
    waiting.push({
      body,
      done() {
        response.writeHead(answer.status, answer.headers)
        response.end(answer.body)
      },
    })
  })
  process.send?.({ plain: await listening(server), secure: 0 })
}

function textOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    request.on('error', reject)
  })
}

process.once('message', (settings: SendFloor) => void serve(settings))
