import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { randomFrom, seedFrom } from '../../../tests/support/random.ts'
import type { Connection, RunStatement } from './connection.ts'
import type { Database } from './database.ts'
import { openSqlite, sqliteFile } from './sqlite.ts'
import { openFile, statementsOn } from './sqlite-file.ts'
import { createMemory } from './sqlite-memory.ts'

const folders: string[] = []
const opened: Database[] = []
after(async () => {
  for (const database of opened) await database.close()
  for (const folder of folders) rmSync(folder, { recursive: true })
})

function open(file: string): Database {
  const database = openSqlite(file)
  opened.push(database)
  return database
}

/** Users with roles. Every change writes a number of its own, so whatever is read tells when it was written. */
async function openRoles() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-memory-'))
  folders.push(folder)
  const file = join(folder, sqliteFile)
  const database = open(file)
  await database.write(async ({ run }) => {
    await run('CREATE TABLE people (uid text PRIMARY KEY, role text, written integer)', [])
    await run('CREATE TABLE permissions (role text PRIMARY KEY, value integer)', [])
    for (const uid of uids) await run('INSERT INTO people VALUES (?, ?, 0)', [uid, 'r0'])
    for (const role of roles) await run('INSERT INTO permissions VALUES (?, 0)', [role])
  })
  return { database, file }
}

const uids = ['ann', 'bob', 'cem']
const roles = ['r0', 'r1', 'r2']
const mayOf = `SELECT people.role, people.written, permissions.value FROM people
  JOIN permissions ON permissions.role = people.role WHERE people.uid = ?`

const read = async ({ run }: Connection, uid: string) => (await run(mayOf, [uid])).rows
const recalled = async ({ recall }: Connection, uid: string) => (await recall?.(mayOf, [uid]))?.rows

describe('what the embedded database remembers', () => {
  it('is what it would read, while many write and some of it is undone', async () => {
    const { database } = await openRoles()
    const seed = seedFrom('PARLEY_TEST_SEED')
    const { chance, pick } = randomFrom(seed)
    let values = 0
    const next = () => {
      values += 1
      return values
    }
    let found = 0
    let undone = 0

    async function write(): Promise<void> {
      const change = async (connection: Connection) => {
        for (let n = 0; n < 3; n += 1) {
          const uid = pick(uids)
          assert.deepEqual(await recalled(connection, uid), await read(connection, uid), `seed ${seed}`)
          if (chance(0.5)) {
            const givesRole = 'UPDATE people SET role = ?, written = ? WHERE uid = ?'
            await connection.run(givesRole, [pick(roles), next(), uid])
          } else await connection.run('UPDATE permissions SET value = ? WHERE role = ?', [next(), pick(roles)])
          assert.deepEqual(await recalled(connection, uid), await read(connection, uid), `seed ${seed}`)
        }
        if (chance(0.3)) throw new Error('undone')
      }
      await database.write(change).catch(({ message }: Error) => {
        assert.equal(message, 'undone')
        undone += 1
      })
    }

    async function look(): Promise<void> {
      const uid = pick(uids)
      const before = await read(database.reader, uid)
      const remembered = await recalled(database.reader, uid)
      const behind = await read(database.reader, uid)
      // Where nothing was written meanwhile it must be the same.
      if (JSON.stringify(before) !== JSON.stringify(behind)) return
      found += 1
      assert.deepEqual(remembered, before, `seed ${seed}`)
    }

    for (let round = 0; round < 60; round += 1) {
      await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 4 === 0 ? write() : look())))
    }
    assert.ok(found > 300 && undone > 30, `${found} looks, ${undone} undone`)
  })

  it('is what another process has written, when anything is heard next and in the next transaction', async () => {
    const { database, file } = await openRoles()
    const other = open(file)
    for (let value = 1; value <= 20; value += 1) {
      assert.ok(await recalled(database.reader, 'ann'))
      await other.write(({ run }) => Promise.resolve(run('UPDATE permissions SET value = ?', [value])))
      if (value % 2 === 0) await nextTurn()
      const seen =
        value % 2 === 0
          ? await recalled(database.reader, 'ann')
          : await database.write((connection) => recalled(connection, 'ann'))
      assert.deepEqual(seen, [{ role: 'r0', written: 0, value }])
    }
  })

  it('is what another process has written by the time that anything is heard of it', async () => {
    const { database, file } = await openRoles()
    const other = openFile(file)
    await nextTurn()
    // It is heard before the turn of the event loop is over that begins here.
    const heard = stat(file)
    assert.deepEqual(await recalled(database.reader, 'ann'), [{ role: 'r0', written: 0, value: 0 }])
    other.exec('UPDATE permissions SET value = 1')
    other.close()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    await heard
    assert.deepEqual(await recalled(database.reader, 'ann'), [{ role: 'r0', written: 0, value: 1 }])
  })

  it('is what a trigger has changed that was made after the statement was prepared', async () => {
    const { database, file } = await openRoles()
    const valueOfRole = 'SELECT value FROM permissions WHERE role = ?'
    const touch = () => database.write(async ({ run }) => void (await run('UPDATE people SET role = role', [])))
    await touch()
    const other = openFile(file)
    other.exec('CREATE TRIGGER counts AFTER UPDATE ON people BEGIN UPDATE permissions SET value = value + 1; END')
    other.close()
    for (let times = 0; times < 3; times += 1) {
      const seen = await database.reader.recall?.(valueOfRole, ['r0'])
      assert.deepEqual(seen?.rows, [{ value: times * uids.length }])
      await touch()
    }
  })

  it('is read once, and cannot be changed', async () => {
    const { database } = await openRoles()
    const [first] = [await recalled(database.reader, 'ann')]
    assert.equal(await recalled(database.reader, 'ann'), first)
    assert.throws(() => first?.push({}), TypeError)
    assert.throws(() => Object.assign(first?.[0] as object, { value: 9 }), TypeError)
    await database.write(({ run }) => Promise.resolve(run('UPDATE people SET role = role WHERE 1 = 0', [])))
    assert.notEqual(await recalled(database.reader, 'ann'), first)
  })

  it('is told apart by parameters of every kind', async () => {
    const { database } = await openRoles()
    const kindOf = 'SELECT typeof(?1) AS kind, hex(?1) AS value, (SELECT count(*) FROM people) AS n'
    const answers = async (ask: RunStatement | undefined, value: unknown) => {
      try {
        return (await ask?.(kindOf, [value]))?.rows
      } catch {
        return 'refused'
      }
    }
    const texts = ['', '1', 'null', '"1"', '\ud800', '\\ud800', new Date(0).toISOString()]
    const others = [1, 1n, true, null, undefined, Number.NaN, Infinity, -Infinity, new Date(0), Buffer.from('1')]
    for (const value of [...others, ...texts, ...others]) {
      const { run, recall } = database.reader
      assert.deepEqual(await answers(recall, value), await answers(run, value), String(value))
    }
  })

  it('is bounded, and nothing large is part of it', () => {
    const memory = createMemory()
    const outcomeOf = (text: string) => ({ rows: [{ text }], changes: 0 })
    const isKept = (n: number) => memory.recall('SELECT', [n], 0) !== undefined
    for (let n = 0; n < 4_001; n += 1) memory.keep('SELECT', [n], 0, outcomeOf('small'))
    assert.deepEqual([isKept(0), isKept(400), isKept(401), isKept(4_000)], [false, false, true, true])
    memory.keep('SELECT', [-1], 0, outcomeOf('x'.repeat(20_000)))
    assert.equal(isKept(-1), false)
    for (let n = 0; n < 300; n += 1) memory.keep('SELECT', [-2 - n], 0, outcomeOf('x'.repeat(19_000)))
    assert.deepEqual([isKept(4_000), isKept(-2), isKept(-301)], [false, false, true])
  })

  it('knows by the database which tables a statement touches, triggers included', () => {
    const database = openFile(':memory:')
    database.exec(`CREATE TABLE one (a); CREATE TABLE two (a); CREATE TABLE three (a);
      CREATE TRIGGER follows AFTER INSERT ON one BEGIN INSERT INTO two VALUES (new.a); END`)
    const { reads, writes } = statementsOn(database)
    assert.deepEqual(writes('INSERT INTO one VALUES (1)'), ['one', 'two'])
    assert.deepEqual(writes('WITH some AS (SELECT a FROM three) DELETE FROM two WHERE a IN some'), ['two'])
    assert.deepEqual(reads('SELECT (SELECT count(*) FROM three) FROM one').toSorted(), ['one', 'three'])
    database.close()
  })

  it('knows also the tables that it is not asked for leave to read', () => {
    const database = openFile(':memory:')
    database.exec(`CREATE TABLE one (a, b); CREATE TABLE two (a PRIMARY KEY) WITHOUT ROWID; CREATE INDEX by_a ON one (a);
      CREATE VIEW both AS SELECT one.b FROM one JOIN two USING (a)`)
    const { reads } = statementsOn(database)
    assert.deepEqual(reads('SELECT 1 FROM one NATURAL JOIN two').toSorted(), ['one', 'two'])
    assert.deepEqual(reads('SELECT one.b FROM one JOIN two USING (a) WHERE b = ?').toSorted(), ['one', 'two'])
    assert.deepEqual(reads('SELECT count(*) FROM both').toSorted(), ['one', 'two'])
    database.close()
  })
})
