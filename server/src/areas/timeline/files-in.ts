import type { Where } from '../../kit/event.ts'
import { keptContent, shownContent } from './gates.ts'
import type { Message } from './schemas.ts'

/**
 * Files in records of messages. The history and the log keep their keys: an address works for whoever has it, and ends;
 * these stay, and addresses are signed when they come to be read.
 */

type Content = Record<string, unknown>
type Change = (content: Content) => Content

const shown =
  (where: Where): Change =>
  (content) =>
    shownContent.ask(where, content)
const kept =
  (where: Where): Change =>
  (content) =>
    keptContent.ask(where, content)

/** Only what was checked as an attachment when it was sent is a file. */
function mayHoldFiles({ category, type }: Pick<Message, 'category' | 'type'>): boolean {
  return category === 'message' && type !== 'text'
}

/** The content of a message out of the history, as it is shown. */
export function shownData(message: Held, where: Where): Content {
  return dataWith(message, shown(where))
}

/** The content of a message as the history keeps it. */
export function keptData(message: Held, where: Where): Content {
  return dataWith(message, kept(where))
}

type Held = Pick<Message, 'category' | 'type' | 'data'>

function dataWith(message: Held, change: Change): Content {
  if (mayHoldFiles(message)) return change(message.data)
  return message.category === 'action' ? withSubject(message.data, change) : message.data
}

/** The message with its files in another form; its own, and those of the messages inside of it. */
function withFiles<Some extends Message>(message: Some, change: Change): Some {
  const { quotedMessage, parent } = message
  return {
    ...message,
    data: dataWith(message, change),
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
  kept: <Payload extends Messages>(payload: Payload, where: Where) => inAll(payload, kept(where)),
  told: <Payload extends Messages>(payload: Payload, where: Where) => inAll(payload, shown(where)),
}
