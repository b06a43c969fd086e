import type { Messages, PendingMessage } from '@parley/sdk'
import { type RefObject, useCallback, useLayoutEffect } from 'react'
import { useStore } from '../state/use-store.ts'

// About a screen before one gets there.
const nearPixels = 800

/** Fetches what comes before and after, when one comes near it. What has failed waits to be asked for. */
export function useEdges(messages: Messages<PendingMessage>, scroller: RefObject<HTMLElement | null>) {
  const { items, hasOlder, atEnd, status } = useStore(messages)

  const look = useCallback(() => {
    const box = scroller.current
    if (!box || status !== 'ready') return
    const below = box.scrollHeight - box.scrollTop - box.clientHeight
    if (hasOlder && box.scrollTop < nearPixels) quietly(messages.loadOlder())
    else if (!atEnd && below < nearPixels) quietly(messages.loadNewer())
  }, [messages, scroller, status, hasOlder, atEnd])

  // biome-ignore lint/correctness/useExhaustiveDependencies: with other messages, other edges are near.
  useLayoutEffect(look, [look, items])
  return look
}

/** The list itself shows what has failed. */
function quietly(loading: Promise<void>): void {
  loading.catch(() => {})
}
