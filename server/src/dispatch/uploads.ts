import { type Metered, uploadByteRate, uploadRate } from '../areas/files/index.ts'
import type { Limits, Rate } from '../kit/limits.ts'

// Bytes are counted with the first that come, and then in steps: each is a question to the counters.
const stepBytes = 1_000_000

interface UploadMeter {
  /** A file that nobody has counted yet. */
  file: Metered
  /** One that was counted when it was announced. */
  bytes: Metered
}

/** Counts what a user uploads, and ends what goes beyond the hour's allowance; what comes from no user is not counted. */
export function uploadMeter(limits: Limits, appId: string, uid: string | undefined): UploadMeter {
  if (uid === undefined) return { file: (content) => content, bytes: (content) => content }

  const whose = [appId, uid]

  async function take(rate: Rate, amount: number): Promise<void> {
    const share = await limits.take(rate, whose, amount)
    if (share.granted < amount) throw share.refusal()
  }

  async function* bytes(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let [uncounted, step] = [0, 1]
    const count = async () => {
      const amount = uncounted
      uncounted = 0
      await take(uploadByteRate, amount)
    }
    try {
      for await (const chunk of content) {
        uncounted += chunk.length
        if (uncounted >= step) await count()
        step = stepBytes
        yield chunk
      }
      if (uncounted > 0) await count()
    } finally {
      // Content that breaks off has come all the same.
      if (uncounted > 0) await limits.take(uploadByteRate, whose, uncounted)
    }
  }

  // A form without a file has an empty part for it.
  async function* file(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let isCounted = false
    for await (const chunk of bytes(content)) {
      if (!isCounted) await take(uploadRate, 1)
      isCounted = true
      yield chunk
    }
  }

  return { file, bytes }
}
