import { Button } from '@mantine/core'
import type { PendingMessage as Entry } from '@parley/sdk'
import { Clock3 } from 'lucide-react'
import { memo } from 'react'
import { useChat } from '../state/chat.tsx'
import { plainText } from './content.ts'
import { IsCurrent, useTabIndex } from './inside.ts'
import styles from './message.module.css'
import { RichText } from './rich-text.tsx'

interface PendingMessageProps {
  pending: Entry
  isFirstOfRun: boolean
  isCurrent: boolean
}

/** What is on its way, or was refused: then it says why. */
export const PendingMessage = memo(function PendingMessage({ pending, isFirstOfRun, isCurrent }: PendingMessageProps) {
  const { me } = useChat()
  const { state, input } = pending
  const data = input.data as Record<string, unknown> | undefined
  const isFile = input.type !== undefined && input.type !== 'text'
  const word = state === 'failed' ? 'not sent' : 'on its way'
  return (
    <IsCurrent value={isCurrent}>
      <article
        className={styles.message}
        data-own
        data-state={state}
        data-first={isFirstOfRun || undefined}
        tabIndex={isCurrent ? 0 : -1}
        aria-label={`${me.name}, ${word}: ${plainText(data) || 'File'}`}
      >
        <div className={styles.column}>
          <div className={styles.bubble}>
            {isFile && <p className={styles.deleted}>{input.type === 'audio' ? 'Voice note' : 'With files'}</p>}
            {data && <RichText data={data} />}
            {state !== 'failed' && (
              <div className={styles.foot}>
                <span className={styles.pin} role="img" aria-label="On its way" title="On its way">
                  <Clock3 size={12} aria-hidden />
                </span>
              </div>
            )}
          </div>
          {state === 'failed' && <Refusal pending={pending} />}
        </div>
      </article>
    </IsCurrent>
  )
})

function Refusal({ pending }: { pending: Entry }) {
  const tabIndex = useTabIndex()
  return (
    <div className={styles.failed}>
      <span>Not sent. {pending.error?.message}</span>
      <Button size="compact-xs" variant="default" tabIndex={tabIndex} onClick={() => pending.retry()}>
        Try again
      </Button>
      <Button size="compact-xs" variant="default" tabIndex={tabIndex} onClick={() => pending.discard()}>
        Discard
      </Button>
    </div>
  )
}
