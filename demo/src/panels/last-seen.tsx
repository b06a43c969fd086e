import { Text } from '@mantine/core'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'

const form = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Whether somebody is there, or when they were. */
export function LastSeen({ uid }: { uid: string }) {
  const { client } = useChat()
  const { online, lastActiveAt } = useStore(client.presence(uid))
  if (online) return <Text c="var(--quiet)">Online</Text>
  if (lastActiveAt === undefined) return <Text c="var(--quiet)">Offline</Text>
  return <Text c="var(--quiet)">Last seen {form.format(lastActiveAt * 1_000)}</Text>
}
