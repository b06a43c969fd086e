import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freshDatabase } from './support/databases.ts'
import { httpsClient } from './support/http.ts'

/** The launcher builds the chat page once per version, in a copy of the repository. */

const root = join(import.meta.dirname, '..')
const copied = [
  ...['package.json', 'package-lock.json', 'scripts', 'demo/src', 'demo/public', 'sdk/src', 'server/src'],
  ...['demo/index.html', 'demo/package.json', 'demo/tsconfig.json', 'demo/vite.config.ts', 'tsconfig.json'],
  ...['sdk/package.json', 'server/package.json'],
]
const linked = ['node_modules', 'server/node_modules', 'demo/node_modules']

describe('the chat page is built', () => {
  let copy: string
  before(() => {
    copy = mkdtempSync(join(tmpdir(), 'parley-build-page-'))
    for (const each of copied) cpSync(join(root, each), join(copy, each), { recursive: true })
    for (const each of linked) if (existsSync(join(root, each))) symlinkSync(join(root, each), join(copy, each))
  })
  after(() => rmSync(copy, { recursive: true, force: true }))

  const builds = () => readdirSync(join(copy, 'demo/.builds'))
  const page = () => readFileSync(join(copy, 'demo/dist/index.html'), 'utf8')
  const change = (words: string) => appendFileSync(join(copy, 'demo/src/main.tsx'), words)
  const begin = (): ChildProcess =>
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'scripts/build-page.ts'], {
      cwd: copy,
      stdio: ['ignore', 'ignore', 'pipe'],
      // A group of its own, which can be killed with all that it has started.
      detached: true,
    })

  it('once, with a line that says so, whoever else is at it', async () => {
    const outcomes = await Promise.all([begin(), begin()].map(outcomeOf))
    for (const { code, said } of outcomes) {
      assert.equal(code, 0, said)
      assert.match(said, /^Building the chat page \(needed once\) \.+ done in \d+ s\n$/)
    }
    assert.match(page(), /<script type="module"/)
    assert.equal(builds().length, 1)
    assert.deepEqual(await outcomeOf(begin()), { code: 0, said: '' })
  })

  it('again when anything of it has changed, and only the new one is kept', async () => {
    const [earlier] = builds()
    change('\nconsole.debug("changed")\n')
    assert.equal((await outcomeOf(begin())).code, 0)
    assert.equal(builds().length, 1)
    assert.notEqual(builds()[0], earlier)
  })

  it('as a whole or not at all: a build that is killed leaves the page as it was, and the next one clears up', async () => {
    const earlier = page()
    change('\nconsole.debug("killed")\n')
    const child = begin()
    await once(child.stderr ?? child, 'data')
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    await once(child, 'close')
    assert.equal(page(), earlier)
    assert.equal((await outcomeOf(begin())).code, 0)
    assert.equal(builds().length, 1)
  })

  it('and the server that is started for a terminal keeps its requests to itself, and says so', async () => {
    const database = await freshDatabase('sqlite')
    const terminal = ['--import', 'data:text/javascript,process.stdout.isTTY=true']
    const child = spawn(process.execPath, [...terminal, 'scripts/launch.mjs', 'start', '--demo', '--port', '0'], {
      cwd: copy,
      env: { PATH: process.env.PATH, ...database.environment },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (part) => {
      printed += part
    })
    while (!printed.includes('Stop with')) await once(child.stdout, 'data')
    child.kill('SIGTERM')
    await once(child, 'close')
    assert.match(printed, /npm start -- --log-level info/)
    assert.doesNotMatch(printed, /"level":30/)
    await database.drop()
  })

  it('if it can be: else the launcher says why, and the server runs and says so as well', async () => {
    change('\nconst broken = {\n')
    const database = await freshDatabase('sqlite')
    const child = spawn(process.execPath, ['scripts/launch.mjs', 'start', '--demo', '--port', '0', '--json'], {
      cwd: copy,
      env: { PATH: process.env.PATH, PARLEY_LOG_LEVEL: 'silent', ...database.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const complaints = collect(child)
    const [printed] = await once(child.stdout.setEncoding('utf8'), 'data')
    const { port, caFile } = JSON.parse(printed)
    assert.match(
      complaints(),
      /Building the chat page \(needed once\) \.+ failed\n.*could not be built.*\n[\s\S]*main\.tsx/,
    )
    const client = httpsClient(port, readFileSync(caFile, 'utf8'))
    assert.match((await client.send('localhost', '/demo/')).text, /not built/)
    client.close()
    child.kill('SIGTERM')
    await once(child, 'close')
    await database.drop()
  })
})

async function outcomeOf(child: ChildProcess): Promise<{ code: number; said: string }> {
  const said = collect(child)
  const [code] = await once(child, 'close')
  return { code, said: said() }
}

function collect({ stderr }: ChildProcess): () => string {
  let text = ''
  stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  return () => text
}
