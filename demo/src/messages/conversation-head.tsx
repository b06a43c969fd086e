import { ActionIcon, Tooltip } from '@mantine/core'
import type { Conversation, To } from '@parley/sdk'
import { ArrowLeft, type LucideIcon, Search, UserRound, Users } from 'lucide-react'
import { GroupAvatar } from '../parts/group-avatar.tsx'
import { LastSeen } from '../parts/last-seen.tsx'
import { LiveAvatar } from '../parts/person-avatar.tsx'
import { goTo, type Panel, useAddress } from '../state/address.ts'
import { useGroup } from '../state/use-group.ts'
import { useStore } from '../state/use-store.ts'
import styles from './conversation-head.module.css'
import { PinsButton } from './pins-button.tsx'
import { useTalk } from './talk.tsx'
import { useTitle } from './use-title.ts'
import { writingWords } from './writing-words.ts'

/** Whom one talks to, how they are there, and what else there is to see. */
export function ConversationHead() {
  const { conversation } = useTalk()
  const { to } = conversation
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
        <h1 className={styles.title} dir="auto">
          {title}
        </h1>
        <p className={styles.state}>
          <State conversation={conversation} />
        </p>
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

function State({ conversation }: { conversation: Conversation }) {
  const writers = useStore(conversation.typing)
  const { to } = conversation
  if (writers.length > 0) return <span className={styles.writing}>{writingWords(writers)} …</span>
  return 'user' in to ? <LastSeen uid={to.user} /> : <GroupState to={to} />
}

function GroupState({ to }: { to: To }) {
  const group = useGroup(to)
  if (!group) return 'Group'
  return group.membersCount === 1 ? '1 member' : `${group.membersCount} members`
}
