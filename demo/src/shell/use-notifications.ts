import type { Client, ConversationItem, To } from '@parley/sdk'
import type { Message } from '@parley/sdk/api'
import { useEffect } from 'react'
import { isAfter, senderOf, summaryOf } from '../messages/content.ts'
import { addressIn, goTo } from '../state/address.ts'
import { useChat } from '../state/chat.tsx'
import { isSamePlace, placeOf } from '../state/place.ts'
import { leadTab } from './lead-tab.ts'
import { notifying } from './notifying.ts'
import { shortened } from './shortened.ts'

/** Tells on the desktop what is not looked at: one notification for each conversation, from one tab, until it is read. */
export function useNotifications(): void {
  const { client, me } = useChat()

  useEffect(() => {
    const tab = leadTab(`parley.notify.${me.uid}`)
    const shown = new Map<string, { to: To; id: string; notification: Notification }>()

    const stopHearing = client.on('message.received', ({ message }) => {
      if (!tab.isLead() || !isWorthTelling(client, message, me.uid)) return
      const to = placeOf(message, me.uid)
      const key = JSON.stringify(to)
      const notification = notify(message, to, `parley.${me.uid}.${key}`)
      if (notification) shown.set(key, { to, id: message.id, notification })
    })

    /** Read here, in another tab, or on another device. */
    const stopWatching = client.conversations.subscribe(() => {
      const { items } = client.conversations.get()
      for (const [key, { to, id, notification }] of shown) {
        if (!items.some((item) => isSamePlace(item.to, to) && isRead(item, id))) continue
        notification.close()
        shown.delete(key)
      }
    })

    return () => {
      stopHearing()
      stopWatching()
      tab.stop()
      for (const { notification } of shown.values()) notification.close()
    }
  }, [client, me.uid])
}

/** Nothing is unread, and the list has heard of the message by now. */
function isRead({ unread, lastMessage }: ConversationItem, id: string): boolean {
  return unread === 0 && lastMessage !== undefined && !isAfter(id, lastMessage.id)
}

function isWorthTelling(client: Client, message: Message, me: string): boolean {
  if (notifying() !== 'on' || message.sender === me || message.category !== 'message') return false
  // Replies are never unread, so nothing would tell that one was seen.
  if (message.parentId !== undefined || client.connection.get().state !== 'connected') return false
  const { to } = addressIn(location.hash)
  const isSeen = document.hasFocus() && isSamePlace(to, placeOf(message, me))
  return !isSeen
}

function notify(message: Message, to: To, tag: string): Notification | undefined {
  try {
    const notification = new Notification(senderOf(message).name, { body: shortened(summaryOf(message)), tag })
    notification.onclick = () => {
      window.focus()
      goTo({ to })
      notification.close()
    }
    return notification
  } catch {
    // Phones take them from a service worker alone.
    return undefined
  }
}
