import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { memoryFolder } from '../scripts/memory-folder.ts'
import { type DatabaseName, databases, type FreshDatabase, freshDatabase } from './support/databases.ts'
import { assertSucceeds, house } from './support/house.ts'
import { parley, parleyHere } from './support/parley.ts'

const folder = mkdtempSync(join(memoryFolder(), 'parley-backups-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Restored installs bring their own master key, so the one that a fresh database proposes is left out. */
function withoutMasterKey({ environment }: FreshDatabase): Record<string, string> {
  const { PARLEY_MASTER_KEY: _, ...rest } = environment
  return rest
}

/** A demo install without a server: an app with keys and a month of calls. */
async function demoInstall(name: DatabaseName) {
  const database = await freshDatabase(name)
  const seeded = await parleyHere(['seed', '--json'], database.environment)
  assert.equal(seeded.code, 0, seeded.stderr)
  const { appId } = JSON.parse(seeded.stdout)
  return { database, appId }
}

async function keysOf(appId: string, settings: Record<string, string>): Promise<unknown> {
  return JSON.parse((await parleyHere(['keys', 'list', '--app', appId, '--json'], settings)).stdout)
}

for (const from of databases) {
  describe(`a backup of ${from}`, () => {
    const file = join(folder, `${from}.backup`)
    let appId: string
    let keys: unknown

    before(async () => {
      const { database, ...made } = await demoInstall(from)
      appId = made.appId
      keys = await keysOf(appId, database.environment)
      const backedUp = await parley(['backup', '--to', file, '--json'], database.environment)
      assert.equal(backedUp.code, 0, backedUp.stderr)
      await database.drop()
    })

    it('is for nobody else to read', () => assert.equal(statSync(file).mode & 0o777, 0o600))

    for (const to of databases) {
      it(`restored into ${to} brings back every app, key and call, as the doctor finds them`, async () => {
        const target = await freshDatabase(to)
        const environment = withoutMasterKey(target)
        const restored = await parley(['restore', '--from', file, '--json'], environment)
        assert.equal(restored.code, 0, restored.stderr)
        assert.deepEqual(await keysOf(appId, environment), keys)
        const doctor = await parleyHere(['doctor', '--json'], environment)
        assert.equal(doctor.code, 0, doctor.stdout)
        assert.match(doctor.stdout, /72 calls follow from their ledgers/)

        const again = await parleyHere(['restore', '--from', file], environment)
        assert.equal(again.code, 1)
        assert.match(again.stderr, /empty/)
        await target.drop()
      })
    }
  })
}

for (const database of databases) {
  describe(`backups of a running server on ${database}`, () => {
    it('are of one moment while writes go on', async () => {
      const h = await house({ database })
      const app = await h.app('busy')
      const file = join(folder, `running-${database}.backup`)
      const script = { initiator: 'nora', receiver: 'milo', steps: [{ after: 3, do: 'reject', uid: 'milo' }] }
      let writing = true
      let written = 0
      const writer = (async () => {
        while (writing) {
          await app.play(script)
          written += 1
        }
      })()
      const { data, databaseUrl, masterKey } = h.service.house.config
      const settings = {
        PARLEY_DATA: data,
        ...(databaseUrl && { PARLEY_DATABASE_URL: databaseUrl.reveal() }),
        ...(masterKey && { PARLEY_MASTER_KEY: masterKey.reveal() }),
      }
      const backedUp = await parley(['backup', '--to', file, '--json'], settings)
      writing = false
      await writer
      assert.equal(backedUp.code, 0, backedUp.stderr)
      assert.ok(written > 0)
      const target = await freshDatabase('sqlite')
      const restored = await parleyHere(['restore', '--from', file], withoutMasterKey(target))
      assert.equal(restored.code, 0, restored.stderr)
      const doctor = await parleyHere(['doctor', '--json'], withoutMasterKey(target))
      assert.equal(doctor.code, 0, doctor.stdout)
      assertSucceeds(await app.get('/calls'))
      await target.drop()
      await h.close()
    })
  })
}

describe('a backup file', () => {
  const whole = join(folder, 'whole.backup')
  let database: FreshDatabase
  before(async () => {
    database = (await demoInstall('sqlite')).database
    assert.equal((await parleyHere(['backup', '--to', whole], database.environment)).code, 0)
  })
  after(() => database.drop())

  it('that is cut off, damaged or something else is refused and changes nothing', async () => {
    const cut = join(folder, 'cut.backup')
    writeFileSync(cut, readFileSync(whole))
    truncateSync(cut, Math.floor(statSync(whole).size / 2))
    const other = join(folder, 'other.backup')
    writeFileSync(other, 'not a backup')
    for (const file of [cut, other]) {
      const target = await freshDatabase('sqlite')
      const restored = await parleyHere(['restore', '--from', file], withoutMasterKey(target))
      assert.equal(restored.code, 1, restored.stdout)
      assert.match(restored.stderr, /cut off|cannot be read|damaged/)
      const apps = await parleyHere(['apps', 'list', '--json'], withoutMasterKey(target))
      assert.equal(apps.code, 2, 'there is still no install')
      await target.drop()
    }
  })

  it('made without secrets holds no master key and is loaded only where that key is', async () => {
    const file = join(folder, 'bare.backup')
    assert.equal((await parleyHere(['backup', '--to', file, '--without-secrets'], database.environment)).code, 0)
    const target = await freshDatabase('sqlite')
    const refused = await parleyHere(['restore', '--from', file], withoutMasterKey(target))
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /without its master key/)
    const other = { ...withoutMasterKey(target), PARLEY_MASTER_KEY: 'ab'.repeat(32) }
    assert.match((await parleyHere(['restore', '--from', file], other)).stderr, /another master key/)
    const key = readFileSync(join(database.environment.PARLEY_DATA ?? '', 'master.key'), 'utf8').trim()
    const right = { ...withoutMasterKey(target), PARLEY_MASTER_KEY: key }
    assert.equal((await parleyHere(['restore', '--from', file], right)).code, 0)
    assert.equal((await parleyHere(['doctor'], right)).code, 0)
    await target.drop()
  })

  it('is not written over another, nor into a folder that is not there, and says so', async () => {
    assert.match((await parleyHere(['backup', '--to', whole], database.environment)).stderr, /--force/)
    assert.equal((await parleyHere(['backup', '--to', whole, '--force'], database.environment)).code, 0)
    const nowhere = await parleyHere(['backup', '--to', join(folder, 'missing', 'x.backup')], database.environment)
    assert.equal(nowhere.code, 1)
    assert.match(nowhere.stderr, /no such file or folder/)
    assert.ok(!nowhere.stderr.includes('    at '))
  })
})
