import { constants, deflateRawSync } from 'node:zlib'
import sharp from 'sharp'

/** Pictures that are small as files and ask for very much of whoever decodes them. */

const pieceBytes = 1_000_000
const deflatedPiece = deflateRawSync(Buffer.alloc(pieceBytes), { finishFlush: constants.Z_FULL_FLUSH })
const zlibHeader = Buffer.from([0x78, 0x9c])
const adlerModulus = 65_521

/** Very many zeros as zlib packs them, put together from one piece: packing hundreds of megabytes takes seconds. */
function deflatedZeros(bytes: number): Buffer {
  const pieces = Array.from({ length: Math.floor(bytes / pieceBytes) }, () => deflatedPiece)
  const rest = deflateRawSync(Buffer.alloc(bytes % pieceBytes))
  // The sum of all bytes, begun at one, and the sum of those sums, of so many zeros.
  const checksum = uint32((bytes % adlerModulus) * 2 ** 16 + 1)
  return Buffer.concat([zlibHeader, ...pieces, rest, checksum])
}

const crcTable = Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let bit = 0; bit < 8; bit += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c >>> 0
})

function crc(bytes: Buffer): number {
  let c = 0xffffffff
  for (const byte of bytes) c = (crcTable[(c ^ byte) & 0xff] as number) ^ (c >>> 8)
  return (c ^ 0xffffffff) >>> 0
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([uint32(data.length), body, uint32(crc(body))])
}

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A black PNG of four colours; interlaced, it is held whole while it is decoded. */
export function png(width: number, height: number, { bits = 8, isInterlaced = false } = {}): Buffer {
  const header = Buffer.concat([uint32(width), uint32(height), Buffer.from([bits, 6, 0, 0, isInterlaced ? 1 : 0])])
  const pixelBytes = (4 * bits) / 8
  const bytesOf = (columns: number, rows: number) => (columns === 0 ? 0 : rows * (1 + columns * pixelBytes))
  // Where the seven passes of an interlaced PNG begin, and how far apart their pixels are: x, y, dx, dy.
  const passes = [
    [0, 0, 8, 8],
    [4, 0, 8, 8],
    [0, 4, 4, 8],
    [2, 0, 4, 4],
    [0, 2, 2, 4],
    [1, 0, 2, 2],
    [0, 1, 1, 2],
  ] as const
  const bytes = isInterlaced
    ? passes.reduce(
        (sum, [x, y, dx, dy]) => sum + bytesOf(Math.ceil((width - x) / dx), Math.ceil((height - y) / dy)),
        0,
      )
    : bytesOf(width, height)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflatedZeros(bytes)),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** A progressive JPEG, which is held whole while it is decoded. */
export function progressiveJpeg(width: number, height: number): Promise<Buffer> {
  return blank(width, height).jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer()
}

/** A JPEG that says to be of another size than it is. */
export async function jpegThatSays(width: number, height: number): Promise<Buffer> {
  const jpeg = await blank(64, 64).jpeg().toBuffer()
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
  jpeg.writeUInt16BE(height, frame + 5)
  jpeg.writeUInt16BE(width, frame + 7)
  return jpeg
}

export function avif(width: number, height: number): Promise<Buffer> {
  return blank(width, height).avif({ effort: 0 }).toBuffer()
}

/** An AVIF whose list of contents tells of a smaller picture than it holds. */
export function avifThatSays(width: number, height: number, held: Buffer): Buffer {
  const lying = Buffer.from(held)
  for (let at = lying.indexOf('ispe'); at >= 0; at = lying.indexOf('ispe', at + 4)) {
    lying.writeUInt32BE(width, at + 8)
    lying.writeUInt32BE(height, at + 12)
  }
  return lying
}

/** A GIF with very many frames. */
export function gif(width: number, height: number, frames: number): Buffer {
  const header = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1')
  header.writeUInt16LE(width, 6)
  header.writeUInt16LE(height, 8)
  // A delay, a frame of one pixel, and its compressed content.
  const frame = Buffer.from('\x21\xf9\x04\0\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0', 'latin1')
  return Buffer.concat([header, ...Array.from({ length: frames }, () => frame), Buffer.from(';')])
}

const uint24 = (value: number) => Buffer.from([value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff])

function riffChunk(type: string, data: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(data.length)
  return Buffer.concat([Buffer.from(type, 'latin1'), size, data, Buffer.alloc(data.length % 2)])
}

/** A WebP with very many frames. */
export async function webp(width: number, height: number, frames: number): Promise<Buffer> {
  const still = await blank(1, 1).webp({ lossless: true }).toBuffer()
  const image = still.subarray(still.indexOf('VP8L'))
  const place = Buffer.concat([uint24(0), uint24(0), uint24(0), uint24(0), uint24(40), Buffer.from([0])])
  const frame = riffChunk('ANMF', Buffer.concat([place, image]))
  const canvas = Buffer.concat([Buffer.from([2, 0, 0, 0]), uint24(width - 1), uint24(height - 1)])
  const chunks = [
    riffChunk('VP8X', canvas),
    riffChunk('ANIM', Buffer.alloc(6)),
    ...Array.from({ length: frames }, () => frame),
  ]
  const body = Buffer.concat([Buffer.from('WEBP', 'latin1'), ...chunks])
  const size = Buffer.alloc(4)
  size.writeUInt32LE(body.length)
  return Buffer.concat([Buffer.from('RIFF', 'latin1'), size, body])
}

interface TiffPage {
  width: number
  height: number
  bands?: number
  bits?: number
  /** Side of the one tile that holds it all. */
  tile?: number
}

type Field = [tag: number, type: 3 | 4, value: number]

/** A TIFF of very many pages, each the same; in a circle, if the last leads to the first again. */
export function tiff(page: TiffPage, pages: number, { isCircle = false } = {}): Buffer {
  const { width, height, bands = 1, bits = 8, tile } = page
  const content = deflatedZeros(tile ? tile * tile * bands * (bits / 8) : width * height * bands * (bits / 8))
  const contentAt = 8
  const fields: Field[] = [
    [256, 4, width],
    [257, 4, height],
    [258, 3, bits],
    [259, 3, 8],
    [262, 3, 1],
    ...((tile ? [] : [[273, 4, contentAt]]) as Field[]),
    [277, 3, bands],
    ...((tile ? [] : [[278, 4, height]]) as Field[]),
    ...((tile ? [] : [[279, 4, content.length]]) as Field[]),
    [284, 3, 1],
    ...((tile
      ? [
          [322, 4, tile],
          [323, 4, tile],
          [324, 4, contentAt],
          [325, 4, content.length],
        ]
      : []) as Field[]),
  ]
  const directoryBytes = 2 + fields.length * 12 + 4
  const firstAt = contentAt + content.length + (content.length % 2)
  const file = Buffer.alloc(firstAt + pages * directoryBytes)
  file.write('II*\0', 0, 'latin1')
  file.writeUInt32LE(firstAt, 4)
  content.copy(file, contentAt)
  for (let n = 0; n < pages; n += 1) {
    let at = firstAt + n * directoryBytes
    file.writeUInt16LE(fields.length, at)
    at += 2
    for (const [tag, type, value] of fields) {
      file.writeUInt16LE(tag, at)
      file.writeUInt16LE(type, at + 2)
      file.writeUInt32LE(1, at + 4)
      file.writeUInt32LE(value, at + 8)
      at += 12
    }
    const next = n + 1 < pages ? firstAt + (n + 1) * directoryBytes : isCircle ? firstAt : 0
    file.writeUInt32LE(next, at)
  }
  return file
}

/** Text that draws the same thing a billion times. */
export const svg = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9000" height="5000">
    <g id="a0"><rect width="9000" height="5000"/></g>
    ${Array.from({ length: 9 }, (_, n) => `<g id="a${n + 1}">${`<use xlink:href="#a${n}"/>`.repeat(10)}</g>`).join('')}
  </svg>`,
)

/** A picture as people send them. */
export function ordinary(width = 1600, height = 900): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: '#336699' } })
    .jpeg()
    .toBuffer()
}

function blank(width: number, height: number) {
  return sharp({ create: { width, height, channels: 3, background: '#000' }, limitInputPixels: false })
}
