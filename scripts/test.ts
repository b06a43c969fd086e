import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromiumBinary } from './chromium.ts'
import { prepare } from './prepared.ts'
import { startServices } from './services.ts'
import { isKind, type Kind, kindOf } from './test-kinds.ts'
import { printTimes, timesTold } from './test-times.ts'

/**
 * Runs the suites: all of them on both databases, or with --quick the fast ones on the embedded database alone, or with
 * --endurance those that search, at full length, and those that measure. Words after that choose: a kind of test, or files
 * whose path contains the word. With --times it tells what each process of them took.
 */

const words = process.argv.slice(2)
const quick = words.includes('--quick')
const endurance = words.includes('--endurance')
const withTimes = words.includes('--times')
const named = words.filter((word) => !word.startsWith('--'))
const exitUsage = 2

const quickKinds: Kind[] = ['rules', 'areas']
const enduringKinds: Kind[] = ['endurance', 'alone']

const all = globSync(['server/src/**/*.test.ts', 'tests/**/*.test.ts', 'conformance/**/*.test.ts']).toSorted()
const found = all.filter((file) => named.length === 0 || named.some((word) => isMeant(file, word)))
const files = named.length > 0 ? found : found.filter((file) => usualKinds().includes(kindOf(file)))

// One more than there are cores: a test that waits leaves its core to another. Each has databases with connections.
const processes = Math.min(availableParallelism(), 16) + 1
// A process has several shares after another, so that none of them is left alone at the end. Each loads the server again.
const sharesPerProcess = 3

if (files.length === 0) {
  console.error('No test matches.')
  process.exit(exitUsage)
}
process.exit(quick ? await runQuickly() : await runThoroughly())

/** A word that is a kind is not looked for in paths. */
function isMeant(file: string, word: string): boolean {
  return isKind(word) ? kindOf(file) === word : file.includes(word)
}

function usualKinds(): Kind[] {
  if (quick) return quickKinds
  return endurance ? enduringKinds : ['rules', 'areas', 'sweep', 'install', 'page', 'endurance']
}

/** Whoever has databases at hand still asked for the quick ones. */
async function runQuickly(): Promise<number> {
  const code = await run({
    PARLEY_TEST_QUICK: 'true',
    PARLEY_TEST_POSTGRES: '',
    PARLEY_TEST_REDIS: '',
    PARLEY_TEST_CHROMIUM: chromiumBinary() ?? '',
  })
  if (named.length === 0) {
    const left = found.filter((file) => !files.includes(file))
    console.log(
      `Left to npm test: all of it on PostgreSQL; what needs Redis; ${left.length} files:\n  ${left.join('\n  ')}`,
    )
  }
  return code
}

/** Whoever needs a media engine asks the same file for it. */
function makesCalls(file: string): boolean {
  return /support\/media\.ts/.test(readFileSync(file, 'utf8'))
}

async function runThoroughly(): Promise<number> {
  const withMedia = files.some(makesCalls)
  const withBrowser = withMedia || files.some((file) => kindOf(file) === 'page')
  const services = await startServices({ withBrowser, withMedia })
  for (const missing of services.missing) console.error(`Missing: ${missing}; the tests that need it are skipped.`)
  try {
    if (services.missing.length === 0 || process.env.CI !== 'true') {
      return await run({ ...services.environment, ...(endurance && { PARLEY_TEST_ENDURANCE: 'true' }) })
    }
    console.error('Under CI=true nothing may be missing.')
    return 1
  } finally {
    await services.stop()
  }
}

/** Most side by side; then, one after the other, those that measure: what they measured would be of the others, too. */
async function run(environment: Record<string, string>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-suites-'))
  const prepared = await prepare(environment.PARLEY_TEST_POSTGRES)
  const times = join(folder, 'times')
  const told = { ...environment, ...prepared.environment, ...(withTimes && timesTold(times)) }
  const alone = files.filter((file) => kindOf(file) === 'alone')
  const stages = [
    { shares: sharesOf(files.filter((file) => !alone.includes(file))), atOnce: processes },
    { shares: alone.map((file) => [file]), atOnce: 1 },
  ]
  try {
    let worst = 0
    for (const { shares, atOnce } of stages) {
      if (shares.length > 0) worst = Math.max(worst, await runShares(folder, shares, told, atOnce))
    }
    if (withTimes) printTimes(times)
    return worst
  } finally {
    prepared.remove()
    rmSync(folder, { recursive: true })
  }
}

/**
 * Which files run in one process. Most of what a small file costs is loading the server, so one process loads it for many;
 * what kills, signals or fills processes has one of its own, and what looks at pages shares a browser. What takes longest
 * comes first, so that the end is not a wait for one; and beside those that wait there is always one that computes.
 */
function sharesOf(chosen: string[]): string[][] {
  const ofKind = (...kinds: Kind[]) => chosen.filter((file) => kinds.includes(kindOf(file)))
  const pages = ofKind('page')
  const [searchesApart = [], searches = []] = [true, false].map((isApart) =>
    ofKind('endurance').filter((file) => needsOwnProcess(file) === isApart),
  )
  const apart = [...ofKind('install'), ...searchesApart].map((file) => [file])
  const computing = [
    ...evenly(ofKind('sweep', 'areas', 'rules'), processes * sharesPerProcess),
    ...evenly(searches, processes),
  ]
  return [...(pages.length > 0 ? [pages] : []), ...mixed(apart, computing)]
}

/** A search that starts, ends or measures processes, or moves their time, says so in its text; at full length each is long. */
function needsOwnProcess(file: string): boolean {
  const ofProcesses = /child_process|worker_threads|server-process|process\.(kill|memoryUsage)|\bmock\b/
  return endurance || ofProcesses.test(readFileSync(file, 'utf8'))
}

/** Two lists in one, each in its order and spread over the whole. */
function mixed<T>(some: T[], others: T[]): T[] {
  const placed = [some, others].flatMap((list) => list.map((item, n) => ({ item, place: (n + 1) / (list.length + 1) })))
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}

/** Shares of about the same size: each file, the largest first, goes where there is least yet. */
function evenly(sharing: string[], sharesMax: number): string[][] {
  const count = Math.min(sharing.length, sharesMax)
  const shares = Array.from({ length: count }, () => ({ names: [] as string[], bytes: 0 }))
  const sized = sharing.map((name) => ({ name, bytes: statSync(name).size })).toSorted((a, b) => b.bytes - a.bytes)
  for (const { name, bytes } of sized) {
    const lightest = shares.reduce((least, share) => (share.bytes < least.bytes ? share : least))
    lightest.names.push(name)
    lightest.bytes += bytes
  }
  return shares.map(({ names }) => names)
}

/** The test runner takes files in the order of their names. */
function runShares(
  folder: string,
  shares: string[][],
  environment: Record<string, string>,
  atOnce: number,
): Promise<number> {
  const digits = String(shares.length).length
  const testFiles = shares.map((share, n) => {
    const name = join(folder, `share-${String(n + 1).padStart(digits, '0')}.test.mjs`)
    writeFileSync(name, share.map((file) => `import '${pathToFileURL(resolve(file))}'\n`).join(''))
    return name
  })
  return runTests(testFiles, environment, atOnce)
}

function runTests(testFiles: string[], environment: Record<string, string>, atOnce: number): Promise<number> {
  const flags = [
    '--disable-warning=ExperimentalWarning',
    `--import=${new URL('light-runner.ts', import.meta.url)}`,
    // Most of what a request leaves is gone with it; with more room for it, it is cleared away less often.
    '--min-semi-space-size=16',
    '--max-semi-space-size=32',
    '--test',
    `--test-concurrency=${atOnce}`,
    '--test-timeout=600000',
    '--test-force-exit',
  ]
  const reporter = process.env.CI === 'true' ? ['--test-reporter=spec'] : []
  return new Promise((resolved) => {
    const child = spawn(process.execPath, [...flags, ...reporter, ...testFiles], {
      stdio: 'inherit',
      env: { ...process.env, ...environment },
    })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
    child.on('exit', (exitCode) => resolved(exitCode ?? 1))
  })
}
