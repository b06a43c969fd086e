import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'rolldown'
import { buildSdk, compile } from './build.ts'

/** The package as others get it: built, packed, and installed where nothing else is. */

const run = promisify(execFile)

const clientBytesMax = 20_000

describe('the package @parley/sdk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-sdk-'))
  const made = join(folder, 'package')
  const project = join(folder, 'project')
  const installed = join(project, 'node_modules/@parley/sdk')
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` }
  const npm = (cwd: string, ...words: string[]) => run('npm', [...words, '--offline', '--ignore-scripts'], { cwd, env })

  before(async () => {
    await buildSdk(made)
    cpSync(join(import.meta.dirname, 'project'), project, { recursive: true })
    const { stdout } = await npm(made, 'pack', '--json', '--pack-destination', folder)
    const [{ filename }] = JSON.parse(stdout)
    await npm(project, 'install', '--no-audit', '--no-fund', join(folder, filename))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** A file of the package, and all that it imports. */
  function reachedFrom(entry: string, reached = new Set<string>()): Set<string> {
    const file = join(installed, 'dist', entry)
    if (reached.has(file)) return reached
    reached.add(file)
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(/\bfrom '(\.[^']+)'/g)) {
      reachedFrom(join(dirname(entry), target), reached)
    }
    return reached
  }

  it('brings nothing along', () => {
    const found = globSync('node_modules/{*,@*/*}/package.json', { cwd: project })
    assert.deepEqual(found, ['node_modules/@parley/sdk/package.json'])
    const sources = globSync('**/*', { cwd: installed }).filter((file) => /(?<!\.d)\.ts$|test/.test(file))
    assert.deepEqual(sources, [])
  })

  it('works in a strict TypeScript project, where what cannot work does not compile', async () => {
    await compile('-p', project)
  })

  it('works in plain JavaScript', async () => {
    const { stdout } = await run(process.execPath, [join(project, 'plain.js')])
    assert.deepEqual(JSON.parse(stdout), {
      uid: 'lin',
      asked: [
        'GET https://chat.example.org/v3/users/lin ',
        'POST https://chat.example.org/v3/messages ada',
        'POST https://chat.example.org/v3/groups/boats/banned_members/max ',
      ],
      refused: [true, true],
      state: 'offline',
      operations: true,
    })
  })

  /** What a page ships: what it imports, minified. */
  async function bundled(text: string): Promise<{ bytes: number; code: string }> {
    writeFileSync(join(project, 'page.js'), text)
    const { output } = await build({ input: join(project, 'page.js'), write: false, output: { minify: true } })
    const [{ code }] = output
    return { bytes: gzipSync(code).length, code }
  }

  it('is small for a client, and has no part of the admin in it', async () => {
    const client = "import { createClient, ParleyError } from '@parley/sdk'; console.log(createClient, ParleyError)"
    const { bytes, code } = await bundled(client)
    assert.ok(bytes < clientBytesMax, `${bytes} bytes`)
    assert.ok(code.includes('/v3/messages') && !code.includes('/v3/roles'))
    const files = [...reachedFrom('index.js')]
    assert.deepEqual(
      files.filter((file) => /dist\/(admin|generated\/groups)/.test(file)),
      [],
    )
    const one = await bundled("import { banUser } from '@parley/sdk/api'; console.log(banUser)")
    assert.ok(one.bytes < 300, `${one.bytes} bytes`)
  })

  it('does nothing when it is imported, so that bundlers leave out what is not used', () => {
    const { sideEffects } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    assert.equal(sideEffects, false)
    const text = readFileSync(join(installed, 'dist/generated/operations.js'), 'utf8').replaceAll(
      /\/\*[\s\S]*?\*\//g,
      '',
    )
    const others = text.split('\n').filter((line) => !/^(export const \w+ = \{.*| {4}.*|\};?|\/\/.*|)$/.test(line))
    assert.deepEqual(others, [])
  })

  it('is written in what engines of 2020 can parse', () => {
    const modern =
      /\b(?:BigInt|structuredClone|AbortSignal\.(?:any|timeout)|replaceAll)\b|\b\d+n\b|\(\?<[=!]|\?\?=|\|\|=|&&=|\bstatic \{|\bthis\.#|\b\d_\d/
    const files = globSync('dist/**/*.js', { cwd: installed })
    assert.ok(files.length > 10)
    assert.deepEqual(
      files.filter((file) => modern.test(readFileSync(join(installed, file), 'utf8'))),
      [],
    )
  })
})
