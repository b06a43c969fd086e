import type { Message } from '@parley/sdk/api'
import { type Reaction, reactionsIn } from './content.ts'
import { useTabIndex } from './inside.ts'
import styles from './reaction-bar.module.css'
import { useTalk } from './talk.tsx'

/** Who feels how about a message, by number. Choosing one joins in, or takes it back. */
export function ReactionBar({ message }: { message: Message }) {
  const { conversation, act } = useTalk()
  const tabIndex = useTabIndex()
  const reactions = reactionsIn(message)
  if (reactions.length === 0) return null

  function toggle({ reaction, reactedByMe }: Reaction): void {
    act(reactedByMe ? conversation.unreact(message.id, reaction) : conversation.react(message.id, reaction))
  }

  return (
    <ul className={styles.bar} aria-label="Reactions">
      {reactions.map((each) => (
        <li key={each.reaction}>
          <button
            type="button"
            className={styles.reaction}
            tabIndex={tabIndex}
            aria-pressed={each.reactedByMe === true}
            aria-label={`${each.reaction}, ${each.count}`}
            onClick={() => toggle(each)}
          >
            <span className={styles.sign}>{each.reaction}</span> {each.count}
          </button>
        </li>
      ))}
    </ul>
  )
}
