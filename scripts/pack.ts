import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Packs the SDK as others install it. Packing compiles it, and the launcher has brought the compiler. */

const root = join(import.meta.dirname, '..')
const { status } = spawnSync('npm', ['pack', '-w', 'sdk', '--loglevel=error'], { cwd: root, stdio: 'inherit' })
process.exitCode = status ?? 1
