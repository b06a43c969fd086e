import type { Conversation } from '@parley/sdk'
import { getMessage, type Message } from '@parley/sdk/api'
import { useCallback, useEffect, useState } from 'react'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'

/** The message that a thread belongs to: as the conversation shows it, or fetched, where it does not reach so far. */
export function useParent({ messages }: Conversation, id: string) {
  const { client } = useChat()
  const { items } = useStore(messages)
  const [fetched, setFetched] = useState<Message>()
  const [hasFailed, setHasFailed] = useState(false)
  const item = items.find((each) => each.state === 'sent' && each.message.id === id)
  const known = item?.state === 'sent' ? item.message : undefined
  const isMissing = known === undefined

  const fetchIt = useCallback(() => {
    setHasFailed(false)
    client.call(getMessage, { id }).then(setFetched, () => setHasFailed(true))
  }, [client, id])

  useEffect(() => {
    if (isMissing) fetchIt()
  }, [isMissing, fetchIt])

  const parent = known ?? (fetched?.id === id ? fetched : undefined)
  return { parent, hasFailed: hasFailed && !parent, retry: fetchIt }
}
