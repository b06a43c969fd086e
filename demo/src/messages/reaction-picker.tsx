import { Popover } from '@mantine/core'
import type { Message } from '@parley/sdk/api'
import { SmilePlus } from 'lucide-react'
import { EmojiPicker } from '../parts/emoji-picker.tsx'
import { useTalk } from './talk.tsx'
import { ToolButton } from './tool-button.tsx'

interface ReactionPickerProps {
  message: Message
  isOpen: boolean
  setIsOpen(isOpen: boolean): void
}

export function ReactionPicker({ message, isOpen, setIsOpen }: ReactionPickerProps) {
  const { conversation, act } = useTalk()

  function choose(reaction: string): void {
    act(conversation.react(message.id, reaction))
    setIsOpen(false)
  }

  return (
    <Popover opened={isOpen} onChange={setIsOpen} trapFocus position="top" shadow="md">
      <Popover.Target>
        <ToolButton label="React" icon={SmilePlus} onClick={() => setIsOpen(!isOpen)} />
      </Popover.Target>
      <Popover.Dropdown p={8} aria-label="Choose a reaction">
        <EmojiPicker choose={choose} />
      </Popover.Dropdown>
    </Popover>
  )
}
