import { defineError } from '../../kit/errors.ts'

export const tooManyPinned = defineError<{ max: number }>(
  'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED',
  400,
  'as many messages of the conversation are pinned as can be',
  ({ max }) => `A conversation can have ${max} pinned messages.`,
)

export const tooManySaved = defineError<{ max: number }>(
  'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED',
  400,
  'the user has saved as many messages as one can',
  ({ max }) => `You can save ${max} messages.`,
)
