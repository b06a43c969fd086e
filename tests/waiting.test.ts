import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { describe, it } from 'node:test'

/**
 * A test that sleeps hopes that something has happened by then: it is slow where it has, and fails where it has not. Tests
 * wait for what they want to see (`support/until.ts`), let time pass at once (`support/clock.ts`), or see that others have
 * been answered meanwhile. This reads which of them use timers all the same.
 */

const root = join(import.meta.dirname, '..')
const timers = /\b(setTimeout|setInterval|Atomics\.wait|scheduler\.wait|pg_sleep)\b/

const mayUseTimers: Record<string, string> = {
  'server/src/storage/postgres-pool.install.test.ts': 'statements that are ended in the middle have to last',
  'server/src/storage/sqlite-memory.test.ts': 'holds the event loop until something is there for it to hear',
  'server/src/storage/sqlite-readers.install.test.ts': 'has a process that goes on for ever, to be ended',
  'tests/abuse.alone.test.ts': 'measures at rest, then under load',
  'tests/gateway-nodes.endurance.test.ts': 'speaks at a steady rate',
  'tests/support/abuse/bystanders-thread.ts': 'asks at a steady rate, which is measured',
  'tests/support/long-reads.ts': 'has a statement that never ends, to be ended',
  'tests/support/processes.ts': 'looks at the memory of others again and again',
  'tests/support/server-process.ts': 'ends a server that does not start',
  'tests/support/until.ts': 'looks again after a pause, and not for ever',
  'tests/support/wire.ts': 'does not listen for ever',
}

const filesWithTimers = globSync(['{server,tests,conformance,scripts,bench}/**/*.test.ts', 'tests/support/**/*.ts'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
})
  .map((path) => path.split(sep).join('/'))
  .filter((path) => path !== 'tests/waiting.test.ts')
  .filter((path) => timers.test(readFileSync(join(root, path), 'utf8')))

describe('tests', () => {
  it('do not sleep: nobody uses a timer without a reason that is told here', () => {
    assert.deepEqual(filesWithTimers.toSorted(), Object.keys(mayUseTimers))
  })
})
