import { otherSide, type Place, placeOfGroup } from '../../server/src/areas/timeline/index.ts'

/**
 * What everybody has said where, and who can still see it; kept by who is in a conversation, never by its id. It knows
 * what people say to each other, and leaves out the notes that a group makes of who came and went.
 */

export interface Said {
  id: string
  text: string
  sender: string
  mentions: string[]
  parent: Said | undefined
  /** Without its content, but there. */
  deleted: boolean
  /** There for nobody. */
  gone: boolean
  pinned: boolean
  reactions: Set<string>
}

/** How many messages are hidden from a user, and how many are read. */
interface Side {
  cleared: number
  read: number
}

export interface Talk {
  place: Place
  messages: Said[]
  sides: Map<string, Side>
}

export class TalkModel {
  readonly users = new Set<string>()
  readonly groups = new Map<string, { owner: string; members: Set<string>; banned: Set<string> }>()
  readonly #talks = new Map<string, Talk>()

  talkAt(place: Place): Talk {
    const key = `${place.type} ${place.first} ${place.second}`
    const talk = this.#talks.get(key) ?? { place, messages: [], sides: new Map() }
    this.#talks.set(key, talk)
    return talk
  }

  /** The conversations that a user has a side of. */
  talksOf(uid: string): Talk[] {
    return [...this.#talks.values()].filter(({ sides }) => sides.has(uid))
  }

  said(place: Place, message: Said): void {
    const { messages, sides } = this.talkAt(place)
    const before = messages.push(message) - 1
    if (place.type === 'user') {
      for (const uid of [place.first, place.second])
        if (!sides.has(uid)) sides.set(uid, { cleared: before, read: before })
    }
    const own = sides.get(message.sender)
    if (own) own.read = messages.length
  }

  seenBy(uid: string, talk: Talk): Said[] {
    const { cleared = Number.POSITIVE_INFINITY } = talk.sides.get(uid) ?? {}
    return talk.messages.filter(({ gone }, n) => !gone && n >= cleared)
  }

  allSeenBy(uid: string): Said[] {
    return this.talksOf(uid)
      .flatMap((talk) => this.seenBy(uid, talk))
      .toSorted((a, b) => Number(a.id) - Number(b.id))
  }

  /** Answers in a thread are unread there, and nowhere else. */
  unreadBy(uid: string, talk: Talk): Said[] {
    const { read = 0 } = talk.sides.get(uid) ?? {}
    const isNew = (message: Said) => talk.messages.indexOf(message) >= read
    return this.seenBy(uid, talk).filter(
      (message) => isNew(message) && message.sender !== uid && !message.deleted && !message.parent,
    )
  }

  read(uid: string, { messages, sides }: Talk, upTo: Said | undefined): void {
    const side = sides.get(uid)
    if (side) side.read = Math.max(side.read, upTo ? messages.indexOf(upTo) + 1 : messages.length)
  }

  unread(uid: string, { messages, sides }: Talk, downTo: Said): void {
    const side = sides.get(uid)
    if (side) side.read = Math.min(side.read, messages.indexOf(downTo) + 1)
  }

  reset(uid: string, { messages, sides }: Talk): void {
    sides.set(uid, { cleared: messages.length, read: messages.length })
  }

  deleteForAll({ messages, sides }: Talk): void {
    for (const message of messages) message.gone = true
    for (const side of sides.values()) side.read = messages.length
  }

  createUser(uid: string): void {
    this.users.add(uid)
  }

  /** What a user has said goes with them, and the threads of it; whoever has the UID next has none of it. */
  deleteUser(uid: string): void {
    this.users.delete(uid)
    for (const { messages, sides } of this.#talks.values()) {
      sides.delete(uid)
      for (const message of messages) {
        if (message.sender === uid || message.parent?.gone) message.gone = true
        for (const reaction of message.reactions) if (reaction.startsWith(`${uid} `)) message.reactions.delete(reaction)
      }
    }
    for (const { members, banned } of this.groups.values()) {
      members.delete(uid)
      banned.delete(uid)
    }
  }

  createGroup(guid: string, owner: string, members: string[]): void {
    this.groups.set(guid, { owner, members: new Set(), banned: new Set() })
    for (const uid of [owner, ...members]) this.join(guid, uid)
  }

  /** What was said before is there to read, and counts as read. */
  join(guid: string, uid: string): void {
    this.groups.get(guid)?.members.add(uid)
    const { messages, sides } = this.talkAt(placeOfGroup(guid))
    sides.set(uid, { cleared: 0, read: messages.length })
  }

  leave(guid: string, uid: string): void {
    this.groups.get(guid)?.members.delete(uid)
    this.talkAt(placeOfGroup(guid)).sides.delete(uid)
  }

  deleteGroup(guid: string): void {
    this.groups.delete(guid)
    this.#talks.delete(`group ${guid} `)
  }
}

/** The path by which a user names a conversation of theirs. */
export function pathOf(place: Place, uid: string): string {
  return place.type === 'group' ? `/groups/${place.first}` : `/users/${otherSide(place, uid)}`
}
