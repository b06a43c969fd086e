import type { Place } from '../../server/src/areas/timeline/index.ts'
import { placesNamed } from '../../server/src/areas/timeline/index.ts'
import { ambiguousId } from './hostile.ts'
import type { Random } from './random.ts'

/**
 * What several conversations stored together while they went by their id on the wire: one row of numbers, one side for
 * each user, messages numbered through. Made up at random, and kept in a form in which what belongs to whom is plain.
 */

export interface EarlierMessage {
  place: Place
  seq: number
  counted: number
  counts: 0 | 1
  sender: string
  receiver: string
  /** The app did something to an earlier message. */
  on: EarlierMessage | undefined
  deleted: boolean
  purged: boolean
  mentions: string[]
  at: number
}

export interface EarlierSide {
  uid: string
  delivered: number
  read: number
  readCounted: number
  cleared: number
}

export interface EarlierTalk {
  conversationId: string
  /** Whoever came first has the row. */
  own: Place
  places: Place[]
  members: string[]
  messages: EarlierMessage[]
  sides: Map<string, EarlierSide>
  marks: { uid: string; kind: 'delivered' | 'read'; seq: number; at: number }[]
  last: number
  lastCounted: number
  shown: number
  purged: number
  purgedCounted: number
}

export function earlierTalk(random: Random, steps: number): EarlierTalk {
  const conversationId = ambiguousId(random)
  const readings = placesNamed(conversationId)
  const places = readings.filter(() => random.chance(0.75))
  const own = random.pick(places.length > 0 ? places : readings)
  const inPairs = readings.flatMap(({ type, first, second }) => (type === 'user' ? [first, second] : []))
  // Somebody may be in the group and in one of the pairs.
  const members = ['m0', 'm1', 'm2', ...inPairs.filter(() => random.chance(0.2))]
  const numbers = { last: 0, lastCounted: 0, shown: 0, purged: 0, purgedCounted: 0 }
  const talk: EarlierTalk = {
    ...{ conversationId, own, places: [...new Set([own, ...places])], members, ...numbers },
    ...{ messages: [], sides: new Map(), marks: [] },
  }
  if (talk.places.some(({ type }) => type === 'group')) {
    for (const uid of members) open(talk, uid, 0, 0)
  }
  for (let step = 0; step < steps; step += 1) takeStep(talk, random, 1_000 + step)
  return talk
}

function open(talk: EarlierTalk, uid: string, at: number, counted: number): void {
  if (!talk.sides.has(uid)) {
    talk.sides.set(uid, { uid, delivered: at, read: at, readCounted: counted, cleared: at })
  }
}

function takeStep(talk: EarlierTalk, random: Random, at: number): void {
  const what = random.next()
  const side = talk.sides.size === 0 ? undefined : random.pick([...talk.sides.values()])
  const message = talk.messages.length === 0 ? undefined : random.pick(talk.messages)
  if (what < 0.55 || !side || !message) say(talk, random, at)
  else if (what < 0.75) read(talk, side, message, random.chance(0.7) ? 'read' : 'delivered', at)
  else if (what < 0.8) Object.assign(side, standing(talk), { cleared: talk.last })
  else if (what < 0.88) message.deleted = true
  else if (what < 0.94) Object.assign(message, { deleted: true, purged: true, mentions: [] })
  else if (random.chance(0.3)) Object.assign(talk, { purged: talk.last, purgedCounted: talk.lastCounted, shown: 0 })
}

const standing = ({ last, lastCounted }: EarlierTalk) => ({ delivered: last, read: last, readCounted: lastCounted })

function say(talk: EarlierTalk, random: Random, at: number): void {
  const place = random.pick(talk.places)
  const people = [...new Set(place.type === 'group' ? talk.members : [place.first, place.second])]
  const before = talk.messages.filter((message) => message.place === place && !message.purged && !message.on)
  // Between two users it cannot be told by who sent it where such a thing happened.
  const on = place.type === 'user' && before.length > 0 && random.chance(0.15) ? random.pick(before) : undefined
  const sender = on ? 'app_system' : random.pick(people)
  const other = place.first === sender ? place.second : place.first
  const counts = on || random.chance(0.2) ? 0 : 1
  talk.last += 1
  talk.lastCounted += counts
  if (counts === 1) talk.shown = talk.last
  if (place.type === 'user') for (const uid of people) open(talk, uid, talk.last - 1, talk.lastCounted - counts)
  talk.messages.push({
    ...{ place, seq: talk.last, counted: talk.lastCounted, counts, sender, on, at },
    receiver: place.type === 'group' ? place.first : on ? on.receiver : other,
    ...{ deleted: false, purged: false, mentions: people.filter((uid) => uid !== sender && random.chance(0.2)) },
  })
  const side = talk.sides.get(sender)
  if (!side) return
  if (side.read < talk.last - 1) mark(talk, sender, 'read', talk.last - 1, at)
  Object.assign(side, standing(talk))
}

function read(talk: EarlierTalk, side: EarlierSide, message: EarlierMessage, kind: 'delivered' | 'read', at: number) {
  if (side.delivered < message.seq) {
    side.delivered = message.seq
    mark(talk, side.uid, 'delivered', message.seq, at)
  }
  if (kind === 'delivered' || side.read >= message.seq) return
  Object.assign(side, { read: message.seq, readCounted: message.counted })
  mark(talk, side.uid, 'read', message.seq, at)
}

function mark(talk: EarlierTalk, uid: string, kind: 'delivered' | 'read', seq: number, at: number): void {
  if (!talk.marks.some((each) => each.uid === uid && each.kind === kind && each.seq === seq)) {
    talk.marks.push({ uid, kind, seq, at })
  }
}
