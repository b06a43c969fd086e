import { Button } from '@mantine/core'
import { useCallback, useState } from 'react'
import { DiscoverDialog } from '../groups/discover-dialog.tsx'
import { GroupDialog } from '../groups/group-dialog.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { BlockedDialog } from '../people/blocked-dialog.tsx'
import { NewConversationDialog } from '../people/new-conversation-dialog.tsx'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'
import { ConversationRows } from './conversation-rows.tsx'
import { ListHead } from './list-head.tsx'
import { StatusDialog } from './status-dialog.tsx'

/** What can be opened from the head of the list. */
export type ListDialog = 'new' | 'discover' | 'group' | 'status' | 'blocked'

/** Who the user is, and whom they talk with. */
export function ConversationList() {
  const [dialog, open] = useState<ListDialog>()
  const close = () => open(undefined)
  return (
    <>
      <ListHead open={open} />
      <ListBody writeToSomebody={() => open('new')} />
      <NewConversationDialog isOpen={dialog === 'new'} close={close} createGroup={() => open('group')} />
      <DiscoverDialog isOpen={dialog === 'discover'} close={close} createGroup={() => open('group')} />
      <GroupDialog isOpen={dialog === 'group'} close={close} />
      <StatusDialog isOpen={dialog === 'status'} close={close} />
      <BlockedDialog isOpen={dialog === 'blocked'} close={close} />
    </>
  )
}

function ListBody({ writeToSomebody }: { writeToSomebody(): void }) {
  const { client } = useChat()
  const { items, status, hasMore } = useStore(client.conversations)
  const loadMore = useCallback(() => void client.conversations.loadMore().catch(() => {}), [client])

  if (items.length > 0) {
    return (
      <>
        <ConversationRows items={items} hasMore={hasMore && status === 'ready'} loadMore={loadMore} />
        {hasMore && status === 'failed' && <LoadMore isLoading={false} load={loadMore} />}
      </>
    )
  }
  if (status === 'failed') return <Failed what="Your conversations could not be fetched." retry={loadMore} />
  if (status !== 'ready') return <Loading what="conversations" />
  return (
    <Empty what="You have no conversations yet.">
      <Button onClick={writeToSomebody}>Write to somebody</Button>
    </Empty>
  )
}
