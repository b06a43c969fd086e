import type { Item } from '@parley/sdk'
import type { Message } from '@parley/sdk/api'
import { isAfter } from './content.ts'
import { dayKeyOf } from './times.ts'

/** Messages as they stand below each other: days apart, what is unread marked once, runs of one sender joined. */

export type Row =
  | { kind: 'day'; key: string; at: number }
  | { kind: 'unread'; key: string }
  | { kind: 'item'; key: string; item: Item; isFirstOfRun: boolean }

// Whoever pauses for longer begins anew.
const runSeconds = 5 * 60

export function rowsOf(items: readonly Item[], me: string, firstUnread?: string): Row[] {
  const rows: Row[] = []
  let before: Item | undefined
  for (const item of items) {
    const at = sentAt(item)
    const isNewDay = at !== undefined && (!before || dayKeyOf(sentAt(before) ?? at) !== dayKeyOf(at))
    if (isNewDay) rows.push({ kind: 'day', key: `day ${dayKeyOf(at)}`, at })
    const isUnread = item.state === 'sent' && item.message.id === firstUnread
    if (isUnread) rows.push({ kind: 'unread', key: 'unread' })
    const isFirstOfRun = isNewDay || isUnread || !before || !isJoined(before, item, me)
    rows.push({ kind: 'item', key: item.key, item, isFirstOfRun })
    before = item
  }
  return rows
}

/** The first message that somebody else has sent after the last one read. What happened to the group is nothing to read. */
export function firstAfter(items: readonly Item[], read: string | undefined, me: string): string | undefined {
  for (const item of items) {
    if (item.state !== 'sent' || item.message.sender === me || item.message.category === 'action') continue
    if (read === undefined || isAfter(item.message.id, read)) return item.message.id
  }
  return undefined
}

/** How many messages of others stand after the last one seen, and were not read on another device either. */
export function newsAfter(items: readonly Item[], seen: string | undefined, me: string): number {
  if (seen === undefined) return 0
  return items.filter((item) => item.state === 'sent' && isNews(item.message, seen, me)).length
}

function isNews({ id, sender, readByMeAt }: Message, seen: string, me: string): boolean {
  return sender !== me && readByMeAt === undefined && isAfter(id, seen)
}

export function newestIn(items: readonly Item[]): string | undefined {
  const last = items.findLast(({ state }) => state === 'sent')
  return last?.state === 'sent' ? last.message.id : undefined
}

function isJoined(before: Item, item: Item, me: string): boolean {
  if (isLine(before) || isLine(item) || senderIn(before, me) !== senderIn(item, me)) return false
  const [first, second] = [sentAt(before), sentAt(item)]
  return first === undefined || second === undefined || second - first < runSeconds
}

/** Neither bubbles nor of anybody: what happened to the group, and calls. */
export const isLine = (item: Item) => item.state === 'sent' && ['action', 'call'].includes(item.message.category)

const senderIn = (item: Item, me: string) => (item.state === 'sent' ? item.message.sender : me)

const sentAt = (item: Item) => (item.state === 'sent' ? item.message.sentAt : undefined)
