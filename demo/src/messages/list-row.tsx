import { memo } from 'react'
import { Rescue } from '../parts/rescue.tsx'
import { useChat } from '../state/chat.tsx'
import { sentenceOf } from './actions.ts'
import { Message } from './message.tsx'
import styles from './message-list.module.css'
import { PendingMessage } from './pending-message.tsx'
import { isLine, type Row } from './rows.ts'
import { dayOf, momentOf } from './times.ts'

interface ListRowProps {
  row: Row
  isCurrent: boolean
  isShown: boolean
}

export const ListRow = memo(function ListRow({ row, isCurrent, isShown }: ListRowProps) {
  if (row.kind === 'day') {
    return (
      <li className={styles.day}>
        <span>{dayOf(row.at)}</span>
      </li>
    )
  }
  if (row.kind === 'unread') {
    return (
      <li className={styles.unread} data-key={row.key}>
        <span>New messages</span>
      </li>
    )
  }
  return <ItemRow row={row} isCurrent={isCurrent} isShown={isShown} />
}, isSameRow)

/** Rows are made anew with every change of the list; most of them are as they were. */
function isSameRow(one: ListRowProps, other: ListRowProps): boolean {
  if (one.isCurrent !== other.isCurrent || one.isShown !== other.isShown) return false
  if (one.row.kind !== 'item' || other.row.kind !== 'item') return one.row.key === other.row.key
  return one.row.item === other.row.item && one.row.isFirstOfRun === other.row.isFirstOfRun
}

function ItemRow({ row, isCurrent, isShown }: ListRowProps & { row: Row & { kind: 'item' } }) {
  const { key, item, isFirstOfRun } = row
  if (item.state !== 'sent') {
    return (
      <li data-key={key}>
        <PendingMessage pending={item.pending} isFirstOfRun={isFirstOfRun} isCurrent={isCurrent} />
      </li>
    )
  }
  const { message } = item
  return (
    <li data-key={key} data-id={message.id} className={isShown ? styles.shown : undefined}>
      <Rescue otherwise={<p className={styles.line}>A message that this page cannot show</p>}>
        {isLine(item) ? (
          <Line message={message} />
        ) : (
          <Message message={message} isFirstOfRun={isFirstOfRun} isCurrent={isCurrent} />
        )}
      </Rescue>
    </li>
  )
}

/** What happened, said by nobody. */
function Line({ message }: { message: Parameters<typeof sentenceOf>[0] }) {
  const { me } = useChat()
  return (
    <p className={styles.line} title={momentOf(message.sentAt)}>
      {sentenceOf(message, me.uid)}
    </p>
  )
}
