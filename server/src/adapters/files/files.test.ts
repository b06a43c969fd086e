import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { s3Server } from '../../../../tests/support/s3.ts'
import type { Files } from '../../kit/ports.ts'
import { diskFiles } from './disk.ts'
import { s3Files } from './s3.ts'

/** The same promises for every store: a folder, and a real server that speaks S3. */

interface Store {
  files: Files
  /** How many files it holds, finished or not. */
  count(): Promise<number>
  close(): Promise<void>
}

async function diskStore(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-files-'))
  return {
    files: await diskFiles(folder),
    count: async () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((it) => it.isFile()).length,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function s3Store(): Promise<Store> {
  const server = await s3Server()
  const files = s3Files(server)
  return {
    files,
    count: server.count,
    async close() {
      await files.close()
      await server.close()
    },
  }
}

async function* pieces(...content: Buffer[]): AsyncGenerator<Buffer> {
  yield* content
}

const about = { contentType: 'text/plain' }
const text = Buffer.from('0123456789')

for (const [name, open] of [
  ['a folder', diskStore],
  ['an S3 bucket', s3Store],
] as const) {
  describe(`files in ${name}`, () => {
    let store: Store
    before(async () => {
      store = await open()
    })
    after(() => store.close())

    const read = async (key: string, range?: { start: number; end: number }) => {
      const content = await store.files.get(key, range)
      return content && (await buffer(content))
    }

    it('come back as they were put, whole and in part, until they are removed', async () => {
      await store.files.put('whole-file', pieces(text.subarray(0, 3), text.subarray(3)), about)
      assert.deepEqual(await read('whole-file'), text)
      assert.deepEqual(await read('whole-file', { start: 2, end: 4 }), Buffer.from('234'))
      await store.files.remove('whole-file')
      assert.equal(await read('whole-file'), undefined)
      await store.files.remove('whole-file')
      assert.equal(await store.count(), 0)
    })

    it('may be empty, and may be put again', async () => {
      await store.files.put('small-file', pieces(), about)
      assert.deepEqual(await read('small-file'), Buffer.alloc(0))
      await store.files.put('small-file', pieces(text), about)
      assert.deepEqual(await read('small-file'), text)
      await store.files.remove('small-file')
    })

    it('may be large', async () => {
      const megabyte = Buffer.alloc(1_048_576, 'abcdefg')
      const large = Array.from({ length: 20 }, () => megabyte)
      await store.files.put('large-file', pieces(...large, text), about)
      assert.ok((await read('large-file'))?.equals(Buffer.concat([...large, text])))
      const end = 20 * megabyte.length + text.length - 1
      assert.deepEqual(await read('large-file', { start: end - 2, end }), Buffer.from('789'))
      await store.files.remove('large-file')
      assert.equal(await store.count(), 0)
    })

    it('that break off are not there', async () => {
      for (const megabytes of [0, 12]) {
        async function* broken() {
          for (let n = 0; n < megabytes; n += 1) yield Buffer.alloc(1_048_576)
          yield text
          throw new Error('gone')
        }
        await assert.rejects(store.files.put('broken-file', broken(), about), /gone/)
        assert.equal(await read('broken-file'), undefined)
      }
      assert.equal(await store.count(), 0)
    })

    it('are listed, whole or not', async () => {
      const listed = async () => {
        const keys: string[] = []
        for await (const key of store.files.list()) keys.push(key)
        return keys.toSorted()
      }
      assert.deepEqual(await listed(), [])
      for (const key of ['first-file', 'other-file']) await store.files.put(key, pieces(text), about)
      assert.deepEqual(await listed(), ['first-file', 'other-file'])
      for (const key of ['first-file', 'other-file']) await store.files.remove(key)
    })

    it('are put side by side', async () => {
      const keys = Array.from({ length: 20 }, (_, n) => `file-number-${n}`)
      await Promise.all(keys.map((key) => store.files.put(key, pieces(Buffer.from(key)), about)))
      for (const key of keys) assert.equal((await read(key))?.toString(), key)
      await Promise.all(keys.map((key) => store.files.remove(key)))
      assert.equal(await store.count(), 0)
    })
  })
}

describe('a store that cannot be reached', () => {
  it('fails in bounded time', async () => {
    const settings = {
      bucket: 'b',
      endpoint: 'http://127.0.0.1:1',
      region: 'us-east-1',
      accessKey: 'a',
      secretKey: 'b',
    }
    const files = s3Files(settings)
    await assert.rejects(files.put('lost-file', pieces(text), about))
    await files.close()
  })

  it('has no place for keys that are not ours', async () => {
    const store = await diskStore()
    for (const key of ['../../x', '/etc/passwd', 'a/b', '', 'short', `${'x'.repeat(200)}`]) {
      await assert.rejects(store.files.put(key, pieces(text), about))
      await assert.rejects(async () => store.files.get(key))
    }
    assert.equal(await store.count(), 0)
    await store.close()
  })
})
