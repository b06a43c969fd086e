import { CloseButton, Text } from '@mantine/core'
import { senderOf, summaryOf } from '../messages/content.ts'
import { type Draft, leaveBar } from '../state/drafts.ts'
import styles from './draft-bar.module.css'

/** What is being edited, or quoted. */
export function DraftBar({ draftKey, draft: { edit, quote } }: { draftKey: string; draft: Draft }) {
  const message = edit?.message ?? quote
  if (!message) return null
  return (
    <div className={styles.bar}>
      <div className={styles.words}>
        <Text fw={600} truncate>
          <bdi>{edit ? 'Edit your message' : senderOf(message).name}</bdi>
        </Text>
        <Text c="var(--quiet)" truncate dir="auto">
          {summaryOf(message)}
        </Text>
      </div>
      <CloseButton aria-label={edit ? 'Leave it as it was' : 'Do not quote it'} onClick={() => leaveBar(draftKey)} />
    </div>
  )
}
