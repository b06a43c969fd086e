import type { Message } from '@parley/sdk/api'
import { MessageSquareReply } from 'lucide-react'
import { quoteInDraft } from '../state/drafts.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { MessageMenu } from './message-menu.tsx'
import styles from './message-tools.module.css'
import { ReactionPicker } from './reaction-picker.tsx'
import { useTalk } from './talk.tsx'
import { ToolButton } from './tool-button.tsx'

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
      <ReactionPicker
        message={message}
        isOpen={tool === 'reactions'}
        setIsOpen={(isOpen) => choose(isOpen ? 'reactions' : undefined)}
      />
      <div className={styles.quote}>
        <ToolButton label="Quote" icon={MessageSquareReply} onClick={() => quoteInDraft(draft, message)} />
      </div>
      <MessageMenu {...{ message, isOwn, tool, choose }} />
      {tool === 'deletion' && <DeleteDialog message={message} close={() => choose(undefined)} />}
    </div>
  )
}
