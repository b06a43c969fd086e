import { type SendMessageInput, sendMessage } from '../generated/operations.ts'
import type { Message } from '../generated/records.ts'
import { type CallOptions, type Connection, call } from '../http/call.ts'
import { usageError } from '../http/errors.ts'

/** Whom a message is for. */
export type Receiver = { user: string } | { group: string }

/** A message to one receiver. For several at once there is `call(sendMessage, …)`. */
export interface Sending extends Omit<SendMessageInput, 'receiver' | 'receiverType' | 'multipleReceivers'> {
  to: Receiver
  /** The same as `text` in `data`. */
  text?: string
}

export type Send = (sending: Sending, options?: CallOptions) => Promise<Message>

export function sender(connection: Connection): Send {
  return async (sending, options) => (await call(connection, sendMessage, inputOf(sending), options)) as Message
}

function inputOf({ to, text, data, ...more }: Sending): SendMessageInput {
  const content = text === undefined ? data : { ...data, text }
  return { ...more, ...addressed(to), ...(content && { data: content }) }
}

function addressed(to: Receiver): Pick<SendMessageInput, 'receiver' | 'receiverType'> {
  if ('user' in to) return { receiver: to.user, receiverType: 'user' }
  if ('group' in to) return { receiver: to.group, receiverType: 'group' }
  throw usageError('to must name a user or a group')
}
