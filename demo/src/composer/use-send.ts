import type { Conversation } from '@parley/sdk'
import { useState } from 'react'
import { useChat } from '../state/chat.tsx'
import { type Draft, draftOf, emptyDraft, leaveBar, passVoiceNote } from '../state/drafts.ts'
import { asSent, nothingWritten } from '../state/mentions.ts'
import { draftFile, messageTypeOf } from './draft-files.ts'
import { hasFailed, type Letter, seeOff } from './see-off.ts'

interface Place {
  draftKey: string
  conversation: Conversation
  thread: string | undefined
}

// What the server takes, less some room for all that goes with a text.
const bytesMax = 10_000
const tooLong = 'This is too long for one message. Send it in parts, or as a file.'

/** Sends what the draft has, or changes the message that it edits. */
export function useSend({ draftKey, conversation, thread }: Place) {
  const { client } = useChat()
  const [problem, setProblem] = useState<string>()
  const place = thread === undefined ? conversation : conversation.thread(thread)

  async function send(): Promise<void> {
    const draft = draftOf(draftKey)
    const refusal = refusalOf(draft)
    setProblem(refusal)
    if (refusal !== undefined) return
    try {
      if (draft.edit) await saveEdit(draft.edit)
      else sendNew(draft)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  async function saveEdit({ message, written }: NonNullable<Draft['edit']>): Promise<void> {
    const text = asSent(written).trim()
    if (text !== '' && text !== message.data.text) await conversation.edit(message.id, { text })
    // Another message may be edited by now.
    if (draftOf(draftKey).edit?.message.id === message.id) leaveBar(draftKey)
  }

  function sendNew(draft: Draft): void {
    if (draft.written.text.trim() === '' && draft.files.length === 0) return
    post(draft)
    emptyDraft(draftKey)
  }

  function sendVoiceNote(file: File): void {
    const note = draftFile(conversation, file)
    const { quote } = draftOf(draftKey)
    try {
      post({ written: nothingWritten, files: [note], ...(quote && { quote }) })
      passVoiceNote(draftKey, note)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  function post(letter: Letter): void {
    const { quote, files } = letter
    const text = asSent(letter.written).trim()
    const sent = place.send({
      ...(text !== '' && { text }),
      ...(quote && { quote: quote.id }),
      ...(files.length > 0 && { type: messageTypeOf(files), files: files.map(({ upload }) => upload) }),
    })
    void seeOff(client, draftKey, letter, sent)
  }

  return { send, sendVoiceNote, problem, setProblem }
}

function refusalOf({ edit, written, files }: Draft): string | undefined {
  const text = asSent(edit?.written ?? written)
  if (new TextEncoder().encode(JSON.stringify(text)).length > bytesMax) return tooLong
  const isBroken = !edit && files.some(hasFailed)
  return isBroken ? 'A file could not be uploaded. Try it again, or remove it.' : undefined
}
