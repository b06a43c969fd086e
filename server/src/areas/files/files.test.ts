import assert from 'node:assert/strict'
import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import sharp from 'sharp'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { s3Server } from '../../../../tests/support/s3.ts'
import { acrossApps } from '../../../../tests/support/tripwire.ts'
import { settleUntil, until, untilOverOrHeldUp } from '../../../../tests/support/until.ts'
import { endless, form, formType, type Part, partHead, stream } from '../../../../tests/support/uploads.ts'
import { one } from '../../common/reply.ts'
import { workIn } from '../../common/work-in.ts'
import { area } from '../../kit/area.ts'
import { badRequest } from '../../kit/errors.ts'
import { operation, type ReceivedFile } from '../../kit/operation.ts'
import { Type } from '../../kit/schema.ts'
import { connectionOver } from '../../storage/connection.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { adoptAttachments, claimFiles, fileKeysOf, releaseFiles, shownAttachment, storedAttachment } from './index.ts'
import { cleanName } from './names.ts'
import { sweepFiles } from './removal.ts'
import { Attachment } from './schemas.ts'
import { addFile } from './store.ts'

/** An area that takes files the way messages do. */
const parcels = area({
  name: 'parcels',
  about: 'For tests.',
  operations: [
    operation({
      id: 'sendParcel',
      route: 'POST /parcels',
      summary: 'Send a parcel',
      doors: ['server', 'client'],
      onBehalfOf: 'optional',
      takesFiles: true,
      body: Type.Object({
        text: Type.Optional(Type.String()),
        messageId: Type.Optional(Type.Integer()),
        tags: Type.Optional(Type.Array(Type.String())),
        data: Type.Optional(Type.Object({ deep: Type.Optional(Type.Integer()) })),
        attachments: Type.Optional(Type.Array(Attachment)),
      }),
      reply: one(Type.Object({ body: Type.Unknown(), attachments: Type.Array(Attachment) })),
      async run({ db, tools, body, files }) {
        if (body.text === 'refuse') throw badRequest({ text: ['is refused'] })
        const adopted = await adoptAttachments(db, tools, body.attachments ?? [])
        if (!adopted) throw badRequest({ attachments: ['are gone'] })
        const kept = [...files.map(storedAttachment), ...(adopted as Attachment[])]
        if (body.messageId !== undefined) {
          const keys = fileKeysOf(kept)
          const claimed = await claimFiles(db, keys, body.messageId)
          assert.equal(claimed.length, keys.length)
        }
        return { data: { body, attachments: kept.map((each) => shownAttachment(tools, db.appId, each)) } }
      },
    }),
  ],
})

const png = await sharp({ create: { width: 2, height: 3, channels: 3, background: '#336699' } })
  .png()
  .toBuffer()
const megabyte = 1_000_000

const environment = { PARLEY_FILE_MEGABYTES_MAX: '1', PARLEY_FILES_MAX: '3', PARLEY_UPLOAD_STALL_SECONDS: '1' }

for (const database of databases) {
  const open = (more = {}) => house({ database, areas: [parcels], environment: { ...environment, ...more } })

  async function opened(more = {}) {
    const h = await open(more)
    const app = await h.app('a')
    for (const uid of ['nora', 'milo']) assertSucceeds(await app.post('/users', { uid, name: uid }))
    return { h, app }
  }

  const originOf = (h: House, app: AppClient) => `https://${app.host}:${h.service.port}`
  const keyed = (app: AppClient, more = {}) => ({ apikey: app.apiKey, 'content-type': formType, ...more })
  const send = (h: House, app: AppClient, pieces: Iterable<Buffer> | AsyncIterable<Buffer>, headers = {}) =>
    stream(h, `${originOf(h, app)}/v3/parcels`, { method: 'POST', headers: keyed(app, headers), pieces })
  const sendForm = (h: House, app: AppClient, ...parts: Part[]) => send(h, app, [form(...parts)])

  const onDisk = ({ service }: House) =>
    globSync('**/*', { cwd: join(service.house.config.data, 'files'), withFileTypes: true }).filter((each) =>
      each.isFile(),
    ).length
  const rows = async ({ service }: House) => {
    const { rows: found } = await acrossApps(async () => service.house.database.reader.run('SELECT * FROM files', []))
    return found as Record<string, unknown>[]
  }
  const nothingLeft = async (h: House) =>
    settleUntil(h, 'nothing is left', async () => onDisk(h) === 0 && (await rows(h)).length === 0)

  describe(`files on ${database}`, () => {
    it('come as a form, with fields read as JSON where the schema wants it, and can be fetched', async () => {
      const { h, app } = await opened()
      const answer = await sendForm(
        h,
        app,
        { field: 'text', content: '12' },
        { field: 'tags', content: '["a","b"]' },
        { field: 'data', content: '{"deep":1}' },
        { field: 'file', content: png, filename: 'view.png', type: 'image/png' },
        { field: 'files[]', content: 'hello', filename: 'größe 漢字.txt', type: 'text/plain' },
      )
      assert.equal(answer.status, 200, answer.bytes.toString())
      const { body, attachments } = answer.body.data
      assert.deepEqual(body, { text: '12', tags: ['a', 'b'], data: { deep: 1 } })
      const [first, second] = attachments
      assert.deepEqual(
        { ...first, url: '' },
        { url: '', name: 'view.png', mimeType: 'image/png', extension: 'png', size: png.length },
      )
      assert.deepEqual(
        { ...second, url: '' },
        { url: '', name: 'größe 漢字.txt', mimeType: 'text/plain', extension: 'txt', size: 5 },
      )
      const fetched = await stream(h, first.url)
      assert.equal(fetched.status, 200)
      assert.deepEqual(fetched.bytes, png)
      assert.equal(fetched.headers['content-type'], 'image/png')
      assert.equal(fetched.headers['x-content-type-options'], 'nosniff')
      const text = await stream(h, second.url)
      assert.equal(text.bytes.toString(), 'hello')
      assert.match(
        String(text.headers['content-disposition']),
        /^attachment; filename="gr__e __.txt"; filename\*=UTF-8''gr%C3%B6/,
      )
      await h.close()
    })

    it('come with lists as JSON or as fields of one name, and with fields of any name', async () => {
      const { h, app } = await opened()
      const tagsOf = async (...parts: Part[]) => (await sendForm(h, app, ...parts)).body.data.body.tags
      assert.deepEqual(await tagsOf({ field: 'tags', content: 'a' }, { field: 'tags', content: 'b' }), ['a', 'b'])
      assert.deepEqual(await tagsOf({ field: 'tags[]', content: 'a' }), ['a'])
      assert.deepEqual(await tagsOf({ field: 'tags', content: '[]' }), [])
      const odd = ['__proto__', 'constructor', 'toString', ''].map((field) => ({ field, content: '{"tags":["x"]}' }))
      assert.equal(await tagsOf(...odd), undefined)
      await h.close()
    })

    it('leave JSON bodies as they were, and refuse a form where no files are taken', async () => {
      const { h, app } = await opened()
      assert.deepEqual(assertSucceeds(await app.post('/parcels', { text: 'x' })).data.attachments, [])
      assertFails(
        await app.send('/users', { method: 'POST', raw: form(), headers: { 'content-type': formType } }),
        400,
        'ERR_BAD_REQUEST',
      )
      await h.close()
    })

    it('too large are cut off while they come, and nothing of them is left', async () => {
      const { h, app } = await opened()
      const head = partHead({ field: 'file', filename: 'big.bin' })
      const flood = endless(head)
      const answer = await send(h, app, flood.pieces)
      assert.equal(answer.body.error.code, 'ERR_FILE_SIZE_EXCEEDED')
      assert.equal(answer.status, 413)
      assert.ok(flood.sent() < 500 * megabyte, `${flood.sent()} bytes were taken`)
      const announced = await send(h, app, [head], { 'content-length': String(200 * megabyte) })
      assert.equal(announced.body.error.code, 'ERR_FILE_SIZE_EXCEEDED')
      const half = Buffer.alloc(600_000, 'x')
      const together = await sendForm(
        h,
        app,
        { field: 'files[]', content: half, filename: 'a' },
        { field: 'files[]', content: half, filename: 'b' },
      )
      assert.equal(together.body.error.code, 'ERR_FILE_SIZE_EXCEEDED', 'the limit is for all files together')
      await nothingLeft(h)
      await h.close()
    })

    it('of exactly the largest size pass', async () => {
      const { h, app } = await opened()
      const answer = await sendForm(h, app, { field: 'file', content: Buffer.alloc(megabyte, 'x'), filename: 'a.bin' })
      assert.equal(answer.body.data.attachments[0].size, megabyte)
      await h.close()
    })

    it('too many, in parts of another name, or in broken forms are refused and leave nothing', async () => {
      const { h, app } = await opened()
      const file = (name: string) => ({ field: 'files[]', content: png, filename: name })
      const four = await sendForm(h, app, file('a'), file('b'), file('c'), file('d'))
      assert.equal(four.body.error.code, 'ERR_FILE_COUNT_EXCEEDED')
      assert.equal(four.status, 400)
      const broken: [string, Buffer, object?][] = [
        ['another name', form({ field: 'avatar', content: png, filename: 'a.png' })],
        ['no end', form(file('a')).subarray(0, -30)],
        ['no parts', Buffer.from('not a form at all')],
        ['no boundary', form(file('a')), { 'content-type': 'multipart/form-data' }],
        ['wrong boundary', form(file('a')), { 'content-type': 'multipart/form-data; boundary=other' }],
        ['a field too large', form(file('a'), { field: 'text', content: 'x'.repeat(20_000) })],
        ['a value that does not fit', form(file('a'), { field: 'tags', content: '{broken' })],
        ['a refusal by the operation', form(file('a'), { field: 'text', content: 'refuse' })],
        ['many fields', form(...Array.from({ length: 1_001 }, (_, n) => ({ field: `f${n}`, content: 'x' })))],
        ['a name that is no text', form(file('a'), { field: 'text', content: 'a\0b' })],
      ]
      for (const [what, bytes, headers] of broken) {
        const answer = await send(h, app, [bytes], headers)
        assert.ok([400, 413].includes(answer.status), `${what}: ${answer.status} ${answer.bytes}`)
        assert.equal(answer.body.error.code, 'ERR_BAD_REQUEST', what)
      }
      const nobody = await send(h, app, [form(file('a'))], { onbehalfof: 'ghost' })
      assert.equal(nobody.body.error.code, 'ERR_UID_NOT_FOUND')
      await nothingLeft(h)
      await h.close()
    })

    it('given up in the middle leave nothing', async () => {
      const { h, app } = await opened()
      async function* broken() {
        yield partHead({ field: 'file', filename: 'a.bin' })
        yield Buffer.alloc(300_000, 'x')
        await until('bytes have arrived', () => onDisk(h) > 0)
        throw new Error('gone')
      }
      await assert.rejects(send(h, app, broken()))
      await nothingLeft(h)
      await h.close()
    })

    it('that stop coming are given up, and leave nothing', async () => {
      const { h, app } = await opened()
      async function* halting() {
        yield partHead({ field: 'file', filename: 'a.bin' })
        yield Buffer.alloc(1_000, 'x')
        await new Promise(() => {})
      }
      const answer = await send(h, app, halting())
      assert.equal(answer.status, 400)
      assert.deepEqual(answer.body.error.details, { body: ['must be sent to its end'] })
      await nothingLeft(h)
      await h.close()
    })

    it('that a killed server was writing are removed after a day', async () => {
      const { h, app } = await opened()
      const { database: db, tools, config } = h.service.house
      const left = { name: 'a', mimeType: '', extension: '', size: 0, uploader: undefined }
      const key = await db.write((connection) =>
        addFile(workIn(connection, app.id, tools), { state: 'receiving', ...left }),
      )
      writeFileSync(join(config.data, 'files/incoming', key), 'half of it')
      assert.equal(onDisk(h), 1)
      h.clock.setOffset(25 * 3600)
      await nothingLeft(h)
      await h.close()
    })

    it('are what their bytes say, not what the sender says', async () => {
      const { h, app } = await opened()
      const html = '<html><script>alert(1)</script></html>'
      const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
      const cases: [Part, string, string][] = [
        [{ field: 'file', content: html, filename: 'a.png', type: 'image/png' }, 'text/plain', 'png'],
        [{ field: 'file', content: png, filename: 'a.html', type: 'text/html' }, 'image/png', 'png'],
        [{ field: 'file', content: html, filename: 'a.html', type: 'text/html' }, 'text/html', 'html'],
        [{ field: 'file', content: svg, filename: 'a.svg', type: 'image/svg+xml' }, 'image/svg+xml', 'svg'],
        [
          { field: 'file', content: Buffer.from([0, 1, 2]), filename: 'x', type: 'nonsense' },
          'application/octet-stream',
          'bin',
        ],
      ]
      for (const [part, mimeType, extension] of cases) {
        const answer = await sendForm(h, app, part)
        const [attachment] = answer.body.data.attachments
        assert.equal(attachment.mimeType, mimeType)
        assert.equal(attachment.extension, extension)
        const fetched = await stream(h, attachment.url)
        if (mimeType === 'image/png') continue
        assert.equal(fetched.headers['content-type'], 'application/octet-stream', `${mimeType} cannot run in a browser`)
        assert.match(String(fetched.headers['content-disposition']), /^attachment/)
        assert.match(String(fetched.headers['content-security-policy']), /sandbox/)
      }
      await h.close()
    })

    it('have names that lead nowhere', async () => {
      const { h, app } = await opened()
      for (const filename of [
        '../../x',
        '/etc/passwd',
        '..',
        'C:\\\\a\\\\b.txt',
        `${'x'.repeat(400)}.png`,
        'a\u202egpj.exe',
      ]) {
        const answer = await sendForm(h, app, { field: 'file', content: 'x', filename })
        const [{ name, url }] = answer.body.data.attachments
        assert.ok(name.length <= 255 && !/[/\\\u202e]/.test(name) && !/^\.*$/.test(name), name)
        assert.equal((await stream(h, url)).bytes.toString(), 'x')
      }
      const outside = globSync('**/{x,passwd,b.txt}', { cwd: h.service.house.config.data })
      assert.deepEqual(outside, [])
      await h.close()
    })

    it('are fetched in ranges', async () => {
      const { h, app } = await opened()
      const answer = await sendForm(h, app, { field: 'file', content: '0123456789', filename: 'a.txt' })
      const [{ url }] = answer.body.data.attachments
      const range = async (asked: string, more = {}) => {
        const { status, headers, bytes } = await stream(h, url, { headers: { range: asked, ...more } })
        return [status, headers['content-range'], bytes.toString()]
      }
      assert.deepEqual(await range('bytes=2-4'), [206, 'bytes 2-4/10', '234'])
      assert.deepEqual(await range('bytes=7-'), [206, 'bytes 7-9/10', '789'])
      assert.deepEqual(await range('bytes=-3'), [206, 'bytes 7-9/10', '789'])
      assert.deepEqual(await range('bytes=-99'), [206, 'bytes 0-9/10', '0123456789'])
      assert.deepEqual(await range('bytes=5-99'), [206, 'bytes 5-9/10', '56789'])
      assert.deepEqual(await range('bytes=10-'), [416, 'bytes */10', ''])
      for (const odd of ['bytes=4-2', 'bytes=a-b', 'bytes=-', 'bytes=0-1,3-4', 'lines=1-2']) {
        assert.deepEqual(await range(odd), [200, undefined, '0123456789'], odd)
      }
      assert.equal((await range('bytes=1-2', { 'if-range': '"other"' }))[0], 200)
      const head = await stream(h, url, { method: 'HEAD' })
      assert.equal(head.headers['content-length'], '10')
      assert.equal(head.bytes.length, 0)
      const { etag } = head.headers
      assert.equal((await stream(h, url, { headers: { 'if-none-match': String(etag) } })).status, 304)
      await h.close()
    })

    it('have addresses that end, and that nobody can make', async () => {
      const { h, app } = await opened()
      const other = await h.app('b')
      const answer = await sendForm(h, app, { field: 'file', content: 'x', filename: 'a.txt' })
      const [{ url }] = answer.body.data.attachments
      const token = url.split('/files/')[1].split('/')[0]
      const [appId, key, expiry, signature] = token.split('.')
      const forged = [
        [appId, key, (Number.parseInt(expiry, 36) + 60).toString(36), signature],
        [other.id, key, expiry, signature],
        [appId, `${key}x`, expiry, signature],
        [appId, key, expiry, signature.replace(/^./, (first: string) => (first === 'A' ? 'B' : 'A'))],
        [appId, key, expiry, ''],
      ]
      for (const parts of forged) assert.equal((await stream(h, url.replace(token, parts.join('.')))).status, 404)
      assert.equal(
        (await stream(h, url.replace(/\/a\.txt$/, ''), { method: 'PUT', pieces: ['y'] })).status,
        404,
        'is for fetching only',
      )
      for (const odd of ['/files/', '/files/x', '/files/x/y', '/files/%2e%2e/%2e%2e', '/files/a/b/c/../../d']) {
        assert.ok((await stream(h, `${originOf(h, app)}${odd}`)).status >= 400)
      }
      h.clock.setOffset(49 * 3600)
      const late = await stream(h, url)
      assert.equal(late.status, 403)
      assert.equal(late.body.error.code, 'ERR_PRESIGNED_URL_EXPIRED')
      await h.close()
    })

    it('keep apps apart: an address of one app is no file of another', async () => {
      const { h, app } = await opened()
      const other = await h.app('b')
      const answer = await sendForm(h, app, { field: 'file', content: 'x', filename: 'a.txt' })
      const [attachment] = answer.body.data.attachments
      const { data } = assertSucceeds(await other.post('/parcels', { messageId: 1, attachments: [attachment] }))
      assert.deepEqual(data.attachments, [attachment], 'it stays an address like any other')
      await h.close()
    })

    it('sent again under the same Idempotency-Key are stored once', async () => {
      const { h, app } = await opened()
      const bytes = form({ field: 'file', content: 'same', filename: 'a.txt' }, { field: 'messageId', content: '5' })
      const again = () => send(h, app, [bytes], { 'idempotency-key': 'k1' })
      const [first, second] = [await again(), await again()]
      assert.deepEqual(first.body, second.body)
      await settleUntil(h, 'the second copy is gone', async () => onDisk(h) === 1 && (await rows(h)).length === 1)
      const differs = await send(
        h,
        app,
        [form({ field: 'file', content: 'else', filename: 'a.txt' }, { field: 'messageId', content: '5' })],
        { 'idempotency-key': 'k1' },
      )
      assert.equal(differs.body.error.code, 'ERR_BAD_REQUEST')
      await h.close()
    })

    it('that no message has are removed after a day, others stay', async () => {
      const { h, app } = await opened({ PARLEY_FILE_URL_HOURS: '48' })
      await sendForm(h, app, { field: 'file', content: 'left', filename: 'a.txt' })
      const kept = await sendForm(
        h,
        app,
        { field: 'file', content: 'kept', filename: 'b.txt' },
        { field: 'messageId', content: '7' },
      )
      const asked = await app.post('/files', uploadsOf({ size: 3 }), { onBehalfOf: 'nora' })
      assertSucceeds(asked)
      assert.equal((await rows(h)).length, 3)
      h.clock.setOffset(23 * 3600)
      await h.settle()
      assert.equal((await rows(h)).length, 3)
      h.clock.setOffset(25 * 3600)
      await settleUntil(h, 'only one is left', async () => onDisk(h) === 1 && (await rows(h)).length === 1)
      assert.equal((await stream(h, kept.body.data.attachments[0].url)).bytes.toString(), 'kept')
      await h.close()
    })

    it('go with the last message that has them', async () => {
      const { h, app } = await opened()
      const first = await sendForm(
        h,
        app,
        { field: 'file', content: 'shared', filename: 'a.txt' },
        { field: 'messageId', content: '1' },
      )
      const [attachment] = first.body.data.attachments
      assertSucceeds(await app.post('/parcels', { messageId: 2, attachments: [attachment] }))
      const release = (id: number) =>
        h.service.house.database.write((connection) =>
          releaseFiles(workIn(connection, app.id, h.service.house.tools), [id]),
        )
      await release(1)
      await h.settle()
      assert.equal((await stream(h, attachment.url)).bytes.toString(), 'shared')
      await Promise.all([release(2), release(2), release(3)])
      assert.equal((await stream(h, attachment.url)).status, 404, 'at once')
      await nothingLeft(h)
      assertFails(await app.post('/parcels', { attachments: [attachment] }), 400, 'ERR_BAD_REQUEST')
      await h.close()
    })

    it('claimed and released at the same time are never lost', async () => {
      const { h, app } = await opened()
      const { database: db, tools } = h.service.house
      for (let round = 0; round < 10; round += 1) {
        const sent = await sendForm(
          h,
          app,
          { field: 'file', content: 'x', filename: 'a.txt' },
          { field: 'messageId', content: '1' },
        )
        const [attachment] = sent.body.data.attachments
        const key = attachment.url.split('/files/')[1].split('.')[1]
        const [claimed] = await Promise.all([
          db.write((connection) => claimFiles(tenantDb(connection, app.id), [key], 2)),
          db.write((connection) => releaseFiles(workIn(connection, app.id, tools), [1])),
        ])
        await h.settle()
        assert.equal((await stream(h, attachment.url)).status, claimed.length === 1 ? 200 : 404)
        await db.write((connection) => releaseFiles(workIn(connection, app.id, tools), [2]))
      }
      await nothingLeft(h)
      await h.close()
    })

    it('claimed while it is found that nobody has them are never lost', async () => {
      const { h, app } = await opened()
      const { database: db, tools } = h.service.house
      const sent = await sendForm(h, app, { field: 'file', content: 'x', filename: 'a.txt' })
      const [{ url }] = sent.body.data.attachments
      const key = url.split('/files/')[1].split('.')[1]
      await h.service.house.workers.stop()
      h.clock.setOffset(25 * 3600)
      let claiming: Promise<ReceivedFile[]> | undefined
      await db.write(async (connection) => {
        // Between finding and dooming somebody sends the file, unless they have to wait for that.
        const between = connectionOver(connection.flavour, async (text, parameters) => {
          if (/^update "files"/.test(text)) {
            claiming ??= db.write((other) => claimFiles(tenantDb(other, app.id), [key], 1))
            await untilOverOrHeldUp(h, claiming)
          }
          return connection.run(text, parameters)
        })
        await sweepFiles.run({}, workIn(between, app.id, tools))
      })
      const claimed = await claiming
      const [row] = await rows(h)
      assert.equal(row?.state, claimed?.length === 1 ? 'stored' : 'doomed')
      await h.close()
    })

    it('of a deleted app are removed with it', async () => {
      const { h, app } = await opened()
      const sent = await sendForm(
        h,
        app,
        { field: 'file', content: png, filename: 'a.png' },
        { field: 'messageId', content: '1' },
      )
      await h.settle()
      assertSucceeds(await h.management.delete(`/apps/${app.id}`))
      assert.equal((await stream(h, sent.body.data.attachments[0].url)).status, 404)
      h.clock.setOffset(31 * 24 * 3600)
      await h.settle()
      h.clock.setOffset(32 * 24 * 3600)
      await nothingLeft(h)
      await h.close()
    })

    it('that are images get a small picture; broken ones get none and harm nobody', async () => {
      const { h, app } = await opened()
      const large = await sharp({ create: { width: 1600, height: 900, channels: 3, background: '#336699' } })
        .jpeg()
        .toBuffer()
      const sent = await sendForm(
        h,
        app,
        { field: 'file', content: large, filename: 'a.jpg' },
        { field: 'file', content: Buffer.concat([png.subarray(0, 40), Buffer.alloc(50)]), filename: 'broken.png' },
      )
      await h.settle()
      const [image, broken] = sent.body.data.attachments
      const small = await stream(h, `${image.url}?thumbnail`)
      assert.equal(small.headers['content-type'], 'image/webp')
      const { width, height } = await sharp(small.bytes).metadata()
      assert.deepEqual([width, height], [320, 180])
      const [row] = (await rows(h)).filter((each) => each.name === 'a.jpg')
      assert.deepEqual([row?.width, row?.height], [1600, 900])
      assert.equal((await stream(h, `${broken.url}?thumbnail`)).bytes.length, broken.size, 'the file itself')
      h.clock.setOffset(25 * 3600)
      await nothingLeft(h)
      await h.close()
    })

    it('deleted while their small picture is written leave neither behind', async () => {
      const { h, app } = await opened()
      const { database: db, tools } = h.service.house
      const { put } = tools.files
      let write = () => {}
      const mayWrite = new Promise<void>((go) => {
        write = go
      })
      const told: string[] = []
      tools.files.put = async (key, ...content) => {
        if (!key.endsWith('-small')) return put(key, ...content)
        told.push('begun')
        await mayWrite
        await put(key, ...content).finally(() => told.push('ended'))
      }
      const parts = [{ field: 'messageId', content: '1' }]
      await sendForm(h, app, { field: 'file', content: png, filename: 'a.png' }, ...parts)
      await until('the small picture is about to be written', () => told.includes('begun'))
      await db.write((connection) => releaseFiles(workIn(connection, app.id, tools), [1]))
      db.wake()
      await until('the file itself is gone', () => onDisk(h) === 0)
      write()
      await until('the small picture is written, or what is removed was in its way', () => told.includes('ended'))
      h.clock.setOffset(2 * 3600)
      await nothingLeft(h)
      await h.close()
    })

    it('come in side by side without getting mixed up', async () => {
      const { h, app } = await opened()
      const contents = Array.from({ length: 20 }, (_, n) => Buffer.alloc(200_000, `${n} `))
      const sendOne = (content: Buffer, n: number) => sendForm(h, app, { field: 'file', content, filename: `${n}.txt` })
      const answers = await Promise.all(
        contents.map(async (content, n) => {
          const answer = await sendOne(content, n)
          // Twenty at once in one conversation are asked to come again where the machine has no time for them.
          return answer.status === 503 ? sendOne(content, n) : answer
        }),
      )
      for (const [n, answer] of answers.entries()) {
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        const fetched = await stream(h, answer.body.data.attachments[0].url)
        assert.ok(fetched.bytes.equals(contents[n] as Buffer), `file ${n}`)
      }
      await h.close()
    })
  })

  const uploadsOf = (...files: { size: number; name?: string; mimeType?: string }[]) => ({
    receiverId: 'milo',
    receiverType: 'user',
    batchId: 'b1',
    files: files.map((file, n) => ({ fileId: `f${n + 1}`, name: 'note.txt', mimeType: 'text/plain', ...file })),
  })

  describe(`uploads on ${database}`, () => {
    const asNora = { onBehalfOf: 'nora' }
    const put = (h: House, url: string, ...pieces: (string | Buffer)[]) =>
      stream(h, url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, pieces })

    it('are asked for, sent, and then sent as attachments', async () => {
      const { h, app } = await opened()
      const { data } = assertSucceeds(await app.post('/files', uploadsOf({ size: 5 }), asNora))
      const { uploadUrl, headers, expiresAt, attachment } = data.f1
      assert.deepEqual(headers, { 'Content-Type': 'text/plain' })
      assert.equal(expiresAt, h.clock.now() + 900)
      assert.deepEqual(
        { ...attachment, url: '' },
        { url: '', name: 'note.txt', mimeType: 'text/plain', extension: 'txt', size: 5 },
      )
      assert.equal((await stream(h, attachment.url)).status, 404, 'it is not there yet')
      assertFails(await app.post('/parcels', { attachments: [attachment] }), 400, 'ERR_BAD_REQUEST')
      const sent = await put(h, uploadUrl, 'he', 'llo')
      assert.equal(sent.status, 200)
      assert.equal(sent.body.data.size, 5)
      assert.equal((await stream(h, attachment.url)).bytes.toString(), 'hello')
      const parcel = assertSucceeds(
        await app.post('/parcels', { messageId: 9, attachments: [{ ...attachment, mimeType: 'image/png', size: 99 }] }),
      )
      assert.deepEqual(parcel.data.attachments, [attachment], 'what we know of it counts')
      assert.equal((await put(h, uploadUrl, 'again')).status, 400)
      assert.equal((await stream(h, attachment.url)).bytes.toString(), 'hello')
      await h.close()
    })

    it('may be of files whose names tell nothing', async () => {
      const { h, app } = await opened()
      const files = [
        { size: 5, name: 'Makefile' },
        { size: 5, name: 'dump', mimeType: 'application/octet-stream' },
      ]
      const { data } = assertSucceeds(await app.post('/files', uploadsOf(...files), asNora))
      assert.deepEqual([data.f1.attachment.extension, data.f2.attachment.extension], ['txt', 'bin'])
      assert.equal((await put(h, data.f1.uploadUrl, 'hello')).status, 200)
      const { attachment } = data.f1
      const message = { receiver: 'milo', receiverType: 'user', type: 'file', data: { attachments: [attachment] } }
      assert.equal(
        assertSucceeds(await app.post('/messages', message, asNora)).data.data.attachments[0].name,
        'Makefile',
      )
      await h.close()
    })

    it('tell for each file why it cannot be', async () => {
      const { h, app } = await opened()
      const body = uploadsOf({ size: 2 * megabyte }, { size: 3, name: ' ' }, { size: 1, mimeType: 'nonsense' })
      const { data } = assertSucceeds(await app.post('/files', body, asNora))
      assert.equal(data.f1.error.code, 'ERR_FILE_SIZE_EXCEEDED')
      assert.equal(data.f2.error.code, 'ERR_BAD_REQUEST')
      assert.equal(data.f3.error.code, 'ERR_BAD_REQUEST')
      assert.equal((await rows(h)).length, 0)
      const many = uploadsOf({ size: 1 }, { size: 1 }, { size: 1 }, { size: 1 })
      assertFails(await app.post('/files', many, asNora), 400, 'ERR_FILE_COUNT_EXCEEDED')
      assertFails(await app.post('/files', uploadsOf({ size: 1 })), 400, 'ERR_BAD_REQUEST')
      const twins = uploadsOf({ size: 1 }, { size: 1 })
      for (const file of twins.files) file.fileId = 'same'
      assertFails(await app.post('/files', twins, asNora), 400, 'ERR_BAD_REQUEST')
      await h.close()
    })

    it('ask whether the user may send files there', async () => {
      const { h, app } = await opened()
      assertSucceeds(await app.post('/files', uploadsOf({ size: 1 }), asNora))
      assertSucceeds(await app.post('/users/milo/blockedusers', { blockedUids: ['nora'] }))
      assertFails(await app.post('/files', uploadsOf({ size: 1 }), asNora), 403, 'ERR_PERMISSION_DENIED')
      await h.close()
    })

    it('are judged by what they are, whatever a message calls them', async () => {
      const { h, app } = await opened()
      assertSucceeds(await app.post('/roles', { role: 'painter', name: 'Painter' }))
      const permissions = { 'sendMessage.allowedMimeTypes': ['image/*'] }
      assertSucceeds(await app.put('/roles/painter/permissions', { permissions }))
      assertSucceeds(await app.put('/users/nora', { role: 'painter' }))
      const { data } = assertSucceeds(await app.post('/files', uploadsOf({ size: 5 }), asNora))
      const { uploadUrl, attachment } = data.f1
      assert.equal((await put(h, uploadUrl, 'hello')).status, 200)
      const renamed = { ...attachment, name: 'a.png', extension: 'png', mimeType: 'image/png' }
      const url = attachment.url.replace('note.txt', 'a.png')
      for (const content of [{ attachments: [attachment] }, { attachments: [renamed] }, { url }]) {
        const message = { receiver: 'milo', receiverType: 'user', type: 'image', data: content }
        assertFails(await app.post('/messages', message, asNora), 403, 'ERR_PERMISSION_DENIED')
      }
      await h.close()
    })

    it('are open to clients with an auth token', async () => {
      const { h, app } = await opened()
      const { data } = assertSucceeds(await app.post('/users/nora/auth_tokens', {}))
      const answer = await h.client.send(app.host, '/v3/files', {
        method: 'POST',
        headers: { authToken: data.authToken, appid: app.id },
        body: uploadsOf({ size: 1 }),
      })
      assertSucceeds(answer)
      await h.close()
    })

    it('larger than announced, broken off or empty are refused and can be tried again', async () => {
      const { h, app } = await opened()
      const { data } = assertSucceeds(await app.post('/files', uploadsOf({ size: 5 }), asNora))
      const { uploadUrl } = data.f1
      const larger = await put(h, uploadUrl, 'hello!')
      assert.deepEqual([larger.status, larger.body.error.code], [413, 'ERR_FILE_SIZE_EXCEEDED'])
      const flood = endless(Buffer.alloc(0))
      const endlessly = await stream(h, uploadUrl, { method: 'PUT', pieces: flood.pieces })
      assert.equal(endlessly.body.error.code, 'ERR_FILE_SIZE_EXCEEDED')
      assert.equal((await put(h, uploadUrl)).status, 400)
      async function* broken() {
        yield 'he'
        await until('it is coming in', async () => (await rows(h))[0]?.state !== 'announced')
        throw new Error('gone')
      }
      await assert.rejects(stream(h, uploadUrl, { method: 'PUT', pieces: broken() }))
      await until('it can be sent again', async () => (await rows(h))[0]?.state === 'announced')
      assert.equal(onDisk(h), 0)
      const both = await Promise.all([put(h, uploadUrl, 'hello'), put(h, uploadUrl, 'hello')])
      assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 400])
      assert.equal(onDisk(h), 1)
      await h.close()
    })

    it('end after 15 minutes', async () => {
      const { h, app } = await opened()
      const { data } = assertSucceeds(await app.post('/files', uploadsOf({ size: 5 }), asNora))
      h.clock.setOffset(901)
      const late = await put(h, data.f1.uploadUrl, 'hello')
      assert.deepEqual([late.status, late.body.error.code], [403, 'ERR_PRESIGNED_URL_EXPIRED'])
      await h.close()
    })
  })
}

describe('files in an S3 bucket', () => {
  it('come, are fetched, pictured and removed as those in a folder', async () => {
    const s3 = await s3Server()
    const h = await house({
      database: 'sqlite',
      areas: [parcels],
      environment: {
        PARLEY_S3_BUCKET: s3.bucket,
        PARLEY_S3_ENDPOINT: s3.endpoint,
        PARLEY_S3_ACCESS_KEY: s3.accessKey,
        PARLEY_S3_SECRET_KEY: s3.secretKey,
      },
    })
    const app = await h.app('a')
    const large = Buffer.alloc(20 * megabyte, 'abcdefg')
    const sent = await stream(h, `https://${app.host}:${h.service.port}/v3/parcels`, {
      method: 'POST',
      headers: { apikey: app.apiKey, 'content-type': formType },
      pieces: [
        form(
          { field: 'file', content: large, filename: 'large.txt' },
          { field: 'file', content: png, filename: 'view.png' },
        ),
      ],
    })
    const [first, second] = sent.body.data.attachments
    assert.ok((await stream(h, first.url)).bytes.equals(large))
    const part = await stream(h, first.url, { headers: { range: 'bytes=7-9' } })
    assert.equal(part.bytes.toString(), 'abc')
    await h.settle()
    assert.equal((await stream(h, `${second.url}?thumbnail`)).headers['content-type'], 'image/webp')
    assert.equal(await s3.count(), 3)
    h.clock.setOffset(25 * 3600)
    await settleUntil(h, 'the bucket is empty', async () => (await s3.count()) === 0)
    await h.close()
    await s3.close()
  })
})

describe('a file name', () => {
  it('is only ever a name', () => {
    const cases: [string, string][] = [
      ['../../etc/passwd', 'passwd'],
      ['C:\\temp\\a.txt', 'a.txt'],
      ['a\0b\r\n.txt', 'ab.txt'],
      ['..', 'file'],
      ['/', 'file'],
      ['', 'file'],
      ['  a b  ', 'a b'],
      ['a\u202egpj.exe', 'agpj.exe'],
      ['\ud800x', '\ufffdx'],
    ]
    for (const [sent, kept] of cases) assert.equal(cleanName(sent), kept)
    const long = cleanName(`${'😀'.repeat(200)}.jpeg`)
    assert.ok(long.length <= 255 && long.isWellFormed() && long.endsWith('.jpeg'))
  })
})
