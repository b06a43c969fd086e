import { type RefObject, useEffect, useState } from 'react'

/** Which of many rows of one height are in sight, and a few before and after them. */

interface RowRange {
  first: number
  /** The one after the last. */
  end: number
}

const beyond = 6

export function useVirtualRows(box: RefObject<HTMLElement | null>, rowHeight: number, count: number): RowRange {
  // Before it is known how tall the box is: it is no taller than the window.
  const [seen, setSeen] = useState<RowRange>({ first: 0, end: Math.ceil(innerHeight / rowHeight) })

  useEffect(() => {
    const element = box.current
    if (!element) return
    const look = () => {
      const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - beyond)
      const end = Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + beyond
      setSeen((before) => (before.first === first && before.end === end ? before : { first, end }))
    }
    look()
    const resizing = new ResizeObserver(look)
    resizing.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      resizing.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [box, rowHeight])

  return { first: Math.min(seen.first, count), end: Math.min(seen.end, count) }
}
