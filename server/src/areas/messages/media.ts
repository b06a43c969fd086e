import { ApiError } from '../../kit/errors.ts'
import type { Where } from '../../kit/event.ts'
import type { Actor } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { type Destination, keptAttachment, shownAttachment } from '../files/index.ts'
import { groupNotFound } from '../groups/errors.ts'
import { userNotFound } from '../users/errors.ts'
import { mediaTypes } from './content.ts'
import { receiverFor, refuseForbidden, speakerFor } from './parties.ts'

/** Files in messages: who may send them where, and the addresses they are shown with. */

interface Media {
  attachments?: { url: string; name: string }[]
  url?: string
}

type Attachment = NonNullable<Media['attachments']>[number]

function withAttachments(content: object, change: (attachment: Attachment) => Attachment): Record<string, unknown> {
  const { attachments = [] } = content as Media
  if (attachments.length === 0) return { ...content }
  const changed = attachments.map(change)
  return { ...content, attachments: changed, url: changed[0]?.url }
}

export const shownMedia = ({ tools, appId }: Where, content: object) =>
  withAttachments(content, (kept) => shownAttachment(tools, appId, kept))

export const keptMedia = ({ tools, appId }: Where, content: object) =>
  withAttachments(content, (shown) => keptAttachment(tools, appId, shown))

/** Uploads are asked for where the message could be sent; what names nobody is told apart from what is forbidden. */
export async function mayUploadTo(
  work: Work,
  actor: Actor,
  { receiverId, receiverType, parentMessageId }: Destination,
): Promise<boolean> {
  const { db } = work
  try {
    const speaker = await speakerFor(work, actor)
    const receiver = await receiverFor(db, receiverType, receiverId)
    // What a file is sent as is said later, so any type that may be sent will do.
    const content = { category: 'message', type: mediaTypes, mimeTypes: [] }
    await refuseForbidden(db, speaker, receiver, content, parentMessageId !== undefined)
    return true
  } catch (error) {
    const unknown = [userNotFound.code, groupNotFound.code]
    if (error instanceof ApiError && !unknown.includes(error.code)) return false
    throw error
  }
}
