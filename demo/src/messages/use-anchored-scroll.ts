import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/**
 * Keeps what is looked at where it is, whatever comes above or below it or changes its height. At the end, the end stays in
 * sight. Browsers could do a part of it, not all of them do.
 */

export interface AnchoredScroll {
  scroller: RefObject<HTMLDivElement | null>
  list: RefObject<HTMLOListElement | null>
  /** Whether the last row is in sight. */
  isAtEnd: boolean
  /** The id of the lowest message in sight. */
  lowest: string | undefined
  onScroll(): void
  goToEnd(): void
  /** Puts a row into sight; answers it, if there is such a row. */
  goTo(find: (row: HTMLElement) => boolean, block?: 'start' | 'center'): HTMLElement | undefined
}

interface Place {
  isAtEnd: boolean
  /** The highest row in sight, and how far below the upper edge it begins. */
  anchor?: { key: string; offset: number }
}

// Less than a line away is there.
const endPixels = 24

export function useAnchoredScroll(): AnchoredScroll {
  const scroller = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLOListElement>(null)
  const place = useRef<Place>({ isAtEnd: true })
  const [isAtEnd, setIsAtEnd] = useState(true)
  const [lowest, setLowest] = useState<string>()

  const remember = useCallback(() => {
    if (!scroller.current || !list.current) return
    const seen = lookAt(scroller.current, list.current)
    place.current = seen
    setIsAtEnd(seen.isAtEnd)
    setLowest(seen.lowest)
  }, [])

  const restore = useCallback(() => {
    if (!scroller.current || !list.current) return
    putBack(scroller.current, list.current, place.current)
    remember()
  }, [remember])

  // Whatever was rendered: before anybody sees it, all is where it was.
  useLayoutEffect(restore)

  useEffect(() => {
    const observer = new ResizeObserver(restore)
    for (const { current } of [scroller, list]) if (current) observer.observe(current)
    return () => observer.disconnect()
  }, [restore])

  const goToEnd = useCallback(() => {
    place.current = { isAtEnd: true }
    restore()
  }, [restore])

  const goTo = useCallback(
    (find: (row: HTMLElement) => boolean, block: 'start' | 'center' = 'center') => {
      const row = list.current && rowsIn(list.current).find(find)
      if (!row) return undefined
      row.scrollIntoView({ block })
      remember()
      return row
    },
    [remember],
  )

  return { scroller, list, isAtEnd, lowest, onScroll: remember, goToEnd, goTo }
}

const rowsIn = (list: HTMLElement) => [...list.children] as HTMLElement[]

function lookAt(scroller: HTMLElement, list: HTMLElement): Place & { lowest: string | undefined } {
  const { top, bottom } = scroller.getBoundingClientRect()
  const rows = rowsIn(list)
  let anchor: Place['anchor']
  let lowest: string | undefined
  for (const row of rows.slice(firstBelow(rows, top))) {
    const box = row.getBoundingClientRect()
    if (box.top >= bottom) break
    // The name of a day has no key: it goes up when earlier messages of that day come.
    if (row.dataset.key !== undefined) anchor ??= { key: row.dataset.key, offset: box.top - top }
    // Half a line is enough to have seen that it is there.
    if (row.dataset.id !== undefined && box.top + 12 <= bottom) lowest = row.dataset.id
  }
  const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight <= endPixels
  return { isAtEnd, ...(anchor && { anchor }), lowest }
}

/** Which row is the first that ends below an edge: found by halves, as asking each of hundreds takes long. */
function firstBelow(rows: HTMLElement[], edge: number): number {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((rows[middle]?.getBoundingClientRect().bottom ?? 0) > edge) to = middle
    else from = middle + 1
  }
  return from
}

function putBack(scroller: HTMLElement, list: HTMLElement, { isAtEnd, anchor }: Place): void {
  if (isAtEnd) {
    scroller.scrollTop = scroller.scrollHeight
    return
  }
  const row = anchor && rowsIn(list).find(({ dataset }) => dataset.key === anchor.key)
  if (!row) return
  const moved = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top - anchor.offset
  if (Math.abs(moved) >= 1) scroller.scrollTop += moved
}
