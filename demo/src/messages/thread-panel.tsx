import { ActionIcon, Button } from '@mantine/core'
import type { Conversation } from '@parley/sdk'
import { X } from 'lucide-react'
import { useCallback } from 'react'
import { Composer } from '../composer/composer.tsx'
import { Failed, Loading } from '../parts/states.tsx'
import { goTo, useAddress } from '../state/address.ts'
import { useStore } from '../state/use-store.ts'
import { Message } from './message.tsx'
import { MessageList } from './message-list.tsx'
import { Notice } from './notice.tsx'
import { TalkProvider, useTalk } from './talk.tsx'
import styles from './thread-panel.module.css'
import { useOverview } from './use-overview.ts'
import { useParent } from './use-parent.ts'
import { useWanted } from './use-wanted.ts'

/** A message, and the replies to it. */
export function ThreadPanel({ conversation, id }: { conversation: Conversation; id: string }) {
  const { message } = useAddress()
  const [wanted, show] = useWanted(message)
  return (
    <TalkProvider conversation={conversation} thread={id} show={show}>
      <Head id={id} />
      <Parent id={id} />
      <Replies id={id} wanted={wanted} />
      <Notice />
      <Composer conversation={conversation} thread={id} />
    </TalkProvider>
  )
}

function Head({ id }: { id: string }) {
  const { conversation, act } = useTalk()
  const { parent } = useParent(conversation, id)
  const thread = conversation.thread(id)
  const isFollowed = parent?.threadSubscribed === true
  return (
    <header className={styles.head}>
      <h2 className={styles.title}>Thread</h2>
      {parent && (
        <Button
          size="compact-sm"
          variant="default"
          aria-pressed={isFollowed}
          onClick={() => act(isFollowed ? thread.unfollow() : thread.follow())}
        >
          {isFollowed ? 'Following' : 'Follow'}
        </Button>
      )}
      <ActionIcon
        variant="subtle"
        size="lg"
        aria-label="Close the thread"
        onClick={() => goTo({ to: conversation.to })}
      >
        <X size={20} aria-hidden />
      </ActionIcon>
    </header>
  )
}

function Parent({ id }: { id: string }) {
  const { conversation } = useTalk()
  const { parent, hasFailed, retry } = useParent(conversation, id)
  if (hasFailed) return <Failed what="The message could not be fetched." retry={retry} />
  if (!parent) return <Loading what="the message" rows={1} />
  return (
    <div className={styles.parent}>
      <Message message={parent} isFirstOfRun isCurrent />
    </div>
  )
}

function Replies({ id, wanted }: { id: string; wanted: ReturnType<typeof useWanted>[0] }) {
  const { conversation } = useTalk()
  const { messages } = conversation.thread(id)
  const { items, status } = useStore(messages)
  const { parent } = useParent(conversation, id)
  const { item } = useOverview(conversation.to)
  // Reading goes up to a message of the whole conversation: what was not seen there must not be read here.
  const hasUnread = item?.unread === 0 && (parent?.unreadRepliesCount ?? 0) > 0
  const retry = useCallback(() => void messages.jumpToEnd().catch(() => {}), [messages])
  if (items.length === 0 && status === 'failed') return <Failed what="Replies could not be fetched." retry={retry} />
  if (items.length === 0 && status !== 'ready') return <Loading what="replies" rows={3} />
  if (items.length === 0) return <p className={styles.empty}>Nobody has replied yet.</p>
  return <MessageList {...{ conversation, messages, wanted }} thread={id} hasUnread={hasUnread} />
}
