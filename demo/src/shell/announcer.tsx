import { VisuallyHidden } from '@mantine/core'
import { useAnnouncement } from './use-announcement.ts'

/** Tells whoever listens to the page what is new. The lists themselves stay silent. */
export function Announcer() {
  const { words, count } = useAnnouncement()
  return (
    <VisuallyHidden aria-live="polite">
      {/* Another element each time, so that the same words are spoken again. */}
      <p key={count}>{words}</p>
    </VisuallyHidden>
  )
}
