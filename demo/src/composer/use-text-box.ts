import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { type Draft, write, writtenIn } from '../state/drafts.ts'
import { labelOf, withMention } from '../state/mentions.ts'

/** The box one writes in: what it holds, where its caret is, and putting something there. */
export function useTextBox(draftKey: string, draft: Draft) {
  const ref = useRef<HTMLTextAreaElement>(null)
  const [caret, setCaret] = useState(0)
  const written = writtenIn(draft)

  function put(from: number, to: number, added: string, mentions = written.mentions): void {
    const text = written.text.slice(0, from) + added + written.text.slice(to)
    const next = from + added.length
    // The caret can only be put behind something that is there already.
    flushSync(() => write(draftKey, { text, mentions }))
    ref.current?.focus()
    ref.current?.setSelectionRange(next, next)
    setCaret(next)
  }

  return {
    ref,
    written,
    isEmpty: written.text.trim() === '',
    /** Where it ends, while nothing is selected. */
    caret,
    followCaret: () => setCaret(ref.current?.selectionEnd ?? 0),
    focus: () => ref.current?.focus(),
    /** In the place of what is selected. */
    insert(added: string): void {
      const { selectionStart = 0, selectionEnd = 0 } = ref.current ?? {}
      put(selectionStart, selectionEnd, added)
    },
    /** In the place of what was written of the name, from the "@" on. */
    mention(from: number, person: { uid: string; name: string }): void {
      const mentions = withMention(written.mentions, person)
      put(from, caret, `@${labelOf(mentions, person.uid)} `, mentions)
    },
  }
}

export type TextBoxState = ReturnType<typeof useTextBox>
