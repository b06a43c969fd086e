import { defineError } from '../../kit/errors.ts'

export const cannotBlockSelf = defineError(
  'ERR_CANNOT_BLOCK_SELF',
  403,
  'the list names the user itself; told for each user of the list',
  () => 'Nobody can block themselves.',
)

export const blockedReceiver = defineError<{ uid: string }>(
  'ERR_BLOCKED_RECEIVER',
  403,
  'the acting user has blocked the receiver',
  ({ uid }) => `You have blocked ${uid}.`,
)

export const blockedSender = defineError<{ uid: string }>(
  'ERR_BLOCKED_SENDER',
  403,
  'the receiver has blocked the acting user',
  ({ uid }) => `${uid} cannot be reached.`,
)
