import type { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { Files } from '../../kit/ports.ts'

export interface S3Settings {
  bucket: string
  endpoint: string | undefined
  region: string
  accessKey: string
  secretKey: string
}

// What one upload holds in memory, twice for a moment. Stores take no smaller parts, and 10,000 of them: 50 GB.
const partBytes = 5 * 1024 * 1024
const connectMilliseconds = 5_000
const silenceMilliseconds = 30_000

/** Files in a bucket of an S3-compatible store. What is larger than a part goes up part by part. */
export function s3Files({ bucket, endpoint, region, accessKey, secretKey }: S3Settings): Files {
  const client = new S3Client({
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    // Stores other than AWS are reached by path, and do not all know its newer checksums.
    ...(endpoint && { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectMilliseconds, requestTimeout: silenceMilliseconds },
  })
  const at = (key: string) => ({ Bucket: bucket, Key: objectName(key) })

  async function putInParts(key: string, first: Buffer, rest: AsyncGenerator<Buffer>, contentType: string) {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...at(key), ContentType: contentType }))
    const upload = { ...at(key), UploadId }
    const Parts: CompletedPart[] = []
    const add = async (Body: Buffer) => {
      const PartNumber = Parts.length + 1
      const { ETag } = await client.send(new UploadPartCommand({ ...upload, PartNumber, Body }))
      Parts.push({ ETag, PartNumber })
    }
    try {
      await add(first)
      for await (const part of rest) await add(part)
      await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }))
    } catch (error) {
      // What cannot be taken back now is for the bucket's own rule on unfinished uploads.
      await client.send(new AbortMultipartUploadCommand(upload)).catch(() => {})
      throw error
    }
  }

  return {
    async put(key, content, { contentType }) {
      const parts = inParts(content)
      const { value: first = Buffer.alloc(0) } = await parts.next()
      if (first.length === partBytes) return putInParts(key, first, parts, contentType)
      await client.send(new PutObjectCommand({ ...at(key), Body: first, ContentType: contentType }))
    },
    async get(key, range) {
      try {
        const Range = range && `bytes=${range.start}-${range.end}`
        const { Body } = await client.send(new GetObjectCommand({ ...at(key), ...(Range && { Range }) }))
        return Body as Readable | undefined
      } catch (error) {
        if ((error as Error).name === 'NoSuchKey') return undefined
        throw error
      }
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand(at(key)))
    },
    // A bucket does not fill up; and while it cannot be reached, all that needs no files goes on.
    check: async () => {},
    heldBytes: 2 * partBytes,
    async *list() {
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix })) {
        for (const { Key = '' } of Contents) yield Key.slice(prefix.length)
      }
    },
    close: async () => client.destroy(),
  }
}

const prefix = 'files/'

function objectName(key: string): string {
  return `${prefix}${key}`
}

/** The same content in pieces of one size; only the last may be smaller. */
async function* inParts(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  for await (const chunk of content) {
    held.push(chunk)
    bytes += chunk.length
    while (bytes >= partBytes) {
      const joined = Buffer.concat(held)
      yield joined.subarray(0, partBytes)
      held = [joined.subarray(partBytes)]
      bytes -= partBytes
    }
  }
  if (bytes > 0) yield Buffer.concat(held)
}
