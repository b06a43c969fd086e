import type { Conversation } from '@parley/sdk'
import { draftKey } from '../state/drafts.ts'
import { BlockedNotice, JoinNotice } from './closed.tsx'
import { MessageForm } from './message-form.tsx'
import { useStanding } from './use-standing.ts'

/** Where to write; or why one cannot, and what to do about it. */
export function Composer({ conversation, thread }: { conversation: Conversation; thread?: string }) {
  const { to } = conversation
  const standing = useStanding(conversation)
  if ('user' in to && standing === 'blocked') return <BlockedNotice uid={to.user} />
  if ('group' in to && standing === 'out') return <JoinNotice guid={to.group} />
  const key = draftKey(to, thread)
  return <MessageForm key={key} draftKey={key} conversation={conversation} thread={thread} />
}
