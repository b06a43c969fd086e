import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { memoryFolder } from '../scripts/memory-folder.ts'
import { settingsList } from '../server/src/config.ts'
import { buildSdk } from './sdk/build.ts'

/** The words of the repository are held to what the code does. */

const root = join(import.meta.dirname, '..')
const notOurs = ['**/node_modules/**', '**/.*/**', '**/package-lock.json']
const filesOf = (pattern: string) => globSync(pattern, { cwd: root, exclude: notOurs }).toSorted()
const read = (file: string) => readFileSync(join(root, file), 'utf8')

const pages = filesOf('**/*.md')
const vendorPage = 'docs/compatibility.md'
const operatingPage = 'docs/operating.md'
const securityPage = 'docs/security-model.md'
/** Files of an area that does not exist. */
const exampleFiles = /^```ts [\w.-]+\n[\s\S]*?^```/gm

describe('the documentation', () => {
  it('has only relative links that lead somewhere, down to the heading', () => {
    assert.ok(pages.length > 10)
    assert.deepEqual(pages.flatMap(deadLinks), [])
  })

  it('describes every setting with its default, and none that does not exist', () => {
    const rows = read(operatingPage).matchAll(/^\| `(PARLEY_\w+)` \| (?:`([^`]*)`)? *\|/gm)
    const described = Object.fromEntries([...rows].map(([, variable = '', fallback = '']) => [variable, fallback]))
    assert.deepEqual(described, Object.fromEntries(settingsList.map(({ variable, fallback }) => [variable, fallback])))
    const known = new Set(settingsList.map(({ variable }) => variable))
    const named = pages.flatMap((page) =>
      [
        ...read(page)
          .replaceAll(exampleFiles, '')
          .matchAll(/PARLEY_[A-Z0-9_]*[A-Z0-9]/g),
      ].map(([name]) => name),
    )
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    )
  })

  it('lists limits in the security model with the defaults they have', () => {
    const rows = [...read(securityPage).matchAll(/^\| .* \| ([\d,]+)\b.* \| `(PARLEY_\w+)` \|$/gm)]
    assert.ok(rows.length > 10)
    const told = Object.fromEntries(rows.map(([, limit = '', variable]) => [variable, limit.replaceAll(',', '')]))
    const set = settingsList.filter(({ variable }) => variable in told)
    assert.deepEqual(told, Object.fromEntries(set.map(({ variable, fallback }) => [variable, fallback])))
    assert.deepEqual(
      settingsList.filter(({ variable }) => variable.startsWith('PARLEY_LIMIT_') && !(variable in told)),
      [],
    )
  })

  it('names the compatible vendor in the page about compatibility alone', () => {
    const vendor = /^# Compatibility with (\w+)/m.exec(read(vendorPage))?.[1]
    assert.ok(vendor, 'the heading of that page names the vendor')
    const naming = filesOf('**/*.{md,ts,mjs,json,yml,yaml}').filter((file) =>
      read(file).toLowerCase().includes(vendor.toLowerCase()),
    )
    assert.deepEqual(naming, [vendorPage])
  })

  it('mentions no path of a machine it was written on', () => {
    const machinePath = /(?<![\w.*-])\/(?:work|root|home|Users)\/\w/
    assert.deepEqual(
      filesOf('**/*.{md,ts,mjs,json,yml,yaml}').filter((file) => machinePath.test(read(file))),
      [],
    )
  })
})

function deadLinks(page: string): string[] {
  const prose = read(page).replaceAll(/^```[\s\S]*?^```/gm, '')
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return links
    .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(page, target))
    .map((to) => `${page}: ${to}`)
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : relative(root, join(root, dirname(page), path))
  if (!existsSync(join(root, file))) return false
  return anchor === undefined || headingsOf(file).includes(anchor)
}

function headingsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}

interface Example {
  script: string
  /** What the example prints, in part. */
  expected: unknown
}

/** Blocks marked `sh test` or `js test`, each with the `json expected` block that follows it. */
function examplesOf(page: string): Example[] {
  const blocks = read(page).matchAll(/^```(sh|js) test\n([\s\S]*?)^```(?:\s+```json expected\n([\s\S]*?)^```)?/gm)
  return [...blocks].map(([, language, text = '', expected]) => ({
    script: language === 'sh' ? text : `node --input-type=module <<'END'\n${text}END\n`,
    expected: expected && JSON.parse(expected),
  }))
}

const main = join(root, 'server/src/main.ts')
const flags = ['--disable-warning=ExperimentalWarning']
const startSeconds = 30
const cut = '----8<----'

/** What the reader has pasted before: the setup of the examples, and the command, here under the Node that runs tests. */
function preamble(): string {
  const setup = /^```sh setup\n([\s\S]*?)^```/m.exec(read('docs/README.md'))?.[1]
  assert.ok(setup)
  return `set -euo pipefail\nnpx() { shift; node ${flags.join(' ')} '${main}' "$@"; }\n${setup}`
}

describe('the examples in the documentation', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(memoryFolder(), 'parley-docs-'))
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_')))
  env.PATH = `${dirname(process.execPath)}:${env.PATH ?? ''}`
  let server: ChildProcess

  before(async () => {
    const words = [...flags, main, 'start', '--demo', '--port', '0', '--log-level', 'silent']
    server = spawn(process.execPath, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
    assert.ok(server.stdout)
    const started = once(server.stdout, 'data', { signal: AbortSignal.timeout(startSeconds * 1000) })
    await Promise.all([started, buildSdk(join(folder, 'node_modules/@parley/sdk'))])
  })

  after(async () => {
    server.kill('SIGTERM')
    if (server.exitCode === null) await once(server, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })

  for (const page of pages) {
    const examples = examplesOf(page)
    if (examples.length === 0) continue
    it(`of ${page} do what they say`, async () => {
      const scripts = examples.map(({ script }) => script).join(`\necho '${cut}'\n`)
      const { stdout } = await promisify(execFile)('bash', ['-c', `${preamble()}\n${scripts}`], {
        cwd: folder,
        env: { ...env, NODE_EXTRA_CA_CERTS: join(folder, '.parley/ca.pem') },
      })
      const printed = stdout.split(cut)
      examples.forEach(({ expected, script }, index) => {
        if (expected !== undefined) assert.partialDeepStrictEqual(JSON.parse(printed[index] ?? ''), expected, script)
      })
    })
  }
})
