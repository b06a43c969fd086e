import type { Readable, To } from '@parley/sdk'
import type { Group } from '@parley/sdk/api'
import { useChat } from './chat.tsx'
import { useStore } from './use-store.ts'

const nothing: Readable<undefined> = { get: () => undefined, subscribe: () => () => {} }

/** The group that a conversation is of; nothing between two people, and before it is known. */
export function useGroup(to: To): Group | undefined {
  const { client } = useChat()
  return useStore<Group | undefined>('group' in to ? client.group(to.group).details : nothing)
}
