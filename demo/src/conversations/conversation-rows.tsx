import type { ConversationItem } from '@parley/sdk'
import { type FocusEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useAddress } from '../state/address.ts'
import { isSamePlace } from '../state/place.ts'
import { ConversationRow } from './conversation-row.tsx'
import styles from './conversation-rows.module.css'
import { useVirtualRows } from './use-virtual-rows.ts'

const rowHeight = 64
const pageOfRows = 8
// So many rows before the end, more are fetched.
const ahead = 20

interface ConversationRowsProps {
  items: readonly ConversationItem[]
  hasMore: boolean
  loadMore(): void
}

/** Only rows in sight are in the page. One of them is the tab stop; arrows go from there. */
export function ConversationRows({ items, hasMore, loadMore }: ConversationRowsProps) {
  const box = useRef<HTMLUListElement>(null)
  const { first, end } = useVirtualRows(box, rowHeight, items.length)
  const { to } = useAddress()
  const open = items.find((item) => isSamePlace(to, item.to))?.key
  const [chosen, setChosen] = useState<string>()
  const at = Math.max(
    0,
    items.findIndex(({ key }) => key === (chosen ?? open)),
  )

  useEffect(() => {
    if (hasMore && end > items.length - ahead) loadMore()
  }, [hasMore, end, items.length, loadMore])

  function move(event: KeyboardEvent): void {
    const next = nextRow(event.key, at, items.length)
    if (next === undefined) return
    event.preventDefault()
    setChosen(items[next]?.key)
    showRow(box.current, next)
  }

  function leave({ currentTarget, relatedTarget }: FocusEvent): void {
    if (!currentTarget.contains(relatedTarget)) setChosen(undefined)
  }

  return (
    <ul ref={box} className={styles.box} onKeyDown={move} onBlur={leave}>
      <li className={styles.room} style={{ height: items.length * rowHeight }} aria-hidden role="presentation" />
      {rowsFrom(first, end, at).map((n) => {
        const item = items[n]
        if (!item) return null
        return (
          <li
            key={item.key}
            className={styles.row}
            style={{ top: n * rowHeight }}
            onFocus={() => setChosen(item.key)}
            aria-posinset={n + 1}
            aria-setsize={hasMore ? -1 : items.length}
          >
            <ConversationRow
              item={item}
              isOpen={item.key === open}
              isTabStop={n === at}
              hasFocus={item.key === chosen}
            />
          </li>
        )
      })}
    </ul>
  )
}

/** The tab stop is there, too, when it is out of sight: whoever has the focus does not lose it by scrolling. */
function rowsFrom(first: number, end: number, at: number): number[] {
  const rows = Array.from({ length: Math.max(0, end - first) }, (_, n) => first + n)
  if (at < first) return [at, ...rows]
  return at >= end ? [...rows, at] : rows
}

function nextRow(key: string, at: number, count: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + pageOfRows,
    PageUp: at - pageOfRows,
    Home: 0,
    End: count - 1,
  }
  const next = steps[key]
  return next === undefined ? undefined : Math.min(Math.max(0, next), count - 1)
}

function showRow(box: HTMLElement | null, row: number): void {
  if (!box) return
  const top = row * rowHeight
  if (top < box.scrollTop) box.scrollTop = top
  else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight
}
