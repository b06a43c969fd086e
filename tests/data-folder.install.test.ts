import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openDataFolder } from '../server/src/install/data-folder.ts'
import { databases } from './support/databases.ts'
import { parley } from './support/parley.ts'
import { type Install, install, type ServerProcess } from './support/server-process.ts'
import { form, formType } from './support/uploads.ts'

/** The secrets of an install are its owner's, however carelessly its folder was made. */

const modeOf = (path: string) => statSync(path).mode & 0o777

/** All that others could get at, with its mode. */
function openToOthers(folder: string): string[] {
  const inside = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  return [folder, ...inside].filter((path) => modeOf(path) & 0o077).map((path) => `${path} ${modeOf(path).toString(8)}`)
}

for (const database of databases) {
  describe(`the data folder on ${database}`, () => {
    let home: string
    let folder: string
    let site: Install
    let umaskBefore: number

    before(async () => {
      umaskBefore = process.umask(0)
      home = mkdtempSync(join(tmpdir(), 'parley-folder-'))
      folder = join(home, 'data')
      // As another tool may have made it.
      mkdirSync(folder, { mode: 0o777 })
      site = await install(database, { PARLEY_DATA: folder, PARLEY_EMULATOR: 'true' })
    })
    after(async () => {
      await site.remove()
      rmSync(home, { recursive: true, force: true })
      process.umask(umaskBefore)
    })

    async function stopped(server: ServerProcess): Promise<void> {
      server.signal('SIGTERM')
      await server.exited
    }

    it('is closed to others with all that is made in it, whatever the umask', async () => {
      const server = await site.start({}, ...(database === 'sqlite' ? ['--demo'] : []))
      const app = await site.createApp('closed')
      const caller = app.at(server)
      assert.equal((await caller.post('/users', { uid: 'ada', name: 'Ada' })).status, 200)
      const sent = { receiver: 'ada', receiverType: 'user', category: 'message', type: 'file' }
      const fields = Object.entries(sent).map(([field, content]) => ({ field, content }))
      const raw = form(...fields, { field: 'file', content: 'hello', filename: 'hello.txt', type: 'text/plain' })
      const upload = await caller.send('/messages', { method: 'POST', raw, headers: { 'content-type': formType } })
      assert.equal(upload.status, 200, upload.text)
      assert.equal((await app.emulator(server).put('/clock', { advance: 5 })).status, 200)
      const found = readdirSync(folder)
      const expected = ['ca-key.pem', 'ca.pem', 'clock.json', 'files', 'server-key.pem', 'server.pem']
      const ofSqlite = [
        'credentials.json',
        'master.key',
        'parley.sqlite',
        'parley.sqlite-shm',
        'parley.sqlite-wal',
        'server.lock',
      ]
      for (const name of [...expected, ...(database === 'sqlite' ? ofSqlite : [])])
        assert.ok(found.includes(name), name)
      assert.deepEqual(openToOthers(folder), [])
      await stopped(server)
    })

    it('is closed again at a start, with all that was opened meanwhile', async () => {
      chmodSync(folder, 0o755)
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        if (entry.isFile()) chmodSync(join(folder, entry.name), 0o644)
      }
      for (const name of ['files', 'files/incoming']) chmodSync(join(folder, name), 0o755)
      const server = await site.start()
      assert.deepEqual(openToOthers(folder), [])
      await stopped(server)
    })

    it('is copied by a backup that is closed, too, and restored closed', async () => {
      const file = join(home, 'parley.backup')
      writeFileSync(`${file}.unfinished`, 'left behind')
      assert.equal((await parley(['backup', '--to', file], site.environment)).code, 0)
      assert.equal(modeOf(file), 0o600)
      if (database !== 'sqlite') return
      const restored = join(home, 'restored')
      mkdirSync(restored, { mode: 0o777 })
      const { code, stderr } = await parley(['restore', '--from', file], { PARLEY_DATA: restored })
      assert.equal(code, 0, stderr)
      assert.deepEqual(openToOthers(restored), [])
    })
  })
}

describe('a folder that is not Parley’s', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-folder-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('is not closed to those who use it; the start is refused, with what to run', async () => {
    const shared = join(folder, 'shared')
    mkdirSync(shared)
    writeFileSync(join(shared, 'report.txt'), 'of somebody else')
    chmodSync(shared, 0o755)
    const { code, stderr } = await parley(['start'], { PARLEY_DATA: shared, PARLEY_PORT: '0' })
    assert.equal(code, 2)
    assert.match(stderr, /PARLEY_DATA .*chmod 700 /)
    assert.deepEqual([modeOf(shared), readdirSync(shared)], [0o755, ['report.txt']])
    const public_ = join(folder, 'public')
    mkdirSync(public_)
    chmodSync(public_, 0o1777)
    assert.throws(() => openDataFolder(public_), /chmod 700 /)
  })

  const isRoot = process.geteuid?.() === 0
  const nobody = 65_534
  it('and holds a file of ours that others can read is refused, with what to run', {
    skip: !isRoot && 'only root can try it',
  }, () => {
    const foreign = join(folder, 'foreign')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'master.key'), 'secret')
    for (const [path, mode] of [
      [folder, 0o711],
      [foreign, 0o755],
      [join(foreign, 'master.key'), 0o644],
    ] as const)
      chmodSync(path, mode)
    const asNobody = () => {
      process.seteuid?.(nobody)
      try {
        openDataFolder(foreign)
      } finally {
        process.seteuid?.(0)
      }
    }
    assert.throws(asNobody, /master\.key.*chmod 600 /)
    chmodSync(join(foreign, 'master.key'), 0o600)
    asNobody()
    chmodSync(foreign, 0o777)
    assert.throws(asNobody, /chmod 700 /)
  })
})
