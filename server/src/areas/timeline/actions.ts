import { channelKey } from '../../kit/channel.ts'
import type { Work } from '../../kit/work.ts'
import { userChannel } from '../users/events.ts'
import { audienceFor } from './audience.ts'
import { actionWritten } from './events.ts'
import { keptData } from './files-in.ts'
import type { Place } from './place.ts'
import { toMessage } from './record.ts'
import type { Message } from './schemas.ts'
import { writeMessage } from './write.ts'

/** A record as it was when something was said about it. */
export interface Entity {
  entity: object
  entityType: 'user' | 'group' | 'message' | 'call'
}

/** Somebody did something, which a message in the history tells. */
export interface Deed {
  type: string
  action: string
  sender: string
  receiver: string
  by: Entity
  on: Entity
  for: Entity
  /** What else its content holds. */
  more?: object
  /** It was done to a reply in a thread. */
  inThread?: boolean | undefined
}

export interface Action extends Deed {
  type: 'groupMember' | 'message'
  extras?: object
  /** Told of it, too, though they may not be in the conversation yet, or any more. */
  concerns?: string
}

/** A message that tells of a deed, and who is told live. */
export interface WrittenDeed {
  message: Message
  audience: string[]
}

/** Notes in a conversation that somebody did something, as a message of its own. */
export async function writeAction(work: Work, place: Place, { extras, concerns, ...deed }: Action): Promise<Message> {
  const { message, audience } = await writeDeed(work, place, 'action', { ...deed, ...(extras && { more: { extras } }) })
  if (concerns !== undefined) audience.push(channelKey(userChannel(concerns)))
  await work.emit(actionWritten, { message, audience })
  return message
}

/** The same for any category of deeds; whoever calls it tells the world. */
export async function writeDeed(
  work: Work,
  place: Place,
  category: 'action' | 'call',
  deed: Deed,
): Promise<WrittenDeed> {
  const { type, action, sender, receiver, inThread } = deed
  const data = { action, entities: { by: deed.by, on: deed.on, for: deed.for }, ...deed.more }
  const row = await writeMessage(work, place, {
    ...{ sender, receiver, category, type, inThread },
    data: keptData({ category, type, data }, { appId: work.db.appId, tools: work.tools }),
  })
  // The app may have acted for one of two.
  const between = { sender: place.first, receiver: place.second || place.first, receiver_type: place.type }
  return { message: toMessage(work, row, {}), audience: await audienceFor(work.db, between, sender) }
}
