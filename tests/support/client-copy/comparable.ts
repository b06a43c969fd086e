import { each } from './gaps.ts'
import { type Json, type Keyed, type Messages, without } from './state.ts'

/** What a user's copy and the app's have in common, or may have. */
interface Either extends Messages {
  uid?: string
  conversations?: Keyed
}

/** A copy without what no event tells. */
export function comparable<State extends Either>(state: State): State {
  const messages = each(state.messages, (message) => interactionsTold(receiptsTold(message, state.uid)))
  const listed = Object.entries(state.conversations ?? {}).filter(([, { isHidden }]) => !isHidden)
  return {
    ...state,
    messages,
    ...(state.conversations && { conversations: Object.fromEntries(listed) }),
  }
}

/**
 * That everybody in a group has received or read a message is told to whoever wrote it. Members may see it too when they
 * fetch the message, but would be told with every message that somebody reads; and of actions nobody waits for it.
 */
function receiptsTold(message: Json, uid: string | undefined): Json {
  const { receiverType, category, sender } = message
  const isAwaited = receiverType === 'user' || (category !== 'action' && (uid === undefined || uid === sender))
  return isAwaited ? message : without(message, 'deliveredAt', 'readAt', 'updatedAt')
}

/** What a user does with a message is told when it completes the message's goal; where there is none, it is not told. */
function interactionsTold(message: Json): Json {
  return message.data.interactionGoal ? message : { ...message, data: without(message.data, 'interactions') }
}
