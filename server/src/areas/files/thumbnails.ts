import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'

const pictured = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif', 'image/tiff'])
// Larger ones cost more memory than a small picture is worth.
const sourceBytesMax = 50_000_000
const edgePixelsMax = 320

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
  async prepare({ key }, { tools: { files, pictures } }) {
    const small = await pictures.shrink(() => files.get(key), edgePixelsMax)
    if (!small) return undefined
    const { content, width, height } = small
    await files.put(thumbnailKey(key), once(content), { contentType: thumbnailType })
    return { width, height }
  },
  async run({ key }, { db }, made) {
    if (!made) return undefined
    await db
      .update('files')
      .set({ ...made, has_thumbnail: 1 })
      .where('key', '=', key)
      .execute()
    return undefined
  },
})

async function* once(content: Uint8Array): AsyncGenerator<Buffer> {
  yield Buffer.from(content)
}
