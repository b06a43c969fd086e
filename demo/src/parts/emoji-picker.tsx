import { Text, TextInput, UnstyledButton } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { emojiCalled } from './emoji.ts'
import styles from './emoji-picker.module.css'

const columns = 8
const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }

/** A few that most people know, found by what they show. Arrows move among them; Tab goes past them. */
export function EmojiPicker({ choose }: { choose(emoji: string): void }) {
  const [words, setWords] = useState('')
  const [reached, setReached] = useState(0)
  const found = emojiCalled(words)
  const current = Math.min(reached, found.length - 1)

  function press(event: KeyboardEvent<HTMLElement>): void {
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const isRightToLeft = getComputedStyle(event.currentTarget).direction === 'rtl'
    const next = current + (Math.abs(step) === 1 && isRightToLeft ? -step : step)
    const target = event.currentTarget.children[next]
    if (!(target instanceof HTMLElement)) return
    setReached(next)
    target.focus()
  }

  return (
    <>
      <TextInput
        {...{ 'aria-label': 'Find an emoji', placeholder: 'Find an emoji', 'data-autofocus': true, mb: 8 }}
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      <div role="toolbar" aria-label="Emoji" className={styles.grid} onKeyDown={press}>
        {found.map(([emoji, name], n) => (
          <UnstyledButton
            key={emoji}
            {...{ 'aria-label': name, title: name, tabIndex: n === current ? 0 : -1 }}
            className={styles.emoji ?? ''}
            onClick={() => choose(emoji)}
          >
            {emoji}
          </UnstyledButton>
        ))}
      </div>
      {found.length === 0 && <Text c="var(--quiet)">None is called that.</Text>}
    </>
  )
}
