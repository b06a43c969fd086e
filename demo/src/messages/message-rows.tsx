import { memo } from 'react'
import { ListRow } from './list-row.tsx'
import type { Row } from './rows.ts'

interface MessageRowsProps {
  rows: readonly Row[]
  /** The key of the row where the Tab key comes in. */
  current: string | undefined
  /** The key of the row that is shown to somebody who asked for it. */
  shown: string | undefined
}

/** Scrolling renders the list again and again, and none of its rows. */
export const MessageRows = memo(function MessageRows({ rows, current, shown }: MessageRowsProps) {
  return rows.map((row) => (
    <ListRow key={row.key} row={row} isCurrent={row.key === current} isShown={row.key === shown} />
  ))
})
