import { VisuallyHidden } from '@mantine/core'
import type { Message } from '@parley/sdk/api'
import { MessageSquareReply, MoreHorizontal, SmilePlus } from 'lucide-react'
import type { ReactNode } from 'react'
import { quoteInDraft } from '../state/drafts.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { useTabIndex } from './inside.ts'
import { MessageMenu } from './message-menu.tsx'
import styles from './message-tools.module.css'
import { ReactionPicker } from './reaction-picker.tsx'
import { useTalk } from './talk.tsx'

export type Tool = 'menu' | 'reactions' | 'deletion'

export interface MessageToolsProps {
  message: Message
  isOwn: boolean
  tool: Tool | undefined
  choose(tool: Tool | undefined): void
}

/** What can be done with a message, while somebody is at it. */
export function MessageTools({ message, isOwn, tool, choose }: MessageToolsProps) {
  const { draft } = useTalk()
  if (message.deletedAt !== undefined) return null
  return (
    <div className={styles.tools}>
      <ToolButton label="React" onClick={() => choose('reactions')}>
        <SmilePlus size={16} aria-hidden />
      </ToolButton>
      <ToolButton label="Quote" onClick={() => quoteInDraft(draft, message)}>
        <MessageSquareReply size={16} aria-hidden />
      </ToolButton>
      <ToolButton label="More" hasMenu onClick={() => choose('menu')}>
        <MoreHorizontal size={16} aria-hidden />
      </ToolButton>
      {tool === 'menu' && <MessageMenu message={message} isOwn={isOwn} choose={choose} />}
      {tool === 'reactions' && <ReactionPicker message={message} close={() => choose(undefined)} />}
      {tool === 'deletion' && <DeleteDialog message={message} close={() => choose(undefined)} />}
    </div>
  )
}

interface ToolButtonProps {
  label: string
  hasMenu?: boolean
  onClick(): void
  children: ReactNode
}

function ToolButton({ label, hasMenu, onClick, children }: ToolButtonProps) {
  return (
    <button
      type="button"
      className={styles.tool}
      title={label}
      tabIndex={useTabIndex()}
      aria-haspopup={hasMenu ? 'menu' : undefined}
      onClick={onClick}
    >
      {children}
      <VisuallyHidden>{label}</VisuallyHidden>
    </button>
  )
}
