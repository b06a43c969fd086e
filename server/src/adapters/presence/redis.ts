import { randomBytes } from 'node:crypto'
import type { Clock, Presence, Signals } from '../../kit/ports.ts'
import { within } from '../../plain/time-limit.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { presenceHearers } from './hearers.ts'
import { neighboursOf } from './neighbours.ts'
import { presenceNodes } from './nodes.ts'
import { ownUsers } from './own-users.ts'
import { presenceStore } from './store.ts'
import type { Word } from './words.ts'

export interface PresenceTimes {
  /** A node that has given no sign of life for so long is dead. */
  leaseMilliseconds: number
  /** How often a node gives a sign of life, and looks after the others. */
  lookMilliseconds: number
  /** Users of a node that leaves count as connected for so long. */
  leavingMilliseconds: number
}

// When a node dies, its users are known to be gone within 30 seconds.
export const usualTimes: PresenceTimes = {
  leaseMilliseconds: 24_000,
  lookMilliseconds: 5_000,
  leavingMilliseconds: 30_000,
}
const closeMilliseconds = 300
const topic = 'presence'

export interface RedisPresence extends Presence {
  /** Gives a sign of life and looks after the other nodes; it does so by itself every few seconds. */
  look(): Promise<void>
}

export interface RedisPresenceParts {
  redis: RedisConnection
  install: string
  signals: Signals
  clock: Clock
  times?: PresenceTimes
}

/**
 * Who is connected to any node of an install. Each node keeps in memory whom each node has. Without Redis it shows what it
 * last knew, and takes nobody on other nodes for gone.
 */
export async function redisPresence(parts: RedisPresenceParts): Promise<RedisPresence> {
  const { redis, install, signals, clock, times = usualTimes } = parts
  // After a restart it is another node: what its predecessor has left is cleared away as that of any dead one.
  const self = randomBytes(8).toString('hex')
  const store = presenceStore(redis, `parley:${install}:presence`, times.leaseMilliseconds)
  const { tell, onChange } = presenceHearers()
  const nodes = presenceNodes(tell)
  const say = (word: Word) => signals.send(topic, word)
  const own = ownUsers({ self, store, nodes, say, clock })
  const others = neighboursOf({ self, store, nodes, say, clock, leaseMilliseconds: times.leaseMilliseconds })
  let isLeaving = false

  async function look(): Promise<void> {
    try {
      await own.renew()
      await others.look(true)
    } catch {
      // Redis is away, which the connection tells.
    }
  }

  const stopHearing = signals.hear(topic, (signal, isOwn) => {
    const word = signal as Word
    if (isOwn) return
    if (word.node !== self) others.hear(word)
    else {
      // It was taken for dead, and what it had written has been cleared away.
      own.mistrust()
      void look()
    }
  })
  const stopWaiting = redis.onReturn(() => {
    own.mistrust()
    others.mistrust()
    void look()
  })
  await own.renew()
  // Nobody hears yet of those whom dead nodes had; they are cleared away with the first look.
  await others.look(false)
  const looking = setInterval(() => void look(), times.lookMilliseconds)
  looking.unref()

  return {
    online: nodes.online,
    came: (appId, uid) => isLeaving || own.change(appId, uid, true),
    went: (appId, uid, at) => isLeaving || own.change(appId, uid, false, at),
    onChange,
    look,
    async close() {
      isLeaving = true
      clearInterval(looking)
      stopWaiting()
      stopHearing()
      const leaving = own.leave(times.leavingMilliseconds).catch(() => {})
      await within(closeMilliseconds, leaving, () => {})
    },
  }
}
