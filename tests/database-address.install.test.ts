import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { makePostgres, type PrivatePostgres } from '../scripts/postgres.ts'
import { readConfig } from '../server/src/config.ts'
import { issue } from '../server/src/install/issue-certificates.ts'
import { openPool } from '../server/src/storage/postgres-pool.ts'
import { DatabaseUnavailable, watchTrouble } from '../server/src/storage/unavailable.ts'
import { databases } from './support/databases.ts'

/** What an address of a database may say means what it means to PostgreSQL's own tools. */

const skip = !databases.includes('postgres') && 'PostgreSQL is not there'

describe('the address of the database', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-address-'))
  const caFile = join(folder, 'ca.pem')
  const strangersFile = join(folder, 'stranger.pem')
  // Every certificate of ours names this address, and this one no other that leads here.
  const [named, unnamed] = ['127.0.0.1', 'localhost']
  let postgres: PrivatePostgres

  before(async () => {
    const days = { caDays: 1, leafDays: 1 }
    const { authority, leaf } = await issue(['db.example'], undefined, days)
    writeFileSync(caFile, authority.cert)
    writeFileSync(strangersFile, (await issue(['db.example'], undefined, days)).authority.cert)
    postgres = await makePostgres({ isDurable: false, certificate: leaf })
    await postgres.start()
  })
  after(async () => {
    await postgres?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Whether what is said between Parley and the database is encrypted. */
  async function isEncrypted(address: string): Promise<boolean> {
    const accepted = readConfig({ PARLEY_DATABASE_URL: address }).databaseUrl?.reveal() ?? ''
    const trouble = watchTrouble({ begins() {}, isOver() {} })
    const pool = openPool(accepted, { name: 'parley', connectionsMax: 1, statementMilliseconds: 5_000, trouble })
    try {
      const { rows } = await pool.read('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()', [])
      return (rows as { ssl: boolean }[])[0]?.ssl === true
    } finally {
      await pool.close()
    }
  }

  function withMode(mode: string, host: string, rootCertificate?: string): Promise<boolean> {
    const url = new URL(postgres.url)
    url.hostname = host
    url.searchParams.set('sslmode', mode)
    if (rootCertificate !== undefined) url.searchParams.set('sslrootcert', rootCertificate)
    return isEncrypted(url.href)
  }

  it('is reached in plain, unless it says otherwise', async () => {
    assert.equal(await isEncrypted(postgres.url), false)
    assert.equal(await withMode('disable', named), false)
  })

  it('with sslmode=require is encrypted, whoever signed the certificate', async () => {
    assert.equal(await withMode('require', unnamed), true)
  })

  it('with sslmode=verify-ca is encrypted, if the certificate has the right signature', async () => {
    assert.equal(await withMode('verify-ca', unnamed, caFile), true)
    await assert.rejects(withMode('verify-ca', unnamed, strangersFile), DatabaseUnavailable)
  })

  it('with sslmode=verify-full is encrypted, if the certificate has the right signature and name', async () => {
    assert.equal(await withMode('verify-full', named, caFile), true)
    await assert.rejects(withMode('verify-full', unnamed, caFile), DatabaseUnavailable)
    await assert.rejects(withMode('verify-full', named, strangersFile), DatabaseUnavailable)
    await assert.rejects(withMode('verify-full', named), DatabaseUnavailable)
  })

  it('may be a socket in the file system', async () => {
    const { socketFolder } = postgres
    const { port, username, pathname } = new URL(postgres.url)
    const asHost = `postgres://${username}@${encodeURIComponent(socketFolder)}:${port}${pathname}`
    const asOption = `postgresql://${pathname}?host=${socketFolder}&port=${port}&user=${username}`
    for (const address of [asHost, asOption]) assert.equal(await isEncrypted(address), false)
  })
})
