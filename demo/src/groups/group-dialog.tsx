import { Button, Fieldset, PasswordInput, Stack } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/refusal.tsx'
import { PeopleChooser } from '../people/people-chooser.tsx'
import type { Person } from '../people/person-button.tsx'
import { goTo } from '../state/address.ts'
import { useChat } from '../state/chat.tsx'
import { useAction } from '../state/use-action.ts'
import { createGroup, type GroupType } from './create-group.ts'
import { GroupNameField } from './group-name-field.tsx'
import { GroupTypeChoice } from './group-type-choice.tsx'

export function GroupDialog({ isOpen, close }: { isOpen: boolean; close(): void }) {
  return (
    <Dialog isOpen={isOpen} title="New group" close={close}>
      <GroupForm close={close} />
    </Dialog>
  )
}

function GroupForm({ close }: { close(): void }) {
  const { client } = useChat()
  const { run, isBusy, error } = useAction()
  const [name, setName] = useState('')
  const [type, setType] = useState<GroupType>('public')
  const [password, setPassword] = useState('')
  const [people, setPeople] = useState<readonly Person[]>([])

  function submit(event: FormEvent): void {
    event.preventDefault()
    const members = people.map(({ uid }) => uid)
    void run(async () => {
      const guid = await createGroup(client, { name: name.trim(), type, password, members })
      close()
      goTo({ to: { group: guid } })
    })
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <GroupNameField name={name} change={setName} />
        <GroupTypeChoice type={type} change={setType} />
        {type === 'password' && (
          <PasswordInput
            label="Password"
            required
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        )}
        <Fieldset legend="Members" variant="unstyled">
          <PeopleChooser chosen={people} change={setPeople} />
        </Fieldset>
        <Refusal error={error} />
        <Button type="submit" loading={isBusy} disabled={name.trim() === ''}>
          Create the group
        </Button>
      </Stack>
    </form>
  )
}
