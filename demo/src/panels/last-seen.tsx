import { Text } from '@mantine/core'
import { lastSeen } from '../messages/times.ts'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'

/** Whether somebody is there, or when they were. */
export function LastSeen({ uid }: { uid: string }) {
  const { client } = useChat()
  const { online, lastActiveAt } = useStore(client.presence(uid))
  if (online) return <Text c="var(--quiet)">Online</Text>
  if (lastActiveAt === undefined) return <Text c="var(--quiet)">Offline</Text>
  return <Text c="var(--quiet)">Last seen {lastSeen(lastActiveAt)}</Text>
}
