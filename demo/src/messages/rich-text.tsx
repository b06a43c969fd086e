import { useMemo } from 'react'
import { useChat } from '../state/chat.tsx'
import { mentionsIn } from '../state/mentions.ts'
import { textIn } from './content.ts'
import { useTabIndex } from './inside.ts'
import styles from './rich-text.module.css'
import { isEmojiOnly, partsOf, type TextPart } from './text-parts.ts'

/** The text of a message. Every line has the direction of its own letters. */
export function RichText({ data }: { data: Record<string, unknown> }) {
  const text = textIn(data)
  const parts = useMemo(() => partsOf(text, mentionsIn(data)), [text, data])
  if (text === '') return null
  return (
    <div className={styles.text} dir="auto" data-large={isEmojiOnly(text) || undefined}>
      {parts.map((part, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name, and come all at once.
        <Part key={n} part={part} />
      ))}
    </div>
  )
}

function Part({ part }: { part: TextPart }) {
  switch (part.kind) {
    case 'plain':
      return part.text
    case 'code':
      return (
        <code className={styles.code} dir="ltr">
          {part.text}
        </code>
      )
    case 'block':
      return (
        <pre className={styles.block} dir="ltr">
          <code>{part.text}</code>
        </pre>
      )
    case 'link':
      return <Link {...part} />
    case 'mention':
      return <Mention {...part} />
  }
}

function Link({ href, text }: { href: string; text: string }) {
  return (
    <a className={styles.link} href={href} target="_blank" rel="noopener noreferrer nofollow" tabIndex={useTabIndex()}>
      {text}
    </a>
  )
}

function Mention({ uid, name }: { uid: string; name: string }) {
  const { me } = useChat()
  return (
    <bdi className={styles.mention} data-me={uid.toLowerCase() === me.uid.toLowerCase() || undefined}>
      @{name}
    </bdi>
  )
}
