import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { beginPicturing, endPicturing, writtenUntil } from './writers.ts'

const pictured = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif', 'image/tiff'])
// Larger ones cost more memory than a small picture is worth.
const sourceBytesMax = 50_000_000
const edgePixelsMax = 320

export const thumbnailType = 'image/webp'

const smallEnding = '-small'

/** The key of the small picture of a file. */
export function thumbnailKey(key: string): string {
  return `${key}${smallEnding}`
}

/** The key of the file that something in the store belongs to: itself, or what it is the small picture of. */
export function originalKey(key: string): string {
  return key.endsWith(smallEnding) ? key.slice(0, -smallEnding.length) : key
}

export function canBePictured(mimeType: string, size: number): boolean {
  return pictured.has(mimeType) && size <= sourceBytesMax
}

/** Makes the small picture of an image and learns its size. Whoever sent something broken gets none, and no retry. */
export const makeThumbnail = job({
  name: 'files.thumbnail',
  payload: Type.Object({ key: Type.String() }),
  // The end of the process counts as one, whatever ended it.
  attemptsMax: 20,
  secondsMax: 3600,
  // Pictures are decoded one at a time; whoever sends many leaves room for others.
  atOnce: { inAll: 4, perDestination: 2 },
  async prepare({ key }, { tools: { files, pictures, clock }, inApp }) {
    const small = await pictures.shrink(() => files.get(key), edgePixelsMax)
    const begun = small && (await inApp((work) => beginPicturing(work, key)))
    if (!begun) return undefined
    const { content, width, height } = small
    const writing = writtenUntil(begun.until, clock, once(content))
    await files.put(thumbnailKey(key), writing, { contentType: thumbnailType })
    return { width, height, isAlone: begun.isAlone }
  },
  async run({ key }, work, made) {
    if (made) await endPicturing(work, key, made)
    return undefined
  },
})

async function* once(content: Uint8Array): AsyncGenerator<Buffer> {
  yield Buffer.from(content)
}
