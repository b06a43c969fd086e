import { Button, Group } from '@mantine/core'
import { Dialog } from '../parts/dialog.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { PersonAction } from '../parts/person-action.tsx'
import { Refusal } from '../parts/refusal.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { useChat } from '../state/chat.tsx'
import { useAction } from '../state/use-action.ts'
import { useStore } from '../state/use-store.ts'

export function BlockedDialog({ isOpen, close }: { isOpen: boolean; close(): void }) {
  return (
    <Dialog isOpen={isOpen} title="Blocked people" close={close}>
      <BlockedPeople close={close} />
    </Dialog>
  )
}

function BlockedPeople({ close }: { close(): void }) {
  const { client } = useChat()
  const { items, status, hasMore } = useStore(client.blocked)
  const more = () => void client.blocked.loadMore().catch(() => {})

  if (items.length === 0 && status === 'failed') return <Failed what="The list could not be fetched." retry={more} />
  if (items.length === 0 && status !== 'ready') return <Loading what="blocked people" rows={3} />
  if (items.length === 0) {
    return (
      <Empty what="You have blocked nobody.">
        <Button onClick={close}>Good</Button>
      </Empty>
    )
  }
  return (
    <>
      {items.map(({ uid, name }) => (
        <BlockedPerson key={uid} uid={uid} name={name} />
      ))}
      {hasMore && <LoadMore isLoading={status === 'loading'} load={more} />}
    </>
  )
}

function BlockedPerson({ uid, name }: { uid: string; name: string }) {
  const { client } = useChat()
  const { run, isBusy, error } = useAction()
  return (
    <>
      <Group wrap="nowrap" py={6}>
        <PersonAction
          name={name}
          label="Unblock"
          fullLabel={`Unblock ${name}`}
          isBusy={isBusy}
          run={() => run(() => client.unblock(uid))}
        />
      </Group>
      <Refusal error={error} />
    </>
  )
}
