import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import S3rver from 's3rver'

/** A server that speaks S3, with one bucket, gone after the test. */
export interface S3Server {
  bucket: string
  endpoint: string
  region: string
  accessKey: string
  secretKey: string
  /** How many files the bucket holds. */
  count(): Promise<number>
  close(): Promise<void>
}

export async function s3Server(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-s3-'))
  const server = createServer(new S3rver({ directory, silent: true }).callback())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [bucket, region, name] = ['parley', 'us-east-1', 'S3RVER']
  const client = new S3Client({
    ...{ endpoint, region, forcePathStyle: true },
    credentials: { accessKeyId: name, secretAccessKey: name },
  })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  keepFolder(join(directory, bucket, 'files'))
  return {
    ...{ bucket, endpoint, region, accessKey: name, secretKey: name },
    count: async () => (await client.send(new ListObjectsV2Command({ Bucket: bucket }))).KeyCount ?? 0,
    async close() {
      client.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The server removes a folder with its last file, also while another file is on its way into it. */
function keepFolder(folder: string): void {
  mkdirSync(folder)
  writeFileSync(join(folder, 'kept'), '')
}
