import { type Expression, sql } from 'kysely'
import type { Work } from '../../kit/work.ts'
import { gate } from '../../plain/gate.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import type { MessageRow } from '../timeline/index.ts'
import type { MessageContent } from './content.ts'

/** A message that is about to be written. */
export interface Proposal extends MessageContent {
  sender: string
  receiver: string
  receiverType: 'user' | 'group'
}

/** `pass` sends a message as it is, `hold` keeps it back until somebody has looked at it, `refuse` leaves nothing behind. */
export type Verdict = 'pass' | 'hold' | 'refuse'

/** What becomes of a message that is about to be sent: moderation brings the answer. */
export const beforeSend = gate('beforeSend', async (_work: Work, _proposal: Proposal): Promise<Verdict> => 'pass')

/** Somebody takes part in a thread and follows it from now on. The area of threads brings what that means. */
export const joinThread = gate(
  'joinThread',
  async (_work: Work, _parent: MessageRow, _uids: string[]): Promise<void> => {},
)

/** The ids of the messages that a user has saved, as a subquery of one column. */
export const savedIds = gate(
  'savedIds',
  (_db: TenantDb, _uid: string): Expression<number> => sql<number>`(SELECT NULL WHERE 1 = 0)`,
)
