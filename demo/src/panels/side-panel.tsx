import type { To } from '@parley/sdk'
import type { Panel } from '../state/address.ts'

/** What is beside the conversation: a thread, its members, a search, or who somebody is. */
export function SidePanel({ panel }: { panel: Panel; to: To | undefined }) {
  return <p>{panel.kind}</p>
}
