import { defineError } from '../../kit/errors.ts'

export const notAccessible = defineError(
  'ERR_CONVERSATION_NOT_ACCESSIBLE',
  403,
  'the acting user has no such conversation, or nothing is in it yet',
  () => 'There is no such conversation of yours.',
)

export const conversationNotFound = defineError<{ conversationId: string }>(
  'ERR_CONVERSATION_NOT_FOUND',
  404,
  'there is no such conversation',
  ({ conversationId }) => `There is no conversation ${conversationId.slice(0, 250)}.`,
)

export const ambiguousId = defineError<{ conversationId: string }>(
  'ERR_CONVERSATION_ID_AMBIGUOUS',
  400,
  'the id is that of several conversations of the acting user',
  ({ conversationId }) =>
    `Several conversations of yours have the id ${conversationId}. Name the other side instead: ` +
    '/users/{uid}/conversation or /groups/{guid}/conversation.',
)

export const tooManyPins = defineError<{ max: number }>(
  'ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED',
  400,
  'the acting user has pinned as many conversations as one can',
  ({ max }) => `You can pin ${max} conversations.`,
)

export const tooManySystemPins = defineError<{ max: number }>(
  'ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED',
  400,
  'more conversations are to be pinned for everyone than can be',
  ({ max }) => `${max} conversations can be pinned for everyone.`,
)

export const pinnedForEveryone = defineError(
  'ERR_SYSTEM_PINNED_CONVERSATION',
  403,
  'the conversation is pinned for everyone, which users do not change',
  () => 'This conversation is pinned for everyone.',
)
