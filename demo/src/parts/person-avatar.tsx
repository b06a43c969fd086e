import { Indicator } from '@mantine/core'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'
import styles from './person-avatar.module.css'

// Those in which initials can be read well, in both themes.
const colours = ['blue', 'cyan', 'grape', 'indigo', 'pink', 'violet']

/**
 * Initials on a colour of their own: the demo fetches pictures from nowhere. There are hundreds beside messages, so each is
 * one element, where that of the component library is two that are clipped.
 */
export function PersonAvatar({ name, size = 36 }: { name: string; size?: number }) {
  const colour = `var(--mantine-color-${colourOf(name)}-light`
  const look = { width: size, height: size, fontSize: size / 2.5, background: `${colour})`, color: `${colour}-color)` }
  return (
    <span className={styles.avatar} style={look} aria-hidden>
      {initialsOf(name)}
    </span>
  )
}

/** The same for all who are called so, on every device. */
function colourOf(name: string): string | undefined {
  let hash = 0
  for (const letter of name) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003
  return colours[hash % colours.length]
}

/** The first letters of two words, or the first two of one. */
function initialsOf(name: string): string {
  const words = name.split(' ').filter((word) => word !== '')
  const letters = words.length > 1 ? words.map(([letter = '']) => letter) : [...(words[0] ?? '')]
  return letters.slice(0, 2).join('').toUpperCase()
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
