import {
  addReaction,
  deleteMessage,
  followThread,
  markGroupConversationRead,
  markGroupConversationUnread,
  markUserConversationRead,
  markUserConversationUnread,
  pinMessage,
  removeReaction,
  type SendMessageInput,
  unfollowThread,
  unpinMessage,
  updateMessage,
} from '../generated/operations.ts'
import type { Message } from '../generated/records.ts'
import type { UserCall } from '../http/call.ts'
import { usageError } from '../http/errors.ts'
import type { Outbox, OutboxEntry, Sent } from '../outbox/outbox.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Frame } from '../socket/frame.ts'
import { startUpload, type Upload } from '../uploads/upload.ts'
import { keyOf, receiverIn, type To } from './address.ts'
import { conversationSource, threadSource } from './source.ts'
import { createStretch, type MessageItem, type Messages, type Stretch } from './stretch.ts'
import { createTyping, type Typing } from './typing.ts'

/** What is said with somebody, or in a group. */

/** What to send. All else is as in the API: `data` for whatever is not plain text. */
export interface Sending extends Pick<SendMessageInput, 'data' | 'category' | 'type' | 'metadata' | 'tags' | 'files'> {
  text?: string
  /** The id of a message that this one quotes. */
  quote?: string
  /** Files of `upload`; the message goes when they are there, and keeps its place until then. */
  uploads?: readonly Upload[]
}

export type PendingMessage = OutboxEntry
export type Item = MessageItem<PendingMessage>

export interface Thread {
  readonly messages: Messages<PendingMessage>
  send(sending: Sending): Sent
  follow(): Promise<void>
  unfollow(): Promise<void>
}

export interface Conversation {
  readonly to: To
  readonly messages: Messages<PendingMessage>
  readonly typing: Typing
  /** Sends a file at once, for a message that follows: `send({ uploads: [upload] })`. */
  upload(file: Blob & { name?: string }): Upload
  /** Returns at once; what becomes of it is told by what it returns, and among `messages`. */
  send(sending: Sending): Sent
  /** The replies to a message; the same object every time. */
  thread(id: string): Thread
  react(id: string, reaction: string): Promise<void>
  unreact(id: string, reaction: string): Promise<void>
  edit(id: string, changes: { text?: string; data?: SendMessageInput['data'] }): Promise<void>
  delete(id: string): Promise<void>
  pin(id: string): Promise<void>
  unpin(id: string): Promise<void>
  /** Everything up to a message, or everything. */
  markRead(id?: string): Promise<void>
  /** What follows a message is unread again. */
  markUnread(id: string): Promise<void>
}

export interface ConversationParts {
  request: UserCall
  runtime: Runtime
  outbox: Outbox
  me(): string
  isIn(): boolean
  say(frame: object): void
}

/** A conversation, and what keeps it current. */
export interface KeptConversation {
  readonly conversation: Conversation
  hear(frame: Frame): void
  put(message: Message): void
  setPending(entries: readonly OutboxEntry[]): void
  reload(): Promise<void>
  revive(): void
  drop(): void
}

export function keepConversation(to: To, parts: ConversationParts): KeptConversation {
  const { request, outbox, runtime, me } = parts
  const lane = keyOf(to)
  const main = createStretch<PendingMessage>({ ...parts, source: conversationSource(request, to, me) })
  const threads = new Map<string, { thread: Thread; stretch: Stretch<PendingMessage> }>()
  const { typing, hear: hearTyping, drop: dropTyping } = createTyping({ to, runtime, say: parts.say })
  const stretches = () => [main, ...[...threads.values()].map(({ stretch }) => stretch)]

  function send({ text, quote, data, uploads, ...more }: Sending, parentId?: string): Sent {
    const content = text === undefined ? data : { ...data, text }
    const hasFiles = more.files !== undefined || uploads !== undefined
    if (content === undefined && !hasFiles)
      throw usageError('there is nothing to send: neither text, nor data, nor files')
    typing.end()
    const input = {
      ...receiverIn(to),
      ...(hasFiles && { type: 'file' }),
      ...more,
      ...(content && { data: content }),
      ...(quote !== undefined && { quotedMessageId: quote }),
      ...(parentId !== undefined && { parentId }),
    }
    return outbox.send(lane, input, uploads)
  }

  function thread(id: string): Thread {
    const known = threads.get(id)
    if (known) return known.thread
    const stretch = createStretch<PendingMessage>({ ...parts, source: threadSource(request, id) })
    const made: Thread = {
      messages: stretch.messages,
      send: (sending) => send(sending, id),
      follow: () => done(request(followThread, { id })),
      unfollow: () => done(request(unfollowThread, { id })),
    }
    threads.set(id, { thread: made, stretch })
    return made
  }

  /** As lists name it; whom it means for sure, only the server knows, and then it is fetched once too often. */
  function isNamed(body: Frame['body']): boolean {
    const { conversationId } = Object(body.conversation ?? body) as { conversationId?: string }
    const own = 'user' in to ? [me(), to.user].sort().join('_user_') : `group_${to.group}`
    return conversationId === own
  }

  const isPlain = ['unread', 'reset', 'deleted']

  return {
    conversation: {
      ...{ to, typing, messages: main.messages, thread },
      send: (sending) => send(sending),
      upload(file) {
        const { receiver, receiverType } = receiverIn(to)
        return startUpload(file, { request, runtime, receiverId: receiver, receiverType })
      },
      react: (id, reaction) => done(request(addReaction, { id, reaction })),
      unreact: (id, reaction) => done(request(removeReaction, { id, reaction })),
      edit: (id, { text, data }) =>
        done(request(updateMessage, { id, data: { ...data, ...(text !== undefined && { text }) } })),
      delete: (id) => done(request(deleteMessage, { id })),
      pin: (id) => done(request(pinMessage, { id })),
      unpin: (id) => done(request(unpinMessage, { id })),
      markRead(id) {
        const upTo = id === undefined ? {} : { messageId: id }
        return done(
          'user' in to
            ? request(markUserConversationRead, { uid: to.user, ...upTo })
            : request(markGroupConversationRead, { guid: to.group, ...upTo }),
        )
      },
      markUnread: (messageId) =>
        done(
          'user' in to
            ? request(markUserConversationUnread, { uid: to.user, messageId })
            : request(markGroupConversationUnread, { guid: to.group, messageId }),
        ),
    },
    hear(frame) {
      // What the user writes on another device is nothing to be shown.
      if (frame.sender !== me()) hearTyping(frame)
      const isAnew = frame.type === 'conversation' && isPlain.includes(String(frame.body.action)) && isNamed(frame.body)
      for (const stretch of stretches()) {
        stretch.hear(frame)
        if (isAnew) void stretch.reload().catch(() => {})
      }
    },
    put(message) {
      for (const stretch of stretches()) stretch.put(message)
    },
    setPending(entries) {
      const own = entries.filter((entry) => entry.lane === lane).map(itemOf)
      const parentOf = (item: Item) => (item.state === 'sent' ? undefined : item.pending.input.parentId)
      main.setPending(own.filter((item) => parentOf(item) === undefined))
      for (const [id, { stretch }] of threads) stretch.setPending(own.filter((item) => parentOf(item) === id))
    },
    async reload() {
      await Promise.all(stretches().map((stretch) => stretch.reload()))
    },
    revive() {
      for (const stretch of stretches()) stretch.revive()
    },
    drop() {
      dropTyping()
      for (const stretch of stretches()) stretch.drop()
    },
  }
}

/** What came of it is told in the order of the log, to this device as to all others. */
async function done(answer: Promise<unknown>): Promise<void> {
  await answer
}

const items = new WeakMap<OutboxEntry, Item>()

function itemOf(entry: OutboxEntry): Item {
  const known: Item = items.get(entry) ?? Object.freeze({ key: entry.key, state: entry.state, pending: entry })
  items.set(entry, known)
  return known
}
