import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { runAt } from '../../../scripts/postgres.ts'
import { databases, type FreshDatabase, freshDatabase } from '../../../tests/support/databases.ts'
import { until } from '../../../tests/support/until.ts'
import { wiretap } from '../../../tests/support/wiretap.ts'
import type { RunStatement } from './connection.ts'
import type { Hint } from './hints.ts'
import { openPool, type Pool, planEachTime } from './postgres-pool.ts'
import { connectNodes } from './postgres-wake.ts'
import { DatabaseUnavailable, watchTrouble } from './unavailable.ts'

const skip = !databases.includes('postgres') && 'PostgreSQL is not there'

describe('a pool of connections to PostgreSQL', { skip }, () => {
  let fresh: FreshDatabase
  let url: string
  const opened: Pool[] = []
  const told: string[] = []
  const trouble = watchTrouble({ begins: (reason) => told.push(reason), isOver() {} })

  function open(address = url, connectionsMax = 2): Pool {
    const pool = openPool(address, { name: 'parley test', connectionsMax, statementMilliseconds: 20_000, trouble })
    opened.push(pool)
    return pool
  }

  before(async () => {
    fresh = await freshDatabase('postgres')
    url = fresh.environment.PARLEY_DATABASE_URL ?? ''
    await runAt(url, 'CREATE TABLE notes (note text NOT NULL)')
  })
  beforeEach(async () => void (await runAt(url, 'TRUNCATE notes')))
  after(async () => {
    await Promise.all(opened.map((pool) => pool.close()))
    await fresh?.drop()
  })

  const write = (run: RunStatement, note: string) => run('INSERT INTO notes VALUES ($1)', [note])
  const notes = async () => (await runAt<{ note: string }>(url, 'SELECT note FROM notes')).map(({ note }) => note)

  /** Ends the connection that somebody works on, as a failover or an administrator does, and waits until it is gone. */
  async function end(run: RunStatement): Promise<void> {
    const { rows } = await run('SELECT pg_backend_pid() AS pid', [])
    await endBackend((rows as { pid: number }[])[0]?.pid)
  }
  async function endBackend(pid: number | undefined): Promise<void> {
    await runAt(url, 'SELECT pg_terminate_backend($1)', [pid])
    await until('it is gone', async () => {
      const left = await runAt(url, 'SELECT pid FROM pg_stat_activity WHERE pid = $1', [pid])
      return left.length === 0
    })
  }

  it('refuses every statement of a transaction whose connection is gone, and runs none of them elsewhere', async () => {
    const pool = open()
    const refusals: unknown[] = []
    let attempts = 0
    await pool.write(async (run) => {
      attempts += 1
      await write(run, `attempt ${attempts}`)
      if (attempts > 1) return
      await end(run)
      for (let n = 0; n < 3; n += 1) {
        await Promise.resolve(write(run, `after the end ${n}`)).catch((error) => refusals.push(error))
      }
      // Whoever overlooks all of that is not believed: there is nothing left to commit.
    })
    assert.deepEqual(
      refusals.map((error) => error instanceof DatabaseUnavailable && error.inDoubt),
      [false, false, false],
    )
    assert.deepEqual([attempts, await notes()], [2, ['attempt 2']])
  })

  it('refuses statements that come after their transaction, so that they cannot end up in another', async () => {
    const pool = open(url, 1)
    let kept: RunStatement | undefined
    await pool.write(async (run) => {
      kept = run
      await write(run, 'in time')
    })
    await assert.rejects(async () => write(kept as RunStatement, 'too late'), /over/)
    const failed = new Error('changed their mind')
    await assert.rejects(
      pool.write(async (run) => {
        kept = run
        throw failed
      }),
      failed,
    )
    await pool.write(async (run) => {
      await assert.rejects(async () => write(kept as RunStatement, 'too late'), /over/)
      await write(run, 'another')
    })
    assert.deepEqual(await notes(), ['in time', 'another'])
  })

  it('does not run a transaction again whose commit was sent: it may have happened', async () => {
    const tap = await wiretap(url)
    const pool = open(tap.url)
    let attempts = 0
    const writing = pool.write(async (run) => {
      attempts += 1
      await write(run, 'committed')
      tap.cutOffAfter('COMMIT')
    })
    await assert.rejects(writing, (error) => error instanceof DatabaseUnavailable && error.inDoubt)
    await until('it is committed', async () => (await notes()).length > 0)
    assert.deepEqual([attempts, await notes()], [1, ['committed']])
    tap.close()
  })

  it('does not claim that a commit happened that may have been cut short', async () => {
    await runAt(
      url,
      `CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_sleep(10); RETURN NULL; END $$`,
    )
    await runAt(
      url,
      `CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION dawdle()`,
    )
    const pool = open()
    let attempts = 0
    let pid: number | undefined
    const writing = pool.write(async (run) => {
      attempts += 1
      await write(run, 'never committed')
      const { rows } = await run('SELECT pg_backend_pid() AS pid', [])
      pid = (rows as { pid: number }[])[0]?.pid
    })
    writing.catch(() => {})
    await until('the commit is under way', async () => {
      const [row] = await runAt<{ query: string }>(url, 'SELECT query FROM pg_stat_activity WHERE pid = $1', [pid])
      return row?.query === 'COMMIT'
    })
    await endBackend(pid)
    await assert.rejects(writing, (error) => error instanceof DatabaseUnavailable && error.inDoubt)
    await runAt(url, 'DROP TRIGGER slow_commit ON notes')
    assert.deepEqual([attempts, await notes()], [1, []])
  })

  it('does not take a commit for one in which a failed statement was overlooked', async () => {
    const writing = open().write(async (run) => {
      await write(run, 'before')
      await assert.rejects(async () => run('SELECT 1 / 0', []))
    })
    await assert.rejects(writing, /nothing to commit/)
    assert.deepEqual(await notes(), [])
  })

  it('gives up on a database that says nothing, and goes on when it speaks again', async () => {
    const tap = await wiretap(url)
    const pool = open(tap.url)
    await pool.write((run) => Promise.resolve(write(run, 'before')))
    tap.goSilent()
    const startedAt = performance.now()
    await assert.rejects(
      pool.write((run) => Promise.resolve(write(run, 'into the silence'))),
      (error) => error instanceof DatabaseUnavailable && !error.inDoubt,
    )
    assert.ok(performance.now() - startedAt < 15_000, 'somebody would have waited')
    tap.recover()
    await pool.write((run) => Promise.resolve(write(run, 'after')))
    assert.deepEqual(await notes(), ['before', 'after'])
    tap.close()
  })

  it('lets nobody wait for a connection for long', async () => {
    const pool = open(url, 1)
    await pool.write(async (run) => {
      await assert.rejects(async () => pool.read('SELECT 1', []), /all 1 connections are in use/)
      await write(run, 'unhurried')
    })
    assert.deepEqual(await notes(), ['unhurried'])
  })

  it('answers what was read from an unchanging view, even if the connection is lost in the end', async () => {
    const pool = open()
    await pool.write((run) => Promise.resolve(write(run, 'seen')))
    let attempts = 0
    const seen = await pool.snapshot(async (run) => {
      attempts += 1
      const { rows } = await run('SELECT note FROM notes', [])
      await end(run)
      return rows
    })
    assert.deepEqual([attempts, seen], [1, [{ note: 'seen' }]])
    const cutShort = pool.snapshot(async (run) => {
      attempts += 1
      await end(run)
      await run('SELECT note FROM notes', [])
    })
    await assert.rejects(cutShort, (error) => error instanceof DatabaseUnavailable && !error.inDoubt)
    assert.equal(attempts, 2)
  })

  it('reads once more when a connection is lost', async () => {
    const pool = open(url, 1)
    const { rows } = await pool.read('SELECT pg_backend_pid() AS pid', [])
    const [{ pid }] = rows as [{ pid: number }]
    const reading = pool.read('SELECT pg_sleep(0.5), 7 AS seven', [])
    await until('it is reading', async () => {
      const [row] = await runAt<{ query: string }>(url, 'SELECT query FROM pg_stat_activity WHERE pid = $1', [pid])
      return /pg_sleep/.test(row?.query ?? '')
    })
    await endBackend(pid)
    assert.equal(((await reading).rows as { seven: number }[])[0]?.seven, 7)
  })

  it('leaves a server that has become read-only for whoever takes writes now', async () => {
    const pool = open()
    // As a primary that was demoted: it still answers on the connections that it has.
    await pool.write(async (run) => void (await run('SET SESSION default_transaction_read_only = on', [])))
    await pool.write((run) => Promise.resolve(write(run, 'written all the same')))
    assert.deepEqual(await notes(), ['written all the same'])
  })

  it('survives migrations by others: statements that no longer fit are prepared anew', async () => {
    const pool = open(url, 3)
    await runAt(url, 'CREATE TABLE grown (a text)')
    const select = 'SELECT * FROM grown'
    // On every connection of the pool.
    await pool.write(async (one) => {
      await one(select, [])
      await pool.write(async (two) => void (await two(select, [])))
      await pool.read(select, [])
    })
    await runAt(url, 'ALTER TABLE grown ADD COLUMN b text')
    await pool.write(async (run) => void (await run(select, [])))
    await pool.read(select, [])
    await pool.write(async (run) => void (await run(select, [])))
  })

  it('keeps each statement under one name, a bounded number of them, and plans anew where it is told to', async () => {
    const pool = open(url, 1)
    const kept = async () =>
      (await pool.read('SELECT statement FROM pg_prepared_statements', [])).rows.map(
        (row) => (row as { statement: string }).statement,
      )
    for (let n = 0; n < 3; n += 1) {
      await pool.read('SELECT $1::bigint AS n', [n])
      await pool.read(`${planEachTime}SELECT $1::bigint AS n`, [n])
    }
    assert.deepEqual(
      (await kept()).filter((text) => text.includes('AS n')),
      ['SELECT $1::bigint AS n'],
    )
    let most = 0
    for (let n = 0; n < 1_500; n += 1) {
      await pool.read(`SELECT ${n}`, [])
      if (n % 250 === 249) most = Math.max(most, (await kept()).length)
    }
    assert.ok(most > 200 && most <= 1_000, `${most} statements are kept`)
  })

  it('answers counts, sums and large integers as numbers', async () => {
    const { rows } = await open().read('SELECT count(*) AS n, sum(9007199254740991::bigint) AS s, 12::bigint AS i', [])
    assert.deepEqual(rows, [{ n: 1, s: Number.MAX_SAFE_INTEGER, i: 12 }])
  })

  it('has its settings on every connection', async () => {
    const { rows } = await open().read(
      `SELECT current_setting('statement_timeout') AS a, current_setting('idle_in_transaction_session_timeout') AS b,
       current_setting('enable_seqscan') AS c, current_setting('jit') AS d, current_setting('application_name') AS e`,
      [],
    )
    assert.deepEqual(rows, [{ a: '20s', b: '20s', c: 'off', d: 'off', e: 'parley test' }])
  })

  it('tells of trouble once, not for everyone who meets it', async () => {
    told.splice(0)
    const nowhere = 'postgres://parley@127.0.0.1:1/parley'
    const quiet = openPool(nowhere, {
      name: 'parley test',
      connectionsMax: 2,
      statementMilliseconds: 1_000,
      trouble: watchTrouble({ begins: (reason) => told.push(reason), isOver() {} }),
    })
    for (let n = 0; n < 5; n += 1) await assert.rejects(async () => quiet.read('SELECT 1', []), DatabaseUnavailable)
    assert.equal(told.length, 1)
    assert.match(told[0] ?? '', /ECONNREFUSED/)
    await quiet.close()
  })

  it('is listened to again after the listening connection was lost', async () => {
    const pool = open()
    const heard: Hint[] = []
    const one = connectNodes(url, pool.read, (hints) => heard.push(...hints))
    const other = connectNodes(url, pool.read, () => {})
    one.listen()
    const isHeard = () => {
      if (heard.length > 0 && heard.every((hint) => hint === 'jobs')) return true
      heard.length = 0
      other.tell(['jobs'])
      return false
    }
    await until('it is heard', isHeard)
    const [listener] = await runAt<{ pid: number }>(
      url,
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%listening%'",
    )
    await endBackend(listener?.pid)
    heard.length = 0
    await until('it is heard again', isHeard)
    for (const node of [one, other]) await node.stop()
  })
})
