import { Popover } from '@mantine/core'
import type { Message } from '@parley/sdk/api'
import { useState } from 'react'
import { useTabIndex } from './inside.ts'
import { ReceiptList } from './receipt-list.tsx'
import styles from './receipt-mark.module.css'
import { useTalk } from './talk.tsx'

/** How far an own message has come. In a group, asked for, it tells who has read it. */
export function ReceiptMark({ message }: { message: Message }) {
  const { conversation } = useTalk()
  return 'user' in conversation.to ? <Tick message={message} /> : <Readers message={message} />
}

/** A letter instead of a drawing: there may be one on each of hundreds of messages, and drawings are dear to move. */
function Tick({ message }: { message: Message }) {
  const word = wordFor(message)
  return (
    <span className={styles.tick} role="img" aria-label={word} title={word} data-read={word === 'Read' || undefined}>
      {word === 'Sent' ? '✓' : '✓✓'}
    </span>
  )
}

function wordFor({ deliveredAt, readAt }: Message): 'Sent' | 'Delivered' | 'Read' {
  if (readAt !== undefined) return 'Read'
  return deliveredAt === undefined ? 'Sent' : 'Delivered'
}

function Readers({ message }: { message: Message }) {
  const [isOpen, setIsOpen] = useState(false)
  const tabIndex = useTabIndex()
  const button = (
    <button
      type="button"
      className={styles.button}
      tabIndex={tabIndex}
      aria-label={`${wordFor(message)}. Who has read it?`}
      onClick={() => setIsOpen(!isOpen)}
    >
      <Tick message={message} />
    </button>
  )
  // Popovers are dear, and there may be hundreds of messages.
  if (!isOpen) return button
  return (
    <Popover opened onChange={setIsOpen} trapFocus returnFocus width={260} shadow="md" position="top-end">
      <Popover.Target>{button}</Popover.Target>
      <Popover.Dropdown p="sm" aria-label="Who has read it">
        <ReceiptList message={message} />
      </Popover.Dropdown>
    </Popover>
  )
}
