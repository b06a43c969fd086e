import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')

/**
 * Runs the compiler; fails with what it complains about. Several threads would each check what all files import, which takes
 * three times as much together.
 */
export async function compile(...words: string[]): Promise<void> {
  const compiled = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['--singleThreaded', ...words])
  await compiled.catch(({ stdout }) => assert.fail(stdout))
}

/** The package as it is packed, in a folder of its own: others may be building it at the same time. */
export async function buildSdk(into: string): Promise<void> {
  await compile('-p', join(root, 'sdk/tsconfig.build.json'), '--outDir', join(into, 'dist'))
  for (const file of ['package.json', 'README.md']) cpSync(join(root, 'sdk', file), join(into, file))
}
