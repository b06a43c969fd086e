import type { ApiError } from '../../kit/errors.ts'
import type { MemberScope } from '../scope-permissions/index.ts'
import type { MessageRow } from '../timeline/index.ts'
import { actionNotAllowed, notTheSender } from './errors.ts'

/** What may be done with a message, decided from data alone. */

type Kind = Pick<MessageRow, 'id' | 'category' | 'deleted_at'>

/** Actions and calls are history, and what is deleted stays so. */
export function isUntouchable({ category, deleted_at }: Kind): boolean {
  return category === 'action' || category === 'call' || deleted_at !== null
}

export function refuseUntouchable(row: Kind): void {
  if (isUntouchable(row)) throw actionNotAllowed({ id: row.id })
}

/** Who wants to change a message: the app itself, or a user with their scope in the message's group. */
export type Changer = 'app' | { uid: string; scope: MemberScope | undefined }

/** Senders change their own messages; in a group, admins and moderators change everybody's. */
export function refusalToChange(row: Pick<MessageRow, 'id' | 'sender'>, changer: Changer): ApiError | undefined {
  if (changer === 'app' || changer.uid === row.sender) return undefined
  if (changer.scope === 'admin' || changer.scope === 'moderator') return undefined
  return notTheSender({ id: row.id })
}
