import type { ApiError } from '../../kit/errors.ts'
import type { Blocks } from '../users/index.ts'
import { blockedReceiver, blockedSender } from './errors.ts'

/** What one user's call or direct message to `receiver` is refused with, seen from the sender; nothing if it may pass. */
export function refusalTo(receiver: string, { blockedByMe, hasBlockedMe }: Blocks): ApiError | undefined {
  if (blockedByMe) return blockedReceiver({ uid: receiver })
  if (hasBlockedMe) return blockedSender({ uid: receiver })
  return undefined
}

/** The record's words for the blocks between two users, from the times of the two. */
export function blocksFrom(byMeAt: number | undefined, byOtherAt: number | undefined): Blocks {
  if (byMeAt === undefined && byOtherAt === undefined) return {}
  return {
    ...(byMeAt !== undefined && { blockedByMe: true, blockedByMeAt: byMeAt }),
    ...(byOtherAt !== undefined && { hasBlockedMe: true, hasBlockedMeAt: byOtherAt }),
    blockedAt: Math.max(byMeAt ?? 0, byOtherAt ?? 0),
  }
}
