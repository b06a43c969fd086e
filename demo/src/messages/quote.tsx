import type { Message } from '@parley/sdk/api'
import { senderOf, summaryOf } from './content.ts'
import { useTabIndex } from './inside.ts'
import styles from './quote.module.css'
import { useTalk } from './talk.tsx'

/** What a message answers to; leads to it. One that is not to be seen any more leaves a word. */
export function Quote({ message }: { message: Message }) {
  const { show } = useTalk()
  const tabIndex = useTabIndex()
  const { quotedMessageId: id } = message
  if (id === undefined) return null
  const quoted = message.quotedMessage as Message | undefined
  if (!quoted) return <p className={styles.quote}>A message that is not there any more</p>
  return (
    <button type="button" className={styles.quote} tabIndex={tabIndex} onClick={() => show(id)}>
      <bdi className={styles.name}>{senderOf(quoted).name}</bdi>
      <span className={styles.text} dir="auto">
        {summaryOf(quoted)}
      </span>
    </button>
  )
}
