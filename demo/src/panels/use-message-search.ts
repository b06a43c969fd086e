import { useDebouncedValue } from '@mantine/hooks'
import type { To } from '@parley/sdk'
import type { Message } from '@parley/sdk/api'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useChat } from '../state/chat.tsx'

/** Messages that hold the words, the newest first; so many at a time. */

interface FoundMessages {
  items: readonly Message[]
  hasMore: boolean
  status: 'idle' | 'loading' | 'ready' | 'failed'
}

const atATime = 30
const typingMs = 300
const nothing: FoundMessages = { items: [], hasMore: false, status: 'idle' }

/** In all conversations, where none is given. */
export function useMessageSearch(words: string, within: To | undefined) {
  const { client } = useChat()
  const [settled] = useDebouncedValue(words.trim(), typingMs)
  const [found, setFound] = useState(nothing)
  const reading = useRef<AsyncIterator<Message>>(undefined)
  const place = JSON.stringify(within)

  const read = useCallback(async () => {
    const own = reading.current
    if (!own) return
    setFound((before) => ({ ...before, status: 'loading' }))
    try {
      const { items, isOver } = await take(own, atATime)
      if (own !== reading.current) return
      setFound((before) => ({ items: [...before.items, ...items], hasMore: !isOver, status: 'ready' }))
    } catch {
      if (own === reading.current) setFound({ ...nothing, status: 'failed' })
    }
  }, [])

  const begin = useCallback(() => {
    const to: To | undefined = place && JSON.parse(place)
    const where = to ? { in: client.conversation(to) } : {}
    reading.current = settled === '' ? undefined : client.search(settled, where)[Symbol.asyncIterator]()
    setFound(nothing)
    void read()
  }, [client, settled, place, read])

  useEffect(() => {
    begin()
    return () => {
      reading.current = undefined
    }
  }, [begin])

  return { ...found, words: settled, loadMore: read, retry: begin }
}

async function take(from: AsyncIterator<Message>, count: number): Promise<{ items: Message[]; isOver: boolean }> {
  const items: Message[] = []
  while (items.length < count) {
    const { done, value } = await from.next()
    if (done) return { items, isOver: true }
    items.push(value)
  }
  return { items, isOver: false }
}
