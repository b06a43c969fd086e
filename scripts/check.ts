import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** What must hold before a change is shared: types, lint and format, generated files, floors, the lock file. */

const root = join(import.meta.dirname, '..')
const node = [process.execPath, '--disable-warning=ExperimentalWarning']
const floors = ['tests/floors.test.ts', 'tests/sdk/floors.test.ts']
const lockFile = 'tests/lock-file.test.ts'

const steps: Record<string, string[]> = {
  types: [join(root, 'node_modules/.bin/tsc'), '-p', '.'],
  // It runs where there is neither Node nor the newest syntax.
  'types of the SDK': [join(root, 'node_modules/.bin/tsc'), '-p', 'sdk'],
  'types of the chat page': [join(root, 'node_modules/.bin/tsc'), '-p', 'demo'],
  // Parts of them run in a browser.
  'types of the tests of the page': [join(root, 'node_modules/.bin/tsc'), '-p', 'tests/page'],
  'lint and format': [join(root, 'node_modules/.bin/biome'), 'check', '--error-on-warnings', '.'],
  'generated files': [...node, 'scripts/generate.ts', '--check'],
  floors: [...node, '--test', ...floors],
  'lock file': [...node, '--test', lockFile],
}

let failed = false
for (const [name, [command = '', ...words]] of Object.entries(steps)) {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd: root, encoding: 'utf8' })
  if (status !== 0) process.stdout.write(`${stdout}${stderr}`)
  failed ||= status !== 0
  console.log(`${name}: ${status === 0 ? 'ok' : 'failed'}`)
}
process.exitCode = failed ? 1 : 0
