import { Text } from '@mantine/core'
import { LiveAvatar } from '../parts/person-avatar.tsx'
import styles from './mention-picker.module.css'
import type { MentionPickerState } from './use-mention-picker.ts'

/** Above the box; the focus stays in it. */
export function MentionPicker({ isOpen, people, index, listId, optionId, choose }: MentionPickerState) {
  if (!isOpen) return null
  return (
    <div role="listbox" id={listId} aria-label="People to mention" className={styles.list}>
      {people.map((person, n) => (
        <div
          key={person.uid}
          role="option"
          tabIndex={-1}
          id={optionId(n)}
          aria-selected={n === index}
          className={styles.person}
          // A click comes too late: the box would have lost the focus.
          onMouseDown={(event) => {
            event.preventDefault()
            choose(person)
          }}
        >
          <LiveAvatar uid={person.uid} name={person.name} size={28} />
          <Text truncate>
            <bdi>{person.name}</bdi>
          </Text>
        </div>
      ))}
    </div>
  )
}
