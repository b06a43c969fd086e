import { ActionIcon, Tooltip } from '@mantine/core'
import type { Group } from '@parley/sdk/api'
import { ArrowLeft, type LucideIcon, Search, UserRound, Users } from 'lucide-react'
import { GroupAvatar } from '../parts/group-avatar.tsx'
import { LastSeen } from '../parts/last-seen.tsx'
import { LiveAvatar } from '../parts/person-avatar.tsx'
import { goTo, type Panel, useAddress } from '../state/address.ts'
import { useGroup } from '../state/use-group.ts'
import styles from './conversation-head.module.css'
import { PinsButton } from './pins-button.tsx'
import { useTalk } from './talk.tsx'
import { useTitle } from './use-title.ts'

/** Whom one talks to, how they are there, and what else there is to see. */
export function ConversationHead() {
  const { to } = useTalk().conversation
  const title = useTitle(to)
  const group = useGroup(to)
  return (
    <header className={styles.head}>
      <ActionIcon
        className={styles.back ?? ''}
        variant="subtle"
        aria-label="All conversations"
        onClick={() => goTo({})}
      >
        <ArrowLeft size={20} className={styles.arrow} aria-hidden />
      </ActionIcon>
      {'user' in to ? <LiveAvatar uid={to.user} name={title} /> : <GroupAvatar type={group?.type} size={36} />}
      <div className={styles.about}>
        <h1 className={styles.title}>
          <bdi>{title}</bdi>
        </h1>
        <p className={styles.state}>{'user' in to ? <LastSeen uid={to.user} /> : sizeOf(group)}</p>
      </div>
      {'user' in to ? (
        <PanelButton kind="person" label="About this person" icon={UserRound} />
      ) : (
        <PanelButton kind="members" label="Members" icon={Users} />
      )}
      <PinsButton />
      <PanelButton kind="search" label="Search here" icon={Search} />
    </header>
  )
}

interface PanelButtonProps {
  kind: Exclude<Panel['kind'], 'thread'>
  label: string
  icon: LucideIcon
}

function PanelButton({ kind, label, icon: Icon }: PanelButtonProps) {
  const { to } = useTalk().conversation
  const { panel } = useAddress()
  const isOpen = panel?.kind === kind
  return (
    <Tooltip label={label} openDelay={400}>
      <ActionIcon
        variant={isOpen ? 'light' : 'subtle'}
        size="lg"
        aria-label={label}
        aria-pressed={isOpen}
        onClick={() => goTo(isOpen ? { to } : { to, panel: { kind } })}
      >
        <Icon size={20} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

function sizeOf(group: Group | undefined): string {
  if (!group) return 'Group'
  return group.membersCount === 1 ? '1 member' : `${group.membersCount} members`
}
