import { buffer } from 'node:stream/consumers'
import { job } from '../../kit/job.ts'
import type { Tools } from '../../kit/ports.ts'
import { Type } from '../../kit/schema.ts'

const pictured = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif', 'image/tiff'])
// Larger ones cost more memory than a small picture is worth.
const sourceBytesMax = 50_000_000
const sourcePixelsMax = 50_000_000
const edgePixelsMax = 320
const secondsMax = 20

export const thumbnailType = 'image/webp'

/** The key of the small picture of a file. */
export function thumbnailKey(key: string): string {
  return `${key}-small`
}

export function canBePictured(mimeType: string, size: number): boolean {
  return pictured.has(mimeType) && size <= sourceBytesMax
}

/** Makes the small picture of an image and learns its size. Whoever sent something broken gets none, and no retry. */
export const makeThumbnail = job({
  name: 'files.thumbnail',
  payload: Type.Object({ key: Type.String() }),
  attemptsMax: 5,
  async prepare({ key }, { tools }) {
    const content = await tools.files.get(key)
    return content && pictureOf(tools, key, await buffer(content))
  },
  async run({ key }, { db }, made) {
    if (!made) return undefined
    const { width, height } = made
    await db.update('files').set({ width, height, has_thumbnail: 1 }).where('key', '=', key).execute()
    return undefined
  },
})

interface Dimensions {
  width: number
  height: number
}

async function pictureOf({ files }: Tools, key: string, original: Buffer): Promise<Dimensions | undefined> {
  const small = await shrunk(original)
  if (!small) return undefined
  const { data, width, height } = small
  await files.put(thumbnailKey(key), once(data), { contentType: thumbnailType })
  return { width, height }
}

/** The native library is loaded with the first image: an install without images does without it. */
async function shrunk(original: Buffer): Promise<(Dimensions & { data: Buffer }) | undefined> {
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  sharp.concurrency(1)
  try {
    const image = sharp(original, { limitInputPixels: sourcePixelsMax, sequentialRead: true })
    const { autoOrient } = await image.metadata()
    const data = await image
      .autoOrient()
      .resize(edgePixelsMax, edgePixelsMax, { fit: 'inside', withoutEnlargement: true })
      .timeout({ seconds: secondsMax })
      .webp()
      .toBuffer()
    return { data, width: autoOrient.width, height: autoOrient.height }
  } catch {
    return undefined
  }
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
  yield content
}
