import type { ConversationItem } from '@parley/sdk'
import type { Group } from '@parley/sdk/api'
import { useEffect, useState } from 'react'
import { GroupAvatar } from '../parts/group-avatar.tsx'
import { LiveAvatar, PersonAvatar } from '../parts/person-avatar.tsx'

// Whoever rushes past in a long list is not asked for.
const settledMs = 200

export function RowAvatar({ item: { to, conversation } }: { item: ConversationItem }) {
  const isSettled = useSettled()
  if ('group' in to) return <GroupAvatar type={conversation.conversationWith.type as Group['type']} />
  const name = String(conversation.conversationWith.name)
  return isSettled ? <LiveAvatar uid={to.user} name={name} size={40} /> : <PersonAvatar name={name} size={40} />
}

function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), settledMs)
    return () => clearTimeout(timer)
  }, [])
  return isSettled
}
