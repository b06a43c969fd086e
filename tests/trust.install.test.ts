import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { connect, createServer } from 'node:tls'
import { folderOf } from '../scripts/processes.ts'
import { type CommandOutcome, UsageError } from '../server/src/cli/command.ts'
import { trustOn } from '../server/src/cli/trust.ts'
import { readConfig } from '../server/src/config.ts'
import { type Certificates, localCertificates } from '../server/src/install/certificates.ts'
import { authorityIn } from '../server/src/install/trust/authority.ts'
import { type CommandEnd, type Machine, thisMachine } from '../server/src/install/trust/machine.ts'
import type { StoreOutcome } from '../server/src/install/trust/trust.ts'

/**
 * `parley trust`: on a machine in a temporary folder, with the real commands where they are at hand, and for other systems with
 * commands that note what they were told.
 */

const debianAnchors = 'usr/local/share/ca-certificates'
const real = thisMachine()
const lacks = (...commands: string[]) => {
  const missing = commands.filter((command) => folderOf(command) === undefined)
  return missing.length > 0 && `${missing.join(' and ')} is not there`
}

/** Not every system's command of that name can be told to work on another folder than the system's own. */
function lacksDebian(): string | false {
  const missing = lacks('update-ca-certificates', 'openssl')
  if (missing) return missing
  const script = readFileSync(join(folderOf('update-ca-certificates') ?? '', 'update-ca-certificates'), 'utf8')
  return !script.includes('--sysroot') && 'update-ca-certificates is not that of Debian'
}

describe('parley trust', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-trust-'))
  const installs = ['one', 'other'].map((name) => join(folder, name)) as [string, string]
  const certificates: Certificates[] = []
  let machines = 0

  before(async () => {
    for (const install of installs) {
      mkdirSync(install)
      certificates.push(await localCertificates(install, 'localhost'))
    }
  })
  after(() => rmSync(folder, { recursive: true }))

  /** A machine of its own, with these folders and commands that all succeed. */
  function machine(folders: string[], part: Partial<Machine> = {}): Machine & { ran: string[] } {
    machines += 1
    const root = join(folder, `machine-${machines}`)
    const ran: string[] = []
    const home = join(root, 'home', 'nora')
    for (const each of [home, ...folders.map((name) => join(root, name))]) mkdirSync(each, { recursive: true })
    const run = (command: string, words: string[]): CommandEnd => {
      ran.push([command, ...words].join(' '))
      return { state: 'done', output: '' }
    }
    return { ...{ platform: 'linux' as const, home, root, isAdministrator: true, run, ran }, ...part }
  }

  async function trust(on: Machine, install: string, flags: Record<string, boolean> = {}) {
    const config = readConfig({ PARLEY_DATA: install })
    const outcome = (await trustOn(() => on).run({ config, words: [], flags, json: false })) as CommandOutcome
    const { stores } = outcome.data as { stores: StoreOutcome[] }
    return { ...outcome, stores, states: stores.map(({ state }) => state) }
  }

  const authorityOf = (install: string) => authorityIn(install) ?? assert.fail('no authority')

  /** Whether a client that trusts these certificates believes the server of an install. */
  async function believes(ca: string, { cert, key }: Certificates): Promise<boolean> {
    const server = createServer({ cert, key }, (socket) => socket.on('error', () => {}).end())
    server.on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca })
    const outcome = await new Promise<boolean>((resolve) => {
      socket.once('secureConnect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    server.close()
    return outcome
  }

  it('makes a real Debian believe two installs, and forget each by itself', {
    skip: lacksDebian(),
  }, async () => {
    const debian = machine([debianAnchors, 'etc/ssl/certs', 'usr/share/ca-certificates'])
    writeFileSync(join(debian.root, 'etc/ca-certificates.conf'), '')
    debian.run = (command, words) => real.run(command, [...words, '--sysroot', debian.root])
    const bundle = join(debian.root, 'etc/ssl/certs/ca-certificates.crt')
    const believed = () => {
      const ca = readFileSync(bundle, 'utf8')
      return Promise.all(certificates.map((each) => believes(ca, each)))
    }

    for (const install of installs) assert.deepEqual((await trust(debian, install)).states, ['trusted'])
    assert.deepEqual(await believed(), [true, true])
    assert.equal(statSync(bundle).mode & 0o777, 0o644)
    const again = await trust(debian, installs[0])
    assert.deepEqual(again.states, ['trusted already'])
    assert.match(again.text, /parley trust --undo/)

    assert.deepEqual((await trust(debian, installs[0], { undo: true })).states, ['removed'])
    assert.deepEqual(await believed(), [false, true])
    assert.deepEqual((await trust(debian, installs[0], { undo: true })).states, ['not there'])
  })

  it('puts it into real stores of browsers, and takes it out again', { skip: lacks('certutil') }, async () => {
    const profiles = ['.pki/nssdb', '.mozilla/firefox/x.default', 'snap/chromium/current/.pki/nssdb']
    const desktop = machine(
      profiles.map((profile) => `home/nora/${profile}`),
      { run: real.run, isAdministrator: false },
    )
    const databases = profiles.map((profile) => `sql:${join(desktop.home, profile)}`)
    for (const database of databases) execFileSync('certutil', ['-N', '--empty-password', '-d', database])
    const listed = () =>
      databases.map((database) => execFileSync('certutil', ['-L', '-d', database], { encoding: 'utf8' }))
    const [one, other] = installs.map(authorityOf)

    for (const install of installs) {
      assert.deepEqual(
        (await trust(desktop, install)).states,
        profiles.map(() => 'trusted'),
      )
    }
    assert.deepEqual(
      (await trust(desktop, installs[0])).states,
      profiles.map(() => 'trusted already'),
    )
    for (const list of listed()) {
      assert.match(list, new RegExp(`${one?.nickname} +C,,`))
      assert.match(list, new RegExp(`${other?.nickname} +C,,`))
    }
    assert.deepEqual(
      (await trust(desktop, installs[0], { undo: true })).states,
      profiles.map(() => 'removed'),
    )
    assert.deepEqual(
      (await trust(desktop, installs[0], { undo: true })).states,
      profiles.map(() => 'not there'),
    )
    for (const list of listed()) {
      assert.ok(!list.includes(one?.nickname ?? ''))
      assert.ok(list.includes(other?.nickname ?? ''))
    }
  })

  it('tells Fedora in its own way', async () => {
    const fedora = machine(['etc/pki/ca-trust/source/anchors'])
    const { fileName, pem } = authorityOf(installs[0])
    const file = join(fedora.root, 'etc/pki/ca-trust/source/anchors', `${fileName}.pem`)
    assert.deepEqual((await trust(fedora, installs[0])).states, ['trusted'])
    assert.equal(readFileSync(file, 'utf8'), pem)
    assert.equal(statSync(file).mode & 0o777, 0o644)
    assert.deepEqual((await trust(fedora, installs[0], { undo: true })).states, ['removed'])
    assert.ok(!existsSync(file))
    assert.deepEqual(fedora.ran, ['update-ca-trust extract', 'update-ca-trust extract'])
  })

  it('tells macOS in its own way: for whoever runs it, or as administrator for all', async () => {
    const { file, sha256 } = authorityOf(installs[0])
    for (const isAdministrator of [false, true]) {
      const mac = machine([], { platform: 'darwin', isAdministrator })
      const keychain = isAdministrator
        ? '/Library/Keychains/System.keychain'
        : join(mac.home, 'Library/Keychains/login.keychain-db')
      let isThere = false
      const { run } = mac
      mac.run = (command, words) => {
        const end = run(command, words)
        return words[0] === 'find-certificate' && isThere
          ? { ...end, output: `SHA-256 hash: ${sha256.toUpperCase()}` }
          : end
      }
      assert.deepEqual((await trust(mac, installs[0])).states, ['trusted'])
      isThere = true
      assert.deepEqual((await trust(mac, installs[0])).states, ['trusted already'])
      assert.deepEqual((await trust(mac, installs[0], { undo: true })).states, ['removed'])
      const forAll = isAdministrator ? '-d ' : ''
      assert.deepEqual(
        mac.ran.filter((line) => !line.includes('find-certificate')),
        [
          `security add-trusted-cert ${forAll}-r trustRoot -k ${keychain} ${file}`,
          `security remove-trusted-cert ${forAll}${file}`,
          `security delete-certificate -Z ${sha256.toUpperCase()} ${keychain}`,
        ],
      )
    }
  })

  it('tells Windows in its own way', async () => {
    const { file, sha1 } = authorityOf(installs[0])
    const windows = machine([], { platform: 'win32' })
    let isThere = false
    const { run } = windows
    windows.run = (command, words) => {
      const end = run(command, words)
      return words[1] === '-verifystore' && !isThere ? { ...end, state: 'failed' } : end
    }
    assert.deepEqual((await trust(windows, installs[0])).states, ['trusted'])
    isThere = true
    assert.deepEqual((await trust(windows, installs[0])).states, ['trusted already'])
    assert.deepEqual((await trust(windows, installs[0], { undo: true })).states, ['removed'])
    assert.deepEqual(
      windows.ran.filter((line) => !line.includes('-verifystore')),
      [`certutil -user -addstore Root ${file}`, `certutil -user -delstore Root ${sha1}`],
    )
  })

  it('says what to do by hand where it may not or cannot do it, and changes nothing', async () => {
    const plain = machine([debianAnchors, 'home/nora/.pki/nssdb'], {
      isAdministrator: false,
      run: () => ({ state: 'missing', output: '' }),
    })
    writeFileSync(join(plain.home, '.pki/nssdb/cert9.db'), '')
    const { fileName, nickname } = authorityOf(installs[0])
    const anchor = join(plain.root, debianAnchors, `${fileName}.crt`)
    const { states, text, ok } = await trust(plain, installs[0])
    assert.deepEqual(states, ['by hand', 'by hand'])
    assert.equal(ok, true)
    assert.ok(text.includes(`sudo install -m 644 ${join(installs[0], 'ca.pem')} ${anchor}`), text)
    assert.match(text, /sudo update-ca-certificates/)
    assert.match(text, /libnss3-tools/)
    assert.ok(text.includes(`-n '${nickname}'`), text)
    assert.ok(!existsSync(anchor))
    const undone = await trust(plain, installs[0], { undo: true })
    assert.deepEqual(undone.states, ['not there', 'by hand'])
    assert.match(undone.text, /certutil -D/)
  })

  it('leaves a store as it was where a command fails, says why, and goes on with the others', async () => {
    const profile = '.mozilla/firefox/x.default'
    const broken = machine([debianAnchors, `home/nora/${profile}`])
    writeFileSync(join(broken.home, profile, 'cert9.db'), '')
    broken.run = (command, words) => {
      if (command === 'update-ca-certificates') return { state: 'failed', output: 'the disk is full' }
      return { state: words[0] === '-L' ? 'failed' : 'done', output: '' }
    }
    const { states, text, ok } = await trust(broken, installs[0])
    assert.deepEqual(states, ['failed', 'trusted'])
    assert.equal(ok, false)
    assert.match(text, /update-ca-certificates failed: the disk is full/)
    assert.ok(!existsSync(join(broken.root, debianAnchors, `${authorityOf(installs[0]).fileName}.crt`)))
  })

  it('says so where it knows no store, and where there is no authority', async () => {
    const { text, ok } = await trust(machine([]), installs[0])
    assert.match(text, /No store of certificates was found/)
    assert.match(text, /imports .*ca\.pem/)
    assert.equal(ok, true)
    await assert.rejects(trust(machine([]), folder), UsageError)
  })

  it('runs commands so that others can read what they make, and knows one that is missing', () => {
    const made = join(folder, 'made')
    const mask = process.umask(0o077)
    try {
      assert.equal(real.run(process.execPath, ['-e', `require('fs').writeFileSync('${made}', '')`]).state, 'done')
      assert.equal(process.umask(), 0o077)
    } finally {
      process.umask(mask)
    }
    assert.equal(statSync(made).mode & 0o777, 0o644)
    assert.equal(real.run('no-such-command', []).state, 'missing')
    assert.deepEqual(real.run(process.execPath, ['-e', 'console.error("no"); process.exit(3)']), {
      ...{ state: 'failed', output: 'no' },
    })
  })
})
