import type { Client, To } from '@parley/sdk'
import { listMembers } from '@parley/sdk/api'
import { useEffect, useState } from 'react'
import { useChat } from '../state/chat.tsx'

export interface Person {
  uid: string
  name: string
}

const shownMax = 6
const pauseMs = 120

/** Who takes part and is called so. The server looks for them: a group may have more members than a page should hold. */
export function usePeopleToMention(to: To, query: string | undefined): readonly Person[] {
  const { client, me } = useChat()
  const [people, setPeople] = useState<readonly Person[]>([])

  useEffect(() => {
    if (query === undefined) return setPeople([])
    const controller = new AbortController()
    const timer = setTimeout(async () => {
      const found = await find(client, to, query, controller.signal).catch(() => [])
      const others = found.filter(({ uid }) => uid !== me.uid).slice(0, shownMax)
      if (!controller.signal.aborted) setPeople(others)
    }, pauseMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [client, to, query, me.uid])

  return people
}

async function find(client: Client, to: To, query: string, signal: AbortSignal): Promise<readonly Person[]> {
  if ('group' in to) {
    const words = query.trim()
    const input = { guid: to.group, perPage: shownMax + 1, ...(words !== '' && { searchKey: words }) }
    return (await client.call(listMembers, input, { signal })).data
  }
  const other = await client.users.get(to.user)
  return other.name.toLocaleLowerCase().includes(query.trim().toLocaleLowerCase()) ? [other] : []
}
