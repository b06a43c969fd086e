import { relationBetween } from '../areas/blocked-users/index.ts'
import { findGroup, onlineMembersCount } from '../areas/groups/index.ts'
import { groupChannel } from '../areas/timeline/events.ts'
import { userChannel } from '../areas/users/events.ts'
import { channelKey } from '../kit/channel.ts'
import { badRequest } from '../kit/errors.ts'
import type { Frame } from '../kit/event.ts'
import type { Signals, Tools } from '../kit/ports.ts'
import { viewIn } from '../kit/work.ts'
import type { Database } from '../storage/database.ts'
import { encode } from './encode.ts'
import type { FrameOf } from './frames-in.ts'
import type { Listener, Listeners } from './listeners.ts'
import type { Session } from './session.ts'

/**
 * What is said and gone: that somebody types, and messages that are never stored. They go to whoever is connected at the
 * moment, on whichever node, and may be lost.
 */
export interface Words {
  type(session: Session, frame: FrameOf<'typing_indicator'>): Promise<void>
  say(session: Session, frame: FrameOf<'transient_message'>): Promise<void>
  /** A device that has gone does not type any more. */
  forget(session: Session): void
  close(): void
}

/** A word on its way to other nodes. */
interface Word {
  appId: string
  channels: string[]
  frame: Frame
  /** The device that said it. */
  resource: string
}

const topic = 'words'
const typingMilliseconds = 5_000
// Should the node die on which somebody types, theirs do not go on for ever.
const typingElsewhereMilliseconds = 6_000
const typingAgainMilliseconds = 1_000
const dataBytesMax = 5_120
// To more than these nobody is shown typing.
const onlineMembersMax = 1_000
const countKeptMilliseconds = 10_000

/** What somebody types into, with the moments of it. */
interface Typing {
  receiver: string
  receiverType: 'user' | 'group'
  toldAt: number
  timer: NodeJS.Timeout
}

interface Parts {
  database: Database
  tools: Tools
  signals: Signals
  listeners: Listeners
}

export function createWords({ database, tools, signals, listeners }: Parts): Words {
  const typing = new Map<Session, Map<string, Typing>>()
  const elsewhere = new Map<string, NodeJS.Timeout>()

  function hand({ appId, channels, frame, resource }: Word): void {
    let encoded: Buffer | undefined
    for (const listener of listeners.hearing(appId, channels)) {
      for (const session of listener.sessions) {
        if (session.resource === resource) continue
        encoded ??= encode(frame)
        session.line.signal(encoded)
      }
    }
  }
