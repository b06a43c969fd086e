import { Button, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/refusal.tsx'
import { useChat } from '../state/chat.tsx'
import { useAction } from '../state/use-action.ts'
import { useStore } from '../state/use-store.ts'

export function StatusDialog({ isOpen, close }: { isOpen: boolean; close(): void }) {
  return (
    <Dialog isOpen={isOpen} title="Status message" close={close}>
      <StatusForm close={close} />
    </Dialog>
  )
}

function StatusForm({ close }: { close(): void }) {
  const { client, me } = useChat()
  const { statusMessage: before } = useStore(client.me) ?? me
  const [text, setText] = useState(typeof before === 'string' ? before : '')
  const { run, isBusy, error } = useAction()

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    const isSaved = await run(() => client.updateMe({ statusMessage: text.trim() }))
    if (isSaved) close()
  }

  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="What are you up to?"
          description="Others see it beside your name."
          maxLength={120}
          dir="auto"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          data-autofocus
        />
        <Refusal error={error} />
        <Button type="submit" loading={isBusy}>
          Save
        </Button>
      </Stack>
    </form>
  )
}
