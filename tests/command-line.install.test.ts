import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { UsageError } from '../server/src/cli/command.ts'
import { jobs } from '../server/src/cli/jobs.ts'
import { readConfig } from '../server/src/config.ts'
import { openSqlite } from '../server/src/storage/sqlite.ts'
import { type FreshDatabase, freshDatabase } from './support/databases.ts'
import { parley, parleyHere } from './support/parley.ts'

/**
 * The parley command: help, exit codes, JSON, and that it says clearly what is wrong. How a process comes by its words and
 * leaves its exit code is tried once for each way to end; what the words mean needs no process.
 */

const commands = [
  ...['start', 'trial', 'migrate', 'config', 'apps', 'keys', 'jobs', 'seed', 'backup', 'restore', 'trust', 'doctor'],
]

describe('the parley command', () => {
  let database: FreshDatabase
  before(async () => {
    database = await freshDatabase('sqlite')
  })
  after(() => database.drop())
  const run = (...words: string[]) => parleyHere(words, database.environment)

  it('is a process that answers or complains, and ends with a code', async () => {
    const good = await parley(['--version'], database.environment)
    assert.match(good.stdout, /^\d+\.\d+\.\d+\n$/)
    assert.deepEqual([good.code, good.stderr], [0, ''])
    const wrong = await parley(['dance'], database.environment)
    assert.match(wrong.stderr, /^parley: There is no command "dance"/)
    assert.deepEqual([wrong.code, wrong.stdout], [2, ''])
  })

  it('lists its commands, and explains each with --help', async () => {
    const overview = await run('--help')
    assert.equal(overview.code, 0)
    for (const command of commands) assert.ok(overview.stdout.includes(`  ${command}`), command)
    const helps = await Promise.all(commands.map((command) => run(command, '--help')))
    helps.forEach((help, index) => {
      assert.equal(help.code, 0)
      assert.match(help.stdout, new RegExp(`^parley ${commands[index]}`))
      assert.match(help.stdout, /--json/)
    })
  })

  it('explains the settings with start and config', async () => {
    for (const command of ['start', 'config']) assert.match((await run(command, '--help')).stdout, /PARLEY_PORT/)
  })

  it('refuses to look into a folder that holds no install, and makes none', async () => {
    const nowhere = { PARLEY_DATA: `${database.environment.PARLEY_DATA}/typo` }
    for (const words of [
      ['doctor'],
      ['backup'],
      ['apps', 'list'],
      ['jobs', 'list'],
      ['keys', 'list', '--management'],
    ]) {
      const { code, stderr } = await parleyHere(words, nowhere)
      assert.equal(code, 2, words.join(' '))
      assert.match(stderr, /no install in/)
    }
    assert.ok(!existsSync(nowhere.PARLEY_DATA))
  })

  it('refuses data under another master key, and a lost one is not replaced in silence', async () => {
    const fresh = await freshDatabase('sqlite')
    assert.equal((await parleyHere(['seed'], fresh.environment)).code, 0)
    rmSync(join(fresh.environment.PARLEY_DATA ?? '', 'master.key'))
    for (const words of [['doctor'], ['start', '--port', '0']]) {
      const { code, stderr } = await parley(words, fresh.environment)
      assert.equal(code, 2)
      assert.match(stderr, /master key/)
    }
    await fresh.drop()
  })

  it('lists and revokes management pairs', async () => {
    const pair = JSON.parse((await run('keys', 'create', '--management', '--json')).stdout)
    const keys = async () =>
      JSON.parse((await run('keys', 'list', '--management', '--json')).stdout).map(({ key }: { key: string }) => key)
    assert.ok((await keys()).includes(pair.key))
    assert.equal((await run('keys', 'revoke', '--management', '--key', pair.key)).code, 0)
    assert.ok(!(await keys()).includes(pair.key))
  })

  it('answers a wrong call with exit code 2 and a sentence', async () => {
    const wrong: [string[], RegExp][] = [
      [[], /^$/],
      [['dance'], /no command "dance"/],
      [['apps', 'create'], /--name is needed/],
      [['apps', 'destroy'], /apps create/],
      [['keys', 'create', '--app', 'x', '--name', 'y', '--scope', 'all'], /fullAccess or authOnly/],
      [['jobs'], /jobs list/],
      [['start', '--nonsense'], /nonsense/],
      [['start', '--port', 'many'], /PARLEY_PORT must be a whole number/],
      [['restore'], /--from is needed/],
      [['restore', '--from', 'nowhere.backup'], /no file/],
    ]
    for (const [words, sentence] of wrong) {
      const { code, stderr } = await run(...words)
      assert.equal(code, 2, words.join(' '))
      assert.match(stderr, sentence)
      assert.ok(!stderr.includes('    at '), 'no stack trace')
    }
  })

  it('creates and lists apps, creates, lists and revokes keys', async () => {
    const created = await run('apps', 'create', '--name', 'Shop', '--region', 'eu', '--json')
    assert.equal(created.code, 0, created.stderr)
    const app = JSON.parse(created.stdout)
    assert.equal(app.region, 'eu')
    assert.deepEqual(
      JSON.parse((await run('apps', 'list', '--json')).stdout).map(({ id, name }: { id: string; name: string }) => [
        id,
        name,
      ]),
      [[app.id, 'Shop']],
    )
    const key = JSON.parse(
      (await run('keys', 'create', '--app', app.id, '--name', 'sync', '--scope', 'fullAccess', '--json')).stdout,
    )
    assert.match(key.apiKey, /^[0-9a-f]{40}$/)
    const names = async () =>
      JSON.parse((await run('keys', 'list', '--app', app.id, '--json')).stdout).map(
        ({ name }: { name: string }) => name,
      )
    assert.ok((await names()).includes('sync'))
    const twice = await run('keys', 'create', '--app', app.id, '--name', 'sync')
    assert.equal(twice.code, 1)
    assert.equal((await run('keys', 'revoke', '--app', app.id, '--name', 'sync')).code, 0)
    assert.ok(!(await names()).includes('sync'))
    const gone = await run('keys', 'revoke', '--app', app.id, '--name', 'sync')
    assert.equal(gone.code, 1)
    assert.match(gone.stderr, /no key named "sync"/)
    assert.equal((await run('keys', 'list', '--app', 'ghost')).code, 1)
  })

  it('shows the settings with secrets starred', async () => {
    const secret = 'postgres://parley:hunter2@db.example/parley'
    const { stdout, code } = await parleyHere(['config'], { ...database.environment, PARLEY_DATABASE_URL: secret })
    assert.equal(code, 0)
    assert.ok(!stdout.includes('hunter2'))
    assert.match(stdout, /PARLEY_DATABASE_URL\s+\*\*\*\*/)
    const data = JSON.parse((await parleyHere(['config', '--json'], database.environment)).stdout)
    assert.equal(data.PARLEY_PORT, '8443')
  })

  it('migrates, and says when there is nothing to do', async () => {
    const fresh = await freshDatabase('sqlite')
    assert.match((await parleyHere(['migrate'], fresh.environment)).stdout, /Took \d+ steps/)
    assert.match((await parleyHere(['migrate'], fresh.environment)).stdout, /up to date/)
    await fresh.drop()
  })

  it('finds with doctor what does not follow from the ledger', async () => {
    const fresh = await freshDatabase('sqlite')
    const { appId } = JSON.parse((await parleyHere(['seed', '--json'], fresh.environment)).stdout)
    assert.equal((await parleyHere(['doctor'], fresh.environment)).code, 0)
    const sqlite = openSqlite(`${fresh.environment.PARLEY_DATA}/parley.sqlite`)
    await sqlite.write(async ({ run: execute }) => {
      await execute(
        `UPDATE calls SET document = replace(document, '"totalParticipants":2', '"totalParticipants":3')
         WHERE app_id = ? AND session_id = (SELECT min(session_id) FROM calls WHERE document LIKE '%"totalParticipants":2%')`,
        [appId],
      )
      await execute("UPDATE tallies SET n = n + 1 WHERE list = 'calls' AND level = 0 AND facets = '*'", [])
    })
    await sqlite.close()
    const { code, stdout } = await parleyHere(['doctor'], fresh.environment)
    assert.equal(code, 1)
    assert.match(stdout, /its document does not follow from its ledger/)
    assert.match(stdout, /there are 72 calls and lists count 73/)
    await fresh.drop()
  })

  it('lists jobs, and shows, tries again and drops those that were given up', async () => {
    const fresh = await freshDatabase('sqlite')
    const config = readConfig(fresh.environment)
    const asked = async (words: string[], flags: Record<string, string | boolean> = {}) => {
      const outcome = await jobs.run({ config, words, flags, json: false })
      assert.ok(outcome)
      return outcome
    }
    const said = async (words: string[], flags?: Record<string, string | boolean>) => (await asked(words, flags)).text
    const listed = async (flags?: Record<string, string>) => {
      const data = (await asked(['list'], flags)).data as { id: string; state: string }[]
      return data.map(({ id, state }) => `${id} is ${state}`)
    }
    assert.equal((await parleyHere(['keys', 'create', '--management'], fresh.environment)).code, 0)
    assert.match((await parleyHere(['jobs', 'list'], fresh.environment)).stdout, /nothing is left to do/)
    assert.match(await said(['list'], { state: 'dead' }), /No job has been given up/)
    assert.match(await said(['list'], { app: 'a' }), /no such jobs/)

    const sqlite = openSqlite(`${fresh.environment.PARLEY_DATA}/parley.sqlite`)
    await sqlite.write(async ({ run: execute }) => {
      const put = 'INSERT INTO jobs (app_id, name, key, payload, run_at, attempts, dead_at, last_error) VALUES'
      const late = 4_000_000_000
      await execute(
        `${put} ('a', 'mail.send', 'to b/c', '{"n":1}', 1, 5, 2, 'Error: refused'),
        ('a', 'mail.send', 'two', '{}', 1, 5, 2, 'Error: refused'), ('b', 'mail.send', 'three', '{}', 1, 5, 2, NULL),
        ('b', 'push.send', 'four', '{}', 1, 5, 2, NULL), ('b', 'push.send', 'five', '{}', ${late}, 0, NULL, NULL)`,
        [],
      )
    })
    await sqlite.close()

    assert.deepEqual(await listed({ state: 'waiting' }), ['b/push.send/five is waiting'])
    assert.deepEqual(await listed({ app: 'a', state: 'dead' }), [
      'a/mail.send/to b/c is dead',
      'a/mail.send/two is dead',
    ])
    assert.match(await said(['list']), /^a\/mail\.send\/to b\/c +dead +5x .*Error: refused/)
    assert.match(await said(['show', 'a/mail.send/to b/c']), /payload +\{"n":1\}/)

    await assert.rejects(said(['show', 'a/mail.send/none']), /There is no job a\/mail\.send\/none\./)
    for (const verb of ['retry', 'drop']) {
      await assert.rejects(said([verb, 'b/push.send/five']), /has not been given up/)
    }

    assert.match(await said(['retry', 'a/mail.send/to b/c']), /is tried again/)
    assert.deepEqual(await listed({ state: 'due' }), ['a/mail.send/to b/c is due'])
    assert.match(await said(['drop'], { all: true, name: 'mail.send', app: 'a' }), /1 job is dropped/)
    assert.match(await said(['drop', 'b/push.send/four']), /is dropped/)
    assert.match(await said(['retry'], { all: true }), /1 job is tried again/)
    assert.match(await said(['retry'], { all: true, name: 'mail.send' }), /nothing to try again/)
    assert.deepEqual((await listed()).toSorted(), [
      ...['a/mail.send/to b/c is due', 'b/mail.send/three is due', 'b/push.send/five is waiting'],
    ])

    const wrong: [string[], Record<string, string | boolean>, RegExp][] = [
      [['list'], { state: 'lost' }, /--state is one of waiting, due, running, dead/],
      [['retry'], {}, /APP\/NAME\/KEY/],
      [['show', 'nonsense'], {}, /"nonsense" names no job/],
      [['drop'], { all: true }, /--name is needed/],
      [['retry', 'a/b/c'], { all: true }, /not both/],
      [['retry'], { all: true, state: 'due' }, /leave --state out/],
    ]
    for (const [words, flags, sentence] of wrong) {
      await assert.rejects(
        said(words, flags),
        (error: Error) => error instanceof UsageError && sentence.test(error.message),
      )
    }
    await fresh.drop()
  })

  it('says which port is taken and how to choose another', async () => {
    const { createServer } = await import('node:net')
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as { port: number }
    const { code, stderr } = await parley(['start', '--port', String(port)], database.environment)
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`Port ${port} is in use.*PARLEY_PORT`))
    other.close()
  })
})
