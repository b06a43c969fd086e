import type { To } from '@parley/sdk'
import { ThreadPanel } from '../messages/thread-panel.tsx'
import { Empty } from '../parts/states.tsx'
import type { Panel } from '../state/address.ts'
import { useChat } from '../state/chat.tsx'
import { MemberPanel } from './member-panel.tsx'
import { PersonPanel } from './person-panel.tsx'
import { SearchPanel } from './search-panel.tsx'

/** What is beside the conversation: a thread, its members, a search, or who somebody is. */
export function SidePanel({ panel, to }: { panel: Panel; to: To | undefined }) {
  const { client } = useChat()
  if (panel.kind === 'search') return <SearchPanel panel={panel} to={to} />
  if (panel.kind === 'thread' && to) {
    return <ThreadPanel key={panel.id} conversation={client.conversation(to)} id={panel.id} />
  }
  if (panel.kind === 'members' && to && 'group' in to) return <MemberPanel key={to.group} guid={to.group} />
  const uid = panel.kind === 'person' ? (panel.uid ?? (to && 'user' in to ? to.user : undefined)) : undefined
  if (uid !== undefined) return <PersonPanel key={uid} uid={uid} />
  return <Empty what="There is nothing to show here." />
}
