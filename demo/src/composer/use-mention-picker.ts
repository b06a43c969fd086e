import type { Conversation } from '@parley/sdk'
import { useId, useState } from 'react'
import type { Mention } from '../state/mentions.ts'
import { type Person, usePeopleToMention } from './use-people-to-mention.ts'
import type { TextBoxState } from './use-text-box.ts'

/** While a name is being written behind an "@": who may be meant, and which of them Enter takes. */
export function useMentionPicker({ conversation, textBox }: { conversation: Conversation; textBox: TextBoxState }) {
  const listId = useId()
  const [chosen, setChosen] = useState({ query: '', index: 0 })
  const [dismissed, setDismissed] = useState<number>()
  const { written, caret } = textBox
  const begun = nameBegunIn(written.text.slice(0, caret), written.mentions)
  const people = usePeopleToMention(conversation.to, begun?.query)
  const isOpen = begun !== undefined && begun.at !== dismissed && people.length > 0
  // Another name, and the first one is meant again.
  const index = chosen.query === begun?.query ? Math.min(chosen.index, people.length - 1) : 0
  const optionId = (n: number) => `${listId}-${n}`

  function choose(person: Person | undefined): void {
    if (begun && person) textBox.mention(begun.at, person)
  }

  function move(by: number): void {
    setChosen({ query: begun?.query ?? '', index: (index + by + people.length) % people.length })
  }

  /** Answers whether the key was for the list. */
  function press(key: string): boolean {
    if (!isOpen) return false
    if (key === 'ArrowDown') move(1)
    else if (key === 'ArrowUp') move(-1)
    else if (key === 'Enter' || key === 'Tab') choose(people[index])
    else if (key === 'Escape') setDismissed(begun.at)
    else return false
    return true
  }

  return {
    ...{ isOpen, people, index, listId, optionId, choose, press },
    boxProps: {
      'aria-autocomplete': 'list' as const,
      'aria-haspopup': 'listbox' as const,
      ...(isOpen && { 'aria-controls': listId, 'aria-activedescendant': optionId(index) }),
    },
  }
}

export type MentionPickerState = ReturnType<typeof useMentionPicker>

// A first name, and the beginning of another.
const begunName = /(?:^|[\s([{])@([\p{L}\p{M}\p{N}._'’-]* ?[\p{L}\p{M}\p{N}._'’-]*)$/u

function nameBegunIn(text: string, mentions: readonly Mention[]): { at: number; query: string } | undefined {
  const query = begunName.exec(text)?.[1]
  if (query === undefined || query.length > 50) return undefined
  const isComplete = mentions.some(({ label }) => query === label || query.startsWith(`${label} `))
  return isComplete ? undefined : { at: text.length - query.length - 1, query }
}
