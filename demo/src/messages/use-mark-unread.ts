import type { Message } from '@parley/sdk/api'
import { goTo } from '../state/address.ts'
import { useTalk } from './talk.tsx'

/** A message and what follows it are unread again; the conversation closes, since looking at it would read them. */
export function useMarkUnread(): (message: Message) => void {
  const { conversation, act } = useTalk()
  return ({ id }) => {
    const sent = conversation.messages.get().items.flatMap((item) => (item.state === 'sent' ? [item.message.id] : []))
    const before = sent[sent.indexOf(id) - 1] ?? '0'
    act(conversation.markUnread(before).then(() => goTo({})))
  }
}
