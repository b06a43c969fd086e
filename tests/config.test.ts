import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { inspect, promisify } from 'node:util'
import { ConfigError, readConfig, settingsList } from '../server/src/config.ts'
import { thorough } from './support/quick.ts'

const main = join(import.meta.dirname, '../server/src/main.ts')
const here = import.meta.filename
const hex = (characters: number) => 'a'.repeat(characters)

/** A sentence for the operator: it begins with the variable and ends like a sentence. */
function assertComplains(environment: Record<string, string>, variable: string, about?: RegExp): void {
  assert.throws(
    () => readConfig(environment),
    (error: Error) => {
      assert.ok(error instanceof ConfigError, String(error))
      assert.ok(error.message.startsWith(variable), error.message)
      assert.match(error.message, /\.$/)
      if (about) assert.match(error.message, about)
      return true
    },
  )
}

describe('settings', () => {
  const bad: Record<string, string[]> = {
    PARLEY_PORT: ['-1', '65536', '8443.5', 'https', ' ', ''],
    PARLEY_DOMAIN: ['', 'UPPER.example', 'with space', 'https://example.org', '-x.example', 'x..y', '.example', 'a/b'],
    PARLEY_REGION: ['', 'de', 'US', 'us,eu'],
    PARLEY_DATABASE_URL: [
      ...['mysql://x', 'localhost:5432', 'postgres//x', 'postgres://[bad'],
      ...['postgres://x/y?sslmode=prefer', 'postgres://x/y?sslmode=allow', 'postgres://x/y?sslmode='],
      ...['postgres://x/y?sslmode=verify-ca', 'postgres://x/y?sslmode=verify-full&sslrootcert=/no/such/file'],
    ],
    PARLEY_DATABASE_CONNECTIONS: ['0', '1', '501', 'many', ''],
    PARLEY_READERS: ['0', '65', 'all', ''],
    PARLEY_READ_SECONDS: ['0', '61', '5s', ''],
    PARLEY_REDIS_URL: ['localhost', 'http://x', 'redis://[bad'],
    PARLEY_MASTER_KEY: ['short', hex(63), hex(65), 'g'.repeat(64)],
    PARLEY_TLS_CERT: ['/nowhere/cert.pem'],
    PARLEY_TLS_KEY: ['/nowhere/key.pem'],
    PARLEY_TRUST_PROXY: ['proxy.example', '10.0.0.0/33', '300.1.1.1', '10.0.0.1,nonsense', '::1/200'],
    PARLEY_ROLES: ['', ',', 'gateway', 'api,typo'],
    PARLEY_EMULATOR: ['', 'yes', 'on', '2'],
    PARLEY_LOG_LEVEL: ['', 'loud', 'INFO'],
    PARLEY_RING_SECONDS: ['9', '181', '45s', ''],
    PARLEY_LEASE_SECONDS: ['4', '3601', '-60', ''],
    PARLEY_APPS_MAX: ['0', 'few', '1000001'],
    PARLEY_PUBLIC_PORT: ['0', '65536', 'https'],
    PARLEY_FILE_MEGABYTES_MAX: ['0', '10001', '1.5', ''],
    PARLEY_FILES_MAX: ['0', '101', ''],
    PARLEY_FILE_URL_HOURS: ['0', '8761', 'day', ''],
    PARLEY_UPLOAD_STALL_SECONDS: ['0', '601', ''],
    PARLEY_DOWNLOAD_STALL_SECONDS: ['0', '3601', ''],
    PARLEY_CONNECTIONS_MAX: ['0', '1000001', 'many', ''],
    PARLEY_CONNECTIONS_PER_ADDRESS_MAX: ['0', '-1', ''],
    PARLEY_HELD_MEGABYTES_MAX: ['15', '100001', '1.5', ''],
    PARLEY_S3_ENDPOINT: ['store.example', 'ftp://store.example', 'https://['],
    PARLEY_S3_BUCKET: ['files'],
    PARLEY_MEDIA: ['', 'yes', 'ON'],
    PARLEY_MEDIA_ADDRESS: ['media.example', '::1', '1.2.3', '300.1.1.1'],
    PARLEY_MEDIA_PUBLIC_ADDRESS: ['media.example', '::1', '1.2.3.4/24'],
    PARLEY_MEDIA_PORTS: ['', '30000', '30000-30050', '30999-30000', '80-1000', '65000-70000', 'a-b', '31500-32500'],
    PARLEY_MEDIA_PROCESSES: ['0', '33', 'all', ''],
    PARLEY_MEDIA_UID: ['0', '-1', 'nobody'],
    PARLEY_MEDIA_RELAY: ['', 'yes'],
    PARLEY_MEDIA_RELAY_PORT: ['0', '65536', ''],
    PARLEY_MEDIA_RELAY_PORTS: ['', '31000', '31000-31010'],
    PARLEY_MEDIA_RELAY_MINUTES: ['0', '1441', ''],
    PARLEY_EVENT_RETENTION_DAYS: ['0', '3651', 'week', ''],
    ...Object.fromEntries(
      settingsList
        .filter(({ variable }) => variable.startsWith('PARLEY_LIMIT_'))
        .map(({ variable }) => [variable, ['0', '-1', '1.5', '1000000001', 'unlimited', '']]),
    ),
  }
  for (const [variable, values] of Object.entries(bad)) {
    it(`${variable} is refused with its name when it is wrong`, () => {
      for (const value of values) assertComplains({ [variable]: value }, variable)
    })
  }

  it('are all covered above, except those that any text fits', () => {
    const anyText = [
      'PARLEY_DATA',
      'PARLEY_HOST',
      'PARLEY_MEDIA_JANUS',
      'PARLEY_METRICS_TOKEN',
      'PARLEY_S3_ACCESS_KEY',
      'PARLEY_S3_REGION',
      'PARLEY_S3_SECRET_KEY',
    ]
    const known = settingsList.map(({ variable }) => variable)
    assert.deepEqual([...Object.keys(bad), ...anyText].toSorted(), known.toSorted())
  })

  it('that contradict each other are refused', () => {
    assertComplains({ PARLEY_TLS_CERT: here }, 'PARLEY_TLS_CERT', /PARLEY_TLS_KEY/)
    assertComplains({ PARLEY_TLS_KEY: here }, 'PARLEY_TLS_CERT', /PARLEY_TLS_KEY/)
    const scaled = { PARLEY_DATABASE_URL: 'postgres://x', PARLEY_REDIS_URL: 'redis://x', PARLEY_EMULATOR: 'true' }
    assertComplains(scaled, 'PARLEY_EMULATOR', /PARLEY_REDIS_URL/)
    const ports = { PARLEY_MEDIA_PORTS: '31900-32900' }
    assertComplains(ports, 'PARLEY_MEDIA_PORTS', /PARLEY_MEDIA_RELAY_PORTS/)
    const crowd = { PARLEY_MEDIA_PORTS: '30000-30149', PARLEY_MEDIA_PROCESSES: '4' }
    assertComplains(crowd, 'PARLEY_MEDIA_PROCESSES', /PARLEY_MEDIA_PORTS/)
    const files = { PARLEY_LIMIT_UPLOAD_MEGABYTES: '50', PARLEY_FILE_MEGABYTES_MAX: '51' }
    assertComplains(files, 'PARLEY_LIMIT_UPLOAD_MEGABYTES', /PARLEY_FILE_MEGABYTES_MAX/)
  })

  it('that do not exist are refused, so that a typing error shows', () => {
    assertComplains({ PARLEY_PROT: '8443' }, 'PARLEY_PROT', /not a setting/)
    assert.equal(readConfig({ OTHER_PORT: '1', parley_port: '2' }).port, 8443)
  })

  it('have defaults that make a start without any setting work', () => {
    const { host, port, domain, region, roles, emulator, trustProxy, databaseUrl, redisUrl } = readConfig({})
    assert.deepEqual([host, port, domain, region], ['127.0.0.1', 8443, 'localhost', 'us'])
    assert.deepEqual([roles, emulator, trustProxy], [['api', 'worker'], false, []])
    assert.deepEqual([databaseUrl, redisUrl], [undefined, undefined])
  })

  it('are read into their types', () => {
    const config = readConfig({
      PARLEY_PORT: '0',
      PARLEY_ROLES: ' worker , api ',
      PARLEY_EMULATOR: 'TRUE',
      PARLEY_APPS_MAX: '5',
      PARLEY_TRUST_PROXY: '10.0.0.0/8, ::1',
      PARLEY_MASTER_KEY: hex(64).toUpperCase(),
    })
    assert.deepEqual([config.port, config.roles, config.emulator, config.appsMax], [0, ['worker', 'api'], true, 5])
    assert.equal(config.trustProxy.length, 2)
    assert.equal(config.masterKey?.reveal(), hex(64))
  })

  it('given as flags win over the environment', () => {
    const environment = { PARLEY_PORT: '1000', PARLEY_DOMAIN: 'env.example' }
    const config = readConfig(environment, { port: '2000', domain: undefined })
    assert.deepEqual([config.port, config.domain], [2000, 'env.example'])
  })

  it('given as flags are complained about by the variable they stand for', () => {
    assert.throws(() => readConfig({}, { port: 'x' }), /^ConfigError: PARLEY_PORT .*"x"\.$/)
  })

  it('that are secret print as stars, however they are printed', () => {
    const secrets = {
      PARLEY_MASTER_KEY: hex(64),
      PARLEY_METRICS_TOKEN: 'metrics-secret',
      PARLEY_DATABASE_URL: 'postgres://user:database-secret@db/x',
      PARLEY_REDIS_URL: 'redis://:redis-secret@cache',
    }
    const config = readConfig(secrets)
    for (const text of [
      JSON.stringify(config),
      inspect(config, { depth: 9, showHidden: true }),
      `${config.masterKey}`,
    ]) {
      for (const secret of [hex(64), 'metrics-secret', 'database-secret', 'redis-secret']) {
        assert.ok(!text.includes(secret), text)
      }
    }
    assert.equal(config.metricsToken?.reveal(), 'metrics-secret')
  })

  it('that are secret are not told in complaints either', () => {
    for (const variable of ['PARLEY_DATABASE_URL', 'PARLEY_REDIS_URL', 'PARLEY_MASTER_KEY']) {
      assert.throws(
        () => readConfig({ [variable]: 'wrong://user:a-secret@x' }),
        (error: Error) => !error.message.includes('a-secret'),
      )
    }
  })
})

describe('the command line', () => {
  const run = promisify(execFile)
  const parley = (words: string[], environment: Record<string, string>) =>
    run(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...words], { env: environment })

  it('shows the effective settings with flags before environment, and stars for secrets', thorough, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
    const environment = {
      PARLEY_DATA: folder,
      PARLEY_PORT: '1000',
      PARLEY_REGION: 'eu',
      PARLEY_METRICS_TOKEN: 'metrics-secret',
      PARLEY_MASTER_KEY: hex(64),
    }
    const { stdout } = await parley(['config', '--port', '2000', '--json'], environment)
    const shown = JSON.parse(stdout)
    assert.deepEqual([shown.PARLEY_PORT, shown.PARLEY_REGION], ['2000', 'eu'])
    assert.deepEqual([shown.PARLEY_METRICS_TOKEN, shown.PARLEY_MASTER_KEY], ['****', '****'])
    const readable = (await parley(['config'], environment)).stdout
    for (const { variable } of settingsList) assert.ok(readable.includes(variable))
    for (const secret of ['metrics-secret', hex(64)]) assert.ok(!(stdout + readable).includes(secret))
    rmSync(folder, { recursive: true })
  })

  it('refuses to start with a bad setting: one sentence, exit code 2', thorough, async () => {
    await assert.rejects(
      parley(['start'], { PARLEY_PORT: 'x' }),
      (error: Error & { code?: number; stderr?: string }) => {
        assert.equal(error.code, 2)
        assert.match(error.stderr ?? '', /^parley: PARLEY_PORT must be [^\n]*\n$/)
        return true
      },
    )
  })
})
