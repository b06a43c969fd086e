import type { Message } from './schemas.ts'

type IsRetracted = (id: string) => boolean

/** Where an event can have messages: what happened to which, or the last one of a conversation. */
interface Messages {
  message?: Message
  conversation?: { lastMessage?: unknown }
}

/**
 * An event that is told when some messages are shown to nobody any more; nothing, if it is about one of these, and the same
 * if it has none of them.
 */
export function leftOf<Payload extends Messages>(payload: Payload, isRetracted: IsRetracted): Payload | undefined {
  const { message, conversation } = payload
  if (message && [message, ...subjectOf(message)].some(({ id }) => isRetracted(id))) return undefined
  const rest = message && withoutOthers(message, isRetracted)
  const side = conversation && withoutLast(conversation, isRetracted)
  if (rest === message && side === conversation) return payload
  return { ...payload, ...(rest && { message: rest }), ...(side && { conversation: side }) }
}

/** The message inside of which an action tells. That it was deleted is told in any case. */
function subjectOf({ data: { action, entities } }: Message): Message[] {
  const { on } = (entities ?? {}) as { on?: { entity: Message; entityType: string } }
  return action !== 'deleted' && on?.entityType === 'message' ? [on.entity] : []
}

function withoutOthers(whole: Message, isRetracted: IsRetracted): Message {
  const { quotedMessage, parent, ...message } = whole
  if (![quotedMessage, parent].some((other) => other && isRetracted(other.id))) return whole
  return {
    ...message,
    ...(quotedMessage && !isRetracted(quotedMessage.id) && { quotedMessage }),
    ...(parent && !isRetracted(parent.id) && { parent }),
  }
}

function withoutLast(conversation: { lastMessage?: unknown }, isRetracted: IsRetracted): object {
  const { lastMessage, ...rest } = conversation
  const { id } = (lastMessage ?? {}) as Partial<Message>
  return id !== undefined && isRetracted(id) ? rest : conversation
}
