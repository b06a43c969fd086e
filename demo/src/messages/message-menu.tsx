import { Menu } from '@mantine/core'
import type { Message } from '@parley/sdk/api'
import {
  Copy,
  MailOpen,
  MessageSquareReply,
  MessagesSquare,
  Pencil,
  Pin,
  PinOff,
  SmilePlus,
  Trash2,
} from 'lucide-react'
import { goTo } from '../state/address.ts'
import { editInDraft, quoteInDraft } from '../state/drafts.ts'
import { plainText } from './content.ts'
import styles from './message-tools.module.css'
import type { MessageToolsProps } from './message-tools.tsx'
import { useTalk } from './talk.tsx'
import { useMarkUnread } from './use-mark-unread.ts'

type MessageMenuProps = Pick<MessageToolsProps, 'message' | 'isOwn' | 'choose'>

/** Opens where it stands, for as long as it is there. */
export function MessageMenu({ message, isOwn, choose }: MessageMenuProps) {
  const { conversation, thread, draft, isModerator, act } = useTalk()
  const markUnread = useMarkUnread()
  const text = plainText(message.data)
  const mayChange = isOwn || ('group' in conversation.to && isModerator)
  const reply = () => goTo({ to: conversation.to, panel: { kind: 'thread', id: message.id } })

  return (
    <Menu opened onClose={() => choose(undefined)} position="bottom-end" width={200} returnFocus={false} withinPortal>
      <Menu.Target>
        <span className={styles.place} />
      </Menu.Target>
      <Menu.Dropdown aria-label="What to do with this message">
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
      </Menu.Dropdown>
    </Menu>
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
      {...(isGrave && { color: 'red' })}
      onClick={run}
    >
      {label}
    </Menu.Item>
  )
}
