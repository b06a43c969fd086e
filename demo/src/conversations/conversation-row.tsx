import type { ConversationItem } from '@parley/sdk'
import { AtSign, Pin } from 'lucide-react'
import { memo, useEffect, useRef } from 'react'
import { hashOf } from '../state/address.ts'
import styles from './conversation-row.module.css'
import { LastLine } from './last-line.tsx'
import { RowAvatar } from './row-avatar.tsx'
import { shortTime } from './short-time.ts'

interface ConversationRowProps {
  item: ConversationItem
  isOpen: boolean
  isTabStop: boolean
  hasFocus: boolean
}

/** Drawn again only when something of its own is another, however many rows move. */
export const ConversationRow = memo(function ConversationRow(props: ConversationRowProps) {
  const { item, isOpen, isTabStop, hasFocus } = props
  const { to, user, group, lastMessage, unread, unreadMentions, conversation } = item
  const { name } = user ?? group ?? { name: '' }
  const link = useRef<HTMLAnchorElement>(null)

  useEffect(() => {
    if (hasFocus) link.current?.focus({ preventScroll: true })
  }, [hasFocus])

  return (
    <a
      ref={link}
      className={styles.row}
      href={hashOf({ to })}
      tabIndex={isTabStop ? 0 : -1}
      aria-current={isOpen ? 'page' : undefined}
      data-unread={unread > 0 || undefined}
    >
      <RowAvatar item={item} />
      <span className={styles.words}>
        <span className={styles.line}>
          <span className={styles.name}>
            <bdi>{name}</bdi>
          </span>
          {conversation.pinnedAt !== undefined && <Pin size={12} role="img" aria-label="Pinned" />}
          {lastMessage && <time className={styles.time}>{shortTime(lastMessage.sentAt)}</time>}
        </span>
        <span className={styles.line}>
          <LastLine to={to} lastMessage={lastMessage} isOpen={isOpen} />
          {unreadMentions > 0 && <AtSign size={14} className={styles.mention} role="img" aria-label="You are named" />}
          {unread > 0 && (
            <span className={styles.count} role="img" aria-label={`${unread} unread`}>
              {unread > 999 ? '999+' : unread}
            </span>
          )}
        </span>
      </span>
    </a>
  )
})
