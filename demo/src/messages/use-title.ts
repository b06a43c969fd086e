import type { To } from '@parley/sdk'
import { useEffect, useState } from 'react'
import { useChat } from '../state/chat.tsx'
import { useGroup } from '../state/use-group.ts'
import { useOverview } from './use-overview.ts'

/** What a conversation is called: as the list says; where it is not in there, as it is fetched. */
export function useTitle(to: To): string {
  const { isKnown, item } = useOverview(to)
  const group = useGroup(to)
  const listed = item?.conversation.conversationWith.name
  const stranger = useName(isKnown && !item && 'user' in to ? to.user : undefined)
  const id = 'user' in to ? to.user : to.group
  return String(group?.name ?? listed ?? stranger ?? id)
}

function useName(uid: string | undefined): string | undefined {
  const { client } = useChat()
  const [name, setName] = useState<string>()
  useEffect(() => {
    if (uid === undefined) return
    let isWanted = true
    client.users.get(uid).then(
      (user) => isWanted && setName(user.name),
      // Then it is called what it is called in the address.
      () => {},
    )
    return () => {
      isWanted = false
    }
  }, [client, uid])
  return name
}
