import type { Clock } from '../../kit/ports.ts'
import { oneByOne } from '../../plain/one-by-one.ts'
import type { PresenceNodes } from './nodes.ts'
import type { PresenceStore } from './store.ts'
import type { NumberedWord, Say, Word } from './words.ts'

/** The other nodes of the install: what they say is taken in, and if something was missed, their users are read. */
export interface Neighbours {
  hear(word: Word): void
  /** Reads the users of nodes that are not known well, and clears dead ones away if it may. */
  look(mayClaim: boolean): Promise<void>
  /** Words may have been missed, and Redis may have lost all it knew of them. */
  mistrust(): void
}

const heardMeanwhileMax = 1_000
// Smaller than that of any word.
const unknownNumber = -1

interface Neighbour {
  /** Of its last word that was taken in. */
  number: number
  /** The last sign of life that it wrote down. */
  sign: number
  /** When this node last saw that it lives. */
  seenAt: number
  /** Its words since it was decided to read its users. */
  heard: NumberedWord[] | undefined
}

interface Parts {
  self: string
  store: PresenceStore
  nodes: PresenceNodes
  say: Say
  clock: Clock
  leaseMilliseconds: number
}

export function neighboursOf({ self, store, nodes, say, clock, leaseMilliseconds }: Parts): Neighbours {
  const others = new Map<string, Neighbour>()
  const turns = oneByOne()
  let trustedSince = performance.now()

  function otherAt(node: string): Neighbour {
    const known = others.get(node)
    if (known) return known
    const other = { number: unknownNumber, sign: clock.now(), seenAt: performance.now(), heard: undefined }
    others.set(node, other)
    return other
  }

  function hearNumbered(word: NumberedWord): void {
    const other = otherAt(word.node)
    other.seenAt = performance.now()
    if (other.heard) {
      // Of more than that a number is missing then, which is noticed.
      if (other.heard.length < heardMeanwhileMax) other.heard.push(word)
    } else if (!takeIn(other, word)) {
      other.heard = [word]
      void turns.inTurn(() => read(word.node))
    }
  }

  /** Whether nothing is missing before it. */
  function takeIn(other: Neighbour, word: NumberedWord): boolean {
    const { node, number, kind } = word
    if (number <= other.number) return true
    if (kind === 'rewritten' || number > other.number + 1) return false
    other.number = number
    for (const [appId, uid, isOnline, at] of word.changes) {
      nodes.change(node, { appId, uid, isOnline, at, isOurs: false })
    }
    return true
  }

  /** What cannot be read now, the next look reads. */
  async function read(node: string): Promise<void> {
    const other = otherAt(node)
    other.heard ??= []
    const found = await store.read(node).catch(() => undefined)
    const { heard } = other
    other.heard = undefined
    // It may have been found dead in the meantime.
    if (others.get(node) !== other) return
    other.number = found?.number ?? unknownNumber
    if (!found) return
    nodes.replace(node, found.users, clock.now())
    if (!heard.every((word) => takeIn(other, word))) other.number = unknownNumber
  }

  async function look(mayClaim: boolean): Promise<void> {
    const signs = await store.signs()
    signs.delete(self)
    const numbers = await store.numbers([...signs.keys()])
    for (const [node, sign] of signs) {
      const number = numbers.get(node)
      if (number !== undefined) await lookAt(node, number, sign)
      else if (mayClaim) await claim(node, sign)
    }
    dropUnseen()
  }

  async function lookAt(node: string, number: number, sign: number): Promise<void> {
    if (otherAt(node).number < number) await read(node)
    Object.assign(otherAt(node), { sign, seenAt: performance.now() })
  }

  async function claim(node: string, at: number): Promise<void> {
    const users = await store.claim(node)
    if (!users) return
    say({ kind: 'gone', node, at })
    others.delete(node)
    nodes.drop(node, { at, isOurs: true, users })
  }

  /** Redis has lost them, or the word that they are dead was lost. */
  function dropUnseen(): void {
    const bound = performance.now() - leaseMilliseconds
    if (trustedSince > bound) return
    for (const [node, { seenAt, sign }] of others) {
      if (seenAt > bound) continue
      others.delete(node)
      nodes.drop(node, { at: sign, isOurs: true })
    }
  }

  return {
    hear(word) {
      if (word.kind !== 'gone') hearNumbered(word)
      else if (others.delete(word.node)) nodes.drop(word.node, { at: word.at, isOurs: false })
    },
    look: (mayClaim) => turns.inTurn(() => look(mayClaim)),
    mistrust() {
      trustedSince = performance.now()
      for (const other of others.values()) other.number = unknownNumber
    },
  }
}
