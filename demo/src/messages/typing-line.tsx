import type { Conversation } from '@parley/sdk'
import { useStore } from '../state/use-store.ts'
import styles from './typing-line.module.css'
import { writingWords } from './writing-words.ts'

/** Who is writing. Its room is always there, so that nothing moves. */
export function TypingLine({ conversation }: { conversation: Conversation }) {
  const writers = useStore(conversation.typing)
  return (
    <div className={styles.line}>
      {writers.length > 0 && (
        <>
          <span className={styles.dots} aria-hidden>
            <i />
            <i />
            <i />
          </span>
          {writingWords(writers)}
        </>
      )}
    </div>
  )
}
