import { listConversations, listMessages } from '../generated/operations.ts'
import type { Conversation, Group, Message, User } from '../generated/records.ts'
import type { UserCall } from '../http/call.ts'
import { ParleyError, usageError } from '../http/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Frame } from '../socket/frame.ts'
import { cell, type Readable } from '../store/cell.ts'
import { addressIn, isAfter, keyOf, placeOf, type To } from './address.ts'
import { changedIn, hearOn, messageIn } from './merge.ts'
import { ownPassage } from './passages.ts'
import { createRefresher } from './refresher.ts'
import type { Resting } from './resting.ts'
import { conversationRecord } from './source.ts'

/** The list of conversations, with what is unread in each: the server's counts, kept current by what is heard. */

export interface ConversationItem {
  readonly key: string
  readonly to: To
  /** Messages not read, and those among them that name the user. */
  readonly unread: number
  readonly unreadMentions: number
  readonly lastMessage?: Message
  /** Whom it is with, or the group that it is of. */
  readonly user?: User
  readonly group?: Group
  readonly conversation: Conversation
}

export interface ConversationsState {
  /** What is pinned first, then by the latest activity. */
  readonly items: readonly ConversationItem[]
  readonly hasMore: boolean
  /** Of all conversations, also of those that are not in the list yet; these are counted once it is `ready`. */
  readonly unreadTotal: number
  readonly status: 'idle' | 'loading' | 'ready' | 'failed'
  readonly error?: ParleyError
}

export interface Conversations extends Readable<ConversationsState> {
  loadMore(): Promise<void>
}

export interface ConversationList {
  readonly conversations: Conversations
  hear(frame: Frame): void
  reload(): Promise<void>
  revive(): void
  drop(): void
}

interface Parts {
  request: UserCall
  runtime: Runtime
  me(): string
  isIn(): boolean
  restOf(drop: () => void): Resting
}

/** By UID and by GUID. */
interface UnreadCounts {
  users: Record<string, number>
  groups: Record<string, number>
}

const pageSize = 50
const listMax = 2_000
const pageMax = 1_000
const empty: ConversationsState = { items: [], hasMore: false, unreadTotal: 0, status: 'idle' }

export function createConversations({ request, runtime, me, isIn, restOf }: Parts): ConversationList {
  const state = cell<ConversationsState>(empty, { begins: wakeUp, ends: rest })
  let known = new Map<string, ConversationItem>()
  /** What is unread in those that are not in the list yet. */
  let beyond = new Map<string, number>()
  let pages = 0
  let isLoaded = false
  let era = 0
  let turn: Promise<unknown> = Promise.resolve()
  const resting = restOf(drop)
  /** What is heard while the list, or one of them, is fetched. */
  let journal: Frame[] | undefined
  let whileRefreshed: Frame[] | undefined
  const loading = createRefresher(() => inTurn(() => loadFirst(known.size)), runtime)
  const refreshing = createRefresher(refreshOne, runtime)

  function show(more: Partial<ConversationsState> = {}): void {
    const { error: _, ...before } = state.get()
    const items = Object.freeze([...known.values()].sort(byPlace))
    const isSame = items.length === before.items.length && items.every((item, n) => item === before.items[n])
    state.set({ ...before, ...more, unreadTotal: unreadIn(items), items: isSame ? before.items : items })
  }

  function unreadIn(items: readonly ConversationItem[]): number {
    for (const { key } of items) beyond.delete(key)
    const counts = [...items.map(({ unread }) => unread), ...beyond.values()]
    return counts.reduce((sum, count) => sum + count, 0)
  }

  function inTurn(load: () => Promise<void>): Promise<void> {
    if (!isIn()) return Promise.reject(usageError('log in before anything is fetched'))
    const own = era
    const run = async () => {
      if (own !== era) return
      journal = []
      show({ status: 'loading' })
      try {
        await load()
        if (own === era) settle()
      } catch (error) {
        journal = undefined
        if (own === era) show({ status: 'failed', error: error as ParleyError })
        throw error
      }
    }
    const done = turn.then(run, run)
    turn = done.catch(() => {})
    return done
  }

  function settle(): void {
    const heard = journal ?? []
    journal = undefined
    isLoaded = true
    for (const frame of heard) apply(frame)
    show({ status: 'ready' })
  }

  async function fetchPage(page: number, perPage: number) {
    const { data, meta } = await request(listConversations, { page, perPage })
    return { items: data.map(itemOf), hasMore: meta.pagination.total_pages > page }
  }

  async function fetchCounts(): Promise<[string, number][]> {
    const { users, groups } = (await request(listMessages, { unread: true, count: true })) as UnreadCounts
    return [
      ...Object.entries(users).map(([user, count]): [string, number] => [keyOf({ user }), count]),
      ...Object.entries(groups).map(([group, count]): [string, number] => [keyOf({ group }), count]),
    ]
  }

  /** From the beginning, as many as there were. They are shown before it is known what is unread in the others. */
  async function loadFirst(count = pageSize): Promise<void> {
    const own = era
    const perPage = Math.min(Math.max(pageSize, count), pageMax)
    const { items, hasMore } = await fetchPage(1, perPage)
    if (own !== era) return
    const before = known
    known = new Map(items.map((item) => [item.key, item]))
    keepHeard(before)
    pages = Math.max(1, Math.floor(perPage / pageSize))
    // Before more is heard: what is older than the last message of a conversation counts as known.
    for (const frame of journal ?? []) apply(frame)
    show({ hasMore })
    const counts = hasMore ? await fetchCounts() : []
    if (own !== era) return
    beyond = new Map(counts)
    show()
  }

  /** What is heard of meanwhile is among the newest, also where the page was read before that. */
  function keepHeard(before: Map<string, ConversationItem>): void {
    for (const [key, item] of before) {
      if (!known.has(key) && journal?.some((frame) => isOf(frame, item, me()))) known.set(key, item)
    }
  }

  async function loadMore(): Promise<void> {
    if (!isLoaded) return loadFirst()
    if (!state.get().hasMore || known.size >= listMax) return
    const own = era
    const { items, hasMore } = await fetchPage(pages + 1, pageSize)
    if (own !== era) return
    pages += 1
    for (const item of items) known.set(item.key, item)
    show({ hasMore })
  }

  function hear(frame: Frame): void {
    journal?.push(frame)
    whileRefreshed?.push(frame)
    if (!isLoaded && !journal) return
    apply(frame)
    show()
  }

  function apply(frame: Frame): void {
    const { type, body } = frame
    if (type === 'message') return void hearMessage(body as unknown as Message, frame)
    if (type === 'receipts') return void hearReceipt(frame)
    if (type === 'group') return void hearGroup(frame)
    if (type === 'reaction' || type === 'pin' || type === 'save') return void hearOnLast(frame)
    // Which of them these are about, and where they stand then, is the server's to tell.
    const isOther = type === 'conversation' || type === 'messages'
    const isBlock = type === 'user' && (body.action === 'blocked' || body.action === 'unblocked')
    if ((isOther || isBlock) && !journal) loading.ask('all')
  }

  function hearMessage(message: Message, frame: Frame): void {
    const to = placeOf(messageIn(frame) ?? message, me())
    const key = keyOf(to)
    if (ownPassage(frame, me()) === 'out') return void forget(key)
    const item = known.get(key)
    const changed = changedIn(frame)
    if (changed && changed.deletedAt === undefined) return void hearOnLast(frame)
    const next = item && !changed ? counted(item, message, me()) : undefined
    if (next) known.set(key, next)
    else refresh(to)
  }

  function hearReceipt(frame: Frame): void {
    const { sender = '', receiver = '', receiverType = 'user' } = frame
    if (sender === me()) refresh(placeOf({ sender, receiver, receiverType }, me()))
    else hearOnLast(frame)
  }

  function hearGroup({ body }: Frame): void {
    const { guid } = body.group as { guid: string }
    if (body.action === 'deleted') forget(keyOf({ group: guid }))
    else refresh({ group: guid })
  }

  function forget(key: string): void {
    known.delete(key)
    beyond.delete(key)
  }

  function hearOnLast(frame: Frame): void {
    for (const [key, item] of known) {
      if (!item.lastMessage || !isOf(frame, item, me())) continue
      const lastMessage = hearOn(item.lastMessage, frame, me())
      if (lastMessage !== item.lastMessage) known.set(key, Object.freeze({ ...item, lastMessage }))
    }
  }

  /** One record anew; once for all that is heard meanwhile. */
  const refresh = (to: To) => refreshing.ask(keyOf(to))

  async function refreshOne(key: string): Promise<void> {
    const own = era
    const heard: Frame[] = []
    whileRefreshed = heard
    try {
      const item = itemOf(await conversationRecord(request, addressIn(key)))
      if (own !== era) return
      whileRefreshed = undefined
      known.set(key, item)
      // What the record does not have yet; what it has is known by the id of its last message.
      for (const frame of heard) if (isOf(frame, item, me())) apply(frame)
    } catch (error) {
      if (own !== era) return
      whileRefreshed = undefined
      if (!ParleyError.is(error) || error.kind !== 'refused') throw error
      forget(key)
    }
    show()
  }

  function wakeUp(): void {
    resting.callOff()
    if (state.get().status !== 'idle' || !isIn()) return
    // At once: whoever comes next, in the same moment, finds it under way.
    show({ status: 'loading' })
    loading.ask('all')
  }

  function rest(): void {
    resting.callOff()
    if (state.get().status !== 'idle') resting.begin()
  }

  function drop(): void {
    resting.callOff()
    era += 1
    known = new Map()
    beyond = new Map()
    isLoaded = false
    journal = undefined
    loading.clear()
    refreshing.clear()
    whileRefreshed = undefined
    turn = Promise.resolve()
    show(empty)
  }

  return {
    conversations: { get: state.get, subscribe: state.subscribe, loadMore: () => inTurn(loadMore) },
    hear,
    async reload() {
      const count = known.size
      if (!state.isWatched()) drop()
      else await inTurn(() => loadFirst(count))
    },
    revive() {
      loading.hurry()
      refreshing.hurry()
    },
    drop,
  }
}

function itemOf(conversation: Conversation): ConversationItem {
  const {
    conversationType,
    conversationWith: other,
    lastMessage,
    unreadMessageCount,
    unreadMentionsCount,
  } = conversation
  const isOfUser = conversationType === 'user'
  const to: To = isOfUser ? { user: String(other.uid) } : { group: String(other.guid) }
  const record = other as unknown
  return Object.freeze({
    ...{ key: keyOf(to), to, conversation },
    ...(isOfUser ? { user: record as User } : { group: record as Group }),
    unread: Number(unreadMessageCount ?? 0),
    unreadMentions: unreadMentionsCount ?? 0,
    ...(lastMessage && { lastMessage }),
  })
}

/**
 * The conversation after one more message; nothing, where only the server knows what it makes of it. What its record has
 * already changes nothing.
 */
function counted(item: ConversationItem, message: Message, me: string): ConversationItem | undefined {
  const { lastMessage, unread, unreadMentions, conversation } = item
  if (message.category !== 'message' || message.parentId !== undefined || !lastMessage) return undefined
  if (!isAfter(message.id, lastMessage.id)) return item
  const isNamed = me in ((message.data.mentions as object | undefined) ?? {})
  // Whoever speaks has read what was said.
  const counts =
    message.sender === me
      ? { unread: 0, unreadMentions: 0 }
      : { unread: unread + 1, unreadMentions: unreadMentions + (isNamed ? 1 : 0) }
  const next = { ...conversation, updatedAt: Math.max(conversation.updatedAt, message.sentAt) }
  return Object.freeze({ ...item, ...counts, lastMessage: message, conversation: next })
}

/** Whether a frame is about what was said in a conversation. */
function isOf(frame: Frame, { key }: ConversationItem, me: string): boolean {
  if (frame.type === 'receipts') return keyOf(placeOf(frame as Required<Frame>, me)) === key
  const message = messageIn(frame)
  return message !== undefined && keyOf(placeOf(message, me)) === key
}

function rank({ conversation: { pinnedBy, pinnedAt } }: ConversationItem): number {
  if (pinnedAt === undefined) return 2
  return pinnedBy === 'app_system' ? 0 : 1
}

/** Among pins the order of the server; what is pinned or not any more is fetched anew. */
function byPlace(one: ConversationItem, other: ConversationItem): number {
  const ranks = rank(one) - rank(other)
  if (ranks !== 0 || rank(one) < 2) return ranks
  const times = other.conversation.updatedAt - one.conversation.updatedAt
  if (times !== 0) return times
  return isAfter(other.lastMessage?.id ?? '', one.lastMessage?.id ?? '') ? 1 : -1
}
