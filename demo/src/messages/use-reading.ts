import type { Conversation } from '@parley/sdk'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { isAfter } from './content.ts'

// A glance is no reading.
const readAfterMs = 1_000

/** What has been in sight for a second, in a page that has the focus, has been read. */
export function useReading(conversation: Conversation, lowest: string | undefined, hasUnread: boolean): void {
  const isLookedAt = useSyncExternalStore(subscribe, () => document.hasFocus())
  const told = useRef<string>(undefined)

  useEffect(() => {
    if (!isLookedAt || !hasUnread || lowest === undefined) return
    if (told.current !== undefined && !isAfter(lowest, told.current)) return
    const timer = setTimeout(() => {
      told.current = lowest
      // What could not be told is told with the next one.
      conversation.markRead(lowest).catch(() => {
        told.current = undefined
      })
    }, readAfterMs)
    return () => clearTimeout(timer)
  }, [conversation, lowest, isLookedAt, hasUnread])
}

function subscribe(run: () => void): () => void {
  const events = ['focus', 'blur'] as const
  for (const event of events) window.addEventListener(event, run)
  return () => {
    for (const event of events) window.removeEventListener(event, run)
  }
}
