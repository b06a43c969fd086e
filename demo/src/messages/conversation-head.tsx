import { ActionIcon, Tooltip } from '@mantine/core'
import { ArrowLeft, type LucideIcon, Search, UserRound, Users } from 'lucide-react'
import { GroupAvatar } from '../parts/group-avatar.tsx'
import { LiveAvatar } from '../parts/person-avatar.tsx'
import { goTo, type Panel, useAddress } from '../state/address.ts'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'
import styles from './conversation-head.module.css'
import { PinsButton } from './pins-button.tsx'
import { useTalk } from './talk.tsx'
import { lastSeen } from './times.ts'
import { useTitle } from './use-title.ts'

/** Whom one talks to, how they are there, and what else there is to see. */
export function ConversationHead() {
  const { to } = useTalk().conversation
  const title = useTitle(to)
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
      {'user' in to ? <LiveAvatar uid={to.user} name={title} /> : <LiveGroupAvatar guid={to.group} />}
      <div className={styles.about}>
        <h1 className={styles.title}>
          <bdi>{title}</bdi>
        </h1>
        <p className={styles.state}>{'user' in to ? <PersonState uid={to.user} /> : <GroupState guid={to.group} />}</p>
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

function LiveGroupAvatar({ guid }: { guid: string }) {
  const { client } = useChat()
  const group = useStore(client.group(guid).details)
  return <GroupAvatar type={group?.type} size={36} />
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

function PersonState({ uid }: { uid: string }) {
  const { client } = useChat()
  const { online, lastActiveAt } = useStore(client.presence(uid))
  if (online) return 'Online'
  return lastActiveAt === undefined ? 'Offline' : `Last seen ${lastSeen(lastActiveAt)}`
}

function GroupState({ guid }: { guid: string }) {
  const { client } = useChat()
  const group = useStore(client.group(guid).details)
  if (!group) return 'Group'
  return group.membersCount === 1 ? '1 member' : `${group.membersCount} members`
}
