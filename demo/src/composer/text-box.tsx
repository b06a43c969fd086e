import { Textarea } from '@mantine/core'
import type { Conversation } from '@parley/sdk'
import { type ChangeEvent, type ClipboardEvent, type KeyboardEvent, useEffect } from 'react'
import { useChat } from '../state/chat.tsx'
import { type Draft, editInDraft, leaveBar, write } from '../state/drafts.ts'
import { lastOwnMessage } from './last-own-message.ts'
import styles from './text-box.module.css'
import type { Dropped } from './use-file-drop.ts'
import type { MentionPickerState } from './use-mention-picker.ts'
import type { TextBoxState } from './use-text-box.ts'

interface TextBoxProps {
  draftKey: string
  draft: Draft
  conversation: Conversation
  thread: string | undefined
  textBox: TextBoxState
  mentions: MentionPickerState
  attach(files: Dropped): void
}

/** Enter sends, Shift and Enter breaks the line, Up in an empty box edits what one said last. */
export function TextBox({ draftKey, draft, conversation, thread, textBox, mentions, attach }: TextBoxProps) {
  const { me } = useChat()
  const { written, ref } = textBox
  useFocus(textBox, draft)

  function change(event: ChangeEvent<HTMLTextAreaElement>): void {
    write(draftKey, { ...written, text: event.target.value })
    textBox.followCaret()
    if (!draft.edit && event.target.value !== '') conversation.typing.keystroke()
  }

  function press(event: KeyboardEvent<HTMLTextAreaElement>): void {
    // Such keys choose among characters; some browsers tell so by the code alone.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return
    if (mentions.press(event.key) || command(event)) {
      event.preventDefault()
      event.stopPropagation()
    }
  }

  function command({ key, shiftKey }: KeyboardEvent): boolean {
    if (key === 'Enter' && !shiftKey) ref.current?.form?.requestSubmit()
    else if (key === 'Escape' && (draft.edit || draft.quote)) leaveBar(draftKey)
    else if (key === 'ArrowUp' && written.text === '' && !draft.edit) return editLast()
    else return false
    return true
  }

  function editLast(): boolean {
    const { messages } = thread === undefined ? conversation : conversation.thread(thread)
    const last = lastOwnMessage(messages.get().items, me.uid)
    if (last) editInDraft(draftKey, last)
    return last !== undefined
  }

  function paste(event: ClipboardEvent): void {
    const { files, types } = event.clipboardData
    // Word processors add a picture of the text; the text is what was meant.
    if (files.length === 0 || types.includes('text/plain')) return
    event.preventDefault()
    attach({ files: [...files], hasFolders: false })
  }

  return (
    <Textarea
      {...{ ref, 'aria-label': thread === undefined ? 'Message' : 'Reply', ...mentions.boxProps }}
      {...{ autosize: true, minRows: 1, maxRows: 8, variant: 'unstyled', dir: 'auto', 'data-composer': true }}
      classNames={{ root: styles.root ?? '', input: styles.input ?? '' }}
      placeholder={thread === undefined ? 'Write a message' : 'Write a reply'}
      value={written.text}
      onChange={change}
      onKeyDown={press}
      onSelect={textBox.followCaret}
      onPaste={paste}
    />
  )
}

/** One writes at once after opening a conversation, and after choosing to quote or edit; on phones keyboards cover much. */
function useFocus({ ref }: TextBoxState, { quote, edit }: Draft): void {
  const reason = edit?.message.id ?? quote?.id
  useEffect(() => {
    if (reason === undefined && !matchMedia('(pointer: fine)').matches) return
    const box = ref.current
    box?.focus()
    box?.setSelectionRange(box.value.length, box.value.length)
  }, [ref, reason])
}
