import type { Message } from '../generated/records.ts'
import type { Frame } from '../socket/frame.ts'

const comings = ['joined', 'added']
const goings = ['left', 'kicked', 'banned']

/** Whom a frame tells of that they came into a group, left it, or may do something else in it. */
export function memberIn({ type, body }: Frame): { uid: string | undefined; action: string } | undefined {
  const { category, type: kind, data } = body as unknown as Message
  if (type !== 'message' || category !== 'action' || kind !== 'groupMember') return undefined
  const { action, entities } = data as { action: string; entities?: { on?: { entity?: { uid?: string } } } }
  return { uid: entities?.on?.entity?.uid, action }
}

export const isComing = (action: string) => comings.includes(action)

/** Whether a frame tells that the user came into a group, or is out of it. */
export function ownPassage(frame: Frame, me: string): 'in' | 'out' | undefined {
  if (frame.type === 'group' && frame.body.action === 'deleted') return 'out'
  const member = memberIn(frame)
  if (member?.uid !== me) return undefined
  if (goings.includes(member.action)) return 'out'
  return isComing(member.action) ? 'in' : undefined
}
