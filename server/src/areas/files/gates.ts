import type { Actor } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { gate } from '../../plain/gate.ts'

export interface Destination {
  receiverId: string
  receiverType: 'user' | 'group'
  parentMessageId?: number | undefined
}

/** Whether the user may send files there. It may also refuse with an error that `requestUploads` declares. */
export const maySendMediaTo = gate<(work: Work, actor: Actor, destination: Destination) => Promise<boolean>>(
  'maySendMediaTo',
  async () => true,
)
