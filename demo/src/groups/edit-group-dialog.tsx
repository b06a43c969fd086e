import { Button, Stack, Textarea } from '@mantine/core'
import type { LiveGroup } from '@parley/sdk'
import type { Group } from '@parley/sdk/api'
import { type FormEvent, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/refusal.tsx'
import { useAction } from '../state/use-action.ts'
import { GroupNameField } from './group-name-field.tsx'

interface EditGroupProps {
  group: LiveGroup
  details: Group
  close(): void
}

export function EditGroupDialog({ isOpen, ...props }: EditGroupProps & { isOpen: boolean }) {
  return (
    <Dialog isOpen={isOpen} title="Edit the group" close={props.close}>
      <EditGroupForm {...props} />
    </Dialog>
  )
}

function EditGroupForm({ group, details, close }: EditGroupProps) {
  const [name, setName] = useState(details.name)
  const [description, setDescription] = useState(details.description ?? '')
  const { run, isBusy, error } = useAction()

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    const isSaved = await run(() => group.update({ name: name.trim(), description: description.trim() }))
    if (isSaved) close()
  }

  return (
    <form onSubmit={submit}>
      <Stack>
        <GroupNameField name={name} change={setName} />
        <Textarea
          label="What it is about"
          autosize
          maxRows={6}
          dir="auto"
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        <Refusal error={error} />
        <Button type="submit" loading={isBusy} disabled={name.trim() === ''}>
          Save
        </Button>
      </Stack>
    </form>
  )
}
