import { Button } from '@mantine/core'
import type { Message, Receipt } from '@parley/sdk/api'
import { PersonAvatar } from '../parts/person-avatar.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { useStore } from '../state/use-store.ts'
import styles from './receipt-mark.module.css'
import { useTalk } from './talk.tsx'
import { lastSeen } from './times.ts'

/** Who has received a message, and who has read it. */
export function ReceiptList({ message }: { message: Message }) {
  const { conversation } = useTalk()
  const receipts = conversation.receipts(message.id)
  const { items, hasMore, status } = useStore(receipts)
  const more = () => void receipts.loadMore().catch(() => {})
  if (items.length === 0 && status === 'failed') return <Failed what="This could not be fetched." retry={more} />
  if (items.length === 0 && status !== 'ready') return <Loading what="who has read it" rows={2} />
  if (items.length === 0) return <Empty what="Nobody has received it yet." />
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys should scroll it. */}
      <ul className={styles.list} tabIndex={0} aria-label="Who has received and read it">
        {items.map((receipt) => (
          <Reader key={String(receipt.sender.uid)} receipt={receipt} />
        ))}
      </ul>
      {hasMore && (
        <Button variant="subtle" size="compact-sm" onClick={more}>
          Show more
        </Button>
      )}
    </>
  )
}

function Reader({ receipt: { sender, readAt, deliveredAt } }: { receipt: Receipt }) {
  const name = String(sender.name ?? sender.uid)
  return (
    <li className={styles.person}>
      <PersonAvatar name={name} size={24} />
      <bdi className={styles.name}>{name}</bdi>
      <span className={styles.when}>
        {readAt === undefined ? `Received ${lastSeen(deliveredAt)}` : `Read ${lastSeen(readAt)}`}
      </span>
    </li>
  )
}
