import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { until } from '../../../tests/support/until.ts'
import { requestText, wire } from '../../../tests/support/wire.ts'
import { localCertificates } from '../install/certificates.ts'
import { ApiError } from '../kit/errors.ts'
import { readBody } from './body.ts'
import { type Listener, listen } from './listener.ts'
import { readForm } from './multipart.ts'

const bytesMax = 10_000
const tools = { files: { heldBytes: 0 }, fileLimits: { bytesMax, countMax: 1, stallSeconds: 600 } }
const form = ['--b', 'Content-Disposition: form-data; name="note"', '', 'hello', '--b--', ''].join('\r\n')

const readers: Record<string, (request: IncomingMessage) => Promise<unknown>> = {
  '/body': (request) => readBody(request, bytesMax),
  '/form': (request) => readForm(request, bytesMax, { reception: {} as never, tools: tools as never }),
}

/** Much happens before a body is read: whoever calls is looked up, and counted. */
describe('a body whose client went away before anybody read it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bodies-'))
  let listener: Listener
  let arrived: IncomingMessage | undefined
  let failure: unknown

  before(async () => {
    const { cert, key } = await localCertificates(folder, 'localhost')
    listener = await listen({ host: '127.0.0.1', port: 0, cert, key }, async (request, response) => {
      arrived = request
      await once(response, 'close')
      await readers[request.url ?? '']?.(request).catch((error) => {
        failure = error
      })
    })
  })
  after(async () => {
    await listener.drain(0)
    rmSync(folder, { recursive: true, force: true })
  })

  for (const path of Object.keys(readers)) {
    for (const [what, sent] of Object.entries({ all: form, half: form.slice(0, 20) })) {
      it(`is not waited for: ${path}, of which ${what} had come`, async () => {
        arrived = undefined
        failure = undefined
        const client = await wire(listener.port)
        const headers = {
          'Content-Type': 'multipart/form-data; boundary=b',
          'Content-Length': String(Buffer.byteLength(form)),
        }
        client.say(requestText('POST', path, headers) + sent)
        await until('the request is there', () => arrived !== undefined && (what === 'half' || arrived.complete))
        client.socket.destroy()
        await until('reading was given up', () => failure !== undefined)
        assert.ok(failure instanceof ApiError)
        assert.deepEqual(failure.details, { body: ['must be sent to its end'] })
      })
    }
  }
})
