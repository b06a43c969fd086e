import { ActionIcon, Tooltip } from '@mantine/core'
import { Compass, Search, SquarePen } from 'lucide-react'
import type { ReactNode } from 'react'
import { goTo, useAddress } from '../state/address.ts'
import type { ListDialog } from './conversation-list.tsx'
import styles from './list-head.module.css'
import { OwnMenu } from './own-menu.tsx'

export function ListHead({ open }: { open(dialog: ListDialog): void }) {
  const { to } = useAddress()
  const search = () => goTo({ ...(to && { to }), panel: { kind: 'search', everywhere: true } })
  return (
    <header className={styles.head}>
      <OwnMenu open={open} />
      <HeadButton label="Search everywhere" act={search}>
        <Search size={18} aria-hidden />
      </HeadButton>
      <HeadButton label="Discover groups" act={() => open('discover')}>
        <Compass size={18} aria-hidden />
      </HeadButton>
      <HeadButton label="New conversation" act={() => open('new')}>
        <SquarePen size={18} aria-hidden />
      </HeadButton>
    </header>
  )
}

function HeadButton({ label, act, children }: { label: string; act(): void; children: ReactNode }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} onClick={act}>
        {children}
      </ActionIcon>
    </Tooltip>
  )
}
