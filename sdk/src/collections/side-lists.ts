import { listReceipts } from '../generated/operations.ts'
import type { Message, Receipt } from '../generated/records.ts'
import type { UserCall } from '../http/call.ts'
import type { Frame } from '../socket/frame.ts'
import { createKeptList, type Keeping, type KeptListParts } from './kept-list.ts'
import { changedIn, hearOn } from './merge.ts'
import type { ConversationSource } from './source.ts'

/** Lists beside the messages of a conversation: what is pinned in it, and who has received a message. */

// As many as a conversation can have.
const pinsMax = 100

export interface SideList<Item> extends Keeping<Item> {
  hear(frame: Frame): void
}

export function keepPinned(source: ConversationSource, parts: KeptListParts & { me(): string }): SideList<Message> {
  const pins = createKeptList<Message>(
    {
      idOf: ({ id }) => id,
      page: async () => ({ items: await source.pinned(pinsMax), hasMore: false }),
    },
    parts,
  )
  return {
    ...pins,
    hear(frame) {
      if (frame.type === 'pin' || frame.type === 'messages' || changedIn(frame)) pins.ask()
      else pins.change((message) => hearOn(message, frame, parts.me()))
    },
  }
}

const uidIn = ({ sender }: Receipt) => String(sender.uid)

/** In the order of UIDs. */
export function keepReceipts(request: UserCall, id: string, parts: KeptListParts): SideList<Receipt> {
  const receipts = createKeptList<Receipt>(
    {
      idOf: uidIn,
      async page(_, limit, before) {
        const last = before[before.length - 1]
        const cursor = last ? { cursor: { affix: 'append' as const, id: uidIn(last) } } : {}
        const { data, meta } = await request(listReceipts, { id, limit, ...cursor })
        return { items: data, hasMore: data.length >= meta.current.limit }
      },
    },
    parts,
  )
  return {
    ...receipts,
    hear(frame) {
      // Whoever speaks has read what was said.
      if (frame.type === 'receipts' || frame.type === 'message') receipts.ask()
    },
  }
}
