import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openSqlite, sqliteFile } from './sqlite.ts'
import { DatabaseUnavailable, untold } from './unavailable.ts'

/** A disk that takes what it is given only when it is told to. */
function slowDisk() {
  let syncing = Promise.withResolvers<void>()
  let asked = Promise.withResolvers<void>()
  return {
    sync() {
      asked.resolve()
      return syncing.promise
    },
    /** Resolves when it is to take something. */
    asked: () => asked.promise,
    answer(failure?: Error) {
      const { resolve, reject } = syncing
      syncing = Promise.withResolvers<void>()
      asked = Promise.withResolvers<void>()
      if (failure) reject(failure)
      else resolve()
    },
  }
}

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

async function openLog() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-durable-'))
  folders.push(folder)
  const disk = slowDisk()
  const database = openSqlite(join(folder, sqliteFile), untold, disk.sync)
  const written: string[] = []
  const write = (text: string) =>
    database
      .write(async ({ run }) => void (await run(text, [])))
      .then(
        () => void written.push(text),
        (error: unknown) => {
          written.push('refused')
          return error
        },
      )
  const made = write('CREATE TABLE events (id integer PRIMARY KEY AUTOINCREMENT, app_id text, name text)')
  await disk.asked()
  disk.answer()
  await made
  written.pop()
  const add = (name: string) => write(`INSERT INTO events (app_id, name) VALUES ('app', '${name}')`)
  const told = async () => (await database.eventsAfter(0, 10)).map(({ name }) => name)
  return { database, disk, add, written, told }
}

describe('a commit on SQLite', () => {
  it('is answered and told of once the disk has it', async () => {
    const { database, disk, add, written, told } = await openLog()
    const first = add('first')
    await disk.asked()
    assert.deepEqual([written.length, await told(), await database.logEnd()], [0, [], 0])
    disk.answer()
    await first
    assert.deepEqual([await told(), await database.logEnd()], [['first'], 1])
    const second = add('second')
    await disk.asked()
    assert.deepEqual([written.length, await told(), await database.logEnd()], [1, ['first'], 1])
    disk.answer()
    await second
    assert.deepEqual(await told(), ['first', 'second'])
    await database.close()
  })

  it('is told of by nobody while it is being written', async () => {
    const { database, disk, told } = await openLog()
    const inside = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const writing = database.write(async ({ run }) => {
      await run("INSERT INTO events (app_id, name) VALUES ('app', 'first')", [])
      inside.resolve()
      await goOn.promise
    })
    await inside.promise
    assert.deepEqual([await told(), await database.logEnd()], [[], 0])
    goOn.resolve()
    await disk.asked()
    disk.answer()
    await writing
    assert.deepEqual(await told(), ['first'])
    await database.close()
  })

  it('holds up no read while the disk takes its time', async () => {
    const { database, disk, add } = await openLog()
    const adding = add('first')
    await disk.asked()
    const { rows } = await database.reader.run('SELECT count(*) AS count FROM sqlite_schema', [])
    assert.equal(rows.length, 1)
    disk.answer()
    await adding
    await database.close()
  })

  it('is in doubt where the disk fails, and after it nothing is written or told any more', async () => {
    const { database, disk, add, written, told } = await openLog()
    const first = add('first')
    await disk.asked()
    disk.answer(new Error('the disk is broken'))
    const failed = await first
    assert.ok(failed instanceof DatabaseUnavailable && failed.inDoubt, String(failed))
    const refused = await add('second')
    assert.ok(refused instanceof DatabaseUnavailable && !refused.inDoubt, String(refused))
    assert.match(refused.message, /the disk is broken/)
    await assert.rejects(database.check(), DatabaseUnavailable)
    assert.deepEqual([written, await told()], [['refused', 'refused'], []])
    await database.close()
  })
})
