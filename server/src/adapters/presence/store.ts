import type { PresenceChange } from '../../kit/ports.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { Someone } from './crowd.ts'

/**
 * What Redis has of each node: a lease, which holds the number of its last change, and the set of its users. A list of all
 * nodes, with the last sign of life of each, tells what to look for. So a node costs three keys, whoever is connected to it,
 * and its users are read at one stroke, together with the number up to which they are right.
 */
export interface PresenceStore {
  /** Writes some changes down, each of somebody else. Whether the lease had held until now: if not, all is to be written. */
  change(node: string, number: number, changes: PresenceChange[]): Promise<boolean>
  /** Writes everything down. */
  rewrite(node: string, number: number, users: Iterable<Someone>, at: number): Promise<void>
  /** A sign of life; whether the lease had held until now. */
  renew(node: string, number: number, at: number): Promise<boolean>
  /** The last sign of life: the lease runs for so long more. */
  leave(node: string, number: number, at: number, milliseconds: number): Promise<void>
  /** The last signs of life of all nodes, dead ones too. */
  signs(): Promise<Map<string, number>>
  /** The numbers of those nodes whose lease holds. */
  numbers(nodes: string[]): Promise<Map<string, number>>
  /** The users of a node whose lease holds. */
  read(node: string): Promise<{ number: number; users: Someone[] } | undefined>
  /** Clears a node away whose lease has run out, and answers its users, to one of all who try. */
  claim(node: string): Promise<Someone[] | undefined>
}

// Should nobody ever look again, Redis clears away by itself.
const forgottenSeconds = 30 * 24 * 3600
const usersAtOnce = 1_000

const claimScript = `
  if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('HDEL', KEYS[2], ARGV[1]) == 0 then return false end
  local users = redis.call('SMEMBERS', KEYS[3])
  redis.call('DEL', KEYS[3])
  return users`

const memberOf = ([appId, uid]: Someone) => JSON.stringify([appId, uid])
const someoneOf = (member: string): Someone => JSON.parse(member)

/** Everything fails at once while Redis is away. */
export function presenceStore(redis: RedisConnection, prefix: string, leaseMilliseconds: number): PresenceStore {
  function client() {
    if (!redis.isThere()) throw new Error('Redis is away.')
    return redis.client
  }

  const nodes = `${prefix}:nodes`
  const leaseOf = (node: string) => `${prefix}:lease:${node}`
  const usersOf = (node: string) => `${prefix}:users:${node}`

  /** All of it happens, or nothing. */
  function leased(node: string, number: number, milliseconds = leaseMilliseconds) {
    return client()
      .multi()
      .get(leaseOf(node))
      .set(leaseOf(node), String(number), { expiration: { type: 'PX', value: milliseconds } })
  }

  function signed(node: string, number: number, at: number, milliseconds = leaseMilliseconds) {
    return leased(node, number, milliseconds)
      .hSet(nodes, node, String(at))
      .expire(nodes, forgottenSeconds)
      .expire(usersOf(node), forgottenSeconds)
  }

  return {
    async change(node, number, changes) {
      const writing = leased(node, number)
      for (const { appId, uid, isOnline } of changes) {
        const member = memberOf([appId, uid])
        if (isOnline) writing.sAdd(usersOf(node), member)
        else writing.sRem(usersOf(node), member)
      }
      const [before] = await writing.exec()
      return before !== null
    },
    async rewrite(node, number, users, at) {
      const writing = signed(node, number, at).del(usersOf(node))
      const members = Array.from(users, memberOf)
      for (let n = 0; n < members.length; n += usersAtOnce) {
        writing.sAdd(usersOf(node), members.slice(n, n + usersAtOnce))
      }
      await writing.exec()
    },
    async renew(node, number, at) {
      const [before] = await signed(node, number, at).exec()
      return before !== null
    },
    async leave(node, number, at, milliseconds) {
      await signed(node, number, at, milliseconds).exec()
    },
    async signs() {
      const signs = await client().hGetAll(nodes)
      return new Map(Object.entries(signs).map(([node, at]) => [node, Number(at)]))
    },
    async numbers(asked) {
      if (asked.length === 0) return new Map()
      const numbers = await client().mGet(asked.map(leaseOf))
      return new Map(asked.flatMap((node, n) => (numbers[n] ? [[node, Number(numbers[n])]] : [])))
    },
    async read(node) {
      const [number, members] = await client().multi().get(leaseOf(node)).sMembers(usersOf(node)).exec()
      if (number === null) return undefined
      return { number: Number(number), users: (members as unknown as string[]).map(someoneOf) }
    },
    async claim(node) {
      const keys = [leaseOf(node), nodes, usersOf(node)]
      const members = (await client().eval(claimScript, { keys, arguments: [node] })) as string[] | null
      return members?.map(someoneOf)
    },
  }
}
