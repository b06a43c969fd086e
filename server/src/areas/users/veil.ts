import { type SqlBool, sql } from 'kysely'
import type { Shows } from '../../kit/channel.ts'
import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { policyOf, roleRules } from '../rbac/index.ts'
import { uidsOfFriends } from './gates.ts'
import { systemUid, veiledUser } from './store.ts'

/**
 * What is told live, as somebody may see it whose role may not get every user: as over REST (see sight.ts), of the others it
 * tells no more than a UID. Decided from what was read beforehand, and by the role that a user had when it happened.
 */
export async function veilBefore(db: TenantDb, uid: string, actor: Actor | undefined): Promise<Shows | undefined> {
  const sees = await sightBeforehand(db, uid, actor)
  if (!sees) return undefined
  const hidden = (frame: object) => [...new Set(usersIn(frame).flatMap((user) => (sees(user) ? [] : [user.uid])))]
  return { veil: { hidden, without: (frame, uids) => without(frame, new Set(uids)) as object } }
}

interface Named {
  uid: string
  name: string
  role?: string
}

/** Nothing for everyone. */
async function sightBeforehand(
  db: TenantDb,
  uid: string,
  actor: Actor | undefined,
): Promise<((user: Named) => boolean) | undefined> {
  const seen = actor ? roleRules.seenUsers(await policyOf(db, actor)) : 'nobody'
  if (seen === 'everyone') return undefined
  const friends = seen !== 'nobody' && seen.friendsOnly ? await friendsOf(db, uid) : undefined
  const seesOther = ({ uid: other, role = '' }: Named) =>
    seen !== 'nobody' && (friends?.has(other) ?? true) && (seen.roles.length === 0 || seen.roles.includes(role))
  return (user) => user.uid === uid || user.uid === systemUid || seesOther(user)
}

/** The friends of a user, whose role may be kept to them. */
export async function friendsOf(db: TenantDb, uid: string): Promise<Set<string>> {
  const rows = await db
    .select('users')
    .select('users.uid')
    .where(sql<SqlBool>`users.uid IN ${uidsOfFriends.ask(db, uid)}`)
    .execute()
  return new Set(rows.map((row) => row.uid))
}

const known = new WeakMap<object, Named[]>()

/** All users of whom a frame tells; looked for once, however many it goes to. */
function usersIn(frame: object): Named[] {
  const found = known.get(frame) ?? []
  if (!known.has(frame)) {
    walk(frame, (user) => {
      found.push(user)
      return user
    })
    known.set(frame, found)
  }
  return found
}

function without(frame: object, uids: ReadonlySet<string>): unknown {
  return walk(frame, (user) => (uids.has(user.uid) ? veiled(user) : user))
}

const aboutThem = new Set([
  'avatar',
  'link',
  'statusMessage',
  'metadata',
  'tags',
  'lastActiveAt',
  'updatedAt',
  'deactivatedAt',
])

/** What is told of where they are, such as their scope in a group, stays. */
function veiled(user: Named): object {
  const rest = Object.entries(user).filter(([name]) => !aboutThem.has(name))
  return { ...Object.fromEntries(rest), ...veiledUser(user.uid) }
}

// What somebody has written into these is theirs, whatever it looks like.
const ownWords = new Set(['metadata', 'tags'])
// Of what a message holds, this is the server's.
const ofServer = new Set(['entities', 'mentions'])

/** The same, with something else in place of each user. */
function walk(value: unknown, change: (user: Named) => object): unknown {
  if (Array.isArray(value)) return value.map((each) => walk(each, change))
  if (typeof value !== 'object' || value === null) return value
  if (isUser(value)) return change(value)
  return changed(value, (part, name) => {
    if (name === 'data')
      return isMessage(value) ? changed(value.data, (own, of) => (ofServer.has(of) ? walk(own, change) : own)) : part
    return ownWords.has(name) ? part : walk(part, change)
  })
}

function changed(value: object, change: (part: unknown, name: string) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part, name)]))
}

function isMessage(value: object): value is { data: object } {
  return 'category' in value && 'data' in value && typeof value.data === 'object' && value.data !== null
}

function isUser(value: object): value is Named {
  return 'uid' in value && typeof value.uid === 'string' && 'name' in value && typeof value.name === 'string'
}
