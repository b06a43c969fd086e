import type { Message } from '../generated/records.ts'
import type { UserCall } from '../http/call.ts'
import { createOutbox, type OutboxEntry } from '../outbox/outbox.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Frame } from '../socket/frame.ts'
import type { Readable } from '../store/cell.ts'
import type { Shelf } from '../store/shelf.ts'
import { keyOf, placeOf, type To } from './address.ts'
import { type Blocks, keepBlocks } from './blocks.ts'
import { type Conversation, type KeptConversation, keepConversation } from './conversation.ts'
import { type Conversations, createConversations } from './conversations.ts'
import { type KeptGroup, keepGroup, type LiveGroup } from './group.ts'
import { messageIn } from './merge.ts'
import { createPresences, type PresenceState } from './presence.ts'
import { createRestingPlace } from './resting.ts'

/** Everything that is kept for a user, and the one door by which it is changed. */
export interface Collections {
  readonly conversations: Conversations
  readonly outbox: Readable<readonly OutboxEntry[]>
  /** The same object for the same people. */
  conversation(to: To): Conversation
  /** The same object for the same group. */
  group(guid: string): LiveGroup
  readonly blocks: Blocks
  presence(uid: string): Readable<PresenceState>
  /** Conversations whose end somebody looks at. */
  inView(): InView[]
  /** Keeps what waits to be sent across reloads. */
  keepOn(shelf: Shelf): void
  /** Takes in what is told; answers whether it was done here. */
  hear(frame: Frame): boolean
  /** Fetches anew what is looked at, and drops the rest. */
  refetch(): Promise<void>
  /** There is a connection again. */
  revive(): void
  /** Nothing is known any more. `isForgotten`: neither is what was kept across reloads. */
  drop(isForgotten: boolean): void
}

export interface InView {
  key: string
  conversation: Conversation
  last: Message
}

export interface CollectionsParts {
  request: UserCall
  runtime: Runtime
  me(): string
  isIn(): boolean
  say(frame: object): void
  /** Something waits for a connection. */
  wanting(): void
  /** Something may be seen that was not before. */
  shown(): void
}

export function createCollections(given: CollectionsParts): Collections {
  const { request, runtime, me, wanting } = given
  const parts = { ...given, restOf: createRestingPlace(runtime) }
  const kept = new Map<string, KeptConversation>()
  const groups = new Map<string, KeptGroup>()
  const list = createConversations(parts)
  const blocks = keepBlocks(parts)
  const presences = createPresences(parts)
  const outbox = createOutbox({ request, runtime, wanting, taken, changed: showPending })

  function taken(message: Message): void {
    kept.get(keyOf(placeOf(message, me())))?.put(message)
    list.hear({ type: 'message', body: message as never })
  }

  /** In the same turn as all else: a message is never seen twice, or not at all. */
  function showPending(entries: readonly OutboxEntry[]): void {
    for (const each of kept.values()) each.setPending(entries)
  }

  function keep(to: To): KeptConversation {
    const key = keyOf(to)
    const known = kept.get(key)
    if (known) return known
    const made = keepConversation(Object.freeze({ ...to }), { ...parts, outbox })
    kept.set(key, made)
    return made
  }

  function group(guid: string): LiveGroup {
    const key = keyOf({ group: guid })
    const known = groups.get(key)
    if (known) return known.group
    const made = keepGroup(guid, keep({ group: guid }).conversation, parts)
    groups.set(key, made)
    return made.group
  }

  const all = () => [list, blocks, ...kept.values(), ...groups.values()]

  return {
    conversations: list.conversations,
    blocks: blocks.blocks,
    group,
    keepOn: outbox.keepOn,
    inView: () =>
      [...kept].flatMap(([key, { conversation, lastInView }]) => {
        const last = lastInView()
        return last ? [{ key, conversation, last }] : []
      }),
    outbox: outbox.entries,
    conversation: (to) => keep(to).conversation,
    presence: presences.of,
    hear(frame) {
      presences.hear(frame)
      const { muid } = frame.body as { muid?: string }
      const isOwn = frame.type === 'message' && frame.body.sender === me() && outbox.isOwn(muid)
      if (isOwn) outbox.arrived(muid as string, frame.body as unknown as Message)
      list.hear(frame)
      const key = keyIn(frame, me())
      blocks.hear(frame)
      for (const [each, { hear }] of kept) if (key === each || key === 'any') hear(frame)
      for (const [each, { hear }] of groups) if (key === each || frame.type === 'presence') hear(frame)
      return isOwn
    },
    async refetch() {
      await Promise.all(all().map((each) => each.reload()))
    },
    revive() {
      outbox.hurry()
      presences.reload()
      for (const each of all()) each.revive()
    },
    drop(isForgotten) {
      outbox.clear(isForgotten)
      presences.drop()
      for (const each of all()) each.drop()
    },
  }
}

/** The conversation that a frame is about; `any`, where it does not say. */
function keyIn(frame: Frame, me: string): string {
  const { type, sender = '', receiver = '', receiverType = 'user', body } = frame
  const message = messageIn(frame)
  if (message) return keyOf(placeOf(message, me))
  if (type === 'receipts' || type === 'typing_indicator') return keyOf(placeOf({ sender, receiver, receiverType }, me))
  if (type === 'group') return keyOf({ group: (body.group as { guid: string }).guid })
  return ['conversation', 'messages', 'thread'].includes(type) ? 'any' : 'none'
}
