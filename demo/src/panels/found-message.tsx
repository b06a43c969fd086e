import { Highlight, Text } from '@mantine/core'
import type { Message } from '@parley/sdk/api'
import { previewOf } from '../conversations/preview.ts'
import { shortTime } from '../conversations/short-time.ts'
import { senderOf } from '../messages/content.ts'
import { type Address, hashOf, type Panel } from '../state/address.ts'
import { useChat } from '../state/chat.tsx'
import { placeOf } from '../state/place.ts'
import styles from './found-message.module.css'

interface FoundMessageProps {
  message: Message
  words: string
  /** What stays open beside the message. */
  panel: Panel | undefined
}

export function FoundMessage({ message, words, panel }: FoundMessageProps) {
  const { me } = useChat()
  return (
    <li>
      <a className={styles.found} href={hashOf(addressOf(message, me.uid, panel))}>
        <span className={styles.line}>
          <Text component="span" fw={600} truncate>
            <bdi>{senderOf(message).name}</bdi>
          </Text>
          <Text component="span" size="xs" c="var(--quiet)" flex={1} truncate>
            {placeName(message, me.uid)}
          </Text>
          <time className={styles.time}>{shortTime(message.sentAt)}</time>
        </span>
        <Highlight component="span" highlight={words.split(/\s+/)} lineClamp={3} dir="auto">
          {previewOf(message, me.uid)}
        </Highlight>
      </a>
    </li>
  )
}

/** A reply is shown in its thread. */
function addressOf(message: Message, me: string, panel: Panel | undefined): Address {
  const to = placeOf(message, me)
  const { id, parentId } = message
  if (parentId !== undefined) return { to, message: id, panel: { kind: 'thread', id: parentId } }
  return { to, message: id, ...(panel && { panel }) }
}

function placeName({ data, receiver, receiverType, sender }: Message, me: string): string {
  const { receiver: to } = Object(data.entities) as { receiver?: { entity?: { name?: string } } }
  if (receiverType === 'user' && sender !== me) return 'to you'
  return `${receiverType === 'user' ? 'to' : 'in'} ${to?.entity?.name ?? receiver}`
}
