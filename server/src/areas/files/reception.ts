import { ApiError } from '../../kit/errors.ts'
import type { ReceivedFile } from '../../kit/operation.ts'
import type { Tools } from '../../kit/ports.ts'
import type { InApp } from '../../kit/work.ts'
import { storeContent } from './content.ts'
import { storageFailed } from './errors.ts'
import { cleanName, extensionOf } from './names.ts'
import { doomFiles } from './removal.ts'
import { addFile, keepFile } from './store.ts'
import type { FileRow } from './tables.ts'
import { announceAgain, beginReceiving, endReceiving, lastByteUntil } from './writers.ts'

/** Takes the files of one request to the store, before the transaction that will need them. */
export interface Reception {
  take(content: AsyncIterable<Buffer>, sent: { name: string; declaredType: string }): Promise<Taken>
  /** Undoes it all. Files that a transaction has kept meanwhile are left alone. */
  discard(): Promise<void>
}

export interface Taken {
  file: ReceivedFile
  /** Equal for equal bytes. */
  digest: string
}

/** Lets content through and counts it; ends it where it is too much. */
export type Metered = (content: AsyncIterable<Buffer>) => AsyncIterable<Buffer>

export function openReception(tools: Tools, inApp: InApp, uploader: string | undefined, metered: Metered): Reception {
  const { bytesMax } = tools.fileLimits
  const allowance = { left: bytesMax, bytesMax }
  const keys: string[] = []
  let didStoreFail = false
  return {
    async take(content, sent) {
      const until = lastByteUntil(tools.clock.now())
      const name = cleanName(sent.name)
      const unknown = { mimeType: '', extension: extensionOf(name) ?? '', size: 0 }
      const key = await inApp((work) => addFile(work, { state: 'receiving', name, ...unknown, uploader }))
      keys.push(key)
      try {
        const incoming = { key, name, content: metered(content), allowance, until }
        const { digest, ...found } = await storeContent(tools, { ...incoming, declaredType: sent.declaredType })
        return { file: { key, name, ...found }, digest }
      } catch (error) {
        didStoreFail ||= isOfStore(error)
        throw error
      }
    },
    async discard() {
      await inApp(async (work) => doomFiles(work, await endReceiving(work, keys, didStoreFail)))
    },
  }
}

/**
 * Takes the bytes of an announced file to the store; what fails may be tried again. Answers nothing if they have come
 * before, or the file is gone.
 */
export async function receiveAnnounced(
  tools: Tools,
  inApp: InApp,
  key: string,
  read: (announced: FileRow) => AsyncIterable<Buffer>,
): Promise<ReceivedFile | undefined> {
  const until = lastByteUntil(tools.clock.now())
  const announced = await inApp((work) => beginReceiving(work, key))
  if (!announced) return undefined
  const { name, size: bytesMax, mime: declaredType } = announced
  try {
    const allowance = { left: bytesMax, bytesMax }
    const incoming = { key, name, declaredType, content: read(announced), allowance, until }
    const { digest, ...found } = await storeContent(tools, incoming)
    const file = { key, name, ...found }
    await inApp((work) => keepFile(work, file))
    return file
  } catch (error) {
    await inApp(async (work) => {
      await endReceiving(work, [key], isOfStore(error))
      await announceAgain(work, key)
    })
    throw error
  }
}

/** Whatever else goes wrong, it is known that nothing more is written. */
function isOfStore(error: unknown): boolean {
  return error instanceof ApiError && error.code === storageFailed.code
}
