import type { ReceivedFile } from '../../kit/operation.ts'
import type { Tools } from '../../kit/ports.ts'
import type { Work } from '../../kit/work.ts'
import { storeContent } from './content.ts'
import { cleanName, extensionOf } from './names.ts'
import { doomFiles } from './removal.ts'
import { addFile } from './store.ts'

/** Does something in a transaction of the app. */
export type InApp = <T>(work: (work: Work) => Promise<T>) => Promise<T>

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
  return {
    async take(content, sent) {
      const name = cleanName(sent.name)
      const unknown = { mimeType: '', extension: extensionOf(name) ?? '', size: 0 }
      const key = await inApp((work) => addFile(work, { state: 'receiving', name, ...unknown, uploader }))
      keys.push(key)
      const { digest, ...found } = await storeContent(tools, {
        ...{ key, name, content: metered(content), allowance },
        declaredType: sent.declaredType,
      })
      return { file: { key, name, ...found }, digest }
    },
    async discard() {
      if (keys.length > 0) await inApp((work) => discardFiles(work, keys))
    },
  }
}

async function discardFiles(work: Work, keys: string[]): Promise<void> {
  const unkept = await work.db
    .select('files')
    .select('files.key')
    .where('files.key', 'in', keys)
    .where('files.state', '=', 'receiving')
    .execute()
  await doomFiles(
    work,
    unkept.map(({ key }) => key),
  )
}
