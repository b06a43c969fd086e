import { allowOrDeny, anyWords, permission, someOf } from './permissions.ts'

/** What roles and scopes of a group have in common: the same permissions, in the same words. */

export const categories = someOf(['message', 'custom'])
export const messageTypes = someOf(['text', 'image', 'audio', 'video', 'file'])

export const older = { older: true } as const

export const onMessages = {
  'sendMessage.allowedMessageTypes': permission(
    messageTypes,
    'Types of messages to send',
    'In the category message, only these types can be sent',
  ),
  'sendMessage.allowedCustomTypes': permission(
    anyWords,
    'Types of custom messages to send',
    'In the category custom, only these types can be sent',
  ),
  'sendMessage.mimeTypeAccessControl': permission(
    allowOrDeny,
    'What the list of MIME types means',
    'Whether the listed types of files are the only ones that can be sent, or those that cannot',
  ),
  'sendMessage.mimeTypes': permission(
    anyWords,
    'Listed types of files',
    'MIME types of attachments; type/* stands for a whole type, and an empty list restricts nothing',
  ),
  editMessage: permission(allowOrDeny, 'Edit messages', 'Whether messages can be changed, replies included'),
  deleteMessage: permission(allowOrDeny, 'Delete messages', 'Whether messages can be removed, replies included'),
}

export const onReplies = {
  'sendThreadedMessage.allowedMessageCategories': permission(
    categories,
    'Categories of replies',
    'Only replies of these categories can be sent',
  ),
  'sendThreadedMessage.allowedMessageTypes': permission(
    messageTypes,
    'Types of replies',
    'In the category message, only replies of these types can be sent',
  ),
  'sendThreadedMessage.allowedCustomTypes': permission(
    anyWords,
    'Types of custom replies',
    'In the category custom, only replies of these types can be sent',
  ),
  'sendThreadedMessage.mimeTypeAccessControl': permission(
    allowOrDeny,
    'What the list of MIME types means in threads',
    'Whether the listed types of files are the only ones that replies can have, or those that they cannot',
  ),
  'sendThreadedMessage.mimeTypes': permission(
    anyWords,
    'Listed types of files in threads',
    'MIME types of attachments of replies; read as those of sendMessage.mimeTypes',
  ),
  editThreadedMessage: permission(allowOrDeny, 'Edit replies', 'Whether replies can be changed'),
  deleteThreadedMessage: permission(allowOrDeny, 'Delete replies', 'Whether replies can be removed'),
  listReactions: permission(allowOrDeny, 'List reactions', 'Whether reactions to a message can be listed'),
  addReaction: permission(allowOrDeny, 'React', 'Whether reactions can be added and taken back'),
}
