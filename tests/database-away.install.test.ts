import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { pino } from 'pino'
import { makePostgres, runAt } from '../scripts/postgres.ts'
import { freePort } from '../scripts/processes.ts'
import { readConfig } from '../server/src/config.ts'
import { startService } from '../server/src/service.ts'
import { databases, freshDatabase } from './support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import type { Answer } from './support/http.ts'
import { parley } from './support/parley.ts'
import { install } from './support/server-process.ts'
import { appWith, as } from './support/talk.ts'
import { until } from './support/until.ts'
import { form, formType, stream } from './support/uploads.ts'
import { type Wiretap, wiretap } from './support/wiretap.ts'

/** A database that is there and cannot be used, or is not there when the server starts. */

const skip = !databases.includes('postgres') && 'PostgreSQL is not there'

describe('a database that takes no writes', { skip }, () => {
  let h: House
  let app: AppClient
  let url: string

  before(async () => {
    h = await house({ database: 'postgres' })
    app = await h.app('full')
    url = h.service.house.config.databaseUrl?.reveal() ?? ''
  })
  after(() => h.close())

  const readiness = async () => (await h.client.send('localhost', '/readyz')).status
  const addUser = (uid: string) => app.post('/users', { uid, name: uid })

  async function refusesWritesClearly(): Promise<void> {
    const refused = await addUser('zoe')
    assertFails(refused, 503, 'ERR_SERVICE_UNAVAILABLE')
    assert.equal(refused.headers['retry-after'], String(refused.body.error.details.retryAfter))
    assert.match(refused.body.error.devMessage, /nothing was changed/)
    assert.doesNotMatch(refused.text, /stack|at .*\.ts|SELECT|INSERT/)
    assertSucceeds(await app.get('/users'))
    assert.equal(await readiness(), 503)
  }

  async function takesWritesAgain(uid: string): Promise<void> {
    await until('it takes writes again', async () => (await addUser(uid)).status === 200)
    await until('it is ready again', async () => (await readiness()) === 200)
    assertFails(await app.get('/users/zoe'), 404, 'ERR_UID_NOT_FOUND')
  }

  it('because its disk is full refuses them, is not ready, and goes on by itself when there is room', async () => {
    await runAt(
      url,
      `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`,
    )
    await runAt(url, 'CREATE TRIGGER no_room BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION no_room()')
    await refusesWritesClearly()
    await runAt(url, 'DROP TRIGGER no_room ON users')
    await takesWritesAgain('room')
  })

  it('because it is read-only refuses them, is not ready, and goes on by itself when it is not', async () => {
    const { pathname } = new URL(url)
    const name = pathname.slice(1)
    await runAt(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    await runAt(
      url,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid != pg_backend_pid()',
      [name],
    )
    await refusesWritesClearly()
    // The setting that is taken back holds for the connection that takes it back, too.
    await runAt(`${url}?options=-c%20default_transaction_read_only=off`, `ALTER DATABASE ${name} RESET ALL`)
    await takesWritesAgain('writable')
  })
})

describe('a commit that got no answer', { skip }, () => {
  let h: House
  let app: AppClient
  let tap: Wiretap
  let drop: () => Promise<void>

  before(async () => {
    const fresh = await freshDatabase('postgres')
    drop = fresh.drop
    tap = await wiretap(fresh.environment.PARLEY_DATABASE_URL ?? '')
    // Without workers, whose commits would come in between.
    const environment = { ...fresh.environment, PARLEY_DATABASE_URL: tap.url, PARLEY_ROLES: 'api' }
    h = await house({ database: 'sqlite', environment })
    app = await appWith(h, 'ada', 'lin')
  })
  after(async () => {
    await h.close()
    tap.close()
    await drop()
  })

  async function inDoubt(sending: Promise<Answer>): Promise<void> {
    const answer = await sending
    assertFails(answer, 503, 'ERR_SERVICE_UNAVAILABLE')
    assert.match(answer.body.error.devMessage, /wholly or not at all/)
  }

  it('is answered as in doubt, and sent again with its Idempotency-Key it happens once', async () => {
    const add = () => app.post('/apikeys', { name: 'doubtful' }, { 'Idempotency-Key': 'doubtful' })
    tap.cutOffAfter('COMMIT')
    await inDoubt(add())
    const { data } = assertSucceeds(await add())
    const { data: keys } = assertSucceeds(await app.get('/apikeys?searchKey=doubtful'))
    assert.deepEqual(
      keys.map(({ apiKey }: { apiKey: string }) => apiKey),
      [data.apiKey],
    )
  })

  it('costs a message none of its files', async () => {
    const parts = { receiver: 'ada', receiverType: 'user', type: 'file' }
    const fields = Object.entries(parts).map(([field, content]) => ({ field, content }))
    const raw = form(...fields, { field: 'files[]', content: 'rows of oak', filename: 'plan.txt', type: 'text/plain' })
    tap.cutOffAfter('insert into "messages"', 'COMMIT')
    await inDoubt(app.send('/messages', { method: 'POST', raw, headers: { ...as('lin'), 'content-type': formType } }))
    const { data: messages } = assertSucceeds(await app.get('/users/lin/messages', as('ada')))
    assert.equal(messages.length, 1)
    await h.settle()
    const { status, bytes } = await stream(h, messages[0].data.attachments[0].url)
    assert.deepEqual([status, bytes.toString()], [200, 'rows of oak'])
  })
})

describe('a server whose database is away when it starts', { skip }, () => {
  const secret = 'not-to-be-told'

  it('waits for it', async () => {
    const postgres = await makePostgres({ isDurable: false })
    await postgres.start()
    const site = await install('postgres', {}, postgres.url)
    await postgres.stop()
    const nobody = createServer((socket) => socket.destroy()).listen(Number(new URL(postgres.url).port), '127.0.0.1')
    await once(nobody, 'listening')
    const starting = site.start()
    // It finds that there is no database, and tries again.
    for (let tries = 0; tries < 2; tries += 1) await Promise.race([once(nobody, 'connection'), starting])
    nobody.close()
    await once(nobody, 'close')
    await postgres.start()
    const server = await starting
    assert.equal((await server.client.send('localhost', '/readyz')).status, 200)
    await site.remove()
    await postgres.remove()
  })

  it('gives up after a while, in a sentence that names the setting and no password', async () => {
    const { environment, drop } = await freshDatabase('sqlite')
    const address = `postgres://parley:${secret}@127.0.0.1:${await freePort()}/chat`
    const settings = { ...environment, PARLEY_DATABASE_URL: address, PARLEY_MASTER_KEY: 'ab'.repeat(32) }
    const config = readConfig({ ...settings, PARLEY_PORT: '0' })
    const starting = startService(config, pino({ level: 'silent' }), { databasePatienceSeconds: 1 })
    const told = await starting.then(
      () => '',
      (error) => String(error),
    )
    assert.match(told, /PARLEY_DATABASE_URL.*postgres:\/\/parley@127\.0\.0\.1:\d+\/chat.*ECONNREFUSED/)
    assert.ok(!told.includes(secret))

    const { code, stderr } = await parley(['apps', 'list'], settings)
    assert.equal(code, 1)
    assert.match(stderr, /^parley: The database that PARLEY_DATABASE_URL names.*ECONNREFUSED.*\n$/)
    assert.ok(!stderr.includes(secret))
    await drop()
  })

  it('does not wait for one that knows no such name', async () => {
    const { environment, drop } = await freshDatabase('postgres')
    const config = readConfig({
      ...environment,
      PARLEY_DATABASE_URL: `${environment.PARLEY_DATABASE_URL}_elsewhere`,
      PARLEY_PORT: '0',
    })
    const patience = { databasePatienceSeconds: Number.POSITIVE_INFINITY }
    const starting = startService(config, pino({ level: 'silent' }), patience)
    await assert.rejects(starting, /PARLEY_DATABASE_URL.*does not exist/)
    await drop()
  })
})
