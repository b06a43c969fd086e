import type { Message } from '@parley/sdk/api'
import { sentenceOf } from '../messages/actions.ts'
import { summaryOf } from '../messages/content.ts'

/** A message in one line, as lists, notifications and screen readers tell it; without who says it. */
export function previewOf(message: Message, me: string): string {
  return isSaid(message) ? summaryOf(message).replace(/\s+/g, ' ') : sentenceOf(message, me)
}

/** Whether somebody says it: what happens in a group, and calls, are told as sentences that name people themselves. */
export const isSaid = ({ category }: Message) => category !== 'action' && category !== 'call'
