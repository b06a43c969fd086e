import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readersOf } from '../../../tests/support/long-reads.ts'
import { canBeAsked, environmentOf } from '../../../tests/support/processes.ts'
import { until } from '../../../tests/support/until.ts'
import { openFile } from './sqlite-file.ts'
import { createReaders, type Readers } from './sqlite-readers.ts'

const endless = 'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c'
const short = 'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 20000) SELECT count(*) AS n FROM c'
const never = new AbortController().signal

describe('readers of SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  const file = join(folder, 'test.sqlite')
  let readers: Readers
  let rests = 0
  before(() => {
    const writer = openFile(file)
    writer.exec('CREATE TABLE things (id integer PRIMARY KEY, text text)')
    const add = writer.prepare('INSERT INTO things (text) VALUES (?)')
    for (let n = 0; n < 500; n += 1) add.run('x'.repeat(n * 10))
    writer.close()
    const whenAtRest = () => {
      rests += 1
    }
    readers = createReaders(file, { whenAtRest, busyMilliseconds: 100 })
  })
  after(async () => {
    await readers.close()
    rmSync(folder, { recursive: true })
  })

  it('answer in the order in which they are asked, however much there is to say', async () => {
    const answers = await readers.lend(
      (run) => Promise.all([run('SELECT * FROM things ORDER BY id', []), run('SELECT ? AS one', [1])]),
      never,
    )
    const [things, one] = answers.map(({ rows }) => rows)
    assert.equal(things?.length, 500)
    assert.deepEqual(things?.at(-1), { id: 500, text: 'x'.repeat(4_990) })
    assert.deepEqual(one, [{ one: 1 }])
  })

  it('fail a statement that fails, and go on', async () => {
    await readers.lend(async (run) => {
      await assert.rejects(async () => run('SELECT nonsense', []), /no such column/)
      await assert.rejects(async () => run('DELETE FROM things', []), /readonly|read-only/)
      assert.deepEqual((await run('SELECT 1 AS one', [])).rows, [{ one: 1 }])
    }, never)
  })

  it('know nothing of the environment of the server but where compiled code is kept', async (test) => {
    if (!canBeAsked) return test.skip('only Linux tells the environment of a process')
    await readers.lend(async (run) => {
      await run('SELECT 1', [])
      const [reader = 0] = readersOf()
      const names = environmentOf(reader).map((entry) => entry.split('=')[0] ?? '')
      assert.deepEqual(
        names.filter((name) => !/^(NODE_CHANNEL_\w+|NODE_COMPILE_CACHE)$/.test(name)),
        [],
      )
    }, never)
  })

  it('are ended in the midst of a statement when the signal is given, with its reason', async () => {
    const ending = new AbortController()
    const reading = readers.lend((run) => Promise.resolve(run(endless, [])), ending.signal)
    ending.abort(new Error('Enough.'))
    await assert.rejects(reading, /Enough/)
    assert.deepEqual((await readers.lend(async (run) => run('SELECT 1 AS one', []), never)).rows, [{ one: 1 }])
  })

  it('all rest from time to time, however many want to read one after the other', async () => {
    const readOn = async (until: () => boolean) => {
      while (!until()) await readers.lend(async (run) => run(short, []), never)
    }
    const before = rests
    await Promise.all([1, 2, 3].map(() => readOn(() => rests >= before + 3)))
    assert.ok(rests >= before + 3)
  })

  it('go on after a rest in which nothing could be done, such as on a full disk', async () => {
    const fails = () => {
      failures += 1
      throw new Error('database or disk is full')
    }
    let failures = 0
    const unlucky = createReaders(file, { whenAtRest: fails, busyMilliseconds: 1 })
    const readOn = async () => {
      while (failures < 3) await unlucky.lend(async (run) => run(short, []), never)
    }
    try {
      await Promise.all([1, 2, 3].map(readOn))
    } finally {
      await unlucky.close()
    }
  })

  it('have ended when they are closed, also where nothing else keeps the process', async () => {
    const server = serverOver(
      file,
      `const waits = setInterval(() => {}, 1000)
      await readers.lend(async (run) => run('SELECT 1', []), new AbortController().signal)
      clearInterval(waits)
      await readers.close()`,
    )
    const [code] = await once(server, 'exit')
    assert.equal(code, 0)
  })

  it('end with a server that is killed, also in the midst of a statement', async () => {
    const server = serverOver(
      file,
      `
      setInterval(() => {}, 1000)
      await readers.lend(async (run) => {
        await run('SELECT 1', [])
        console.log('reading')
        await run(${JSON.stringify(endless)}, [])
      }, new AbortController().signal)`,
    )
    await once(server.stdout, 'data')
    const [reader] = readersOf(server.pid)
    assert.ok(reader)
    server.kill('SIGKILL')
    await once(server, 'exit')
    await until('the reader has ended', () => !isRunning(reader))
  })
})

/** A process with readers of its own, and nothing else that keeps it from ending. */
function serverOver(file: string, work: string) {
  const program = `import { createReaders } from ${JSON.stringify(new URL('sqlite-readers.ts', import.meta.url).href)}
    const readers = createReaders(${JSON.stringify(file)}, { whenAtRest() {} })
    ${work}`
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
