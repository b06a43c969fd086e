import { Avatar, Indicator } from '@mantine/core'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'

// Those in which initials can be read well, in both themes.
const colours = ['blue', 'cyan', 'grape', 'indigo', 'pink', 'violet']

/** Initials on a colour of their own: the demo fetches pictures from nowhere. */
export function PersonAvatar({ name, size = 36 }: { name: string; size?: number }) {
  const initials = { name, color: 'initials', allowedInitialsColors: colours }
  return <Avatar {...initials} size={size} radius="100%" alt="" aria-hidden />
}

/** The same, with a dot while they are there. */
export function LiveAvatar({ uid, name, size = 36 }: { uid: string; name: string; size?: number }) {
  const { client } = useChat()
  const { online = false } = useStore(client.presence(uid))
  return <DottedAvatar name={name} size={size} isOnline={online} />
}

/** For lists that know themselves who is there. */
export function DottedAvatar({ name, size = 36, isOnline }: { name: string; size?: number; isOnline: boolean }) {
  return (
    <Indicator disabled={!isOnline} color="teal.7" size={11} offset={4} position="bottom-end" withBorder>
      <PersonAvatar name={name} size={size} />
    </Indicator>
  )
}
