import { png } from '../bombs.ts'
import { form, type Part } from '../uploads.ts'
import type { Abuses } from './abuse.ts'
import { abuserAt, busyUser, crowd } from './people.ts'

const filesMax = 10
// A larger file takes longer and nothing more: bytes are written as they come, whatever their number.
const largeBytes = 25_000_000

const fields: Part[] = [
  { field: 'receiver', content: busyUser },
  { field: 'receiverType', content: 'user' },
]

// Others than those who have used up their allowance of messages by then.
const uploaderAt = (n: number) => abuserAt(100 + n)

/** Made when they are first needed. */
function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}

const largeForm = once(() =>
  form(
    ...fields,
    { field: 'type', content: 'file' },
    { field: 'file', filename: 'large.bin', content: Buffer.alloc(largeBytes, 'x') },
  ),
)

// Of few bytes and very many pixels, and held whole while they are decoded.
const pictures = once(() => {
  const picture = png(10_000, 4_900, { isInterlaced: true })
  const files = Array.from({ length: filesMax }, (_, n) => ({
    field: 'files[]',
    filename: `${n}.png`,
    content: picture,
  }))
  return form(...fields, { field: 'type', content: 'image' }, ...files)
})

export const files: Abuses = {
  requestUploads: [
    {
      most: 'places for as many files as there may be',
      ask: (_, n) => ({
        as: abuserAt(n),
        body: {
          receiverId: crowd,
          receiverType: 'group',
          files: Array.from({ length: filesMax }, (_, k) => ({
            fileId: `${k}`,
            name: `${k}`.padEnd(250, 'n'),
            mimeType: 'image/png',
            size: 100_000_000,
          })),
        },
      }),
    },
  ],
  sendMessage: [
    { most: 'a large file', ask: (_, n) => ({ as: uploaderAt(n), form: largeForm() }) },
    {
      most: 'as many pictures as there may be, each as hard to decode as there may be',
      ask: (_, n) => ({ as: uploaderAt(n), form: pictures() }),
    },
  ],
}
