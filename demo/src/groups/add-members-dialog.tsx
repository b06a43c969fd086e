import { Button, Stack } from '@mantine/core'
import type { LiveGroup } from '@parley/sdk'
import { useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/refusal.tsx'
import { PeopleChooser } from '../people/people-chooser.tsx'
import type { Person } from '../people/person-button.tsx'
import { useAction } from '../state/use-action.ts'

interface AddMembersDialogProps {
  group: LiveGroup
  isOpen: boolean
  close(): void
}

export function AddMembersDialog({ group, isOpen, close }: AddMembersDialogProps) {
  return (
    <Dialog isOpen={isOpen} title="Add members" close={close}>
      <AddMembers group={group} close={close} />
    </Dialog>
  )
}

function AddMembers({ group, close }: { group: LiveGroup; close(): void }) {
  const [people, setPeople] = useState<readonly Person[]>([])
  const { run, isBusy, error } = useAction()

  async function add(): Promise<void> {
    const areIn = await run(() => group.add(people.map(({ uid }) => uid)))
    if (areIn) close()
  }

  return (
    <Stack gap="sm">
      <PeopleChooser chosen={people} change={setPeople} />
      <Refusal error={error} />
      <Button loading={isBusy} disabled={people.length === 0} onClick={add}>
        Add to the group
      </Button>
    </Stack>
  )
}
