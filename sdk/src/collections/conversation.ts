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
import type { Message, Receipt } from '../generated/records.ts'
import { done, type UserCall } from '../http/call.ts'
import { usageError } from '../http/errors.ts'
import type { Outbox, OutboxEntry, Sent } from '../outbox/outbox.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Frame } from '../socket/frame.ts'
import { startUpload, type Upload } from '../uploads/upload.ts'
import { keyOf, receiverIn, type To } from './address.ts'
import type { KeptList } from './kept-list.ts'
import type { Resting } from './resting.ts'
import { keepPinned, keepReceipts, type SideList } from './side-lists.ts'
import { conversationSource, threadSource } from './source.ts'
import { createStretch, type MessageItem, type Messages, type Stretch } from './stretch.ts'
import { createTyping, type Typing } from './typing.ts'

/** What is said with somebody, or in a group. */

/** What to send. All else is as in the API: `data` for whatever is not plain text. */
export interface Sending extends Pick<SendMessageInput, 'data' | 'category' | 'type' | 'metadata' | 'tags'> {
  text?: string
  /** The id of a message that this one quotes. */
  quote?: string
  /** Files, or what `upload` has answered; the message goes when they are there, and keeps its place until then. */
  files?: readonly (Blob | Upload)[]
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
  /** What is pinned, the latest pin first. */
  readonly pinned: KeptList<Message>
  /** Sends a file at once, for a message that follows: `send({ files: [upload] })`. */
  upload(file: Blob & { name?: string }): Upload
  /** Returns at once; what becomes of it is told by what it returns, and among `messages`. */
  send(sending: Sending): Sent
  /** Says what only counts now: it is kept nowhere, and who is not connected never learns of it. JSON, of 5 KB at most. */
  transient(data: unknown): void
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
  /** Who has received a message, and read it. */
  receipts(id: string): KeptList<Receipt>
}

export interface ConversationParts {
  request: UserCall
  runtime: Runtime
  outbox: Outbox
  me(): string
  isIn(): boolean
  say(frame: object): void
  restOf(drop: () => void): Resting
  shown(): void
}

// Messages of which somebody has asked who has received them.
const receiptsMax = 100

/** A conversation, and what keeps it current. */
export interface KeptConversation {
  readonly conversation: Conversation
  hear(frame: Frame): void
  put(message: Message): void
  setPending(entries: readonly OutboxEntry[]): void
  lastInView(): Message | undefined
  reload(): Promise<void>
  revive(): void
  drop(): void
}

export function keepConversation(to: To, parts: ConversationParts): KeptConversation {
  const { request, outbox, runtime, me } = parts
  const lane = keyOf(to)
  const source = conversationSource(request, to, me)
  const main = createStretch<PendingMessage>({ ...parts, source })
  const pinned = keepPinned(source, parts)
  const receiptsOf = new Map<string, SideList<Receipt>>()
  const threads = new Map<string, { thread: Thread; stretch: Stretch<PendingMessage> }>()
  const uploads = new Set<Upload>()
  const { typing, hear: hearTyping, drop: dropTyping } = createTyping({ to, runtime, say: parts.say })
  const stretches = () => [main, ...[...threads.values()].map(({ stretch }) => stretch)]
  const sideLists = () => [pinned, ...receiptsOf.values()]

  function send({ text, quote, data, files = [], ...more }: Sending, parentId?: string): Sent {
    const content = text === undefined ? data : { ...data, text }
    const underway = files.filter(isUpload)
    const blobs = files.filter((file): file is Blob => !isUpload(file))
    if (content === undefined && files.length === 0)
      throw usageError('there is nothing to send: neither text, nor data, nor files')
    typing.end()
    const input = {
      ...receiverIn(to),
      ...(files.length > 0 && { type: 'file' }),
      ...(blobs.length > 0 && { files: blobs }),
      ...more,
      ...(content && { data: content }),
      ...(quote !== undefined && { quotedMessageId: quote }),
      ...(parentId !== undefined && { parentId }),
    }
    return outbox.send(lane, input, underway)
  }

  function upload(file: Blob & { name?: string }): Upload {
    const { receiver, receiverType } = receiverIn(to)
    const made = startUpload(file, { request, runtime, receiverId: receiver, receiverType })
    uploads.add(made)
    const forget = () => uploads.delete(made)
    made.done.then(forget, forget)
    return made
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

  function receipts(id: string): KeptList<Receipt> {
    const known = receiptsOf.get(id)
    if (known) return known.list
    if (receiptsOf.size >= receiptsMax) makeRoom()
    const made = keepReceipts(request, id, parts)
    receiptsOf.set(id, made)
    return made.list
  }

  /** What nobody looks at is forgotten first. */
  function makeRoom(): void {
    const idle = [...receiptsOf].find(([, { list }]) => list.get().status === 'idle')
    if (idle) receiptsOf.delete(idle[0])
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
      ...{ to, typing, messages: main.messages, pinned: pinned.list, thread, receipts },
      send: (sending) => send(sending),
      upload,
      transient: (data) => parts.say({ type: 'transient_message', ...receiverIn(to), body: { data } }),
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
      for (const each of sideLists()) each.hear(frame)
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
    lastInView: main.lastInView,
    async reload() {
      await Promise.all([...stretches(), ...sideLists()].map((each) => each.reload()))
    },
    revive() {
      for (const each of [...stretches(), ...sideLists()]) each.revive()
    },
    drop() {
      dropTyping()
      for (const { abort } of uploads) abort()
      for (const each of [...stretches(), ...sideLists()]) each.drop()
    },
  }
}

const isUpload = (file: Blob | Upload): file is Upload => 'done' in file

const items = new WeakMap<OutboxEntry, Item>()

function itemOf(entry: OutboxEntry): Item {
  const known: Item = items.get(entry) ?? Object.freeze({ key: entry.key, state: entry.state, pending: entry })
  items.set(entry, known)
  return known
}
