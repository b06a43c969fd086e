import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline as pipelineOf } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'

/**
 * A backup file: gzip'd JSON lines. The first line says what it is, the last one how many lines there must be between
 * them, so a file that was cut off is recognised before anything is loaded.
 */

const format = 'parley backup 1'

export interface Head {
  format: string
  createdAt: number
  /** Recognises the master key that the secrets in it are sealed under. */
  keyMark: string
  migrations: string[]
}

export type ArchiveLine = { secret: string; text: string } | { table: string; row: Record<string, unknown> }

/** Writes a backup under a temporary name and gives it its own only when it is whole. */
export async function writeArchive(
  file: string,
  head: Omit<Head, 'format'>,
  produce: (write: (line: ArchiveLine) => Promise<void>) => Promise<void>,
): Promise<void> {
  const unfinished = `${file}.unfinished`
  // One that was left behind would keep its mode.
  await rm(unfinished, { force: true })
  const gzip = createGzip()
  const written = pipeline(gzip, createWriteStream(unfinished, { mode: 0o600 }))
  // Awaited below; until then a failure must not count as nobody's.
  written.catch(() => {})
  let count = 0
  const put = async (value: object) => {
    if (!gzip.write(`${JSON.stringify(value)}\n`)) await Promise.race([once(gzip, 'drain'), written])
  }
  try {
    await put({ format, ...head })
    await produce(async (line) => {
      count += 1
      await put(line)
    })
    await put({ lines: count })
    gzip.end()
    await written
    await rename(unfinished, file)
  } catch (error) {
    gzip.destroy()
    await rm(unfinished, { force: true })
    throw error
  }
}

/** Reads a backup; throws with a readable sentence when it is not one, or not whole. */
export async function readArchive(
  file: string,
  onHead: (head: Head) => void | Promise<void>,
  onLine: (line: ArchiveLine) => Promise<void>,
): Promise<void> {
  let count = 0
  let announced: number | undefined
  for await (const text of linesOf(file)) {
    const value = parse(file, text)
    if ('format' in value) await onHead(checkedHead(file, value))
    else if ('lines' in value) announced = Number(value.lines)
    else {
      count += 1
      await onLine(value as unknown as ArchiveLine)
    }
  }
  if (announced !== count)
    throw new Error(`${file} is cut off: it holds ${count} lines and should hold ${announced ?? 'more'}.`)
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const chunks = pipelineOf(createReadStream(file), createGunzip().setEncoding('utf8'), () => {})
  let rest = ''
  try {
    for await (const chunk of chunks) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    if (!isStreamError(error)) throw error
    throw new Error(`${file} cannot be read as a backup: ${error.message}.`)
  }
}

/** Errors of zlib and of the file system carry a number; those of whoever reads the lines do not. */
function isStreamError(error: unknown): error is Error {
  return error instanceof Error && 'errno' in error
}

function parse(file: string, text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is damaged: a line of it cannot be read.`)
  }
}

function checkedHead(file: string, value: Record<string, unknown>): Head {
  if (value.format !== format) throw new Error(`${file} is a backup of a form that this version does not know.`)
  return value as unknown as Head
}
