import { open, unlink } from 'node:fs/promises'
import { createServer as createSecureServer } from 'node:https'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type FixedAnswer, listening } from './http.ts'

/**
 * The least that receiving a file can be, over TLS: let the body run into a file, make it durable, insert one row and
 * answer after the commit that holds it. Nothing looks into the body.
 */

export interface UploadFloor {
  folder: string
  /** The row to insert; its size is what matters. */
  row: string
  answer: FixedAnswer
  cert: string
  key: string
}

async function serve({ folder, row, answer, cert, key }: UploadFloor): Promise<void> {
  const database = new DatabaseSync(join(folder, 'floor.sqlite'))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000')
  database.exec('CREATE TABLE IF NOT EXISTS files (id integer PRIMARY KEY, row text NOT NULL)')
  const insert = database.prepare('INSERT INTO files (row) VALUES (?)')
  let waiting: (() => void)[] = []
  let received = 0

  function commit(): void {
    const batch = waiting
    waiting = []
    database.exec('BEGIN IMMEDIATE')
    for (let n = 0; n < batch.length; n += 1) insert.run(row)
    database.exec('COMMIT')
    for (const done of batch) done()
  }

  function inserted(): Promise<void> {
    if (waiting.length === 0) setImmediate(commit)
    return new Promise((resolve) => waiting.push(resolve))
  }

  async function store(path: string, content: AsyncIterable<Buffer>): Promise<void> {
    const file = await open(path, 'wx')
    for await (const chunk of content) await file.write(chunk)
    await file.sync()
    await file.close()
  }

  const server = createSecureServer({ cert, key }, async (request, response) => {
    received += 1
    const path = join(folder, `floor-${received}`)
    await store(path, request)
    await inserted()
    response.writeHead(answer.status, answer.headers)
    response.end(answer.body)
    await unlink(path)
  })
  process.send?.({ plain: 0, secure: await listening(server) })
}

process.once('message', (settings: UploadFloor) => void serve(settings))
