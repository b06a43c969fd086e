import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { compile } from './sdk/build.ts'

/** The area that docs/adding-an-area.md builds is added to a copy of the house, word by word: a folder and a line. */

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/adding-an-area.md'), 'utf8')
const copied = ['server/src', 'server/package.json', 'tests', 'scripts', 'package.json', 'tsconfig.json']
const linked = ['node_modules', 'server/node_modules']
const run = promisify(execFile)

describe('adding an area as the documentation says', () => {
  let copy: string
  before(() => {
    copy = mkdtempSync(join(tmpdir(), 'parley-area-'))
    for (const each of copied) cpSync(join(root, each), join(copy, each), { recursive: true })
    for (const each of linked) if (existsSync(join(root, each))) symlinkSync(join(root, each), join(copy, each))
    addArea(join(copy, 'server/src/areas'))
  })
  after(() => rmSync(copy, { recursive: true, force: true }))

  const node = async (...words: string[]) => {
    // It reports for itself, its times are part of this process's, and a quick run would leave most operations out.
    const { NODE_TEST_CONTEXT: _context, PARLEY_TEST_TIMES: _times, PARLEY_TEST_QUICK: _quick, ...env } = process.env
    const runner = `--import=${pathToFileURL(join(copy, 'scripts/light-runner.ts'))}`
    const flags = ['--disable-warning=ExperimentalWarning', runner, '--test', '--test-reporter=tap']
    const outcome = run(process.execPath, [...flags, ...words], { cwd: copy, env })
    const { stdout } = await outcome.catch((error) => assert.fail(`${error.stdout}${error.stderr}`))
    return Number(/^# pass (\d+)$/m.exec(stdout)?.[1])
  }

  it('compiles', async () => {
    const tsconfig = { extends: './tsconfig.json', include: ['server/src/areas/notes'] }
    writeFileSync(join(copy, 'tsconfig.notes.json'), JSON.stringify(tsconfig))
    await compile('-p', join(copy, 'tsconfig.notes.json'))
  })

  it('keeps to the floors', async () => {
    assert.ok((await node('tests/floors.test.ts')) > 10)
  })

  it('passes its own test', async () => {
    assert.ok((await node('server/src/areas/notes/notes.test.ts')) > 0)
  })

  it('passes the sweep over every operation', async () => {
    const pattern = '--test-name-pattern=(createNote|listNotes|getNote)'
    assert.ok((await node(pattern, 'tests/every-operation.test.ts')) > 10)
  })

  it('keeps the copies of clients right', async () => {
    const pattern = '--test-name-pattern=(createNote|reducer for every event)'
    assert.ok((await node(pattern, 'tests/client-copy.sweep.test.ts')) > 1)
  })
})

/** Writes the blocks that name a file, and the line in the list. */
function addArea(areas: string): void {
  const blocks = [...page.matchAll(/^```ts ([\w.-]+)\n([\s\S]*?)^```$/gm)]
  assert.ok(blocks.length >= 9, `only ${blocks.length} blocks name a file`)
  mkdirSync(join(areas, 'notes'))
  for (const [, name = '', text = ''] of blocks) appendFileSync(join(areas, 'notes', name), text)
  const list = readFileSync(join(areas, 'index.ts'), 'utf8')
  const longer = list
    .replace(/^import .*$/m, `import { notes } from './notes/index.ts'\n$&`)
    .replace(/\n\]/, '\n  notes,\n]')
  writeFileSync(join(areas, 'index.ts'), longer)
}
