import { VisuallyHidden } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { ConversationList } from '../conversations/conversation-list.tsx'
import { ConversationView } from '../messages/conversation-view.tsx'
import { SidePanel } from '../panels/side-panel.tsx'
import { Empty } from '../parts/states.tsx'
import { useAddress } from '../state/address.ts'
import { Announcer } from './announcer.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import styles from './shell.module.css'
import { useLandmarks } from './use-landmarks.ts'
import { useNotifications } from './use-notifications.ts'
import { useTabTitle } from './use-tab-title.ts'

/** Conversations, messages, and one panel beside them. Where there is less room, what was chosen last is on show. */
export function Shell() {
  const { to, panel } = useAddress()
  useTabTitle()
  useLandmarks()
  useNotifications()
  const showing = panel ? 'panel' : to ? 'messages' : 'conversations'
  const hasRoom = useRoomFor(showing)
  return (
    <div className={styles.shell} data-showing={showing} role={hasRoom ? undefined : 'main'}>
      {!hasRoom && <VisuallyHidden component="h1">Parley</VisuallyHidden>}
      <ConnectionBanner />
      <nav className={styles.conversations} aria-label="Conversations">
        <ConversationList />
      </nav>
      <main className={styles.messages}>
        {to ? <ConversationView key={JSON.stringify(to)} to={to} /> : <NothingChosen />}
      </main>
      {panel && (
        <aside className={styles.panel} aria-label="Beside the conversation" role={hasRoom ? undefined : 'region'}>
          <SidePanel panel={panel} to={to} />
        </aside>
      )}
      <Announcer />
    </div>
  )
}

/** Whether messages are in sight beside what is on show. Where they are not, the rest is what the page is about. */
function useRoomFor(showing: 'panel' | 'messages' | 'conversations'): boolean {
  const isNarrow = useMediaQuery('(max-width: 899px)')
  const isPhone = useMediaQuery('(max-width: 599px)')
  if (showing === 'messages') return true
  return showing === 'panel' ? !isNarrow : !isPhone
}

function NothingChosen() {
  return (
    <>
      <VisuallyHidden component="h1">Parley</VisuallyHidden>
      <Empty what="Choose a conversation." />
    </>
  )
}
