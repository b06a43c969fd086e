import type { Message } from '../generated/records.ts'
import type { Frame } from '../socket/frame.ts'

const comings = ['joined', 'added']
const goings = ['left', 'kicked', 'banned']

/** Whether a frame tells that the user came into a group, or is out of it. */
export function ownPassage({ type, body }: Frame, me: string): 'in' | 'out' | undefined {
  if (type === 'group' && body.action === 'deleted') return 'out'
  const { category, type: kind, data } = body as unknown as Message
  if (type !== 'message' || category !== 'action' || kind !== 'groupMember') return undefined
  const { action, entities } = data as { action: string; entities?: { on?: { entity?: { uid?: string } } } }
  if (entities?.on?.entity?.uid !== me) return undefined
  if (goings.includes(action)) return 'out'
  return comings.includes(action) ? 'in' : undefined
}
