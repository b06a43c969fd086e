import type { ReceivedFile } from '../../kit/operation.ts'
import type { Tools } from '../../kit/ports.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import type { Attachment } from './schemas.ts'
import { storedFiles } from './store.ts'
import { fileKeyIn, signedUrl } from './urls.ts'

/**
 * A message keeps the key of a file in place of its address, and whoever reads the message gets an address signed at that
 * moment. What a client sends is always an http address, so nobody can write a key into a message.
 */
const ownScheme = 'parley-file:'

/** A received file as a message keeps it. */
export function storedAttachment({ key, name, mimeType, extension, size }: ReceivedFile): Attachment {
  return { url: `${ownScheme}${key}`, name, mimeType, extension, size }
}

/** A kept attachment as it is answered. One that lies elsewhere stays as it is. */
export function shownAttachment<Kept extends { url: string; name: string }>(
  tools: Tools,
  appId: string,
  kept: Kept,
): Kept {
  const key = keyIn(kept)
  return key === undefined ? kept : { ...kept, url: signedUrl(tools, appId, key, kept.name) }
}

/** A shown attachment as a message keeps it. */
export function keptAttachment<Shown extends { url: string }>(tools: Tools, appId: string, shown: Shown): Shown {
  const key = fileKeyIn(tools, appId, shown.url)
  return key === undefined ? shown : { ...shown, url: `${ownScheme}${key}` }
}

/**
 * Attachments of a JSON body as a message keeps them: where one is a file of ours, what we know of it counts, not what
 * was sent. Answers nothing if one of ours was never uploaded, or is gone.
 */
export async function adoptAttachments<Sent extends { url: string }>(
  db: TenantDb,
  tools: Tools,
  attachments: Sent[],
): Promise<(Sent | Attachment)[] | undefined> {
  const keys = attachments.map(({ url }) => fileKeyIn(tools, db.appId, url))
  const files = await storedFiles(
    db,
    keys.filter((key) => key !== undefined),
  )
  const kept = attachments.map((attachment, index) => {
    const key = keys[index]
    if (key === undefined) return attachment
    const file = files.get(key)
    return file && storedAttachment(file)
  })
  return kept.every((attachment) => attachment !== undefined) ? kept : undefined
}

/** The keys of files among kept attachments; what `claimFiles` is asked for. */
export function fileKeysOf(kept: { url: string }[]): string[] {
  return [...new Set(kept.map(keyIn).filter((key) => key !== undefined))]
}

function keyIn({ url }: { url: string }): string | undefined {
  return url.startsWith(ownScheme) ? url.slice(ownScheme.length) : undefined
}
