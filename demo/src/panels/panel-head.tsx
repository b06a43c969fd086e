import { ActionIcon, Title } from '@mantine/core'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { goTo, useAddress } from '../state/address.ts'
import styles from './panel-head.module.css'

/** What a panel is, and the way out of it. */
export function PanelHead({ title, children }: { title: string; children?: ReactNode }) {
  const { to } = useAddress()
  return (
    <header className={styles.head}>
      <Title order={2} size="h5" flex={1} className={styles.title ?? ''}>
        {title}
      </Title>
      {children}
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={`Close ${title}`}
        onClick={() => goTo(to ? { to } : {})}
      >
        <X size={18} aria-hidden />
      </ActionIcon>
    </header>
  )
}
