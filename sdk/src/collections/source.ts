import {
  getGroupConversation,
  getMessage,
  getUserConversation,
  type ListUserMessagesInput,
  listGroupMessages,
  listReplies,
  listUserMessages,
} from '../generated/operations.ts'
import type { Conversation, Message } from '../generated/records.ts'
import type { UserCall } from '../http/call.ts'
import type { Cursor } from '../operation.ts'
import { keyOf, placeOf, type To } from './address.ts'

/** Where the messages of a stretch come from. */
export interface Source {
  page(cursor: Cursor, limit: number): Promise<Message[]>
  one(id: string): Promise<Message>
  /** Whether a message stands in this list. */
  takes(message: Message): boolean
}

export interface ConversationSource extends Source {
  /** What is pinned, the latest pin first. */
  pinned(limit: number): Promise<Message[]>
}

/** What was said in a conversation; replies stand in their threads. */
export function conversationSource(request: UserCall, to: To, me: () => string): ConversationSource {
  async function list(asked: Omit<ListUserMessagesInput, 'uid'>): Promise<Message[]> {
    const page = await ('user' in to
      ? request(listUserMessages, { ...asked, uid: to.user })
      : request(listGroupMessages, { ...asked, guid: to.group }))
    return (page as { data: Message[] }).data
  }

  return {
    page: (cursor, limit) => list({ cursor, limit, hideReplies: true }),
    pinned: (limit) => list({ limit, pinned: true }),
    one: (id) => request(getMessage, { id }),
    takes: (message) => message.parentId === undefined && keyOf(placeOf(message, me())) === keyOf(to),
  }
}

export function threadSource(request: UserCall, id: string): Source {
  return {
    page: async (cursor, limit) => (await request(listReplies, { id, cursor, limit })).data,
    one: (each) => request(getMessage, { id: each }),
    takes: ({ parentId }) => parentId === id,
  }
}

export function conversationRecord(request: UserCall, to: To): Promise<Conversation> {
  return 'user' in to
    ? request(getUserConversation, { uid: to.user })
    : request(getGroupConversation, { guid: to.group })
}
