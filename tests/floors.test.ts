import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative, sep } from 'node:path'
import { describe, it } from 'node:test'

/**
 * Who may import whom, read off the import lines. Imports go to the right only:
 *
 *   main, cli, install -> service -> compose -> http, gateway, workers -> dispatch -> areas, adapters -> common -> kit ->
 *   storage -> plain
 *
 * - `cli` and `install` stand beside `service` and `compose`: the command line opens the house and its doors through them,
 *   and they ask `install` for certificates and the master key. `config.ts` and its types may be read from these four,
 *   nowhere below. It knows the cards of areas: limits are declared there.
 * - `trial` is a proxy that the command line puts beside the server, and knows nothing of it but its port.
 * - `http`, `gateway` and `workers` do not know each other. What runs operations, `dispatch`, knows nothing of HTTP.
 * - An adapter knows `kit/ports`, `plain` and adapters of its own kind; those of Redis share one connection to it. The port of
 *   the media engine is in `common/media.ts`: it names what the product is about, which the kit does not.
 * - An area knows the areas above it in `areas/index.ts`, and of them only `index.ts`, `schemas.ts`, `errors.ts` and
 *   `events.ts`. It does not know how it was reached or who listens.
 * - Of `storage` an area knows what is fixed to its app. Only apps knows the platform, and only migrations all tables.
 * - Only the two dialect files, and `compose.ts` which chooses between them, name a database.
 * - Only `config.ts` and `main.ts` read the environment.
 */

const root = join(import.meta.dirname, '../server/src')
const kitLinesMax = 1_000
// `user`, `call` and `message` have a general meaning too: who acts, to call an operation, the words of a failure.
const productWords =
  /conversation|group|guid|(?<!re)member|reaction|friend|thread|unread(?!able)|mention|\bring(s|Seconds)?\b|participant|sendMessage/i

interface File {
  path: string
  text: string
  imports: string[]
  packages: string[]
}

const files: File[] = globSync('**/*.ts', { cwd: root })
  .map((path) => path.split(sep).join('/'))
  // Tests, and what an area says to them.
  .filter((path) => !/\.test\.ts$|^areas\/[\w-]+\/samples\.ts$/.test(path))
  .toSorted()
  .map(read)

function read(path: string): File {
  const text = readFileSync(join(root, path), 'utf8')
  const targets = [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g)].map(([, target]) => target ?? '')
  const local = targets.filter((target) => target.startsWith('.'))
  return {
    path,
    text,
    imports: local.map((target) =>
      normalize(join(dirname(path), target))
        .split(sep)
        .join('/'),
    ),
    packages: targets.filter((target) => !target.startsWith('.')),
  }
}

const floorOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : path.replace('.ts', ''))

const mayImport: Record<string, string[]> = {
  main: ['cli', 'plain'],
  cli: [
    'cli',
    'install',
    'trial',
    'service',
    'compose',
    'config',
    'http',
    'areas',
    'common',
    'kit',
    'storage',
    'plain',
  ],
  install: ['install', 'compose', 'config', 'adapters', 'areas', 'common', 'kit', 'storage', 'plain'],
  trial: ['trial', 'kit', 'plain'],
  service: [
    ...['install', 'compose', 'config', 'http', 'gateway', 'workers', 'dispatch', 'adapters'],
    ...['kit', 'storage', 'plain'],
  ],
  compose: ['install', 'config', 'workers', 'areas', 'adapters', 'common', 'kit', 'storage', 'plain'],
  config: ['areas', 'common', 'kit', 'plain'],
  http: ['http', 'dispatch', 'areas', 'common', 'kit', 'storage', 'plain'],
  gateway: ['gateway', 'dispatch', 'areas', 'common', 'kit', 'storage', 'plain'],
  workers: ['workers', 'dispatch', 'areas', 'common', 'kit', 'storage', 'plain'],
  dispatch: ['dispatch', 'areas', 'common', 'kit', 'storage', 'plain'],
  areas: ['areas', 'common', 'kit', 'storage', 'plain'],
  adapters: ['adapters', 'common', 'kit', 'plain'],
  common: ['common', 'kit', 'storage', 'plain'],
  kit: ['kit', 'storage', 'plain'],
  storage: ['storage', 'plain'],
  plain: ['plain'],
}

const edges = files.flatMap(({ path, imports }) => imports.map((target) => ({ path, target })))
const shown = (broken: { path: string; target: string }[]) => broken.map(({ path, target }) => `${path} -> ${target}`)

/** The area folder a file belongs to; `areas/index.ts` belongs to none. */
const areaOf = (path: string) => /^areas\/([\w-]+)\//.exec(path)?.[1]

describe('floors', () => {
  it('are all known', () => {
    const unknown = files.map(({ path }) => floorOf(path)).filter((floor) => !(floor in mayImport))
    assert.deepEqual([...new Set(unknown)], [])
    assert.ok(edges.length > 200)
  })

  it('import only what lies to the right', () => {
    const broken = edges.filter(({ path, target }) => !mayImport[floorOf(path)]?.includes(floorOf(target)))
    assert.deepEqual(shown(broken), [])
  })

  it('import existing files by their full name', () => {
    const known = new Set(files.map(({ path }) => path))
    assert.deepEqual(shown(edges.filter(({ target }) => !known.has(target))), [])
  })

  it('keep adapters on ports and on their own kind', () => {
    const kindOf = (path: string) => path.split('/').slice(0, 2).join('/')
    const shared = ['kit/ports.ts', 'common/media.ts', 'adapters/redis/connection.ts']
    const broken = edges
      .filter(({ path }) => floorOf(path) === 'adapters')
      .filter(
        ({ path, target }) =>
          !shared.includes(target) && floorOf(target) !== 'plain' && kindOf(path) !== kindOf(target),
      )
    assert.deepEqual(shown(broken), [])
  })

  it('run operations without HTTP: only its own floor knows a request or a response', () => {
    const transport = /^(node:)?(http|https|http2|net|tls)$/
    const knowing = files
      .filter(({ path }) => ['dispatch', 'workers', 'areas', 'kit', 'storage'].includes(floorOf(path)))
      .filter(
        ({ text, packages }) =>
          packages.some((name) => transport.test(name)) || /\b(IncomingMessage|ServerResponse)\b/.test(text),
      )
    assert.deepEqual(
      knowing.map(({ path }) => path),
      [],
    )
    assert.ok(files.some(({ path }) => path === 'dispatch/dispatch.ts'))
  })

  it('let service and compose alone see the inside of http, workers and adapters; the command line uses only the log', () => {
    const broken = edges
      .filter(({ path }) => ['cli', 'install'].includes(floorOf(path)))
      .filter(({ target }) => ['http', 'workers', 'adapters'].includes(floorOf(target)))
      .filter(({ target }) => !['http/observe.ts', 'adapters/secrets/master-key.ts'].includes(target))
    assert.deepEqual(shown(broken), [])
  })
})

describe('a command', () => {
  const valueImports = /^import (?!type\b)[^']*'(\.[^']+)'/gm
  const loadedWith = (path: string) =>
    [...read(path).text.matchAll(valueImports)].map(([, target]) =>
      join(dirname(path), target ?? '')
        .split(sep)
        .join('/'),
    )

  /** A file and all that is loaded with it. */
  function loaded(start: string): Set<string> {
    const all = new Set([start])
    for (const path of all) for (const target of loadedWith(path)) all.add(target)
    return all
  }

  const ofServer = (path: string) => path === 'service.ts' || ['http', 'trial'].includes(floorOf(path))

  it('is loaded alone, and without what a server is made of unless it starts one', () => {
    const commands = [...read('cli/parley.ts').text.matchAll(/import\('\.\/([\w-]+\.ts)'\)/g)].map(
      ([, name]) => `cli/${name}`,
    )
    assert.ok(commands.length > 10)
    assert.deepEqual(
      commands.filter((path) => [...loaded(path)].some(ofServer)),
      ['cli/start.ts', 'cli/trial.ts'],
    )
    const atOnce = [...loaded('cli/parley.ts')]
    assert.deepEqual(
      atOnce.filter((path) => ofServer(path) || commands.includes(path)),
      [],
    )
  })
})

describe('areas', () => {
  const list = read('areas/index.ts').text
  const order = (/areas = \[([^\]]*)\]/.exec(list)?.[1] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name) => new RegExp(`import \\{ ${name} \\} from '\\./([\\w-]+)/index\\.ts'`).exec(list)?.[1] ?? name)

  it('are all on the list, which is the register', () => {
    const folders = new Set(files.map(({ path }) => areaOf(path)).filter((area) => area !== undefined))
    assert.deepEqual([...folders].toSorted(), order.toSorted())
  })

  const between = edges.filter(({ path, target }) => areaOf(path) && areaOf(target) && areaOf(path) !== areaOf(target))

  it('import only areas above them', () => {
    const position = (path: string) => order.indexOf(areaOf(path) ?? '')
    assert.ok(between.length > 5)
    assert.deepEqual(shown(between.filter(({ path, target }) => position(target) >= position(path))), [])
  })

  it('show only their index, schemas, errors and events to others', () => {
    const outsiders = edges.filter(({ path, target }) => areaOf(target) && areaOf(path) !== areaOf(target))
    const broken = outsiders.filter(({ target }) => !/^areas\/[\w-]+\/(index|schemas|errors|events)\.ts$/.test(target))
    assert.deepEqual(shown(broken), [])
  })
})

describe('areas and storage', () => {
  const inAreas = files.filter(({ path }) => areaOf(path) !== undefined)
  const importersOf = (path: string) => edges.filter(({ target }) => target === path).map((edge) => edge.path)
  const migrations = new Set(inAreas.map(({ path }) => path).filter((path) => path.endsWith('/tables.ts')))
  // What only migrations import is a part of them; the set is read on while it grows.
  for (const path of migrations) {
    for (const { target } of edges.filter((edge) => edge.path === path && areaOf(edge.target))) {
      if (importersOf(target).every((importer) => migrations.has(importer))) migrations.add(target)
    }
  }

  it('meet where everything is fixed to an app: no area imports a raw connection', () => {
    const fixedToApp = ['tenant', 'sql', 'plans', 'search', 'search-text', 'grams', 'tally']
    const types = ['tables', 'migrate']
    const allowed = [...fixedToApp, ...types].map((name) => `storage/${name}.ts`)
    const used = edges.filter(({ path, target }) => areaOf(path) && floorOf(target) === 'storage')
    assert.ok(used.length > 100)
    const broken = used.filter(
      ({ path, target }) => !allowed.includes(target) && !(areaOf(path) === 'apps' && target === 'storage/platform.ts'),
    )
    assert.deepEqual(shown(broken), [])
  })

  it('leave all tables to migrations, and the platform to those who run apps', () => {
    const running = ['apps', 'collaborators']
    const named = inAreas.filter(({ text }) => /\bKysely\b|\bmanagementOperation\b/.test(text)).map(({ path }) => path)
    assert.deepEqual(
      named.filter((path) => !migrations.has(path) && !running.includes(areaOf(path) ?? '')),
      [],
    )
  })

  it('leave it to storage how planners are kept to a plan', () => {
    const words = /\b(MATERIALIZED|CROSS JOIN|LATERAL|INDEXED|OFFSET 0)\b/
    // A column joined with nothing, increased by nothing, or with a sign: none of it changes the value.
    const columns = /\|\| ''|\w\.\w+ \+ 0\b|[ (]\+[a-z_]+\.[a-z_]/
    assert.deepEqual(
      inAreas
        .filter(({ path, text }) => !migrations.has(path) && (words.test(text) || columns.test(text)))
        .map(({ path }) => path),
      [],
    )
  })
})

describe('single places', () => {
  it('name a database dialect: its own files and compose', () => {
    const own = [
      'sqlite',
      'sqlite-checkpointer',
      'sqlite-checkpoints',
      'sqlite-durability',
      'sqlite-file',
      'sqlite-memory',
      'sqlite-reader',
      'sqlite-readers',
      'sqlite-search',
      'sqlite-statistics',
      'postgres',
      'postgres-pool',
      'postgres-search',
      'postgres-wake',
    ]
    const allowed = [...own.map((name) => `storage/${name}.ts`), 'compose.ts']
    const dialects = own.map((name) => `storage/${name}.ts`)
    const byImport = edges.filter(({ path, target }) => dialects.includes(target) && !allowed.includes(path))
    assert.deepEqual(shown(byImport), [])
    const driver = /^(node:sqlite|postgres|pg|better-sqlite3)$/
    const naming = files
      .filter(({ path }) => !allowed.includes(path))
      .filter(
        ({ text, packages }) =>
          packages.some((name) => driver.test(name)) ||
          /\b(Sqlite|Postgres)(Adapter|QueryCompiler|Dialect)\b/.test(text),
      )
    assert.deepEqual(
      naming.map(({ path }) => path),
      [],
    )
  })

  it('read the environment: config and main', () => {
    const readers = files.filter(({ text }) => /process\.env\b|from 'node:process'/.test(text)).map(({ path }) => path)
    assert.deepEqual(
      readers.filter((path) => !['config.ts', 'main.ts'].includes(path)),
      [],
    )
  })

  it('keep the kit small enough to be read, and free of what the product is about', () => {
    const kit = files.filter(({ path }) => floorOf(path) === 'kit')
    const lines = kit.reduce((sum, { text }) => sum + text.split('\n').length, 0)
    assert.ok(lines < kitLinesMax, `the kit has ${lines} lines`)
    const naming = kit.flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => productWords.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    )
    assert.deepEqual(naming, [])
  })

  it('export by name only', () => {
    assert.deepEqual(
      files.filter(({ text }) => /^export default/m.test(text)).map(({ path }) => path),
      [],
    )
  })

  it('stay inside the server', () => {
    const outside = edges.filter(({ target }) => relative('.', target).startsWith('..'))
    assert.deepEqual(shown(outside), [])
  })
})
