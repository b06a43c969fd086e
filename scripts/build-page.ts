import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { basename, join } from 'node:path'

/**
 * Builds the chat page, `demo/`, unless it is built already as it stands. Each version has a folder of its own, to which
 * `demo/dist` is a link. A build comes to its folder, and the link to its target, by being renamed: a build that is killed
 * leaves the page as it was, and of two at once the second finds the work done.
 */

const root = join(import.meta.dirname, '..')
const page = join(root, 'demo')
const link = join(page, 'dist')
const builds = join(page, '.builds')
const reasonLines = 12

const version = versionOf(['demo/**/*', 'sdk/src/**/*.ts', 'package-lock.json', 'scripts/build-page.ts'])
const built = join(builds, version)
// Another one at the same time has another name.
const beginning = join(builds, `${process.pid}.part`)
if (!isBuilt()) process.exitCode = await build()

/** A name for all that the page is made of. */
function versionOf(patterns: string[]): string {
  const hash = createHash('sha256')
  const exclude = ['demo/node_modules', 'demo/dist', 'demo/.builds']
  const files = globSync(patterns, { cwd: root, exclude, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update('\0')
  }
  return hash.digest('hex').slice(0, 16)
}

function isBuilt(): boolean {
  return existsSync(join(built, 'index.html')) && isLink() && basename(readlinkSync(link)) === version
}

function isLink(): boolean {
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

async function build(): Promise<number> {
  const started = Date.now()
  process.stderr.write('Building the chat page (needed once) ...')
  const ticking = setInterval(() => process.stderr.write('.'), 1_000)
  const problem = await attempt().catch((error: Error) => error.message)
  clearInterval(ticking)
  if (problem === undefined) {
    process.stderr.write(` done in ${Math.round((Date.now() - started) / 1000)} s\n`)
    return 0
  }
  process.stderr.write(` failed\nThe chat page could not be built, so /demo only says that:\n${problem}\n`)
  return 1
}

/** Answers what was in the way, if anything was. */
async function attempt(): Promise<string | undefined> {
  try {
    mkdirSync(builds, { recursive: true })
    const problem = existsSync(join(built, 'index.html')) ? undefined : await bundle()
    if (problem === undefined) show()
    return problem
  } finally {
    rmSync(beginning, { recursive: true, force: true })
    removeLeftovers()
  }
}

async function bundle(): Promise<string | undefined> {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const words = ['build', page, '--outDir', beginning, '--emptyOutDir', '--logLevel', 'error']
  const child = spawn(process.execPath, [vite, ...words], {
    cwd: page,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      said += part
    })
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) return said.trim().split('\n').slice(0, reasonLines).join('\n') || `vite ended with ${code}`
  moveUnlessThere(beginning, built)
  return undefined
}

function moveUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!existsSync(join(to, 'index.html'))) throw error
  }
}

/** The link is made beside its place: there is no moment without one. */
function show(): void {
  if (!isLink()) rmSync(link, { recursive: true, force: true })
  const next = `${beginning}.link`
  rmSync(next, { force: true })
  symlinkSync(join('.builds', version), next)
  renameSync(next, link)
}

/** Other versions, as none of them is for this server, and what builds that were killed have begun. */
function removeLeftovers(): void {
  if (!isBuilt()) rmSync(link, { recursive: true, force: true })
  for (const name of existsSync(builds) ? readdirSync(builds) : []) {
    const [, builder] = /^(\d+)\.part/.exec(name) ?? []
    const isWanted = name === version || (builder !== undefined && isAlive(Number(builder)))
    if (!isWanted) rmSync(join(builds, name), { recursive: true, force: true })
  }
}

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch {
    return false
  }
}
