import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { startServices } from './services.ts'

/**
 * Runs the suites: all of them on both databases, or with --quick the fast ones on the embedded database alone. Words
 * after that choose files whose path contains one of them.
 */

const words = process.argv.slice(2)
const quick = words.includes('--quick')
const chosen = words.filter((word) => !word.startsWith('--'))
const exitUsage = 2

const slow = /\.slow\.test\.ts$/
const files = globSync(['server/src/**/*.test.ts', 'tests/**/*.test.ts', 'conformance/**/*.test.ts'])
  .toSorted()
  .filter((file) => !(quick && slow.test(file)))
  .filter((file) => chosen.length === 0 || chosen.some((word) => file.includes(word)))

if (files.length === 0) {
  console.error('No test matches.')
  process.exit(exitUsage)
}

const services = quick ? { environment: {}, missing: [], stop: async () => {} } : await startServices()
for (const missing of services.missing) console.error(`Missing: ${missing}; the tests that need it are skipped.`)

let code: number
if (services.missing.length > 0 && process.env.CI === 'true') {
  console.error('Under CI=true nothing may be missing.')
  code = 1
} else code = await runTests()
await services.stop()
process.exit(code)

function runTests(): Promise<number> {
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-concurrency=2',
    '--test-timeout=600000',
    '--test-force-exit',
  ]
  const reporter = process.env.CI === 'true' ? ['--test-reporter=spec'] : []
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...flags, ...reporter, ...files], {
      stdio: 'inherit',
      env: { ...process.env, ...services.environment },
    })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
    child.on('exit', (exitCode) => resolve(exitCode ?? 1))
  })
}
