import { useMediaQuery } from '@mantine/hooks'
import { LoadMore } from '../parts/load-more.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import type { Panel } from '../state/address.ts'
import { FoundMessage } from './found-message.tsx'
import styles from './panel-list.module.css'
import type { useMessageSearch } from './use-message-search.ts'

interface FoundMessagesProps {
  search: ReturnType<typeof useMessageSearch>
  panel: Panel
}

export function FoundMessages({ search, panel }: FoundMessagesProps) {
  const { items, status, hasMore, words, loadMore, retry } = search
  // Where the panel takes the place of the messages, it makes room for what was found.
  const isBeside = useMediaQuery('(min-width: 900px)')

  if (status === 'idle') return <Empty what="Messages that hold all your words are shown here." />
  if (status === 'failed') return <Failed what="The search did not work." retry={retry} />
  if (items.length === 0 && status === 'loading') return <Loading what="what was found" rows={4} />
  if (items.length === 0) return <Empty what={`Nothing says “${words}”.`} />
  return (
    <>
      <ul className={styles.list} aria-label="Found messages">
        {items.map((message) => (
          <FoundMessage key={message.id} message={message} words={words} panel={isBeside ? panel : undefined} />
        ))}
      </ul>
      {hasMore && <LoadMore isLoading={status === 'loading'} load={loadMore} />}
    </>
  )
}
