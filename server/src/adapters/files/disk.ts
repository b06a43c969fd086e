import { createReadStream } from 'node:fs'
import { mkdir, open, opendir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Files } from '../../kit/ports.ts'

// More than the smallest unit of any file system.
const probeContent = Buffer.alloc(65_536)
const keyShape = /^[A-Za-z0-9_-]{8,128}$/

/**
 * Files in a folder of this machine, or one that all nodes share. A file is written under `incoming`, made durable and
 * only then moved to its place, so whatever stands at its place is whole.
 */
export async function diskFiles(folder: string): Promise<Files> {
  const incoming = join(folder, 'incoming')
  await mkdir(incoming, { recursive: true, mode: 0o700 })

  /** Two levels of folders, so that none of them grows large. */
  function placeOf(key: string): string {
    if (!keyShape.test(key)) throw new Error('A file key of another shape than ours.')
    return join(folder, key.slice(0, 2), key.slice(2, 4), key)
  }

  return {
    async put(key, content) {
      const place = placeOf(key)
      const unfinished = join(incoming, key)
      try {
        await writeDurably(unfinished, content)
        await mkdir(dirname(place), { recursive: true, mode: 0o700 })
        await rename(unfinished, place)
        for (const path of [dirname(place), dirname(dirname(place)), folder]) await makeDurable(path)
      } catch (error) {
        await rm(unfinished, { force: true })
        throw error
      }
    },
    async get(key, range) {
      const place = placeOf(key)
      const file = await open(place).catch(unlessMissing)
      if (!file) return undefined
      return createReadStream(place, { fd: file, ...range })
    },
    async remove(key) {
      // Under `incoming` stands what a killed server was writing.
      for (const path of [placeOf(key), join(incoming, key)]) await rm(path, { force: true })
    },
    async check() {
      const probe = join(incoming, 'readiness-probe')
      try {
        await writeFile(probe, probeContent, { mode: 0o600 })
      } finally {
        await rm(probe, { force: true })
      }
    },
    heldBytes: 0,
    async *list() {
      for await (const entry of await opendir(folder, { recursive: true })) if (entry.isFile()) yield entry.name
    },
    close: async () => {},
  }
}

async function writeDurably(path: string, content: AsyncIterable<Buffer>): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of content) await file.writeFile(chunk)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A name is durable only once its folder is, and the name of that folder likewise. */
async function makeDurable(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function unlessMissing(error: unknown): undefined {
  if ((error as { code?: string }).code === 'ENOENT') return undefined
  throw error
}
