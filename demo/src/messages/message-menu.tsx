import { Menu } from '@mantine/core'
import type { Message } from '@parley/sdk/api'
import {
  Copy,
  MailOpen,
  MessageSquareReply,
  MessagesSquare,
  MoreHorizontal,
  Pencil,
  Pin,
  PinOff,
  SmilePlus,
  Trash2,
} from 'lucide-react'
import { goTo } from '../state/address.ts'
import { editInDraft, quoteInDraft } from '../state/drafts.ts'
import { plainText } from './content.ts'
import type { MessageToolsProps } from './message-tools.tsx'
import { useTalk } from './talk.tsx'
import { ToolButton } from './tool-button.tsx'
import { useMarkUnread } from './use-mark-unread.ts'

/** Opens at its button; the key that has opened it from elsewhere must not close it as one that is pressed outside. */
export function MessageMenu({ message, isOwn, tool, choose }: MessageToolsProps) {
  return (
    <Menu
      opened={tool === 'menu'}
      onChange={(isOpen) => choose(isOpen ? 'menu' : undefined)}
      clickOutsideEvents={['mousedown', 'touchstart']}
      position={isOwn ? 'bottom-end' : 'bottom-start'}
      width={200}
      returnFocus={false}
    >
      <Menu.Target>
        <ToolButton label="More" icon={MoreHorizontal} />
      </Menu.Target>
      <Menu.Dropdown aria-label="What to do with this message">
        <Choices message={message} isOwn={isOwn} choose={choose} />
      </Menu.Dropdown>
    </Menu>
  )
}

function Choices({ message, isOwn, choose }: Omit<MessageToolsProps, 'tool'>) {
  const { conversation, thread, draft, isModerator, act } = useTalk()
  const markUnread = useMarkUnread()
  const text = plainText(message.data)
  const mayChange = isOwn || ('group' in conversation.to && isModerator)
  const reply = () => goTo({ to: conversation.to, panel: { kind: 'thread', id: message.id } })
  return (
    <>
      {thread === undefined && <Choice icon={MessagesSquare} label="Reply in a thread" run={reply} />}
      <Choice icon={MessageSquareReply} label="Quote" run={() => quoteInDraft(draft, message)} />
      <Choice icon={SmilePlus} label="React" keepsOpen run={() => choose('reactions')} />
      {isOwn && text !== '' && <Choice icon={Pencil} label="Edit" run={() => editInDraft(draft, message)} />}
      {text !== '' && <Choice icon={Copy} label="Copy text" run={() => act(navigator.clipboard.writeText(text))} />}
      {isModerator && thread === undefined && <PinChoice message={message} />}
      {!isOwn && thread === undefined && (
        <Choice icon={MailOpen} label="Mark as unread" run={() => markUnread(message)} />
      )}
      {mayChange && <Choice icon={Trash2} label="Delete" isGrave keepsOpen run={() => choose('deletion')} />}
    </>
  )
}

function PinChoice({ message: { id, pinnedAt } }: { message: Message }) {
  const { conversation, act } = useTalk()
  return pinnedAt === undefined ? (
    <Choice icon={Pin} label="Pin" run={() => act(conversation.pin(id))} />
  ) : (
    <Choice icon={PinOff} label="Unpin" run={() => act(conversation.unpin(id))} />
  )
}

interface ChoiceProps {
  icon: typeof Copy
  label: string
  isGrave?: boolean
  /** Something else opens in its place. */
  keepsOpen?: boolean
  run(): void
}

function Choice({ icon: Icon, label, isGrave = false, keepsOpen = false, run }: ChoiceProps) {
  return (
    <Menu.Item
      leftSection={<Icon size={16} aria-hidden />}
      closeMenuOnClick={!keepsOpen}
      {...(isGrave && { c: 'var(--grave)' })}
      onClick={run}
    >
      {label}
    </Menu.Item>
  )
}
