import type { Clock, PresenceChange } from '../../kit/ports.ts'
import { type OneByOne, oneByOne } from '../../plain/one-by-one.ts'
import type { PresenceNodes } from './nodes.ts'
import type { PresenceStore } from './store.ts'
import type { Say, ToldChange } from './words.ts'

/** The users of this node: written down for nodes that start later or have missed something, and told to the others. */
export interface OwnUsers {
  change(appId: string, uid: string, isOnline: boolean, at?: number): void
  /** A sign of life. Whatever is not written yet is written with it. */
  renew(): Promise<void>
  /** What had been written may be lost. */
  mistrust(): void
  /** The last sign of life, once all is written: the lease runs for so long more. */
  leave(milliseconds: number): Promise<void>
}

const changesAtOnce = 500

interface Parts {
  self: string
  store: PresenceStore
  nodes: PresenceNodes
  say: Say
  clock: Clock
}

export function ownUsers({ self, store, nodes, say, clock }: Parts): OwnUsers {
  const turns: OneByOne = oneByOne()
  let number = 0
  /** Whether Redis has all that happened here, but for what is pending. */
  let isWritten = false
  /** By user: of somebody who comes and goes the last counts. */
  let pending = new Map<string, PresenceChange>()

  /** What fails is written with the next sign of life. */
  async function inTurn(work: () => Promise<void>): Promise<void> {
    try {
      await turns.inTurn(work)
    } catch (error) {
      isWritten = false
      throw error
    }
  }

  async function writePending(): Promise<void> {
    const changes = [...pending.values()]
    pending = new Map()
    for (let n = 0; n < changes.length; n += changesAtOnce) await write(changes.slice(n, n + changesAtOnce))
  }

  async function write(changes: PresenceChange[]): Promise<void> {
    if (!isWritten) return rewrite()
    number += 1
    const writing = store.change(self, number, changes)
    say({ kind: 'changed', node: self, number, changes: changes.map(asTold) })
    const hadHeld = await writing
    if (!hadHeld) await rewrite()
  }

  async function rewrite(): Promise<void> {
    pending = new Map()
    number += 1
    await store.rewrite(self, number, nodes.usersOf(self), clock.now())
    isWritten = true
    say({ kind: 'rewritten', node: self, number })
  }

  async function renew(): Promise<void> {
    const hadHeld = isWritten && (await store.renew(self, number, clock.now()))
    if (!hadHeld) await rewrite()
  }

  return {
    change(appId, uid, isOnline, at = clock.now()) {
      const change = { appId, uid, isOnline, at, isOurs: true }
      if (!nodes.change(self, change)) return
      if (pending.size === 0) void inTurn(writePending).catch(() => {})
      pending.set(JSON.stringify([appId, uid]), change)
    },
    renew: () => inTurn(renew),
    mistrust() {
      isWritten = false
    },
    leave: (milliseconds) =>
      inTurn(async () => {
        if (isWritten) await store.leave(self, number, clock.now(), milliseconds)
      }),
  }
}

const asTold = ({ appId, uid, isOnline, at }: PresenceChange): ToldChange => [appId, uid, isOnline, at]
