import type { Where } from '../../kit/event.ts'
import { keptContent, shownContent } from './gates.ts'
import type { Message } from './schemas.ts'

/**
 * Files in records of messages. The log keeps their keys: an address works for whoever has it, and ends; the log stays, and
 * is told when it comes to be read.
 */

type Content = Record<string, unknown>
type Change = (content: Content) => Content

/** Only what was checked as an attachment when it was sent is a file. */
export function mayHoldFiles({ category, type }: Pick<Message, 'category' | 'type'>): boolean {
  return category === 'message' && type !== 'text'
}

/** The message with its files in another form; its own, and those of the messages inside of it. */
function withFiles<Some extends Message>(message: Some, change: Change): Some {
  const { data, quotedMessage, parent } = message
  return {
    ...message,
    data: mayHoldFiles(message) ? change(data) : message.category === 'action' ? withSubject(data, change) : data,
    ...(quotedMessage && { quotedMessage: withFiles(quotedMessage, change) }),
    ...(parent && { parent: withFiles(parent, change) }),
  }
}

/** An action has the message inside that it was done to. */
function withSubject(data: Content, change: Change): Content {
  const { on, ...others } = (data.entities ?? {}) as { on?: { entity: Message; entityType: string } }
  if (on?.entityType !== 'message') return data
  return { ...data, entities: { ...others, on: { ...on, entity: withFiles(on.entity, change) } } }
}

/** Where an event can have messages: what happened to which, or the last one of a conversation. */
interface Messages {
  message?: Message
  action?: Message
  conversation?: { lastMessage?: unknown }
}

function inAll<Payload extends Messages>(payload: Payload, change: Change): Payload {
  const { message, action, conversation } = payload
  const lastMessage = conversation?.lastMessage as Message | undefined
  return {
    ...payload,
    ...(message && { message: withFiles(message, change) }),
    ...(action && { action: withFiles(action, change) }),
    ...(lastMessage && { conversation: { ...conversation, lastMessage: withFiles(lastMessage, change) } }),
  }
}

/** For events with messages in them. */
export const filesByKey = {
  kept: <Payload extends Messages>(payload: Payload, where: Where) =>
    inAll(payload, (content) => keptContent.ask(where, content)),
  told: <Payload extends Messages>(payload: Payload, where: Where) =>
    inAll(payload, (content) => shownContent.ask(where, content)),
}
