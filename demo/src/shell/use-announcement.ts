import type { Message } from '@parley/sdk/api'
import { useEffect, useState } from 'react'
import { useChat } from '../state/chat.tsx'
import { announcementOf } from './announcement.ts'

// What comes within a second is told together.
const everyMs = 1_000

export function useAnnouncement() {
  const { client, me } = useChat()
  const [announcement, announce] = useState({ words: '', count: 0 })

  useEffect(() => {
    let waiting: Message[] = []
    let timer: ReturnType<typeof setTimeout> | undefined

    function speak(): void {
      const words = announcementOf(waiting)
      waiting = []
      timer = undefined
      announce(({ count }) => ({ words, count: count + 1 }))
    }

    const stop = client.on('message.received', ({ message }) => {
      // Whoever comes back is not read everything that they have missed.
      const isNew = client.connection.get().state === 'connected'
      if (!isNew || message.sender === me.uid || message.category !== 'message') return
      waiting.push(message)
      timer ??= setTimeout(speak, everyMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [client, me.uid])

  return announcement
}
