import { Popover, SimpleGrid } from '@mantine/core'
import type { Message } from '@parley/sdk/api'
import styles from './reaction-picker.module.css'
import { offered } from './reactions.ts'
import { useTalk } from './talk.tsx'

/** Opens where it stands, for as long as it is there. */
export function ReactionPicker({ message, close }: { message: Message; close(): void }) {
  const { conversation, act } = useTalk()

  function choose(reaction: string): void {
    act(conversation.react(message.id, reaction))
    close()
  }

  return (
    <Popover opened onClose={close} onDismiss={close} trapFocus position="top" shadow="md" withinPortal>
      <Popover.Target>
        <span className={styles.place} />
      </Popover.Target>
      <Popover.Dropdown p={8} aria-label="Choose a reaction">
        <SimpleGrid cols={8} spacing={2} verticalSpacing={2}>
          {offered.map((reaction) => (
            <button
              key={reaction}
              type="button"
              className={styles.choice}
              aria-label={`React with ${reaction}`}
              onClick={() => choose(reaction)}
            >
              {reaction}
            </button>
          ))}
        </SimpleGrid>
      </Popover.Dropdown>
    </Popover>
  )
}
