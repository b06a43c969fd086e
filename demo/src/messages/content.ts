import type { Attachment, Message } from '@parley/sdk/api'
import { mentionsIn, withoutMarks } from '../state/mentions.ts'

/**
 * What stands in a message. Its `data` comes from whoever wrote it, with whatever client: nothing in it is believed to have
 * the shape that it should have.
 */

export interface Person {
  readonly uid: string
  readonly name: string
}

export interface Reaction {
  readonly reaction: string
  readonly count: number
  readonly reactedByMe?: boolean
}

type Data = Record<string, unknown>

export function textIn(data: Data | undefined): string {
  return typeof data?.text === 'string' ? data.text : ''
}

export function senderOf({ sender, data }: Message): Person {
  return personIn(data, 'sender') ?? { uid: sender, name: sender }
}

/** Who did something, and to whom: `by` and `on` of an action. */
export function personIn(data: Data, part: 'sender' | 'by' | 'on'): Person | undefined {
  const { entity } = Object(Object(data.entities)[part])
  const { uid, name } = Object(entity)
  return typeof uid === 'string' ? { uid, name: typeof name === 'string' ? name : uid } : undefined
}

export function reactionsIn({ data }: Message): readonly Reaction[] {
  return Array.isArray(data.reactions) ? data.reactions.map(Object) : []
}

export function attachmentsIn({ type, data }: Message): readonly Attachment[] {
  const all: unknown[] = Array.isArray(data.attachments) ? data.attachments : typeof data.url === 'string' ? [data] : []
  return all.map(attachmentOf).map((file) => (type === 'audio' ? heard(file) : file))
}

/** What browsers record of voices comes in the form of a film, and only the message knows that there is nothing to see. */
function heard(file: Attachment): Attachment {
  return { ...file, mimeType: file.mimeType.replace(/^video\//, 'audio/') }
}

function attachmentOf(from: unknown): Attachment {
  const { url, name, mimeType, extension, size } = Object(from)
  return {
    url: String(url ?? ''),
    name: String(name ?? 'File'),
    mimeType: String(mimeType ?? ''),
    extension: String(extension ?? ''),
    size: Number(size ?? 0),
  }
}

/** One line that stands for all of it: in quotes, pins, labels. */
export function summaryOf(message: Message): string {
  if (message.deletedAt !== undefined) return 'Message deleted'
  const text = plainText(message.data)
  if (text) return text
  const [first] = attachmentsIn(message)
  return first ? first.name : 'Message'
}

/** The text with names instead of marks. */
export function plainText(data: Data | undefined): string {
  return withoutMarks(textIn(data), mentionsIn(data), (_, name) => `@${name}`)
}

/** Ids grow with time, and are too long for numbers. */
export function isAfter(id: string, other: string): boolean {
  return id.length === other.length ? id > other : id.length > other.length
}
