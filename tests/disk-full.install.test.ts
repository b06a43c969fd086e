import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { logLines } from '../server/src/http/log-lines.ts'
import { databases } from './support/databases.ts'
import { type Device, logIn, socketAt } from './support/device.ts'
import { assertFails, assertSucceeds } from './support/house.ts'
import { type AppOnDisk, type Install, install, type ServerProcess } from './support/server-process.ts'
import { as } from './support/talk.ts'
import { until } from './support/until.ts'
import { form, formType } from './support/uploads.ts'

/** A disk that is full is said to be so, loses nothing, and is forgotten once there is room again. */

const megabyte = 1_000_000
const mounted: string[] = []

/** A file system of its own, of so many megabytes, in memory; false where nobody lets us. */
function mount(folder: string, megabytes: number): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder]
  const { status } = spawnSync('mount', options)
  if (status === 0) mounted.push(folder)
  return status === 0
}

/** Writes until there is no room; answers how to make room again. */
function fill(folder: string): () => void {
  const file = join(folder, 'filler')
  const descriptor = openSync(file, 'w')
  for (let size = megabyte; size > 0; ) {
    try {
      writeSync(descriptor, Buffer.alloc(size))
    } catch {
      size = Math.floor(size / 4)
    }
  }
  closeSync(descriptor)
  return () => rmSync(file)
}

const home = mkdtempSync(join(tmpdir(), 'parley-full-'))
const canMount = mount(join(home, 'try'), 1)
const skip = !canMount && 'a file system can be mounted by root only'
after(() => {
  for (const folder of mounted.toReversed()) spawnSync('umount', ['-l', folder])
  rmSync(home, { recursive: true, force: true })
})

async function readiness(server: ServerProcess): Promise<string> {
  const { status, body } = await server.client.send('localhost', '/readyz')
  return `${status} ${body.reasons.join()}`
}

describe('a full disk', { skip }, () => {
  let site: Install
  let app: AppOnDisk
  let server: ServerProcess
  const data = join(home, 'data')
  before(async () => {
    mount(data, 64)
    site = await install('sqlite', { PARLEY_DATA: data })
    app = await site.createApp('full')
    server = await site.start()
  })
  after(() => site.remove())

  it('is told by /readyz and by every write, leaves nothing half done, and is over when there is room', async () => {
    const caller = app.at(server)
    const kept: string[] = []
    let number = 0
    const create = async () => {
      number += 1
      const uid = `user-${number}`
      const answer = await caller.post('/users', { uid, name: 'x', metadata: { text: 'x'.repeat(4_500) } })
      if (answer.status === 200) kept.push(uid)
      return answer
    }
    assertSucceeds(await create())
    assert.equal(await readiness(server), '200 ')
    const makeRoom = fill(data)
    // The log of the database has some room of its own.
    let refused = await create()
    while (refused.status === 200) refused = await create()
    assertFails(refused, 503, 'ERR_SERVICE_UNAVAILABLE')
    assert.ok(Number(refused.headers['retry-after']) > 0)
    const atOnce = await Promise.all(Array.from({ length: 50 }, create))
    for (const answer of atOnce) assert.ok([200, 503].includes(answer.status), answer.text)
    await until('it is not ready', async () => (await readiness(server)).startsWith('503 the database cannot be used'))
    assert.equal((await server.client.send('localhost', '/healthz')).status, 200)
    assertSucceeds(await caller.get('/users/user-1'))
    makeRoom()
    await until('it is ready again', async () => (await readiness(server)) === '200 ')
    assertSucceeds(await create())
    const { data: users } = assertSucceeds(await caller.get('/users?perPage=1000'))
    assert.deepEqual(users.map(({ uid }: { uid: string }) => uid).toSorted(), kept.toSorted())
    const { code } = await site.command('doctor')
    assert.equal(code, 0)
  })

  it('lets devices in, and they hear what is written once there is room', async () => {
    const caller = app.at(server)
    const tokens: string[] = []
    for (const uid of ['ada', 'lin']) {
      const { data } = assertSucceeds(await caller.post('/users', { uid, name: uid, withAuthToken: true }))
      tokens.push(data.authToken)
    }
    const ca = readFileSync(join(data, 'ca.pem'), 'utf8')
    const device = (uid: string, authToken = '') =>
      logIn(socketAt({ port: server.port, ca }, app.host), uid, { authToken })
    const before = await device('ada', tokens[0])
    const makeRoom = fill(data)
    const text = 'x'.repeat(5_000)
    const say = () => caller.post('/messages', { receiver: 'lin', receiverType: 'user', data: { text } }, as('ada'))
    let written = 0
    for (let answer = await say(); answer.status === 200; answer = await say()) written += 1
    const during = await device('lin', tokens[1])
    const { type } = await during.ask({
      type: 'receipts',
      receiver: 'ada',
      receiverType: 'user',
      body: { action: 'read' },
    })
    // The log of the database may still have room for so little.
    assert.ok(['ack', 'error'].includes(type), type)
    await before.reached()
    makeRoom()
    await until('it is written again', async () => (await say()).status === 200)
    const heard = ({ frames }: Device) => frames.filter((frame) => frame.type === 'message').length
    await until('both have heard it', () => heard(during) === 1 && heard(before) === written + 1)
    await before.close()
    await during.close()
  })

  it('is told by /readyz also while nobody writes', async () => {
    const makeRoom = fill(data)
    await until('it is not ready', async () => (await readiness(server)).startsWith('503 the database cannot be used'))
    makeRoom()
    await until('it is ready again', async () => (await readiness(server)) === '200 ')
  })
})

for (const database of databases) {
  describe(`a file store that is full, on ${database}`, { skip }, () => {
    let site: Install
    let app: AppOnDisk
    let server: ServerProcess
    const folder = join(home, `store-${database}`)
    const store = join(folder, 'files')
    before(async () => {
      mkdirSync(folder, { mode: 0o700 })
      mount(store, 16)
      site = await install(database, { PARLEY_DATA: folder })
      app = await site.createApp('full')
      server = await site.start()
      assertSucceeds(await app.at(server).post('/users', { uid: 'ada', name: 'Ada' }))
    })
    after(() => site.remove())

    const upload = (bytes: number) => {
      const sent = { receiver: 'ada', receiverType: 'user', category: 'message', type: 'file' }
      const fields = Object.entries(sent).map(([field, content]) => ({ field, content }))
      const file = { field: 'file', content: Buffer.alloc(bytes, 'x'), filename: 'x.txt', type: 'text/plain' }
      return app.at(server).send('/messages', {
        method: 'POST',
        raw: form(...fields, file),
        headers: { 'content-type': formType },
      })
    }

    it('takes no file, says so, goes on with all else, and takes files again when there is room', async () => {
      assertSucceeds(await upload(megabyte))
      assertFails(await upload(20 * megabyte), 507, 'ERR_S3_UPLOAD_FAILED')
      assert.deepEqual(readdirSync(join(store, 'incoming')), [])
      assertSucceeds(await upload(megabyte))
      const makeRoom = fill(store)
      assertFails(await upload(megabyte), 507, 'ERR_S3_UPLOAD_FAILED')
      await until('it is not ready', async () => (await readiness(server)) === '503 the file store cannot be used')
      assertSucceeds(await app.at(server).post('/users', { uid: 'max', name: 'Max' }))
      makeRoom()
      await until('it is ready again', async () => (await readiness(server)) === '200 ')
      assertSucceeds(await upload(megabyte))
    })
  })
}

describe('a log on a full disk', { skip }, () => {
  it('loses lines, and says how many once there is room', async () => {
    const folder = join(home, 'log')
    mount(folder, 1)
    const file = join(folder, 'log.txt')
    const descriptor = openSync(file, 'a')
    const lines = logLines(descriptor)
    const makeRoom = fill(folder)
    for (let n = 0; n < 1_000; n += 1) lines.write(`{"n":${n},"text":"${'x'.repeat(2_000)}"}\n`)
    await until('they are lost', () => {
      lines.write('{"lost":true}\n')
      return readFileSync(file).length === 0
    })
    makeRoom()
    await until('it goes on', () => {
      lines.write('{"kept":true}\n')
      return readFileSync(file, 'utf8').includes('{"kept":true}\n')
    })
    lines.close()
    closeSync(descriptor)
    const written = readFileSync(file, 'utf8').trimEnd().split('\n')
    assert.ok(written.some((line) => / lines of this log were lost/.test(JSON.parse(line).msg)))
  })
})
