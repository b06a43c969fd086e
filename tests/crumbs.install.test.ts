import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import { as } from './support/talk.ts'
import { form, formType, stream } from './support/uploads.ts'

/** Each piece of a body costs the server the same, so nobody may send very many of them with nearly nothing in them. */
describe('a body in thousands of pieces', () => {
  let h: House
  let app: AppClient
  const refusal = { body: ['must not come in thousands of pieces of less than 16 bytes'] }

  before(async () => {
    h = await house({ database: 'sqlite' })
    app = await h.app('only')
    await app.post('/users', { uid: 'ada', name: 'Ada' })
    await app.post('/users', { uid: 'lin', name: 'Lin' })
  })
  after(() => h.close())

  const cut = (body: string, length: number) =>
    Array.from({ length: Math.ceil(body.length / length) }, (_, n) => body.slice(n * length, (n + 1) * length))
  const send = (body: string, pieceLength: number, type = 'application/json') =>
    stream(h, `https://${app.host}/v3/messages`, {
      method: 'POST',
      headers: { apikey: app.apiKey, 'content-type': type, ...as('ada') },
      pieces: cut(body, pieceLength),
    })
  const message = (data: object) =>
    JSON.stringify({ receiver: 'lin', receiverType: 'user', category: 'message', type: 'text', data })

  it('of a byte is refused, also as a form and as a file', async () => {
    const long = message({ text: 'hello', metadata: { note: 'x'.repeat(9_000) } })
    const asJson = await send(long, 1)
    assert.deepEqual([asJson.status, asJson.body.error.details], [400, refusal])
    const whole = form({
      field: 'file',
      filename: 'a.txt',
      type: 'text/plain',
      content: Buffer.from('y'.repeat(9_000)),
    })
    const asForm = await send(whole.toString(), 1, formType)
    assert.deepEqual([asForm.status, asForm.body.error.details], [400, refusal])
    const files = [{ fileId: 'f', name: 'a.txt', mimeType: 'text/plain', size: 9_000 }]
    const announced = await app.post('/files', { receiverId: 'lin', receiverType: 'user', files }, as('ada'))
    const asFile = await stream(h, assertSucceeds(announced).data.f.uploadUrl, {
      method: 'PUT',
      headers: { 'content-type': 'text/plain' },
      pieces: cut('z'.repeat(9_000), 1),
    })
    assert.deepEqual([asFile.status, asFile.body.error.details], [400, refusal])
  })

  it('of usual size is taken, and so is a short body byte by byte', async () => {
    const long = message({ text: 'hello', metadata: { note: 'x'.repeat(9_000) } })
    assert.equal((await send(long, 20)).status, 200)
    assert.equal((await send(message({ text: 'hello' }), 1)).status, 200)
  })
})
