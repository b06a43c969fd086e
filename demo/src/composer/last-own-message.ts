import type { Item } from '@parley/sdk'
import type { Message } from '@parley/sdk/api'

/** What somebody said last, if it has words to change. */
export function lastOwnMessage(items: readonly Item[], uid: string): Message | undefined {
  const last = items.findLast((item) => item.state === 'sent' && isOwnText(item.message, uid))
  return last?.state === 'sent' ? last.message : undefined
}

function isOwnText({ sender, category, deletedAt, data }: Message, uid: string): boolean {
  return sender === uid && category === 'message' && deletedAt === undefined && typeof data.text === 'string'
}
