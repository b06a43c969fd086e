import { Popover } from '@mantine/core'
import { Smile } from 'lucide-react'
import { useState } from 'react'
import { EmojiPicker } from '../parts/emoji-picker.tsx'
import { ToolButton } from './tool-button.tsx'

export function EmojiButton({ choose }: { choose(emoji: string): void }) {
  const [isOpen, setIsOpen] = useState(false)

  function take(emoji: string): void {
    setIsOpen(false)
    choose(emoji)
  }

  return (
    <Popover {...{ opened: isOpen, onChange: setIsOpen, position: 'top-end', trapFocus: true, shadow: 'md' }}>
      <Popover.Target>
        <ToolButton label="Emoji" icon={Smile} onClick={() => setIsOpen((was) => !was)} />
      </Popover.Target>
      <Popover.Dropdown p={8} aria-label="Emoji">
        <EmojiPicker choose={take} />
      </Popover.Dropdown>
    </Popover>
  )
}
