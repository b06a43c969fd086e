import { CloseButton, Text } from '@mantine/core'
import type { Message } from '@parley/sdk/api'
import { type Draft, leaveBar } from '../state/drafts.ts'
import { asWritten } from '../state/mentions.ts'
import styles from './draft-bar.module.css'

/** What is being edited, or quoted. */
export function DraftBar({ draftKey, draft: { edit, quote } }: { draftKey: string; draft: Draft }) {
  const message = edit?.message ?? quote
  if (!message) return null
  return (
    <div className={styles.bar}>
      <div className={styles.words}>
        <Text fw={600} truncate>
          <bdi>{edit ? 'Edit your message' : nameOfSender(message)}</bdi>
        </Text>
        <Text c="var(--quiet)" truncate dir="auto">
          {excerpt(message)}
        </Text>
      </div>
      <CloseButton aria-label={edit ? 'Leave it as it was' : 'Do not quote it'} onClick={() => leaveBar(draftKey)} />
    </div>
  )
}

interface Entities {
  sender?: { entity?: { name?: string } }
}

function nameOfSender({ sender, data }: Message): string {
  return (data.entities as Entities | undefined)?.sender?.entity?.name ?? sender
}

const withoutWords: Record<string, string> = { image: 'Picture', audio: 'Recording', video: 'Video', file: 'File' }

function excerpt(message: Message): string {
  return asWritten(message).text || (withoutWords[message.type] ?? 'Message')
}
