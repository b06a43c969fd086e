import type { Conversation, PendingMessage, To } from '@parley/sdk'
import { useEffect, useEffectEvent, useRef } from 'react'
import { useChat } from '../state/chat.tsx'
import { isSamePlace } from '../state/place.ts'
import { useStore } from '../state/use-store.ts'

/** Runs when the user has sent something here. */
export function useOwnSending({ to }: Conversation, thread: string | undefined, run: () => void): void {
  const { client } = useChat()
  const outbox = useStore(client.outbox)
  const own = outbox.filter(({ input }) => input.parentId === thread && isSamePlace(receiverOf(input), to))
  const latest = own[own.length - 1]?.key
  const before = useRef(latest)
  const runNow = useEffectEvent(run)

  useEffect(() => {
    const isNew = latest !== undefined && latest !== before.current
    before.current = latest
    if (isNew) runNow()
  }, [latest])
}

/** A person and a group may have the same id. */
function receiverOf({ receiver = '', receiverType }: PendingMessage['input']): To {
  return receiverType === 'group' ? { group: receiver } : { user: receiver }
}
