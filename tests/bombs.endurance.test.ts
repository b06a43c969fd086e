import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as bombs from './support/bombs.ts'
import { canBeAsked, childrenOf, peakBytes, watchPeak } from './support/processes.ts'
import { times } from './support/quick.ts'
import { type AppOnDisk, install, type ServerProcess } from './support/server-process.ts'
import { until } from './support/until.ts'
import { form, formType, stream } from './support/uploads.ts'

/** Uploads of pictures that take very much to decode: everyone else goes on, and memory stays within its bound. */

const megabyte = 1_000_000
const decoderBytesMax = 700 * megabyte
const serverBytesMore = 200 * megabyte
const patienceMilliseconds = 120_000
const inMegabytes = (bytes: number) => `${Math.round(bytes / megabyte)} MB`

async function peopled(app: AppOnDisk, server: ServerProcess): Promise<void> {
  for (const uid of ['ada', 'bo']) assert.equal((await app.at(server).post('/users', { uid, name: uid })).status, 200)
}

/** Sends a picture with a message; answers its address. */
async function sendPicture(app: AppOnDisk, server: ServerProcess, content: Buffer, filename: string): Promise<string> {
  const parts = [
    { field: 'receiver', content: 'bo' },
    { field: 'receiverType', content: 'user' },
    { field: 'type', content: 'image' },
    { field: 'file', content, filename },
  ]
  const answer = await app.at(server).send('/messages', {
    method: 'POST',
    raw: form(...parts),
    headers: { onBehalfOf: 'ada', 'content-type': formType },
  })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data.data.attachments[0].url
}

async function hasSmallPicture({ port }: ServerProcess, url: string): Promise<boolean> {
  const { status, headers, bytes } = await stream({ service: { port } }, `${url}?thumbnail`)
  assert.equal(status, 200)
  return headers['content-type'] === 'image/webp' && bytes.length < 100_000
}

describe('pictures that take very much to decode', { skip: !canBeAsked }, () => {
  it('take bounded memory, keep no other app from its small pictures, and can be fetched as they are', async (test) => {
    const site = await install('sqlite', { PARLEY_LIMIT_MESSAGES: '1000000' })
    try {
      const server = await site.start()
      const [attacker, bystander] = [await site.createApp('attacker'), await site.createApp('bystander')]
      for (const app of [attacker, bystander]) await peopled(app, server)
      const before = peakBytes(server.pid)
      const peak = watchPeak(() => childrenOf(server.pid, 'decoder.ts'))
      const jpeg = await bombs.progressiveJpeg(10_000, 4_900)
      const flood = [
        ...Array.from({ length: times(4, 12) }, (_, n) => [jpeg, `progressive-${n}.jpg`] as const),
        [bombs.png(10_000, 4_900, { isInterlaced: true }), 'interlaced.png'] as const,
        [bombs.png(12_000, 12_000), 'large.png'] as const,
        [await bombs.avif(4_200, 4_000), 'large.avif'] as const,
        [bombs.gif(65_535, 65_535, 10_000), 'frames.gif'] as const,
        [await bombs.webp(16_000, 3_000, 3_000), 'frames.webp'] as const,
        [bombs.tiff({ width: 7_000, height: 7_000 }, 3_000), 'pages.tiff'] as const,
        [bombs.svg, 'vector.svg'] as const,
      ]
      const sent = await Promise.all(flood.map(([content, name]) => sendPicture(attacker, server, content, name)))
      const picture = await bombs.ordinary()
      const urls = await Promise.all([1, 2, 3].map((n) => sendPicture(bystander, server, picture, `${n}.jpg`)))
      const arePictured = async () =>
        (await Promise.all(urls.map((url) => hasSmallPicture(server, url)))).every(Boolean)
      await until('the bystander has small pictures', arePictured, patienceMilliseconds)
      // The last of the flood to come.
      const after = await sendPicture(attacker, server, picture, 'after.jpg')
      await until('the flood is over', () => hasSmallPicture(server, after), patienceMilliseconds)
      for (const [n, url] of sent.entries()) {
        const { bytes } = await stream({ service: { port: server.port } }, url)
        assert.equal(bytes.length, flood[n]?.[0].length, 'the file itself is as it was sent')
      }
      const [most, more] = [peak(), peakBytes(server.pid) - before]
      test.diagnostic(`decoder at most ${inMegabytes(most)}, server ${inMegabytes(more)} more`)
      assert.ok(most < decoderBytesMax, `the decoder took ${inMegabytes(most)}`)
      assert.ok(more < serverBytesMore, `the server took ${inMegabytes(more)} more`)
      const { data } = await site.command('doctor')
      assert.deepEqual(
        data.checks.filter(({ ok }: { ok: boolean }) => !ok),
        [],
      )

      const [decoder = 0] = childrenOf(server.pid, 'decoder.ts')
      assert.ok(decoder > 0)
      await server.kill()
      await until('the decoder has gone with the server', () => peakBytes(decoder) === 0)
    } finally {
      await site.remove()
    }
  })
})
