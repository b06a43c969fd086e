import type { To } from '../collections/address.ts'
import type { Blocks } from '../collections/blocks.ts'
import { createCollections } from '../collections/collections.ts'
import type { Conversation } from '../collections/conversation.ts'
import type { Conversations } from '../collections/conversations.ts'
import type { LiveGroup } from '../collections/group.ts'
import type { PresenceState } from '../collections/presence.ts'
import { search } from '../collections/search.ts'
import {
  type CreateGroupInput,
  createGroup,
  getGroup,
  getUser,
  type ListGroupsInput,
  type ListUsersInput,
  listGroups,
  listUsers,
  type UpdateMeInput,
  updateMe,
} from '../generated/operations.ts'
import type { Group, Message, User } from '../generated/records.ts'
import type { CallOptions } from '../http/call.ts'
import { type List, listOf } from '../http/list.ts'
import type { Operation } from '../operation.ts'
import type { OutboxEntry } from '../outbox/outbox.ts'
import type { Frame } from '../socket/frame.ts'
import { cell, type Readable } from '../store/cell.ts'
import { requester } from '../sync/requests.ts'
import { type ConnectionState, createSession, type LiveUser } from '../sync/session.ts'
import { tokensFrom } from '../sync/token.ts'
import { createEmitter } from './emitter.ts'
import { type ClientEvents, type EventName, eventOf } from './events.ts'
import { createReceipts } from './receipts.ts'
import { type ClientSettings, connectionFor, presenceWish, shelfFor, socketUrl } from './settings.ts'

/** One user on one device. */
export interface Client extends Blocks {
  /** Connects and stays connected. Resolves when the server has let the user in; called again, it is the same. */
  login(): Promise<LiveUser>
  /** Goes, and forgets everything. Whatever was under way is given up. */
  logout(): void
  readonly connection: Readable<ConnectionState>
  /** Who is logged in; kept current. */
  readonly me: Readable<LiveUser | undefined>
  updateMe(changes: UpdateMeInput): Promise<User>
  /** Answers how to stop listening. */
  on<Name extends EventName>(name: Name, listener: (payload: ClientEvents[Name]) => void): () => void
  /** Fetched when somebody looks at it first, and kept current until a minute after nobody does. */
  readonly conversations: Conversations
  /** The conversation with a person, or of a group; the same object every time. */
  conversation(to: To): Conversation
  readonly groups: Groups
  /** A group, and who is in it; the same object every time. */
  group(guid: string): LiveGroup
  readonly users: Users
  /** Whether somebody is there; kept current for those whose `presence` the client has asked for. */
  presence(uid: string): Readable<PresenceState>
  /** What is on its way, or could not go. */
  readonly outbox: Readable<readonly OutboxEntry[]>
  /** Messages that hold all words, the newest first, of one conversation or of all. */
  search(words: string, where?: { in?: Conversation }): AsyncIterable<Message>
  /** Calls any operation that is for clients. */
  call<Input, Answer>(
    operation: Operation<Input, Answer, 'client'>,
    ...words: Record<string, never> extends Input
      ? [input?: Input, options?: CallOptions]
      : [input: Input, options?: CallOptions]
  ): Promise<Answer>
}

export interface Groups {
  /** Its name is its id, unless it is given one. */
  create(group: Omit<CreateGroupInput, 'name'> & { name?: string }): Promise<LiveGroup>
  /** Those that the user may see, to be read with `for await`. */
  list(filters?: ListGroupsInput): List<Group>
  get(guid: string): Promise<Group>
}

export interface Users {
  /** To be read with `for await`; the user is not among them. */
  list(filters?: ListUsersInput): List<User>
  get(uid: string): Promise<User>
}

/** Does nothing, and touches nothing, before something is called. */
export function createClient(settings: ClientSettings): Client {
  const connection = connectionFor(settings)
  const { runtime } = connection
  const tokens = tokensFrom(settings.token, connection)
  const { request, giveUp } = requester(connection, tokens)
  const emitter = createEmitter<ClientEvents>()

  const user = cell<LiveUser | undefined>(undefined)
  const me = () => session.user()?.uid ?? ''
  const collections = createCollections({
    ...{ request, runtime, me },
    isIn: () => session.user() !== undefined,
    say: (frame) => void session.say(frame),
    wanting: () => session.hurry(),
    shown: () => receipts.look(),
  })

  const receipts = createReceipts({
    ...{ runtime, me },
    say: (frame) => void session.say(frame),
    inView: collections.inView,
    tells: settings.autoReceipts ?? 'off',
  })

  const session = createSession({
    url: socketUrl(connection),
    hello: { presence: presenceWish(settings.presence) },
    ...{ tokens, runtime, hear },
    refetch: collections.refetch,
    connected: collections.revive,
    woken: receipts.look,
    met(next) {
      const before = user.get()
      // What waits is that of whoever wrote it.
      if (before && before.uid !== next.uid) collections.drop(false)
      user.set(next)
      if (settings.storage) collections.keepOn(shelfFor(settings.storage, connection, next.uid))
    },
    ended(isWanted) {
      giveUp()
      receipts.drop()
      collections.drop(isWanted)
      user.set(undefined)
    },
  })

  /** First what is kept, then whoever listens: they find it as it is after the event. */
  function hear(frame: Frame): void {
    const isOwn = collections.hear(frame)
    const { name, payload } = eventOf(frame)
    if (isOwn) return
    if (name === 'message.received') receipts.hear((payload as ClientEvents['message.received']).message)
    if (name === 'user.updated') changeUser((payload as ClientEvents['user.updated']).user)
    emitter.emit(name, payload)
  }

  /** All but whether they are there, which sockets tell in other words. */
  function changeUser({ status: _, ...changed }: User): void {
    const before = user.get()
    if (before?.uid === changed.uid) user.set({ ...before, ...changed })
  }

  const { conversations, conversation, group, presence, outbox } = collections
  return {
    login: session.start,
    logout: session.stop,
    connection: session.connection,
    on: emitter.on,
    me: { get: user.get, subscribe: user.subscribe },
    updateMe: (changes) => request(updateMe, changes),
    ...{ conversations, conversation, group, presence, outbox },
    ...collections.blocks,
    groups: {
      create: async (made) => group((await request(createGroup, { name: made.guid, ...made })).guid),
      list: (filters) => listOf(listGroups, (asked, how) => request(listGroups, asked, how), filters),
      get: (guid) => request(getGroup, { guid }),
    },
    users: {
      list: (filters) => listOf(listUsers, (asked, how) => request(listUsers, asked, how), filters),
      get: (uid) => request(getUser, { uid }),
    },
    search: (words, { in: within } = {}) => search(request, words, within?.to),
    call: (operation, ...[input, options]) => request(operation, input, options),
  }
}
