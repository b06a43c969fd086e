import type { Message as Record } from '@parley/sdk/api'
import { memo, useRef, useState } from 'react'
import { PersonAvatar } from '../parts/person-avatar.tsx'
import { useChat } from '../state/chat.tsx'
import { senderOf, summaryOf } from './content.ts'
import { IsCurrent } from './inside.ts'
import styles from './message.module.css'
import { MessageBody } from './message-body.tsx'
import { MessageTools, type Tool } from './message-tools.tsx'
import { useTalk } from './talk.tsx'
import { timeOf } from './times.ts'

interface MessageProps {
  message: Record
  isFirstOfRun: boolean
  /** Where the Tab key comes into the list. */
  isCurrent: boolean
}

/** What somebody has said, and what can be done with it. */
export const Message = memo(function Message({ message, isFirstOfRun, isCurrent }: MessageProps) {
  const { me } = useChat()
  const { conversation } = useTalk()
  const [tool, setTool] = useState<Tool>()
  const [isNear, setIsNear] = useState(false)
  const article = useRef<HTMLElement>(null)
  const sender = senderOf(message)
  const isOwn = message.sender === me.uid
  const isNamed = isFirstOfRun && !isOwn && 'group' in conversation.to

  function choose(next: Tool | undefined): void {
    setTool(next)
    if (next === undefined) article.current?.focus({ preventScroll: true })
  }

  return (
    <IsCurrent value={isCurrent}>
      <article
        ref={article}
        className={styles.message}
        data-own={isOwn || undefined}
        data-first={isFirstOfRun || undefined}
        data-named={isNamed || undefined}
        data-near={isNear || tool ? true : undefined}
        tabIndex={isCurrent ? 0 : -1}
        aria-label={labelOf(sender.name, message)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.target !== article.current) return
          event.preventDefault()
          setTool('menu')
        }}
        onMouseEnter={() => setIsNear(true)}
        onMouseLeave={() => setIsNear(false)}
        onFocus={() => setIsNear(true)}
        onBlur={({ currentTarget, relatedTarget }) => setIsNear(currentTarget.contains(relatedTarget))}
      >
        {!isOwn &&
          (isFirstOfRun ? <PersonAvatar name={sender.name} size={32} /> : <span className={styles.noAvatar} />)}
        <div className={styles.column}>
          {isNamed && <bdi className={styles.name}>{sender.name}</bdi>}
          <MessageBody message={message} isOwn={isOwn} />
          {(isNear || tool) && <MessageTools message={message} isOwn={isOwn} tool={tool} choose={choose} />}
        </div>
      </article>
    </IsCurrent>
  )
})

const labelOf = (name: string, message: Record) => `${name}, ${timeOf(message.sentAt)}: ${summaryOf(message)}`
