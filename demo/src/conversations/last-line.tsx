import type { ConversationItem, To } from '@parley/sdk'
import { MessagesSquare } from 'lucide-react'
import { senderOf } from '../messages/content.ts'
import { useChat } from '../state/chat.tsx'
import { draftKey, useDraft } from '../state/drafts.ts'
import styles from './last-line.module.css'
import { isSaid, previewOf } from './preview.ts'

interface LastLineProps {
  to: To
  lastMessage: ConversationItem['lastMessage']
  /** Then the draft is to be seen where it is written. */
  isOpen: boolean
}

/** What was said last, or what the user has begun to write. */
export function LastLine({ to, lastMessage, isOpen }: LastLineProps) {
  const { me } = useChat()
  const { written } = useDraft(draftKey(to))
  if (!isOpen && written.text.trim() !== '') {
    return (
      <span className={styles.line}>
        <span className={styles.draft}>Draft:</span> <bdi>{written.text}</bdi>
      </span>
    )
  }
  if (!lastMessage) return <span className={styles.line}>Nothing said yet</span>
  const isOwn = lastMessage.sender === me.uid
  const speaker = isOwn ? 'You' : 'group' in to ? senderOf(lastMessage).name : undefined
  return (
    <span className={styles.line}>
      {lastMessage.parentId !== undefined && <InThread />}
      <bdi>
        {speaker && isSaid(lastMessage) ? `${speaker}: ` : ''}
        {previewOf(lastMessage, me.uid)}
      </bdi>
    </span>
  )
}

/** Why it is not among the messages of the conversation. */
function InThread() {
  return (
    <span role="img" aria-label="In a thread:" title="In a thread" className={styles.thread}>
      <MessagesSquare size={13} aria-hidden />
    </span>
  )
}
