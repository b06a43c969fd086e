import type { Message } from '@parley/sdk/api'
import { Pin } from 'lucide-react'
import { Attachment } from './attachment.tsx'
import { attachmentsIn } from './content.ts'
import styles from './message.module.css'
import { Quote } from './quote.tsx'
import { ReactionBar } from './reaction-bar.tsx'
import { ReceiptMark } from './receipt-mark.tsx'
import { RichText } from './rich-text.tsx'
import { ThreadSummary } from './thread-summary.tsx'
import { momentOf, timeOf } from './times.ts'

/** The bubble, and what hangs on it. */
export function MessageBody({ message, isOwn }: { message: Message; isOwn: boolean }) {
  const isDeleted = message.deletedAt !== undefined
  return (
    <>
      <div className={styles.bubble}>
        {isDeleted ? <p className={styles.deleted}>Message deleted</p> : <Content message={message} />}
        <Foot message={message} isOwn={isOwn && !isDeleted} />
      </div>
      {!isDeleted && <ReactionBar message={message} />}
      <ThreadSummary message={message} />
    </>
  )
}

function Content({ message }: { message: Message }) {
  const files = attachmentsIn(message)
  return (
    <>
      <Quote message={message} />
      {files.length > 0 && (
        <div className={styles.files}>
          {files.map((file, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: one file may be there twice, and they never change places.
            <Attachment key={`${n} ${file.url}`} file={file} />
          ))}
        </div>
      )}
      <RichText data={message.data} />
      {message.category === 'custom' && <p className={styles.deleted}>A message that this page cannot show</p>}
    </>
  )
}

function Foot({ message, isOwn }: { message: Message; isOwn: boolean }) {
  const { sentAt, editedAt, deletedAt, pinnedAt } = message
  return (
    <div className={styles.foot}>
      {pinnedAt !== undefined && (
        <span className={styles.pin} role="img" aria-label="Pinned" title="Pinned">
          <Pin size={12} aria-hidden />
        </span>
      )}
      {editedAt !== undefined && deletedAt === undefined && <span title={momentOf(editedAt)}>edited</span>}
      <time dateTime={new Date(sentAt * 1000).toISOString()} title={momentOf(sentAt)}>
        {timeOf(sentAt)}
      </time>
      {isOwn && <ReceiptMark message={message} />}
    </div>
  )
}
