import { Text } from '@mantine/core'
import type { LiveGroup } from '@parley/sdk'
import type { Standing } from '../groups/rights.ts'
import type { Question } from '../parts/confirm-dialog.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { useStore } from '../state/use-store.ts'
import { MemberRow } from './member-row.tsx'
import styles from './panel-list.module.css'

interface MemberListProps {
  group: LiveGroup
  owner: string
  own: Standing
  ask(question: Question): void
}

export function MemberList({ group, owner, own, ask }: MemberListProps) {
  const { items, status, hasMore } = useStore(group.members)
  const more = () => void group.members.loadMore().catch(() => {})

  if (items.length === 0 && status === 'failed') return <Failed what="Members could not be fetched." retry={more} />
  if (items.length === 0 && status !== 'ready') return <Loading what="members" />
  if (items.length === 0) return <Empty what="Nobody is in this group." />
  const online = items.filter(({ status }) => status === 'available').length
  return (
    <section aria-label="Members">
      <Text size="xs" c="var(--quiet)" px="md" role="status">
        {online} of {items.length}
        {hasMore ? ' shown' : ''} are online
      </Text>
      <ul className={styles.list}>
        {items.map((member) => (
          <MemberRow key={member.uid} {...{ group, member, own, ask }} isOwner={member.uid === owner} />
        ))}
      </ul>
      {hasMore && <LoadMore isLoading={status === 'loading'} load={more} />}
    </section>
  )
}
