import type { Item } from '@parley/sdk'
import { useEffect, useState } from 'react'

/**
 * A page of messages is too much for one frame: whoever scrolls towards it would feel it. What is added to a list comes in
 * slices instead, one for each frame, beginning beside what is there already.
 */

const sliceSize = 10
// More than a screen has room for.
const firstSize = 20

export function useSlices(items: readonly Item[], opensAtEnd: boolean): readonly Item[] {
  const [list, setList] = useState({ items, shown: opensAtEnd ? items.slice(-firstSize) : items })
  if (list.items !== items) setList({ items, shown: grown(list.shown, items) })

  useEffect(() => {
    if (list.shown === list.items) return
    const frame = requestAnimationFrame(() => setList(({ shown }) => ({ ...list, shown: grown(shown, list.items) })))
    return () => cancelAnimationFrame(frame)
  }, [list])

  return list.shown
}

/** What is shown of all items after one more slice before it, and one behind it. Where nothing is left of it, all is new. */
export function grown(shown: readonly Item[], items: readonly Item[]): readonly Item[] {
  const known = new Set(shown.map(({ key }) => key))
  const first = items.findIndex(({ key }) => known.has(key))
  const last = items.findLastIndex(({ key }) => known.has(key))
  if (first === -1 || (first <= sliceSize && last >= items.length - 1 - sliceSize)) return items
  return items.slice(Math.max(0, first - sliceSize), last + 1 + sliceSize)
}
