import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'

/** What is found for words while they are typed: the answer to the last of them, never to earlier ones. */

interface Found<Item> {
  items: readonly Item[]
  status: 'loading' | 'ready' | 'failed'
}

const typingMs = 250

/** `find` is called again when it is another function: keep it with `useCallback`. */
export function useFound<Item>(words: string, find: (words: string) => Promise<Item[]>) {
  const [settled] = useDebouncedValue(words.trim(), typingMs)
  const [attempt, setAttempt] = useState(0)
  const [found, setFound] = useState<Found<Item>>({ items: [], status: 'loading' })

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt searches again.
  useEffect(() => {
    let isLatest = true
    setFound(({ items }) => ({ items, status: 'loading' }))
    find(settled).then(
      (items) => isLatest && setFound({ items, status: 'ready' }),
      () => isLatest && setFound({ items: [], status: 'failed' }),
    )
    return () => {
      isLatest = false
    }
  }, [settled, find, attempt])

  return { ...found, words: settled, retry: () => setAttempt((count) => count + 1) }
}
