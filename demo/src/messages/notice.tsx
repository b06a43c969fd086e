import { CloseButton } from '@mantine/core'
import styles from './notice.module.css'
import { useNotice } from './talk.tsx'

/** Why the last thing that was done here did not work. */
export function Notice() {
  const { notice, dismiss } = useNotice()
  return (
    <div role="alert">
      {notice !== undefined && (
        <p className={styles.notice}>
          <span>That did not work. {notice}</span>
          <CloseButton size="sm" aria-label="Close this notice" onClick={dismiss} />
        </p>
      )}
    </div>
  )
}
