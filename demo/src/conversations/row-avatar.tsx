import type { ConversationItem } from '@parley/sdk'
import { useEffect, useState } from 'react'
import { GroupAvatar } from '../parts/group-avatar.tsx'
import { LiveAvatar, PersonAvatar } from '../parts/person-avatar.tsx'

// Whoever rushes past in a long list is not asked for.
const settledMs = 200

export function RowAvatar({ item: { user, group } }: { item: ConversationItem }) {
  const isSettled = useSettled()
  if (!user) return <GroupAvatar type={group?.type} />
  const { uid, name } = user
  return isSettled ? <LiveAvatar uid={uid} name={name} size={40} /> : <PersonAvatar name={name} size={40} />
}

function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), settledMs)
    return () => clearTimeout(timer)
  }, [])
  return isSettled
}
