import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { mapInTurns } from '../plain/map-in-turns.ts'
import { shared } from './sending.ts'

/** A file as browsers get it. */
export interface PageFile {
  type: string
  /** How long it may be kept without asking. */
  keep: string
  content: () => Content | Promise<Content>
}

interface Content {
  bytes: Buffer
  etag: string
}

/** Files by what follows the path of their set: nothing, or a slash and a name. */
export type PageFiles = ReadonlyMap<string, PageFile>

const checked = 'no-cache'
const forever = 'public, max-age=31536000, immutable'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
}
// Saved, not shown: what is not known is not guessed either.
const unknownType = 'application/octet-stream'

type Pieces = Iterable<string> | Promise<Iterable<string>>

/** A set of a single page. */
export function madePage(extension: '.html' | '.json', make: () => Pieces): PageFiles {
  return new Map([['', madeFile(extension, make)]])
}

/** A file that the server makes when it is first asked for, piece by piece. */
export function madeFile(extension: '.html' | '.json', make: () => Pieces): PageFile {
  let made: Promise<Content> | undefined
  const content = () => {
    made ??= joined(make()).then(contentOf)
    return made
  }
  return { type: types[extension] ?? unknownType, keep: checked, content }
}

async function joined(pieces: Pieces): Promise<Buffer> {
  return Buffer.from((await mapInTurns(await pieces, (piece) => piece)).join(''))
}

const bytesMax = 64_000_000

/**
 * The built files of a folder. They are read once, at the start: what is built anew meanwhile is not mixed with what is
 * there, and no request reaches the disk. Links are left out, wherever they lead, and so is what has a dot before its name.
 * Files in `hashed`, a folder in it, have their content's hash in their names, so a name never gets another content.
 */
export function filesIn(folder: string, { hashed }: { hashed?: string } = {}): PageFiles {
  const files = new Map<string, PageFile>()
  let bytesInAll = 0
  for (const path of pathsIn(folder)) {
    const name = `/${relative(folder, path).split(sep).join('/')}`
    bytesInAll += statSync(path).size
    if (bytesInAll > bytesMax) throw new Error(`The pages in ${folder} have more than ${bytesMax} bytes.`)
    const made = contentOf(readFileSync(path))
    const extension = extname(name).toLowerCase()
    const isHashed = hashed !== undefined && name.startsWith(`/${hashed}/`) && extension !== '.html'
    const file = { type: types[extension] ?? unknownType, keep: isHashed ? forever : checked, content: () => made }
    files.set(name, file)
    if (name.endsWith('/index.html')) files.set(name.slice(0, -'index.html'.length), file)
  }
  return files
}

function pathsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.'))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return pathsIn(path)
      return entry.isFile() ? [path] : []
    })
}

/** All who ask share its bytes. */
function contentOf(bytes: Buffer): Content {
  return { bytes: shared(bytes), etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}
