import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import sharp from 'sharp'
import * as bombs from '../../../../tests/support/bombs.ts'
import {
  canBeAsked,
  childrenOf,
  dataKilobytesOf,
  environmentOf,
  watchPeak,
} from '../../../../tests/support/processes.ts'
import { until } from '../../../../tests/support/until.ts'
import { picturesInChild } from './in-child.ts'

const edge = 320
const megabyte = 1_000_000
const decoders = () => childrenOf(process.pid, 'decoder.ts')
const inMegabytes = (bytes: number) => `${Math.round(bytes / megabyte)} MB`
// Takes some 400 MB, and an ordinary picture much less than `moreKilobytes`.
const largeAvif = await bombs.avif(4_200, 4_000)
const moreKilobytes = 150_000
const triesMax = 5
const opened = (bytes: Buffer) => async () => Readable.from([bytes])

/** Makes pictures small for a test, and answers what went wrong meanwhile. */
async function withPictures(
  work: (pictures: ReturnType<typeof picturesInChild>, trouble: string[]) => Promise<void>,
  options?: Parameters<typeof picturesInChild>[1],
): Promise<void> {
  const trouble: string[] = []
  const pictures = picturesInChild((error) => trouble.push(String(error)), options)
  try {
    await work(pictures, trouble)
  } finally {
    await pictures.close()
  }
}

describe('pictures decoded in a child process', { skip: !canBeAsked }, () => {
  it('become small, whatever their format', () =>
    withPictures(async (pictures) => {
      const create = { width: 1600, height: 900, channels: 3 as const, background: '#336699' }
      for (const format of ['jpeg', 'png', 'webp', 'gif', 'avif', 'tiff'] as const) {
        const small = await pictures.shrink(opened(await sharp({ create }).toFormat(format).toBuffer()), edge)
        assert.deepEqual([small?.width, small?.height], [1600, 900], format)
        const { format: made, width, height } = await sharp(small?.content).metadata()
        assert.deepEqual([made, width, height], ['webp', 320, 180], format)
      }
      const turned = await sharp({ create }).withMetadata({ orientation: 6 }).jpeg().toBuffer()
      const small = await pictures.shrink(opened(turned), edge)
      assert.deepEqual([small?.width, small?.height], [900, 1600], 'the way it is meant to be looked at')
    }))

  it('take no more memory than allowed, and leave the next picture its own', (test) =>
    withPictures(async (pictures, trouble) => {
      const peak = watchPeak(decoders)
      const ordinary = await bombs.ordinary()
      for (const [what, bomb] of [
        ['a large PNG', bombs.png(10_000, 5_000)],
        ['a larger PNG', bombs.png(8_000, 8_000)],
        ['an interlaced PNG', bombs.png(10_000, 4_900, { isInterlaced: true })],
        ['an interlaced PNG of fine colours', bombs.png(10_000, 4_900, { isInterlaced: true, bits: 16 })],
        ['a progressive JPEG', await bombs.progressiveJpeg(10_000, 4_900)],
        ['a JPEG of huge dimensions', await bombs.jpegThatSays(65_500, 65_500)],
        ['a large AVIF', largeAvif],
        ['an AVIF that lies', bombs.avifThatSays(100, 100, largeAvif)],
        ['a GIF of many frames', bombs.gif(1_000, 1_000, 20_000)],
        ['a huge GIF of many frames', bombs.gif(65_535, 65_535, 1_000)],
        ['a WebP of many frames', await bombs.webp(16_000, 3_000, 2_000)],
        ['a TIFF of many pages', bombs.tiff({ width: 7_000, height: 7_000 }, 2_000)],
        ['a TIFF of pages in a circle', bombs.tiff({ width: 1, height: 1 }, 2, { isCircle: true })],
        ['a TIFF of many bands', bombs.tiff({ width: 100, height: 100, bands: 20_000 }, 1)],
        ['a TIFF of one huge tile', bombs.tiff({ width: 100, height: 100, tile: 16_000 }, 1)],
        ['nothing', Buffer.alloc(0)],
        ['noise', Buffer.from('GIF89a and then something else')],
      ] as const) {
        await pictures.shrink(opened(bomb), edge)
        assert.ok(await pictures.shrink(opened(ordinary), edge), `after ${what}`)
      }
      assert.deepEqual(trouble, [])
      const bytes = peak()
      test.diagnostic(`the decoder took ${inMegabytes(bytes)} at most`)
      assert.ok(bytes < 700 * megabyte, inMegabytes(bytes))
    }))

  it('are not decoded at all if they are SVG', () =>
    withPictures(async (pictures) => {
      assert.equal(await pictures.shrink(opened(bombs.svg), edge), undefined)
      assert.equal(
        await pictures.shrink(opened(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')), edge),
        undefined,
      )
    }))

  const unlimited = {
    ...{ pixelsMax: 50_000_000, decodedBytesMax: 1e12, residentBytesMax: 1e12 },
    ...{ workSecondsMax: 60, dataKilobytesMax: 8_000_000 },
  }
  it('are given up once they take more memory than they said, and the next ones are not', () =>
    requireGivenUp({ ...unlimited, residentBytesMax: 200 * megabyte }))

  it('are given up once they take more memory than the system lets them have, and the next ones are not', async () => {
    // What a decoder has before it has anything to do differs from one kind of machine to another.
    let dataKilobytes = 0
    await withPictures(async (pictures) => {
      await pictures.shrink(opened(await bombs.ordinary(600, 400)), edge)
      dataKilobytes = Math.max(...decoders().map(dataKilobytesOf))
    })
    await requireGivenUp({ ...unlimited, dataKilobytesMax: dataKilobytes + moreKilobytes })
  })

  it('are given up once they take more time than allowed, and the next ones are not', () =>
    requireGivenUp({ ...unlimited, workSecondsMax: 0.1 }, Number.POSITIVE_INFINITY))

  /** A decoder looks at itself now and then: on a machine that has much else to do it can be through before it looks. */
  async function requireGivenUp(limits: typeof unlimited, bytesMax = 300 * megabyte): Promise<void> {
    const peaks: string[] = []
    while (peaks.length < triesMax) {
      const { isGivenUp, peak } = await tryLarge(limits)
      if (isGivenUp && peak < bytesMax) return
      peaks.push(`${isGivenUp ? 'given up' : 'decoded'} with ${inMegabytes(peak)}`)
    }
    assert.fail(peaks.join(', '))
  }

  async function tryLarge(limits: typeof unlimited): Promise<{ isGivenUp: boolean; peak: number }> {
    const peak = watchPeak(decoders)
    let isGivenUp = false
    await withPictures(
      async (pictures) => {
        isGivenUp = (await pictures.shrink(opened(largeAvif), edge)) === undefined
        assert.ok(await pictures.shrink(opened(await bombs.ordinary(600, 400)), edge))
      },
      { limits },
    )
    return { isGivenUp, peak: peak() }
  }

  it('are tried with another decoder when one dies, and given up when two have', () =>
    withPictures(async (pictures, trouble) => {
      const ordinary = await bombs.ordinary()
      let deaths = 0
      const deadly = (deathsMax: number) => async () => {
        if (deaths < deathsMax) {
          deaths += 1
          for (const pid of decoders()) process.kill(pid, 'SIGKILL')
          await until('it is dead', () => decoders().length === 0)
        }
        return Readable.from([ordinary])
      }
      assert.ok(await pictures.shrink(deadly(1), edge))
      assert.equal(trouble.length, 1)
      deaths = 0
      assert.equal(await pictures.shrink(deadly(9), edge), undefined)
      assert.equal(deaths, 2)
      assert.equal(trouble.length, 3)
      assert.ok(await pictures.shrink(opened(ordinary), edge))
    }))

  it('are tried again by whoever asked when they could not be read', () =>
    withPictures(async (pictures) => {
      const ordinary = await bombs.ordinary()
      async function* brokenOff() {
        yield ordinary.subarray(0, 1_000)
        throw new Error('the store is in trouble')
      }
      await assert.rejects(
        pictures.shrink(async () => Readable.from(brokenOff()), edge),
        /in trouble/,
      )
      await assert.rejects(
        pictures.shrink(() => Promise.reject(new Error('no store')), edge),
        /no store/,
      )
      assert.equal(await pictures.shrink(async () => undefined, edge), undefined)
      assert.ok(await pictures.shrink(opened(ordinary), edge))
    }))

  it('are read and decoded one at a time', () =>
    withPictures(async (pictures) => {
      const ordinary = await bombs.ordinary()
      const told: string[] = []
      await Promise.all(
        [1, 2, 3].map(async (n) => {
          const read = async () => {
            told.push(`${n} begins`)
            return Readable.from([ordinary])
          }
          await pictures.shrink(read, edge)
          told.push(`${n} ends`)
        }),
      )
      assert.deepEqual(
        told,
        [1, 2, 3].flatMap((n) => [`${n} begins`, `${n} ends`]),
      )
      await until('there is one for all of them', () => decoders().length === 1)
    }))

  it('have a process only while there are any, with nothing of the environment of the server', () =>
    withPictures(
      async (pictures) => {
        process.env.PARLEY_TEST_SECRET = 'hidden'
        await until('those of other tests have ended', () => decoders().length === 0)
        await pictures.shrink(opened(await bombs.ordinary()), edge)
        const [pid = 0] = decoders()
        const names = environmentOf(pid).map((entry) => entry.split('=')[0])
        assert.ok(names.length > 0)
        assert.deepEqual(
          names.filter((name) => !/^(NODE_CHANNEL_\w+|MALLOC_ARENA_MAX|UV_THREADPOOL_SIZE|PWD)$/.test(name ?? '')),
          [],
        )
        delete process.env.PARLEY_TEST_SECRET
        await until('it has ended', () => decoders().length === 0)
        assert.ok(await pictures.shrink(opened(await bombs.ordinary()), edge), 'and is started again')
      },
      { idleMilliseconds: 100 },
    ))
})
