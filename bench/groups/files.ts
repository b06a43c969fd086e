import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UploadFloor } from '../floors/upload.ts'
import { againstFloor, type Group, interleave } from '../harness.ts'
import { copyOf, type Install, installWithMessages, requestTo, send } from '../install.ts'
import type { Request } from '../load.ts'
import { busyUser, partnerAt } from '../load-messages.ts'
import { startFloor, startParley } from '../processes.ts'

const megabyte = 2 ** 20
const connections = 8
const rowCharacters = 1_200
const boundary = 'the-oak-for-the-bench'

/** A message with a file of one megabyte, as a form. */
function uploading(install: Install): Request {
  const fields = { receiver: partnerAt(0), receiverType: 'user', type: 'file' }
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const file =
    `--${boundary}\r\nContent-Disposition: form-data; name="files"; filename="plan.bin"\r\n` +
    `Content-Type: application/octet-stream\r\n\r\n${'Sawdust, glue and patience. '.repeat(megabyte / 28)}\r\n`
  return {
    ...requestTo(install, '/v3/messages', { method: 'POST' }),
    headers: {
      ...requestTo(install, '', { headers: { onbehalfof: busyUser } }).headers,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
    body: `${parts.join('')}${file}--${boundary}--\r\n`,
  }
}

export const fileUpload: Group = {
  name: 'files/upload',
  about: 'A message with a file of 1 MB, against raw HTTPS that streams the body to disk and makes one durable insert',
  async run({ generator, plan, started }) {
    const install = copyOf(await installWithMessages(10_000, plan.folder))
    const environment = {
      PARLEY_LIMIT_MESSAGES: '1000000000',
      PARLEY_LIMIT_UPLOADS: '1000000000',
      PARLEY_LIMIT_UPLOAD_MEGABYTES: '1000000000',
    }
    const server = await started(startParley({ data: install.data, environment, profileFolder: plan.profileFolder }))
    const request = uploading(install)
    const { status, headers, text } = await send(server, request)
    if (status !== 200) throw new Error(`The upload was refused: ${text}`)
    const settings: UploadFloor = {
      folder: install.data,
      row: 'x'.repeat(rowCharacters),
      answer: { status, headers, body: text },
      cert: readFileSync(join(install.data, 'server.pem'), 'utf8'),
      key: readFileSync(join(install.data, 'server-key.pem'), 'utf8'),
    }
    const floor = await started(startFloor('upload', settings))
    const shared = { requests: [request], secure: true, connections }
    const samples = await interleave(generator, plan, [
      { name: 'floor', server: floor, ...shared },
      { name: 'parley', server, ...shared },
    ])
    const job = 'POST /messages with 1 MB, TLS'
    return [againstFloor(samples, { group: 'files/upload', job, floor: 'floor', parley: 'parley', atLeast: 0.5 })]
  },
}
