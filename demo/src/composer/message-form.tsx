import type { Conversation } from '@parley/sdk'
import { type FormEvent, memo, useRef, useState } from 'react'
import { useDraft } from '../state/drafts.ts'
import { DraftBar } from './draft-bar.tsx'
import { addFiles } from './draft-files.ts'
import { MentionPicker } from './mention-picker.tsx'
import styles from './message-form.module.css'
import { TextBox } from './text-box.tsx'
import { Tools } from './tools.tsx'
import { UploadTray } from './upload-tray.tsx'
import { type Dropped, useFileDrop } from './use-file-drop.ts'
import { useMentionPicker } from './use-mention-picker.ts'
import { useSend } from './use-send.ts'
import { useTextBox } from './use-text-box.ts'
import { VoiceNote } from './voice-note.tsx'

interface MessageFormProps {
  draftKey: string
  conversation: Conversation
  thread: string | undefined
}

/** Text, files, or a voice note, with what they answer or change. What comes in above it is nothing to it. */
export const MessageForm = memo(function MessageForm({ draftKey, conversation, thread }: MessageFormProps) {
  const form = useRef<HTMLFormElement>(null)
  const draft = useDraft(draftKey)
  const [isRecording, setIsRecording] = useState(false)
  const textBox = useTextBox(draftKey, draft)
  const { send, sendVoiceNote, problem, setProblem } = useSend({ draftKey, conversation, thread })
  const mentions = useMentionPicker({ conversation, textBox })
  const isDropping = useFileDrop(form, attach)

  function attach({ files, hasFolders }: Dropped): void {
    const refused = addFiles(draftKey, conversation, files)
    setProblem(hasFolders ? 'Folders cannot be sent. Choose the files in them instead.' : refused)
    textBox.focus()
  }

  function submit(event: FormEvent): void {
    event.preventDefault()
    void send()
    textBox.focus()
  }

  if (isRecording) return <VoiceNote send={sendVoiceNote} close={() => setIsRecording(false)} />
  return (
    <form ref={form} className={styles.form} aria-label={thread ? 'Reply' : 'New message'} onSubmit={submit}>
      <DraftBar draftKey={draftKey} draft={draft} />
      <UploadTray draftKey={draftKey} draft={draft} conversation={conversation} />
      <MentionPicker {...mentions} />
      <div role="alert" className={styles.problem}>
        {problem}
      </div>
      <div className={styles.box}>
        <TextBox {...{ draftKey, draft, conversation, thread, textBox, mentions, attach }} />
        <Tools
          isEdit={draft.edit !== undefined}
          isEmpty={textBox.isEmpty && draft.files.length === 0}
          attach={(files) => attach({ files, hasFolders: false })}
          insert={textBox.insert}
          record={() => setIsRecording(true)}
        />
      </div>
      {isDropping && <p className={styles.drop}>Drop the files to attach them.</p>}
    </form>
  )
})
