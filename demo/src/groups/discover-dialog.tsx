import { Button, Stack } from '@mantine/core'
import { Plus } from 'lucide-react'
import { useCallback, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { goTo } from '../state/address.ts'
import { useChat } from '../state/chat.tsx'
import { useFound } from '../state/use-found.ts'
import styles from './discover-dialog.module.css'
import { FoundGroup } from './found-group.tsx'

interface DiscoverDialogProps {
  isOpen: boolean
  close(): void
  createGroup(): void
}

const shown = 50

export function DiscoverDialog({ isOpen, close, createGroup }: DiscoverDialogProps) {
  return (
    <Dialog isOpen={isOpen} title="Discover groups" close={close}>
      <Stack gap="sm">
        <GroupSearch close={close} />
        <Button variant="default" leftSection={<Plus size={16} aria-hidden />} onClick={createGroup}>
          Create a group
        </Button>
      </Stack>
    </Dialog>
  )
}

function GroupSearch({ close }: { close(): void }) {
  const { client } = useChat()
  const [words, setWords] = useState('')
  const find = useCallback(
    (searchKey: string) => client.groups.list({ ...(searchKey && { searchKey }), perPage: shown }).take(shown),
    [client],
  )
  const { items, status, retry } = useFound(words, find)

  function open(guid: string): void {
    close()
    goTo({ to: { group: guid } })
  }

  return (
    <>
      <SearchField label="Find groups" placeholder="A part of the name" words={words} change={setWords} />
      <div className={styles.found} aria-busy={status === 'loading'}>
        {items.length === 0 && status === 'loading' && <Loading what="groups" rows={4} />}
        {status === 'failed' && <Failed what="Groups could not be fetched." retry={retry} />}
        {items.length === 0 && status === 'ready' && <Empty what="No group is called so." />}
        <ul className={styles.groups} aria-label="Groups">
          {items.map((group) => (
            <FoundGroup key={group.guid} group={group} open={() => open(group.guid)} />
          ))}
        </ul>
      </div>
    </>
  )
}
