import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, mock } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, clientOf } from '../../../../tests/support/talk.ts'
import { type BytesAnswer, form, formType, stream } from '../../../../tests/support/uploads.ts'
import { tenantDb } from '../../storage/tenant.ts'

const filesMax = 4
const hour = 3_600

for (const database of databases) {
  describe(`what a user may upload on ${database}`, () => {
    let h: House
    let app: AppClient
    // Windows are whole hours of real time; a still clock makes each test begin in a fresh one.
    let now = Math.ceil(Date.now() / 1000 / hour) * hour

    before(async () => {
      mock.timers.enable({ apis: ['Date'], now: now * 1000 })
      const environment = {
        PARLEY_LIMIT_UPLOADS: String(filesMax),
        PARLEY_LIMIT_UPLOAD_MEGABYTES: '2',
        PARLEY_FILE_MEGABYTES_MAX: '2',
      }
      h = await house({ database, environment })
    })
    beforeEach(async () => {
      app = await appWith(h, 'fay', 'gus')
      now += hour
      mock.timers.setTime(now * 1000)
    })
    after(async () => {
      await h.close()
      mock.timers.reset()
    })

    const note = (size: number) => ({ field: 'file', content: 'x'.repeat(size), filename: 'a.txt', type: 'text/plain' })
    const upload = (headers: Record<string, string>, ...files: { size: number }[]) =>
      stream(h, `https://${app.host}/v3/messages`, {
        method: 'POST',
        headers: { apikey: app.apiKey, 'content-type': formType, ...headers },
        pieces: [
          form(
            { field: 'receiver', content: 'gus' },
            { field: 'receiverType', content: 'user' },
            ...files.map(({ size }) => note(size)),
          ),
        ],
      })
    const assertSent = ({ status, bytes }: BytesAnswer) => assert.equal(status, 200, bytes.toString())
    const assertUsedUp = ({ status, body, headers }: BytesAnswer, limit?: number) => {
      assert.deepEqual([status, body.error.code], [429, 'ERR_TOO_MANY_REQUESTS'])
      assert.equal(headers['retry-after'], String(hour))
      if (limit !== undefined) assert.equal(headers['x-rate-limit'], String(limit))
    }
    const announce = async (count: number, size = 5) => {
      const files = Array.from({ length: count }, (_, n) => ({
        ...{ fileId: `f${n}`, name: 'a.txt', mimeType: 'text/plain', size },
      }))
      return app.post('/files', { receiverId: 'gus', receiverType: 'user', files }, as('fay'))
    }
    const put = ({ uploadUrl }: { uploadUrl: string }, bytes: string) =>
      stream(h, uploadUrl, { method: 'PUT', headers: { 'content-type': 'text/plain' }, pieces: [bytes] })
    const filesIn = async () =>
      (await tenantDb(h.service.house.database.reader, app.id).select('files').selectAll().execute()).length

    it('is so many files an hour, however they come', async () => {
      assertSent(await upload(as('fay'), { size: 10 }, { size: 10 }))
      const { data } = assertSucceeds(await announce(3))
      const codes = ['f0', 'f1', 'f2'].map((id) => data[id].error?.code ?? 'a place')
      assert.deepEqual(codes, ['a place', 'a place', 'ERR_TOO_MANY_REQUESTS'])
      assertFails(await announce(1), 429, 'ERR_TOO_MANY_REQUESTS')
      assertUsedUp(await upload(as('fay'), { size: 10 }), filesMax)
      // What was announced in time may come.
      assert.equal((await put(data.f0, 'hello')).status, 200)
      assertSent(await upload(as('gus'), { size: 10 }))
      now += hour
      mock.timers.setTime(now * 1000)
      assertSent(await upload(as('fay'), { size: 10 }))
    })

    it('is not used up by announcements that are refused, nor by a form without a file', async () => {
      assertFails(await announce(11), 400, 'ERR_FILE_COUNT_EXCEEDED')
      for (let n = 0; n < filesMax; n += 1) {
        const { data } = assertSucceeds(await announce(1, 3_000_000))
        assert.equal(data.f0.error.code, 'ERR_FILE_SIZE_EXCEEDED')
        assertSent(
          await stream(h, `https://${app.host}/v3/messages`, {
            method: 'POST',
            headers: { apikey: app.apiKey, 'content-type': formType, ...as('fay') },
            pieces: [
              form(
                { field: 'receiver', content: 'gus' },
                { field: 'receiverType', content: 'user' },
                { field: 'data', content: '{"text": "Hello"}' },
                { field: 'file', content: '', filename: '' },
              ),
            ],
          }),
        )
      }
      assert.equal(Object.keys(assertSucceeds(await announce(filesMax)).data).length, filesMax)
    })

    it('is so many bytes an hour, and what goes beyond is not kept', async () => {
      assertSent(await upload(as('fay'), { size: 1_500_000 }))
      await h.settle()
      const kept = await filesIn()
      assertUsedUp(await upload(as('fay'), { size: 600_000 }), 2_000_000)
      await h.settle()
      assert.equal(await filesIn(), kept)
      assertSent(await upload(as('gus'), { size: 1_500_000 }))
    })

    it('counts the bytes of an upload that is tried again and again', async () => {
      const { data } = assertSucceeds(await announce(1, 700_000))
      for (let n = 0; n < 3; n += 1) {
        const { body } = await put(data.f0, 'x'.repeat(750_000))
        assert.equal(body.error.code, 'ERR_FILE_SIZE_EXCEEDED')
      }
      assertUsedUp(await put(data.f0, 'x'.repeat(700_000)))
    })

    it('is nothing for whoever is not there: what they send is neither stored nor counted', async () => {
      for (let n = 0; n < filesMax; n += 1) {
        const { status, body } = await upload(as('new'), { size: 10 })
        assert.deepEqual([status, body.error.code], [404, 'ERR_UID_NOT_FOUND'])
      }
      assert.equal(await filesIn(), 0)
      assertSucceeds(await app.post('/users', { uid: 'new', name: 'New' }))
      for (let n = 0; n < filesMax; n += 1) assertSent(await upload(as('new'), { size: 10 }))
    })

    it('has no bounds for the app itself', async () => {
      for (let n = 0; n < filesMax; n += 1) assertSent(await upload({}, { size: 600_000 }, { size: 10 }))
    })

    it('holds for clients, and tells what they may still do otherwise', async () => {
      const fay = await clientOf(h, app, 'fay')
      const files = [{ fileId: 'f', name: 'a.txt', mimeType: 'text/plain', size: 5 }]
      const ask = () => fay.post('/files', { receiverId: 'gus', receiverType: 'user', files })
      for (let n = 0; n < filesMax; n += 1) assertSucceeds(await ask())
      const refused = await ask()
      assertFails(refused, 429, 'ERR_TOO_MANY_REQUESTS')
      assert.deepEqual([refused.headers['x-rate-limit'], refused.headers['retry-after']], [`${filesMax}`, `${hour}`])
      assertSucceeds(await fay.post('/messages', { receiver: 'gus', receiverType: 'user', data: { text: 'Hello' } }))
    })
  })
}
