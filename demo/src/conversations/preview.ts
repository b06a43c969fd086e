import type { Message } from '@parley/sdk/api'
import { asWritten } from '../state/mentions.ts'

/** A message in one line, as lists, notifications and screen readers tell it. */

interface Content {
  action?: string
  attachments?: { name?: string }[]
  entities?: Record<string, { entity?: { name?: string } } | undefined>
}

const kinds: Record<string, string> = {
  image: 'Picture',
  audio: 'Voice note',
  video: 'Video',
  file: 'File',
}

const actions: Record<string, (by: string, on: string) => string> = {
  joined: (by) => `${by} joined`,
  left: (by) => `${by} left`,
  added: (by, on) => `${by} added ${on}`,
  kicked: (by, on) => `${by} removed ${on}`,
  banned: (by, on) => `${by} banned ${on}`,
  unbanned: (by, on) => `${by} lifted the ban on ${on}`,
  scopeChanged: (by, on) => `${by} changed what ${on} may do`,
}

/** Who wrote it, as the message itself tells. */
export function senderName({ sender, data }: Message): string {
  return (data as Content).entities?.sender?.entity?.name ?? sender
}

/** What it says, without who says it. */
export function previewOf(message: Message): string {
  if (message.deletedAt !== undefined) return 'Message deleted'
  const content = message.data as Content
  if (message.category === 'action') return actionIn(content)
  if (message.category === 'call') return 'Call'
  return wordsOf(message) || filesOf(message.type, content)
}

/** Whether the sender is worth telling: what happened to a group names people itself. */
export const isSaid = ({ category }: Message) => category !== 'action' && category !== 'call'

function wordsOf(message: Message): string {
  return asWritten(message).text.replace(/\s+/g, ' ').trim()
}

function filesOf(type: string, { attachments = [] }: Content): string {
  const kind = kinds[type] ?? 'Message'
  if (attachments.length > 1) return `${attachments.length} files`
  const [only] = attachments
  return type === 'file' && only?.name ? only.name : kind
}

function actionIn({ action = '', entities = {} }: Content): string {
  const name = (role: string) => entities[role]?.entity?.name ?? 'somebody'
  return actions[action]?.(name('by'), name('on')) ?? 'Something changed'
}
