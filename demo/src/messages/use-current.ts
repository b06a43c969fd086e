import type { Item } from '@parley/sdk'
import { type FocusEvent, type KeyboardEvent, useState } from 'react'
import { isLine } from './rows.ts'

const steps: Record<string, (at: number, count: number) => number> = {
  ArrowUp: (at) => at - 1,
  ArrowDown: (at) => at + 1,
  Home: () => 0,
  End: (_, count) => count - 1,
}

/** The message where the Tab key comes into the list: the last one, until arrows have gone to another that is still there. */
export function useCurrent(items: readonly Item[]) {
  const [chosen, setChosen] = useState<string>()
  // A line that tells what happened cannot have the focus.
  const isThere = items.some(({ key }) => key === chosen)
  const current = isThere ? chosen : items.findLast((item) => !isLine(item))?.key

  /** What a menu or a dialog of a message has inside comes by here, too, and stands nowhere in the list. */
  function onFocus({ target }: FocusEvent<HTMLElement>): void {
    const row = target.closest<HTMLElement>('[data-key]')
    if (row) setChosen(row.dataset.key)
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    const step = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined
    const articles = [...event.currentTarget.querySelectorAll('article')]
    const at = articles.indexOf(event.target as HTMLElement)
    if (!step || at === -1) return
    event.preventDefault()
    articles[step(at, articles.length)]?.focus()
  }

  return { current, onFocus, onKeyDown }
}
