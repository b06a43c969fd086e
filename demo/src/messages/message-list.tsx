import type { Conversation, Messages, PendingMessage } from '@parley/sdk'
import { useLayoutEffect, useMemo, useRef } from 'react'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'
import { EarlierMessages, LaterMessages } from './list-edges.tsx'
import styles from './message-list.module.css'
import { MessageRows } from './message-rows.tsx'
import { NewMessagesPill } from './new-messages-pill.tsx'
import { newestIn, newsAfter, rowsOf } from './rows.ts'
import { useAnchoredScroll } from './use-anchored-scroll.ts'
import { useCurrent } from './use-current.ts'
import { useEdges } from './use-edges.ts'
import { useOwnSending } from './use-own-sending.ts'
import { useReading } from './use-reading.ts'
import { useSeen } from './use-seen.ts'
import { useShown, type Wanted } from './use-shown.ts'
import { useSlices } from './use-slices.ts'

interface MessageListProps {
  conversation: Conversation
  messages: Messages<PendingMessage>
  thread?: string
  /** Where reading begins: marked, and where the list opens. */
  firstUnread?: string | undefined
  hasUnread: boolean
  wanted?: Wanted | undefined
}

/** All that is loaded stands in the page, so that finding, selecting and reading aloud work as in any other. */
export function MessageList({ conversation, messages, thread, firstUnread, hasUnread, wanted }: MessageListProps) {
  const { me } = useChat()
  const { items: loaded, atEnd } = useStore(messages)
  const items = useSlices(loaded, firstUnread === undefined && !wanted)
  const rows = useMemo(() => rowsOf(items, me.uid, firstUnread), [items, me, firstUnread])
  const scroll = useAnchoredScroll()
  const { scroller, list, isAtEnd, lowest, goTo, goToEnd } = scroll
  const { current, onFocus, onKeyDown } = useCurrent(items)
  const look = useEdges(messages, scroller, items)
  const shown = useShown(messages, items, wanted, goTo)
  const news = newsAfter(items, useSeen(lowest), me.uid)

  useOpening(firstUnread !== undefined && !wanted, () => goTo(({ dataset }) => dataset.key === 'unread', 'start'))
  useReading(conversation, isAtEnd && atEnd ? newestIn(items) : lowest, hasUnread)
  useOwnSending(conversation, thread, () => {
    if (news === 0) void toEnd()
  })

  async function toEnd(): Promise<void> {
    if (!atEnd) await messages.jumpToEnd().catch(() => {})
    goToEnd()
  }

  return (
    <section className={styles.frame} aria-label={thread === undefined ? 'Messages' : 'Replies'}>
      <div
        ref={scroller}
        className={styles.scroller}
        onScroll={() => {
          scroll.onScroll()
          look()
        }}
      >
        <EarlierMessages messages={messages} isThread={thread !== undefined} />
        <ol ref={list} className={styles.list} onFocus={onFocus} onKeyDown={onKeyDown}>
          <MessageRows rows={rows} current={current} shown={shown} />
        </ol>
        <LaterMessages messages={messages} />
      </div>
      {!(isAtEnd && atEnd) && <NewMessagesPill count={news} go={toEnd} />}
    </section>
  )
}

/** Once, before the list is seen first. */
function useOpening(isElsewhere: boolean, go: () => void): void {
  const isOpen = useRef(false)
  useLayoutEffect(() => {
    if (!isOpen.current && isElsewhere) go()
    isOpen.current = true
  })
}
