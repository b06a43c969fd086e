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

export interface Action {
  type: 'groupMember' | 'message'
  action: string
  sender: string
  receiver: string
  by: Entity
  on: Entity
  for: Entity
  extras?: object
  /** Told of it, too, though they may not be in the conversation yet, or any more. */
  concerns?: string
  /** It was done to a reply in a thread. */
  inThread?: boolean | undefined
}

/** Notes in a conversation that somebody did something, as a message of its own. */
export async function writeAction(work: Work, place: Place, action: Action): Promise<Message> {
  const { type } = action
  const category = 'action'
  const data = {
    action: action.action,
    entities: { by: action.by, on: action.on, for: action.for },
    ...(action.extras && { extras: action.extras }),
  }
  const row = await writeMessage(work, place, {
    sender: action.sender,
    receiver: action.receiver,
    category,
    type,
    data: keptData({ category, type, data }, { appId: work.db.appId, tools: work.tools }),
    inThread: action.inThread,
  })
  const message = toMessage(work, row, {})
  // The app may have acted for one of two.
  const between = { sender: place.first, receiver: place.second || place.first, receiver_type: place.type }
  const audience = await audienceFor(work.db, between, action.sender)
  const { concerns } = action
  if (concerns !== undefined) audience.push(channelKey(userChannel(concerns)))
  await work.emit(actionWritten, { message, audience })
  return message
}
