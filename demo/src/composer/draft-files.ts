import type { Conversation } from '@parley/sdk'
import { changeDraft, type DraftFile, draftOf } from '../state/drafts.ts'

/** The files of a draft, from being chosen to having arrived with a message. */

// As many as a message may have on an install that was not told otherwise.
const filesMax = 10

// What every browser draws; other pictures get a sign.
const drawn = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']

/** Answers a sentence if not all of them were taken. */
export function addFiles(key: string, conversation: Conversation, files: readonly File[]): string | undefined {
  const room = filesMax - draftOf(key).files.length
  const added = files.slice(0, Math.max(room, 0)).map((file) => draftFile(conversation, file))
  changeDraft(key, (draft) => ({ ...draft, files: [...draft.files, ...added] }))
  return added.length < files.length ? `A message has at most ${filesMax} files.` : undefined
}

export function removeFile(key: string, gone: DraftFile): void {
  gone.upload.abort()
  forgetPreview(gone)
  changeDraft(key, (draft) => ({ ...draft, files: draft.files.filter(({ id }) => id !== gone.id) }))
}

export function retryFile(key: string, conversation: Conversation, failed: DraftFile): void {
  const again = { ...failed, upload: conversation.upload(failed.file) }
  changeDraft(key, (draft) => ({ ...draft, files: draft.files.map((each) => (each.id === failed.id ? again : each)) }))
}

/** What a message with these files is: pictures, sound, video, or just files. */
export function messageTypeOf(files: readonly { file: File }[]): 'image' | 'audio' | 'video' | 'file' {
  const [kind, ...others] = new Set(files.map(({ file }) => file.type.split('/')[0]))
  const isOne = others.length === 0 && (kind === 'image' || kind === 'audio' || kind === 'video')
  return isOne ? kind : 'file'
}

export function draftFile(conversation: Conversation, file: File): DraftFile {
  const preview = drawn.includes(file.type) ? URL.createObjectURL(file) : undefined
  return { id: crypto.randomUUID(), file, upload: conversation.upload(file), ...(preview && { preview }) }
}

export function forgetPreview({ preview }: DraftFile): void {
  if (preview) URL.revokeObjectURL(preview)
}
