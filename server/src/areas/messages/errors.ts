import { defineError } from '../../kit/errors.ts'

export const messageNotFound = defineError<{ id: string | number }>(
  'ERR_MESSAGE_ID_NOT_FOUND',
  404,
  'there is no such message',
  ({ id }) => `There is no message with the id ${id}.`,
)

export const messageNotAccessible = defineError<{ id: string | number }>(
  'ERR_MESSAGE_NO_ACCESS',
  403,
  'the acting user is no part of the conversation',
  ({ id }) => `You cannot see the message ${id}.`,
)

export const notTheSender = defineError<{ id: string | number }>(
  'ERR_MESSAGE_NOT_A_SENDER',
  403,
  'the message is somebody else’s',
  ({ id }) => `The message ${id} is not yours to change.`,
)

export const actionNotAllowed = defineError<{ id: string | number }>(
  'ERR_MESSAGE_ACTION_NOT_ALLOWED',
  403,
  'such a message cannot be changed or used that way',
  ({ id }) => `This cannot be done with the message ${id}.`,
)

export const emptyReceiver = defineError(
  'ERR_EMPTY_RECEIVER',
  400,
  'nobody is named as receiver',
  () => 'Name a receiver.',
  () => ({ receiver: ['must not be empty'] }),
)

export const invalidReceiverType = defineError(
  'ERR_INVALID_RECEIVER_TYPE',
  400,
  'the receiver is neither a `user` nor a `group`',
  () => 'receiverType must be user or group.',
  () => ({ receiverType: ['must be user or group'] }),
)

export const emptyCategory = defineError(
  'ERR_EMPTY_MESSAGE_CATEGORY',
  400,
  'the category is an empty text',
  () => 'The category must not be empty.',
  () => ({ category: ['must not be empty'] }),
)

export const invalidCategory = defineError<{ category: string }>(
  'ERR_INVALID_MESSAGE_CATEGORY',
  400,
  'messages of this category are not sent by users or servers',
  ({ category }) => `Messages of the category ${category.slice(0, 100)} cannot be sent.`,
  () => ({ category: ['must be message, custom or interactive'] }),
)

export const emptyType = defineError(
  'ERR_EMPTY_MESSAGE_TYPE',
  400,
  'the type is missing or an empty text',
  () => 'The type must not be empty.',
  () => ({ type: ['must not be empty'] }),
)

export const invalidType = defineError<{ type: string }>(
  'ERR_INVALID_MESSAGE_TYPE',
  400,
  'the category has no such type',
  ({ type }) => `There is no type ${type.slice(0, 100)} in this category.`,
  () => ({ type: ['must be a type of the category'] }),
)

export const invalidData = defineError<{ reason: string }>(
  'ERR_INVALID_MESSAGE_DATA',
  400,
  '`data` is no object, too large, or does not fit the category',
  ({ reason }) => `data ${reason}.`,
  ({ reason }) => ({ data: [reason] }),
)

export const emptyText = defineError(
  'ERR_EMPTY_MESSAGE_TEXT',
  400,
  'a text message has no text',
  () => 'The text is empty.',
  () => ({ 'data.text': ['must not be empty'] }),
)

export const invalidText = defineError(
  'ERR_INVALID_MESSAGE_TEXT',
  400,
  'the text is something else than text',
  () => 'The text must be a string.',
  () => ({ 'data.text': ['must be text'] }),
)

export const emptyFile = defineError(
  'ERR_EMPTY_MESSAGE_FILE',
  400,
  'a media message has no attachment',
  () => 'The message has no file.',
  () => ({ 'data.attachments': ['must not be empty'] }),
)

export const invalidMedia = defineError<{ reason: string }>(
  'ERR_INVALID_MEDIA_MESSAGE',
  400,
  'an attachment is not described as it must be',
  ({ reason }) => `An attachment is not valid: ${reason}.`,
  ({ reason }) => ({ 'data.attachments': [reason] }),
)

export const tooManyFiles = defineError<{ max: number }>(
  'ERR_FILE_COUNT_EXCEEDED',
  400,
  'the message has too many attachments',
  ({ max }) => `A message can have ${max} attachments.`,
  ({ max }) => ({ 'data.attachments': [`must not have more than ${max} entries`] }),
)

export const emptyCustomData = defineError(
  'ERR_EMPTY_CUSTOM_DATA',
  400,
  'a custom message has no `customData`',
  () => 'A custom message needs customData.',
  () => ({ 'data.customData': ['is required'] }),
)

export const invalidCustomData = defineError(
  'ERR_INVALID_CUSTOM_DATA',
  400,
  '`customData` is no object',
  () => 'customData must be an object.',
  () => ({ 'data.customData': ['must be an object'] }),
)

export const invalidMetadata = defineError(
  'ERR_INVALID_METADATA',
  400,
  '`metadata` is no object',
  () => 'metadata must be an object.',
  () => ({ 'data.metadata': ['must be an object'] }),
)

export const wrongThread = defineError<{ id: string | number }>(
  'ERR_WRONG_MESSAGE_THREAD',
  400,
  'the parent belongs to another conversation',
  ({ id }) => `The message ${id} belongs to another conversation.`,
)

export const nestedThread = defineError<{ id: string | number }>(
  'ERR_MESSAGE_THREAD_NESTING',
  400,
  'the parent is itself a reply',
  ({ id }) => `The message ${id} is a reply; threads have one level.`,
)

export const wrongThreadCategory = defineError<{ id: string | number }>(
  'ERR_WRONG_MESSAGE_THREAD_CATEGORY',
  400,
  'the parent is an action or a call',
  ({ id }) => `The message ${id} cannot begin a thread.`,
)

export const blockedByExtension = defineError<{ verdict: 'hold' | 'refuse' }>(
  'ERR_BLOCKED_BY_EXTENSION',
  403,
  'a rule of the app refused the message',
  ({ verdict }) =>
    verdict === 'refuse'
      ? 'The message was refused.'
      : 'The message was refused: it has to wait for a review, and there is no place where messages wait.',
)

export const botNotFound = defineError<{ uid: string }>(
  'ERR_BOT_NOT_FOUND',
  404,
  'the user is no bot',
  ({ uid }) => `The user ${uid} is not a bot.`,
)

export const notForClients = defineError(
  'AUTH_ERR_NO_ACCESS',
  403,
  'a client asks to remove messages for good',
  () => 'Messages are removed for good with an API key.',
)
