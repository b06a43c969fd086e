import { Button, Stack } from '@mantine/core'
import { Users } from 'lucide-react'
import { Dialog } from '../parts/dialog.tsx'
import { goTo } from '../state/address.ts'
import { PeopleSearch } from './people-search.tsx'

interface NewConversationDialogProps {
  isOpen: boolean
  close(): void
  createGroup(): void
}

export function NewConversationDialog({ isOpen, close, createGroup }: NewConversationDialogProps) {
  function write(uid: string): void {
    close()
    goTo({ to: { user: uid } })
  }

  return (
    <Dialog isOpen={isOpen} title="Write to somebody" close={close}>
      <Stack gap="sm">
        <PeopleSearch choose={({ uid }) => write(uid)} />
        <Button variant="default" leftSection={<Users size={16} aria-hidden />} onClick={createGroup}>
          Create a group instead
        </Button>
      </Stack>
    </Dialog>
  )
}
