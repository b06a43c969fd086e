import { Text } from '@mantine/core'
import type { LiveGroup } from '@parley/sdk'
import type { BannedUser } from '@parley/sdk/api'
import { LoadMore } from '../parts/load-more.tsx'
import { PersonAction } from '../parts/person-action.tsx'
import { Refusal } from '../parts/refusal.tsx'
import { Failed } from '../parts/states.tsx'
import { useAction } from '../state/use-action.ts'
import { useStore } from '../state/use-store.ts'
import styles from './panel-list.module.css'

/** Who may not come back. Where that is nobody, nothing is said about it. */
export function BannedList({ group }: { group: LiveGroup }) {
  const { items, status, hasMore } = useStore(group.banned)
  const more = () => void group.banned.loadMore().catch(() => {})

  if (items.length === 0 && status === 'failed') return <Failed what="Bans could not be fetched." retry={more} />
  if (items.length === 0) return null
  return (
    <section aria-label="Banned">
      <Text size="xs" c="var(--quiet)" px="md" pt="sm">
        Banned
      </Text>
      <ul className={styles.list}>
        {items.map((person) => (
          <BannedRow key={person.uid} group={group} person={person} />
        ))}
      </ul>
      {hasMore && <LoadMore isLoading={status === 'loading'} load={more} />}
    </section>
  )
}

function BannedRow({ group, person: { uid, name } }: { group: LiveGroup; person: BannedUser }) {
  const { run, isBusy, error } = useAction()
  return (
    <li>
      <div className={styles.row}>
        <PersonAction
          name={name}
          label="Lift ban"
          fullLabel={`Lift the ban on ${name}`}
          isBusy={isBusy}
          run={() => run(() => group.unban(uid))}
        />
      </div>
      <Refusal error={error} />
    </li>
  )
}
