import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startServices } from './services.ts'

/**
 * Runs the suites: all of them on both databases, or with --quick the fast ones on the embedded database alone, or with
 * --endurance those that measure or search for long. Words after that choose files whose path contains one of them, fast
 * or slow.
 */

const words = process.argv.slice(2)
const quick = words.includes('--quick')
const endurance = words.includes('--endurance')
const enduring = ['.alone.test.ts', 'tests/crossing.slow']
const named = words.filter((word) => !word.startsWith('--'))
const chosen = named.length === 0 && endurance ? enduring : named
const exitUsage = 2
// One more than the cores of a small machine: a test that waits leaves its core to another.
const processes = 3
const sharesMax = 12

const slow = /\.(slow|alone)\.test\.ts$/
// What these measure would be of the others, too.
const alone = /\.alone\.test\.ts$/
const found = globSync(['server/src/**/*.test.ts', 'tests/**/*.test.ts', 'conformance/**/*.test.ts'])
  .toSorted()
  .filter((file) => chosen.length === 0 || chosen.some((word) => file.includes(word)))
const files = found.filter((file) => !(quick && chosen.length === 0 && slow.test(file)))

if (files.length === 0) {
  console.error('No test matches.')
  process.exit(exitUsage)
}

if (quick) process.exit(await runQuickly())

const services = await startServices()
for (const missing of services.missing) console.error(`Missing: ${missing}; the tests that need it are skipped.`)

let code: number
if (services.missing.length > 0 && process.env.CI === 'true') {
  console.error('Under CI=true nothing may be missing.')
  code = 1
} else code = await runInStages(services.environment)
await services.stop()
process.exit(code)

/** Most of what a small file costs is loading the server, so here one process loads it for many files. */
async function runQuickly(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-quick-'))
  const sharesCount = Math.min(files.length, sharesMax)
  const shares = Array.from({ length: sharesCount }, (_, n) => {
    const share = files.filter((_file, index) => index % sharesCount === n)
    const imports = share.map((file) => `import '${pathToFileURL(resolve(file))}'\n`)
    const name = join(folder, `share-${n + 1}.test.mjs`)
    writeFileSync(name, imports.join(''))
    return name
  })
  // Whoever has databases at hand still asked for the quick ones.
  const result = await runTests(shares, { PARLEY_TEST_QUICK: 'true', PARLEY_TEST_POSTGRES: '', PARLEY_TEST_REDIS: '' })
  rmSync(folder, { recursive: true })
  const left = found.filter((file) => !files.includes(file))
  const also = left.length === 0 ? '' : `; and ${left.length} files:\n  ${left.join('\n  ')}`
  console.log(`Left to npm test: all of it on PostgreSQL; what needs Redis; most of every-operation${also}`)
  return result
}

/** Some side by side, then those that must be alone, one after the other. The latter measure: they run where asked for. */
async function runInStages(environment: Record<string, string>): Promise<number> {
  const apart = files.filter((file) => alone.test(file))
  const isAskedFor = chosen.length > 0
  if (!isAskedFor) for (const file of apart) console.log(`Left to npm run endurance, as it measures: ${file}`)
  const stages = [
    { testFiles: files.filter((file) => !alone.test(file)), atOnce: processes },
    { testFiles: isAskedFor ? apart : [], atOnce: 1 },
  ].filter(({ testFiles }) => testFiles.length > 0)
  let worst = 0
  for (const { testFiles, atOnce } of stages) worst = Math.max(worst, await runTests(testFiles, environment, atOnce))
  return worst
}

function runTests(testFiles: string[], environment: Record<string, string>, atOnce = processes): Promise<number> {
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    `--test-concurrency=${atOnce}`,
    '--test-timeout=600000',
    '--test-force-exit',
  ]
  const reporter = process.env.CI === 'true' ? ['--test-reporter=spec'] : []
  return new Promise((resolved) => {
    const child = spawn(process.execPath, [...flags, ...reporter, ...testFiles], {
      stdio: 'inherit',
      env: { ...process.env, ...environment, ...(endurance && { PARLEY_TEST_ENDURANCE: 'true' }) },
    })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
    child.on('exit', (exitCode) => resolved(exitCode ?? 1))
  })
}
