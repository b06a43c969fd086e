import type { Message } from '@parley/sdk/api'
import { senderOf, summaryOf } from '../messages/content.ts'
import { shortened } from './shortened.ts'

const namesMax = 3

/** New messages as a sentence: one in its words, several as a number. Never with times, which nobody wants to hear. */
export function announcementOf(messages: readonly Message[]): string {
  const [first] = messages
  if (!first) return ''
  if (messages.length === 1) return `${senderOf(first).name}${placeIn(first)}: ${shortened(summaryOf(first))}`
  const names = [...new Set(messages.map((message) => senderOf(message).name))]
  const others = names.length > namesMax ? ' and others' : ''
  return `${messages.length} new messages from ${names.slice(0, namesMax).join(', ')}${others}`
}

function placeIn({ receiver, receiverType, data }: Message): string {
  if (receiverType === 'user') return ''
  const { receiver: group } = Object(data.entities) as { receiver?: { entity?: { name?: string } } }
  return ` in ${group?.entity?.name ?? receiver}`
}
