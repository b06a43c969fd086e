import { ActionIcon, Popover, Tooltip } from '@mantine/core'
import { Pin } from 'lucide-react'
import { useState } from 'react'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { useStore } from '../state/use-store.ts'
import { senderOf, summaryOf } from './content.ts'
import styles from './pinned-bar.module.css'
import { useTalk } from './talk.tsx'

/** All that is pinned here. */
export function PinsButton() {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setIsOpen} width={320} position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Tooltip label="Pinned messages" openDelay={400}>
          <ActionIcon variant="subtle" size="lg" aria-label="Pinned messages" onClick={() => setIsOpen(!isOpen)}>
            <Pin size={20} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown p={4} aria-label="Pinned messages">
        <Pins close={() => setIsOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  )
}

function Pins({ close }: { close(): void }) {
  const { conversation, show } = useTalk()
  const { pinned } = conversation
  const { items, status } = useStore(pinned)
  const retry = () => void pinned.loadMore().catch(() => {})
  if (items.length === 0 && status === 'failed') return <Failed what="Pins could not be fetched." retry={retry} />
  if (items.length === 0 && status !== 'ready') return <Loading what="pins" rows={2} />
  if (items.length === 0) return <Empty what="Nothing is pinned. The menu of a message pins it." />
  return (
    <ul className={styles.pins}>
      {items.map((message) => (
        <li key={message.id}>
          <button
            type="button"
            className={styles.pin}
            onClick={() => {
              close()
              show(message.id)
            }}
          >
            <bdi className={styles.name}>{senderOf(message).name}</bdi>
            <span className={styles.text} dir="auto">
              {summaryOf(message)}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
