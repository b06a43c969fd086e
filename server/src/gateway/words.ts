import { findGroup, onlineMembersCount } from '../areas/groups/index.ts'
import { maySayTo } from '../areas/messages/index.ts'
import { groupChannel } from '../areas/timeline/events.ts'
import { userChannel } from '../areas/users/events.ts'
import { actorOf, toUser, userActing } from '../areas/users/index.ts'
import { viewIn } from '../common/work-in.ts'
import { type Channel, channelKey } from '../kit/channel.ts'
import { badRequest, tooManyRequests } from '../kit/errors.ts'
import type { Frame } from '../kit/event.ts'
import type { Actor } from '../kit/operation.ts'
import type { Tools } from '../kit/ports.ts'
import type { View } from '../kit/work.ts'
import { createKeptFor } from '../plain/kept-for.ts'
import type { Database } from '../storage/database.ts'
import type { Delivery } from './delivery.ts'
import { formsOf } from './forms.ts'
import type { FrameOf } from './frames-in.ts'
import type { Hearer, Hearers } from './hearers.ts'
import { liveUser } from './live-user.ts'
import { type Session, veilOf } from './session.ts'
import { type Addressee, createTypists } from './typists.ts'
import { createWordAllowance } from './word-allowance.ts'

/**
 * What is said and gone: that somebody types, and messages that are never stored. It goes to whoever is connected at that
 * moment, on whichever node, and may be lost.
 */
export interface Words {
  typing(session: Session, frame: FrameOf<'typing_indicator'>): Promise<void>
  transient(session: Session, frame: FrameOf<'transient_message'>): Promise<void>
  /** A device that has gone does not type any more. */
  forget(session: Session): void
  close(): void
}

/** A word on its way, also to other nodes. */
interface Word {
  appId: string
  channel: string
  frame: Frame
  /** The device that said it. */
  resource: string
}

const topic = 'words'
const dataBytesMax = 5_120
// In groups with more people than this online nothing of the kind is told.
const onlineMembersMax = 1_000
const countKeptMilliseconds = 10_000

interface Parts {
  database: Database
  tools: Tools
  hearers: Hearers
  learn: Delivery['learn']
  mayTell(): boolean
  /** After which nobody types any more of whom nothing is heard. */
  typingMilliseconds: number
}

export function createWords({ database, tools, hearers, learn, mayTell, typingMilliseconds }: Parts): Words {
  const { signals } = tools
  const typists = createTypists(typingMilliseconds)
  const allowance = createWordAllowance()
  const counts = createKeptFor<number>(countKeptMilliseconds)

  /** Hands a word to whoever hears it on this node. */
  function hand({ appId, channel, frame, resource }: Word): void {
    if (!mayTell()) return
    const forms = formsOf(() => frame)
    const handTo = (hearer: Hearer) => {
      for (const session of hearer.sessions) {
        if (session.resource === resource && session.caller.uid === frame.sender) continue
        session.line.signal(forms.under(veilOf(hearer)))
      }
    }
    for (const hearer of hearers.hearing(appId, [channel])) {
      if (hearer.shows === 'unknown') void learn(hearer).then(() => handTo(hearer))
      else handTo(hearer)
    }
  }

  const stopHearing = signals.hear(topic, (signal, isOwn) => {
    const word = signal as Word
    hand(word)
    if (!isOwn && word.frame.type === 'typing_indicator') typists.elsewhere(word, () => hand(endOf(word)))
  })

  async function countOnline(view: View, guid: string): Promise<number> {
    const key = JSON.stringify([view.db.appId, guid])
    const known = counts.find(key)
    if (known !== undefined) return known
    const group = await findGroup(view.db, guid)
    const online = group ? await onlineMembersCount(view, group) : 0
    counts.keep(key, online)
    return online
  }

  /** How many will hear it; none, where it is passed over in silence: nobody learns of a block that way. */
  async function countHearers(view: View, actor: Actor, { receiver, receiverType }: Addressee): Promise<number> {
    if (!(await maySayTo(view, actor, receiverType, receiver))) return 0
    if (receiverType === 'user') return 1
    const online = await countOnline(view, receiver)
    return online > onlineMembersMax ? 0 : online
  }

  /** The word, if anybody is to hear it, with the user who says it. */
  function worded(
    session: Session,
    to: Addressee,
    bytes: number,
    frame: (user: object) => Frame,
  ): Promise<Word | undefined> {
    const { app, caller, resource } = session
    if (!allowance.mayAsk(app.id, caller.uid)) return Promise.reject(tooManyRequests({ retryAfter: 1 }))
    return database.read(async (connection) => {
      const view = viewIn(connection, app.id, tools, undefined, app)
      const actor = await actorOf(view.db, caller.uid)
      const count = actor ? await countHearers(view, actor, to) : 0
      const speaker = actor && (await userActing(view.db, actor))
      if (count === 0 || !speaker) return undefined
      const outcome = allowance.take(app.id, caller.uid, count, bytes)
      if (outcome === 'tooMuch') throw tooManyRequests({ retryAfter: 1 })
      // Whoever says no more than they may is not blamed for what others say.
      if (outcome === 'lost') return undefined
      const user = liveUser(toUser(view, speaker, { withTags: false }))
      return { appId: app.id, channel: channelKey(channelFor(to)), frame: frame(user), resource }
    }, app.id)
  }

  return {
    async typing(session, { receiver, receiverType, body: { action, metadata } }) {
      const bytes = bytesOf('metadata', metadata)
      const to = addressed({ receiver, receiverType })
      if (!typists.mayTell(session, to, action)) return
      const word = await worded(session, to, bytes, (user) => ({
        ...{ type: 'typing_indicator', sender: session.caller.uid, ...to },
        body: { action, user, ...(metadata !== undefined && { metadata }) },
      }))
      if (!word) return
      typists.told(session, to, action, () => signals.send(topic, endOf(word)))
      signals.send(topic, word)
    },
    async transient(session, { receiver, receiverType, body: { data } }) {
      const bytes = bytesOf('data', data)
      const to = addressed({ receiver, receiverType })
      const word = await worded(session, to, bytes, (user) => ({
        ...{ type: 'transient_message', sender: session.caller.uid, ...to },
        body: { user, data },
      }))
      if (word) signals.send(topic, word)
    },
    forget: typists.forget,
    close() {
      stopHearing()
      typists.close()
    },
  }
}

/** How large something is that is handed to many; it must be small. */
function bytesOf(name: string, value: unknown): number {
  const bytes = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
  if (bytes > dataBytesMax) throw badRequest({ [name]: [`must not be larger than ${dataBytesMax} bytes`] })
  return bytes
}

/** UIDs and GUIDs are known in any letter case. */
const addressed = ({ receiver, receiverType }: Addressee): Addressee => ({
  receiver: receiver.toLowerCase(),
  receiverType,
})

function channelFor({ receiver, receiverType }: Addressee): Channel {
  return receiverType === 'group' ? groupChannel(receiver) : userChannel(receiver)
}

function endOf(word: Word): Word {
  return { ...word, frame: { ...word.frame, body: { ...word.frame.body, action: 'ended' } } }
}
