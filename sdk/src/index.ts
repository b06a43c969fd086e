/** The client for end users: `createClient`. */

export type { ClientEvents, EventName } from './client/events.ts'
export { type Client, createClient, type Groups, type Users } from './client/index.ts'
export type { ClientSettings, Presence } from './client/settings.ts'
export type { To } from './collections/address.ts'
export type { Conversation, Item, PendingMessage, Sending, Thread } from './collections/conversation.ts'
export type { ConversationItem, Conversations, ConversationsState } from './collections/conversations.ts'
export type { LiveGroup } from './collections/group.ts'
export type { KeptList, ListState } from './collections/kept-list.ts'
export type { PresenceState } from './collections/presence.ts'
export type { Messages, MessagesState } from './collections/stretch.ts'
export type { Typing } from './collections/typing.ts'
export type { CallOptions } from './http/call.ts'
export {
  type ErrorDetails,
  type ErrorKind,
  type KnownErrorCode,
  ParleyError,
  type ParleyErrorOf,
} from './http/errors.ts'
export type { List } from './http/list.ts'
export type { OutboxEntry, Sent, SentState } from './outbox/outbox.ts'
export type { LiveSocket, Putting, Runtime, WebSocketClass } from './runtime/runtime.ts'
export type { Readable } from './store/cell.ts'
export type { TextStorage } from './store/shelf.ts'
export type { ConnectionState, LiveUser } from './sync/session.ts'
export type { TokenReason, TokenSource } from './sync/token.ts'
export type { Upload, UploadState } from './uploads/upload.ts'
