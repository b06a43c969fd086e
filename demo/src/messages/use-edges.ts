import type { Item, Messages, PendingMessage } from '@parley/sdk'
import { type RefObject, useCallback, useLayoutEffect } from 'react'
import { useStore } from '../state/use-store.ts'

// About a screen before one gets there.
const nearPixels = 800

/** Fetches what comes before and after, when one comes near it. What has failed waits to be asked for. */
export function useEdges(
  messages: Messages<PendingMessage>,
  scroller: RefObject<HTMLElement | null>,
  shown: readonly Item[],
) {
  const { items, hasOlder, atEnd, status } = useStore(messages)
  const isReady = status === 'ready' && shown === items

  const look = useCallback(() => {
    const box = scroller.current
    if (!box || !isReady) return
    const below = box.scrollHeight - box.scrollTop - box.clientHeight
    if (hasOlder && box.scrollTop < nearPixels) quietly(messages.loadOlder())
    else if (!atEnd && below < nearPixels) quietly(messages.loadNewer())
  }, [messages, scroller, isReady, hasOlder, atEnd])

  // biome-ignore lint/correctness/useExhaustiveDependencies: with other messages, other edges are near.
  useLayoutEffect(look, [look, shown])
  return look
}

/** The list itself shows what has failed. */
function quietly(loading: Promise<void>): void {
  loading.catch(() => {})
}
