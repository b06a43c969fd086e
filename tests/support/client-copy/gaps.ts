import { type AppState, type Json, type Keyed, type OwnState, without } from './state.ts'

/** Somebody is shown something else from now on, and is not told of it. */
export interface Gap {
  why: string
  /** Leaves out what may differ. */
  forgive(state: OwnState, payload: Json): OwnState
}

/** By the event that those concerned do not hear. Whoever it concerns learns of it when they fetch. */
export const gaps: Record<string, Gap> = {
  'conversation.markedUnread': {
    why: 'That somebody takes back having read something is told to their own devices alone.',
    forgive: (state, { conversation: { conversationId } }) => ({
      ...state,
      messages: each(state.messages, (message) =>
        message.conversationId === conversationId ? without(message, 'readAt', 'updatedAt') : message,
      ),
      conversations: each(state.conversations, (conversation) =>
        conversation.conversationId === conversationId ? without(conversation, 'receipts') : conversation,
      ),
    }),
  },
  'user.deactivated': {
    why: 'Whoever is deactivated leaves lists of people, and nobody but their own devices hears of it.',
    forgive: (state, { uid }) => ({
      ...state,
      friends: without(state.friends, uid),
      blocks: without(state.blocks, uid),
    }),
  },
  'user.deleted': {
    why: 'Blocks, bans, reactions and receipts of somebody who is deleted for good go by the batch, and with no word.',
    forgive: (state, { uid }) => ({
      ...state,
      blocks: without(state.blocks, uid),
      bans: each(state.bans, (bans) => without(bans, uid)),
      messages: each(state.messages, withoutTraceOf(uid)),
    }),
  },
}

/** A message without what somebody may have done with it. */
function withoutTraceOf(uid: string): (message: Json) => Json {
  return (message) => ({
    ...(message.receiver === uid ? without(message, 'deliveredAt', 'readAt', 'updatedAt') : message),
    data: without(message.data, 'reactions'),
  })
}

/** Of this the app is not told more than that they are gone. */
export function forgiveToApp(state: AppState, uid: string): AppState {
  return { ...state, messages: each(state.messages, withoutTraceOf(uid)) }
}

export function each(records: Keyed, change: (record: Json) => Json): Keyed {
  return Object.fromEntries(Object.entries(records).map(([key, record]) => [key, change(record)]))
}
