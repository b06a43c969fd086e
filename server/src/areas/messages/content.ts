import { readMetadata } from '../../common/metadata.ts'
import { isWebAddress } from '../../common/shapes.ts'
import { cleanName, kindByName, unknownMimeType } from '../files/index.ts'
import type { Attachment } from '../files/schemas.ts'
import {
  emptyCategory,
  emptyCustomData,
  emptyFile,
  emptyText,
  emptyType,
  invalidCategory,
  invalidCustomData,
  invalidData,
  invalidMedia,
  invalidMetadata,
  invalidText,
  invalidType,
  tooManyFiles,
} from './errors.ts'
import { checkInteractive } from './interactive.ts'
import { hasLink, mentionedIn } from './mentions.ts'

/** What a message says, checked: decided from what was sent alone. */

export const dataBytesMax = 10_240
export const messageCharactersMax = 65_536
export const attachmentsMax = 10
const mentionsMax = 10

export type Data = Record<string, unknown>

export interface MessageContent {
  category: string
  type: string
  data: Data
  /** UIDs that the text names; whether they exist is for the database. */
  mentioned: string[]
  /** What it names as attached; of media these are its files. */
  mimeTypes: string[]
}

export const mediaTypes = ['image', 'audio', 'video', 'file']
const textTypes = ['text', ...mediaTypes]
const interactiveTypes = ['form', 'card', 'scheduler', 'customInteractive']
const sendable = ['message', 'custom', 'interactive']

/** Category and type as they were sent, or the usual ones where they were not. */
export function kindOf(sent: { category?: string | undefined; type?: string | undefined }) {
  const { category = 'message' } = sent
  if (isBlank(category)) throw emptyCategory()
  if (!sendable.includes(category)) throw invalidCategory({ category })
  const usual: Record<string, string> = { message: 'text', interactive: 'card' }
  const type = sent.type ?? usual[category]
  if (type === undefined || isBlank(type)) throw emptyType()
  const known: Record<string, string[]> = { message: textTypes, interactive: interactiveTypes }
  if (known[category]?.includes(type) === false) throw invalidType({ type })
  return { category, type }
}

const isBlank = (text: string) => text.trim() === ''

/** Checks what is sent, together with files that were received with it, and answers it as it will be stored. */
export function contentOf(
  kind: { category: string; type: string },
  sent: unknown,
  received: Attachment[] = [],
  filesMax = attachmentsMax,
): MessageContent {
  const data = objectOf(sent)
  if (!data) throw invalidData({ reason: 'must be an object' })
  if (received.length > 0 && !isMedia(kind)) throw invalidMedia({ reason: 'only media messages have files' })
  const files = isMedia(kind) && received.length === 0 ? fileAtUrl(kind.type, data) : received
  return checked(kind, withoutOurs(data), files, filesMax)
}

/** What only the service says about a message; nobody can send it. */
const ours = ['entities', 'mentions', 'reactions', 'moderation', 'interactions']

function withoutOurs(data: Data): Data {
  return Object.fromEntries(Object.entries(data).filter(([name]) => !ours.includes(name)))
}

const editableNames: Record<string, string[]> = {
  message: ['text', 'metadata'],
  custom: ['text', 'metadata', 'customData'],
  interactive: ['text', 'metadata', 'interactiveData', 'interactionGoal', 'allowSenderInteraction'],
}

/** The same for an edit: what is given replaces what was there. */
export function editedContent(kind: { category: string; type: string }, stored: Data, sent: unknown): MessageContent {
  const data = objectOf(sent)
  if (!data) throw invalidData({ reason: 'must be an object' })
  const editable = editableNames[kind.category] ?? []
  const given = Object.fromEntries(Object.entries(data).filter(([name]) => editable.includes(name)))
  if (!isMedia(kind)) return checked(kind, { ...stored, ...given })
  const { attachments = [], url: _, ...rest } = { ...stored, ...given }
  // Files were checked when they were sent, and do not change.
  return checked(kind, rest, attachments as Attachment[], Number.POSITIVE_INFINITY)
}

function checked(
  { category, type }: { category: string; type: string },
  data: Data,
  received: Attachment[] = [],
  filesMax = attachmentsMax,
): MessageContent {
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > dataBytesMax) throw invalidData({ reason: `must not be larger than ${dataBytesMax} bytes` })
  const content: Data = { ...data, ...checkedMetadata(data) }
  if (content.text !== undefined && typeof content.text !== 'string') throw invalidText()
  if (category === 'message' && type === 'text' && isBlank(String(content.text ?? ''))) throw emptyText()
  if (category === 'custom') checkCustom(content)
  if (category === 'interactive') checkInteractive(content)
  const attachments = isMedia({ category, type }) ? attachmentsIn(content, received, filesMax) : []
  const mentioned = typeof content.text === 'string' ? mentionedIn(content.text) : []
  if (mentioned.length > mentionsMax) throw invalidData({ reason: `must not mention more than ${mentionsMax} users` })
  return {
    category,
    type,
    data: { ...content, ...(attachments.length > 0 && { attachments, url: attachments[0]?.url }) },
    mentioned,
    mimeTypes: isMedia({ category, type }) ? attachments.map(({ mimeType }) => mimeType) : mimeTypesNamedIn(content),
  }
}

/**
 * Messages that are not media have no files, and what they hold under this name is data like any other. But there are
 * clients that show it wherever it stands, so it may not name what the sender may not attach.
 */
function mimeTypesNamedIn({ attachments }: Data): string[] {
  if (!Array.isArray(attachments)) return []
  return attachments.map((each) => {
    const mimeType = objectOf(each)?.mimeType
    return typeof mimeType === 'string' ? mimeType : unknownMimeType
  })
}

export function isMedia({ category, type }: { category: string; type: string }): boolean {
  return category === 'message' && type !== 'text'
}

function checkedMetadata({ metadata }: Data): { metadata?: Data } {
  if (metadata === undefined) return {}
  const read = readMetadata(metadata)
  if (!read) throw invalidMetadata()
  return { metadata: read }
}

const customOptions = {
  subType: 'string',
  conversationText: 'string',
  updateConversation: 'boolean',
  sendNotification: 'boolean',
}

function checkCustom(data: Data): void {
  const { customData } = data
  if (customData === undefined || customData === null) throw emptyCustomData()
  if (!objectOf(customData)) throw invalidCustomData()
  for (const [name, type] of Object.entries(customOptions)) {
    if (data[name] !== undefined && typeof data[name] !== type)
      throw invalidData({ reason: `must have a ${type} as ${name}` })
  }
}

function attachmentsIn({ attachments: sent }: Data, received: Attachment[], filesMax: number): Attachment[] {
  const attachments = sent ?? []
  if (!Array.isArray(attachments)) throw invalidMedia({ reason: 'attachments must be a list' })
  const count = attachments.length + received.length
  if (count === 0) throw emptyFile()
  if (count > filesMax) throw tooManyFiles({ max: filesMax })
  return [...attachments.map(attachmentFrom), ...received]
}

/** A file that is named by its address alone; none, where there are attachments or no address. */
function fileAtUrl(type: string, { attachments, url }: Data): Attachment[] {
  const isNamed = url !== undefined && url !== null && url !== ''
  const hasAttachments = Array.isArray(attachments) ? attachments.length > 0 : attachments != null
  if (!isNamed || hasAttachments) return []
  if (typeof url !== 'string' || !isWebAddress(url)) throw invalidMedia({ reason: badAddress })
  const name = cleanName(new URL(url).pathname.split('/').at(-1) || type)
  return [{ url, name, ...kindByName(name) } as Attachment]
}

const badAddress = 'url must be an http or https address'

function attachmentFrom(sent: unknown): Attachment {
  const attachment = objectOf(sent)
  if (!attachment) throw invalidMedia({ reason: 'it must be an object' })
  for (const name of ['url', 'name', 'mimeType', 'extension']) {
    if (typeof attachment[name] !== 'string' || attachment[name] === '')
      throw invalidMedia({ reason: `${name} is missing` })
  }
  if (!isWebAddress(String(attachment.url))) throw invalidMedia({ reason: badAddress })
  const { size, ...rest } = attachment
  if (size === undefined) return rest as unknown as Attachment
  const bytes = typeof size === 'string' && /^\d{1,15}$/.test(size) ? Number(size) : size
  if (!Number.isSafeInteger(bytes) || Number(bytes) < 0)
    throw invalidMedia({ reason: 'size must be a number of bytes' })
  return { ...(rest as unknown as Attachment), size: Number(bytes) }
}

/** Letters for what lists can be filtered by, so that a filter need not read the content. */
export function flagsOf({
  data,
  mentioned,
  ...kind
}: Pick<MessageContent, 'category' | 'type' | 'data' | 'mentioned'>): string {
  const text = typeof data.text === 'string' ? data.text : ''
  return `${isMedia(kind) ? 'a' : ''}${hasLink(text) ? 'l' : ''}${mentioned.length > 0 ? 'm' : ''}`
}

export function objectOf(value: unknown): Data | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : undefined
}
