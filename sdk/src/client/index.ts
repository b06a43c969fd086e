import type { To } from '../collections/address.ts'
import { createCollections } from '../collections/collections.ts'
import type { Conversation } from '../collections/conversation.ts'
import type { Conversations } from '../collections/conversations.ts'
import type { PresenceState } from '../collections/presence.ts'
import { search } from '../collections/search.ts'
import type { Message } from '../generated/records.ts'
import type { CallOptions } from '../http/call.ts'
import type { Operation } from '../operation.ts'
import type { OutboxEntry } from '../outbox/outbox.ts'
import type { Frame } from '../socket/frame.ts'
import type { Readable } from '../store/cell.ts'
import { requester } from '../sync/requests.ts'
import { type ConnectionState, createSession, type LiveUser } from '../sync/session.ts'
import { tokensFrom } from '../sync/token.ts'
import { createEmitter } from './emitter.ts'
import { type ClientEvents, type EventName, eventOf } from './events.ts'
import { createReceipts } from './receipts.ts'
import { type ClientSettings, connectionFor, presenceWish, socketUrl } from './settings.ts'

/** One user on one device. */
export interface Client {
  /** Connects and stays connected. Resolves when the server has let the user in; called again, it is the same. */
  login(): Promise<LiveUser>
  /** Goes, and forgets everything. Whatever was under way is given up. */
  logout(): void
  readonly connection: Readable<ConnectionState>
  /** Answers how to stop listening. */
  on<Name extends EventName>(name: Name, listener: (payload: ClientEvents[Name]) => void): () => void
  /** Fetched when somebody looks at it first, and kept current until a minute after nobody does. */
  readonly conversations: Conversations
  /** The conversation with a person, or of a group; the same object every time. */
  conversation(to: To): Conversation
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

/** Does nothing, and touches nothing, before something is called. */
export function createClient(settings: ClientSettings): Client {
  const connection = connectionFor(settings)
  const { runtime } = connection
  const tokens = tokensFrom(settings.token, connection)
  const { request, giveUp } = requester(connection, tokens)
  const emitter = createEmitter<ClientEvents>()

  const me = () => session.user()?.uid ?? ''
  const collections = createCollections({
    ...{ request, runtime, me },
    isIn: () => session.user() !== undefined,
    say: (frame) => void session.say(frame),
    wanting: () => session.hurry(),
  })

  const receipts = createReceipts({ runtime, me, say: (frame) => void session.say(frame) })

  const session = createSession({
    url: socketUrl(connection),
    hello: { presence: presenceWish(settings.presence) },
    ...{ tokens, runtime, hear },
    refetch: collections.refetch,
    connected: collections.revive,
    ended() {
      giveUp()
      receipts.drop()
      collections.drop()
    },
  })

  /** First what is kept, then whoever listens: they find it as it is after the event. */
  function hear(frame: Frame): void {
    const isOwn = collections.hear(frame)
    const { name, payload } = eventOf(frame)
    if (isOwn) return
    if (name === 'message.received' && settings.autoReceipts === 'delivered') {
      receipts.hear((payload as ClientEvents['message.received']).message)
    }
    emitter.emit(name, payload)
  }

  const { conversations, conversation, presence, outbox } = collections
  return {
    login: session.start,
    logout: session.stop,
    connection: session.connection,
    on: emitter.on,
    ...{ conversations, conversation, presence, outbox },
    search: (words, { in: within } = {}) => search(request, words, within?.to),
    call: (operation, ...[input, options]) => request(operation, input, options),
  }
}
