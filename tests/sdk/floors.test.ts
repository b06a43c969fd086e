import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { describe, it } from 'node:test'

/**
 * Who may import whom in the SDK, read off the import lines. Imports go to the right only:
 *
 *   calls -> client -> collections -> sync, outbox, uploads -> store, socket, http -> runtime -> generated -> operation
 *
 * `admin` stands beside `client`. Files that are not in a folder are entry points, but for `operation.ts`, which says what
 * the generated descriptors are.
 */

const folder = join(import.meta.dirname, '../../sdk/src')

const floors = [
  ['index', 'api'],
  ['calls'],
  ['client', 'admin'],
  ['collections'],
  ['sync', 'outbox', 'uploads'],
  ['store', 'socket', 'http'],
  ['runtime'],
  ['generated'],
  ['operation'],
]

const files = globSync('**/*.ts', { cwd: folder }).map((file) => {
  const path = file.split(sep).join('/')
  const text = readFileSync(join(folder, path), 'utf8')
  const targets = [...text.matchAll(/\bfrom '([^']+)'/g)].map(([, target = '']) => target)
  return { path, text, targets }
})
const edges = files.flatMap(({ path, targets }) =>
  targets.map((target) => ({ path, target: target.startsWith('.') ? normalize(join(dirname(path), target)) : target })),
)

const nameOf = (path: string) => path.split('/')[0]?.replace('.ts', '') ?? ''
const floorOf = (path: string) => floors.findIndex((names) => names.includes(nameOf(path)))
const shown = (broken: { path: string; target: string }[]) => broken.map(({ path, target }) => `${path} -> ${target}`)

describe('the SDK', () => {
  it('has only floors that are known, and no packages', () => {
    assert.ok(edges.length > 20)
    assert.deepEqual(
      files.map(({ path }) => path).filter((path) => floorOf(path) === -1),
      [],
    )
    const known = new Set(files.map(({ path }) => path))
    assert.deepEqual(shown(edges.filter(({ target }) => !known.has(target))), [])
  })

  it('imports only what lies to the right', () => {
    const broken = edges
      .filter(({ path, target }) => nameOf(path) !== nameOf(target))
      .filter(({ path, target }) => floorOf(target) <= floorOf(path))
    assert.deepEqual(shown(broken), [])
  })

  it('touches globals of the place where it runs in one folder', () => {
    const names = [
      ...['fetch', 'WebSocket', '(?:set|clear)(?:Timeout|Interval)', 'performance', 'Date\\.now'],
      ...['crypto', 'Math\\.random'],
      ...['navigator', 'document', 'window', 'localStorage', 'process', 'globalThis', 'console'],
      ...['AbortController', 'FormData', 'Date', 'URL'].map((name) => `new ${name}`),
    ]
    // A name that follows a point belongs to what stands before it, and one before a colon is that of a field.
    const globals = new RegExp(`(?<![.\\w'\`])(?:${names.join('|')})\\b(?!['\`]|: )`)
    const touching = files
      .filter(({ path }) => !['runtime', 'generated'].includes(nameOf(path)))
      .flatMap(({ path, text }) =>
        code(text)
          .split('\n')
          .filter((line) => globals.test(line))
          .map((line) => `${path}: ${line.trim()}`),
      )
    assert.deepEqual(touching, [])
  })

  it('keeps to what old engines can parse', () => {
    const modern = /\b(?:BigInt|structuredClone|AbortSignal\.(?:any|timeout)|replaceAll|\.at\()|\b\d+n\b|\(\?<[=!]/
    assert.deepEqual(
      files.filter(({ text }) => modern.test(code(text))).map(({ path }) => path),
      [],
    )
  })
})

/** A source without its comments. */
function code(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}
