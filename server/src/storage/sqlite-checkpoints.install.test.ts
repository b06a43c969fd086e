import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { until } from '../../../tests/support/until.ts'
import type { Database } from './database.ts'
import { openSqlite, sqliteFile } from './sqlite.ts'

const megabyte = 1_000_000

describe('what is committed on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-checkpoints-'))
  const file = join(folder, sqliteFile)
  let database: Database
  before(() => {
    database = openSqlite(file)
  })
  after(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })

  const sizeOf = (path: string) => statSync(path).size
  const writeMegabyte = () =>
    database.write(async ({ run }) => {
      for (let n = 0; n < 1_000; n += 1) await run('INSERT INTO things (text) VALUES (?)', ['x'.repeat(1_000)])
    })

  it('comes into the file before the writer would have brought it there', async () => {
    await database.write(async ({ run }) => void (await run('CREATE TABLE things (text text)', [])))
    for (let n = 0; n < 4; n += 1) await writeMegabyte()
    await until('it is in the file', () => sizeOf(file) > 2 * megabyte)
    // Less than the writer leaves in the log.
    assert.ok(sizeOf(`${file}-wal`) < 16 * megabyte)
  })

  it('does not let the log beside the file grow for ever', async () => {
    for (let n = 0; n < 40; n += 1) await writeMegabyte()
    const size = sizeOf(`${file}-wal`)
    assert.ok(size < 40 * megabyte, `${size}`)
  })
})
