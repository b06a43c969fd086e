import { lastSeen } from '../messages/times.ts'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'

/** Whether somebody is there, or when they were. */
export function LastSeen({ uid }: { uid: string }) {
  const { client } = useChat()
  const { online, lastActiveAt } = useStore(client.presence(uid))
  if (online) return 'Online'
  return lastActiveAt === undefined ? 'Offline' : `Last seen ${lastSeen(lastActiveAt)}`
}
