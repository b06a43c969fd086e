// The only file that runs on whatever Node is at hand (20 or later). It brings the right Node and the dependencies,
// once, and then hands over:
//
//   node scripts/launch.mjs start --demo       the parley command with these words
//   node scripts/launch.mjs run FILE [words]   a script of the repository, with the development dependencies

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const runtimeMajor = 24
const runtimeFolder = join(root, '.runtime')
const stampFile = join(root, 'node_modules', '.parley-installed')

const [first, ...rest] = process.argv.slice(2)
const development = first === 'run'
const target = development ? rest : [join(root, 'server', 'src', 'main.ts'), ...process.argv.slice(2)]

const node = ensureNode()
ensureDependencies(node, development)
if (first === 'start' && rest.includes('--demo')) {
  buildPage(node)
}
handOver(node, target)

/** The Node to run on: this one if it is new enough, else one installed beside the repository. */
function ensureNode() {
  if (Number(process.versions.node.split('.')[0]) >= runtimeMajor) return process.execPath
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const name = `node-${platform}-${process.arch}`
  const binary = join(runtimeFolder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (existsSync(binary)) return binary
  mkdirSync(runtimeFolder, { recursive: true })
  const manifest = join(runtimeFolder, 'package.json')
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n')
  install(`Node ${runtimeMajor}`, process.execPath, ['install', '--prefix', runtimeFolder, `${name}@${runtimeMajor}`])
  if (!existsSync(binary)) fail(`Node ${runtimeMajor} was installed, but ${binary} is not there.`)
  return binary
}

/** Installs what package-lock.json names, unless that has been done since it last changed. */
function ensureDependencies(nodeBinary, withDevelopment) {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const manifests = ['package-lock.json', 'package.json', ...workspaces.map((folder) => `${folder}/package.json`)]
  const hash = createHash('sha256')
  for (const file of manifests) hash.update(readFileSync(join(root, file)))
  const wanted = hash.digest('hex')
  const [installed, extent] = existsSync(stampFile) ? readFileSync(stampFile, 'utf8').split(' ') : []
  if (installed === wanted && (extent === 'all' || !withDevelopment)) return
  const scope = withDevelopment ? [] : ['--omit=dev']
  install('dependencies', nodeBinary, ['install', '--no-save', '--ignore-scripts', ...scope])
  writeFileSync(stampFile, `${wanted} ${withDevelopment ? 'all' : 'production'}`)
}

/** The chat page of the demo; a server without it is better than none. */
function buildPage(nodeBinary) {
  const script = join(root, 'scripts', 'build-page.ts')
  spawnSync(nodeBinary, ['--disable-warning=ExperimentalWarning', script], { stdio: 'inherit', env: handedOn() })
}

function install(what, nodeBinary, words) {
  const npm = npmCommand()
  const started = Date.now()
  process.stderr.write(`Installing ${what} (needed once) ...`)
  const ticking = spawnTicker()
  const result = spawnSync(
    npm.command(nodeBinary),
    [...npm.words, ...words, '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${dirname(nodeBinary)}:${process.env.PATH ?? ''}` },
    },
  )
  ticking.kill()
  if (result.status === 0) {
    process.stderr.write(` done in ${Math.round((Date.now() - started) / 1000)} s\n`)
    return
  }
  process.stderr.write(' failed\n')
  const reason = result.error?.message ?? result.stderr.trim().split('\n').slice(-12).join('\n')
  fail(`Could not install ${what}. Is the npm registry within reach, and is there room on the disk?\n${reason}`)
}

/** npm says where it is when it runs a script; started by hand, it is on the path. */
function npmCommand() {
  const script = process.env.npm_execpath
  if (script?.endsWith('.js') || script?.endsWith('.cjs')) return { command: (binary) => binary, words: [script] }
  return { command: () => 'npm', words: [] }
}

/** A dot a second, from another process: this one waits for npm. */
function spawnTicker() {
  const code = 'setInterval(() => process.stderr.write("."), 1000)'
  return spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'ignore', 'inherit'] })
}

function handOver(nodeBinary, words) {
  const child = spawn(nodeBinary, ['--disable-warning=ExperimentalWarning', ...words], {
    stdio: 'inherit',
    env: handedOn(),
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`Could not start ${nodeBinary}: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
}

function handedOn() {
  return { ...quietOnTerminal(), ...process.env, NODE_COMPILE_CACHE: join(runtimeFolder, 'compile-cache') }
}

/** A line for every request would scroll away what the server says of itself. */
function quietOnTerminal() {
  return first === 'start' && process.stdout.isTTY ? { PARLEY_LOG_LEVEL: 'warn' } : {}
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}
