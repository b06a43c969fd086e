import { Text, UnstyledButton } from '@mantine/core'
import { Check } from 'lucide-react'
import { DottedAvatar } from '../parts/person-avatar.tsx'
import styles from './person-button.module.css'

export interface Person {
  uid: string
  name: string
  status: 'available' | 'offline'
  statusMessage?: string
}

interface PersonButtonProps {
  person: Person
  choose(): void
  /** Where several can be chosen. */
  isChosen?: boolean | undefined
}

/** Somebody to choose from a list. */
export function PersonButton({ person, choose, isChosen }: PersonButtonProps) {
  const { name, status, statusMessage, uid } = person
  return (
    <UnstyledButton className={styles.person ?? ''} onClick={choose} aria-pressed={isChosen}>
      <DottedAvatar name={name} isOnline={status === 'available'} />
      <span className={styles.words}>
        <Text component="span" display="block" truncate>
          <bdi>{name}</bdi>
        </Text>
        <Text component="span" display="block" truncate size="xs" c="var(--quiet)">
          <bdi>{statusMessage ?? uid}</bdi>
        </Text>
      </span>
      {isChosen && <Check size={18} aria-hidden />}
    </UnstyledButton>
  )
}
