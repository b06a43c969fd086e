import type { Message } from './schemas.ts'

type IsRetracted = (id: string) => boolean

/** Where an event can have messages: what happened to which, or the last one of a conversation. */
interface Messages {
  message?: Message
  conversation?: { lastMessage?: unknown }
}

/** An event that is told when some messages are shown to nobody any more; nothing, if it is about one of these. */
export function leftOf<Payload extends Messages>(payload: Payload, isRetracted: IsRetracted): Payload | undefined {
  const { message, conversation } = payload
  if (message && [message, ...subjectOf(message)].some(({ id }) => isRetracted(id))) return undefined
  return {
    ...payload,
    ...(message && { message: withoutOthers(message, isRetracted) }),
    ...(conversation && { conversation: withoutLast(conversation, isRetracted) }),
  }
}

/** The message inside of which an action tells. That it was deleted is told in any case. */
function subjectOf({ data: { action, entities } }: Message): Message[] {
  const { on } = (entities ?? {}) as { on?: { entity: Message; entityType: string } }
  return action !== 'deleted' && on?.entityType === 'message' ? [on.entity] : []
}

function withoutOthers({ quotedMessage, parent, ...message }: Message, isRetracted: IsRetracted): Message {
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
