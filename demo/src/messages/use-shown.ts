import type { Item, Messages, PendingMessage } from '@parley/sdk'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useTalk } from './talk.tsx'
import type { AnchoredScroll } from './use-anchored-scroll.ts'

/** A message to be shown; asked for again, it is another wish. */
export interface Wanted {
  id: string
}

const shownMs = 2_000

/** Goes to the message that is wanted, fetches what stands around it if need be, and answers its key for a moment. */
export function useShown(
  messages: Messages<PendingMessage>,
  items: readonly Item[],
  wanted: Wanted | undefined,
  goTo: AnchoredScroll['goTo'],
): string | undefined {
  const { act } = useTalk()
  const [shown, setShown] = useState<string>()
  const isDone = useRef<Wanted>(undefined)

  // biome-ignore lint/correctness/useExhaustiveDependencies: with other messages, it may be among them.
  useLayoutEffect(() => {
    if (!wanted || isDone.current === wanted) return
    const row = goTo(({ dataset }) => dataset.id === wanted.id)
    if (!row) return
    isDone.current = wanted
    setShown(row.dataset.key)
    row.querySelector('article')?.focus({ preventScroll: true })
  }, [wanted, items, goTo])

  useEffect(() => {
    if (!wanted || isDone.current === wanted) return
    let isWanted = true
    const reaching = messages.jumpTo(wanted.id).then(() => {
      if (isWanted && !isAmong(messages, wanted.id)) throw new Error('The message is not there any more.')
    })
    act(reaching)
    return () => {
      isWanted = false
    }
  }, [wanted, messages, act])

  useEffect(() => {
    if (shown === undefined) return
    const timer = setTimeout(() => setShown(undefined), shownMs)
    return () => clearTimeout(timer)
  }, [shown])

  return shown
}

function isAmong(messages: Messages<PendingMessage>, id: string): boolean {
  return messages.get().items.some((item) => item.state === 'sent' && item.message.id === id)
}
