import { writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import sharp, { type Metadata } from 'sharp'
import type { SmallPicture } from '../../kit/ports.ts'
import type { DecoderAnswer, DecoderLimits, Order } from './messages.ts'

/**
 * Decodes pictures that come from strangers, in a process of its own: the libraries that do it are large and written in C,
 * and a file of a thousand bytes can ask them for a gigabyte. What a picture says it will take is refused before it is
 * decoded; what takes more than it said ends this process, and only this one.
 */

const limits: DecoderLimits = JSON.parse(process.argv[2] ?? '')
const watchMilliseconds = 20

// A progressive JPEG is held whole, as two bytes for each of three colours.
const bytesOfPixelMin = 6
// Planes, and a copy of them as colours, held at once.
const bytesOfPixelInHeif = 20
const bytesOfSample: Record<string, number> = {
  uchar: 1,
  char: 1,
  ushort: 2,
  short: 2,
  uint: 4,
  int: 4,
  float: 4,
  double: 8,
  complex: 8,
  dpcomplex: 16,
}

// Whatever looks like another format, such as SVG, is none.
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map((name) => `VipsForeignLoad${name}Buffer`)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: loaders })
// One picture at a time, and never the same again.
sharp.concurrency(1)
sharp.cache(false)

giveWay()
let bytes: Uint8Array[] = []
process.on('message', (order: Order) => {
  if (order instanceof Uint8Array) bytes.push(order)
  else void answerTo(order.edgePixelsMax)
})
// Signals to all processes of the server are not for this one: it goes when the server has gone.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
say('ready')

/** Requests come first; and where memory is short, this process is the one to go. */
function giveWay(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Not every system knows these.
  }
}

function say(answer: DecoderAnswer, then = () => {}): void {
  process.send?.(answer, then)
}

async function answerTo(edgePixelsMax: number): Promise<void> {
  const original = Buffer.concat(bytes)
  bytes = []
  const watch = watchOver()
  try {
    say({ small: await shrunk(original, edgePixelsMax) })
  } catch (error) {
    say({ refused: String(error) })
  } finally {
    clearInterval(watch)
  }
}

/** Decoding goes on in another thread, so this one can see what it takes. */
function watchOver(): NodeJS.Timeout {
  const before = process.cpuUsage()
  const watch = setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    const isTooLong = (user + system) / 1e6 > limits.workSecondsMax
    if (!isTooLong && process.memoryUsage.rss() <= limits.residentBytesMax) return
    clearInterval(watch)
    say('tooMuch', () => process.kill(process.pid, 'SIGKILL'))
  }, watchMilliseconds)
  return watch
}

/** Of several pages or frames the first one. */
async function shrunk(original: Buffer, edgePixelsMax: number): Promise<SmallPicture> {
  const image = sharp(original, { limitInputPixels: limits.pixelsMax, sequentialRead: true })
  const about = await image.metadata()
  if (decodedBytes(about) > limits.decodedBytesMax) throw new Error('It would take too much memory.')
  const content = await image
    .autoOrient()
    .resize(edgePixelsMax, edgePixelsMax, { fit: 'inside', withoutEnlargement: true })
    .webp()
    .toBuffer()
  return { content, width: about.autoOrient.width, height: about.autoOrient.height }
}

function decodedBytes({ format, width, height, channels, depth }: Metadata): number {
  const bytesOfPixel =
    format === 'heif'
      ? bytesOfPixelInHeif
      : Math.max(bytesOfPixelMin, channels * (bytesOfSample[depth] ?? Number.POSITIVE_INFINITY))
  return width * height * bytesOfPixel
}
