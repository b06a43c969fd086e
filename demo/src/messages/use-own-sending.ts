import type { Conversation } from '@parley/sdk'
import { useEffect, useEffectEvent, useRef } from 'react'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'

/** Runs when the user has sent something here. */
export function useOwnSending({ to }: Conversation, thread: string | undefined, run: () => void): void {
  const { client } = useChat()
  const outbox = useStore(client.outbox)
  const receiver = 'user' in to ? to.user : to.group
  const own = outbox.filter(({ input }) => input.receiver === receiver && input.parentId === thread)
  const latest = own[own.length - 1]?.key
  const before = useRef(latest)
  const runNow = useEffectEvent(run)

  useEffect(() => {
    const isNew = latest !== undefined && latest !== before.current
    before.current = latest
    if (isNew) runNow()
  }, [latest])
}
