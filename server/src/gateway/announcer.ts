import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { blockedPairs } from '../areas/blocked-users/index.ts'
import { friendPairs } from '../areas/friends/index.ts'
import { policyOf, roleRules } from '../areas/rbac/index.ts'
import { identitiesOf, toUser, type UserIdentity, type UserRow, usersByUid } from '../areas/users/index.ts'
import { viewIn } from '../common/work-in.ts'
import type { Presence, PresenceChange, Tools } from '../kit/ports.ts'
import { type Connection, TakesLong } from '../storage/connection.ts'
import type { Database } from '../storage/database.ts'
import type { TenantDb } from '../storage/tenant.ts'
import { DatabaseUnavailable } from '../storage/unavailable.ts'

/** A device that wants to know who comes and goes. */
export interface PresenceSubscriber {
  appId: string
  uid: string
  mode: 'ALL_USERS' | 'ROLES' | 'FRIENDS'
  /** Whose coming and going, where the mode is `ROLES`. */
  roles: ReadonlySet<string>
  send(frame: Buffer): void
}

/** Tells subscribers of this node who comes and goes, on whichever node. */
export interface Announcer {
  /** Answers how to end it. */
  subscribe(subscriber: PresenceSubscriber): () => void
  stop(): void
}

/** Rounds are a second long. */
export interface AnnouncerPace {
  roundMilliseconds: number
  /** So many changes of an app are told at once in a round; when there are more, the last state of each user follows. */
  changesPerRound: number
  /** To all subscribers of this node; more, up to the maximum, where some would wait for longer than a minute. */
  framesPerRound: number
  framesPerRoundMax: number
}

export const usualPace: AnnouncerPace = {
  roundMilliseconds: 1_000,
  changesPerRound: 20,
  framesPerRound: 20_000,
  framesPerRoundMax: 100_000,
}

interface Parts {
  presence: Pick<Presence, 'onChange'>
  database: Pick<Database, 'read' | 'readLong'>
  tools: () => Tools
  frame: (type: string, rest: object) => Buffer
  log: Pick<Logger, 'error'>
  pace?: AnnouncerPace
}

const waitRoundsMax = 60
const usersAtOnce = 100
const viewersAtOnce = 500
const turnMilliseconds = 5
const longReadMilliseconds = 10_000

type LastChange = Pick<PresenceChange, 'isOnline' | 'at'>

/** An app with subscribers. */
interface Listening {
  appId: string
  subscribers: Set<PresenceSubscriber>
  /** By UID, who is not as was last told, in the order in which it is told: all subscribers hear of them together. */
  waiting: Map<string, LastChange>
  /** When it may be told. */
  dueAt: number
  toldAt: number
  /** How many more changes may be told at once. */
  allowance: number
  allowedAt: number
  viewers: Viewers
}

/** The subscribers as users. They are read again every round, and so is what their roles may see. */
interface Viewers {
  readAt: number
  byUid: Map<string, Viewer | undefined>
}

interface Viewer extends UserIdentity {
  policy: roleRules.Policy
}

/** A change, ready to be told to whoever may hear it. */
interface Announcement {
  user: UserRow
  frame: Buffer
  blocked: ReadonlySet<string>
  friends: ReadonlySet<string>
}

export function createAnnouncer({ presence, database, tools, frame, log, pace = usualPace }: Parts): Announcer {
  const apps = new Map<string, Listening>()
  const now = () => performance.now()
  let timer: NodeJS.Timeout | undefined
  let plannedAt = Number.POSITIVE_INFINITY
  let isTelling = false
  let isStopped = false
  let roundBeganAt = now()
  let sentInRound = 0

  function hear({ appId, uid, isOnline, at }: PresenceChange): void {
    const app = apps.get(appId)
    if (!app) return
    add(app.waiting, uid, { isOnline, at })
    app.dueAt = isAllowed(app) ? now() : Math.max(now(), app.toldAt + pace.roundMilliseconds)
    plan(app.dueAt)
  }

  function isAllowed(app: Listening): boolean {
    const { changesPerRound, roundMilliseconds } = pace
    const regained = ((now() - app.allowedAt) / roundMilliseconds) * changesPerRound
    app.allowance = Math.min(changesPerRound, app.allowance + regained)
    app.allowedAt = now()
    if (app.allowance < 1) return false
    app.allowance -= 1
    return true
  }

  function plan(at: number): void {
    if (isTelling || isStopped || at >= plannedAt) return
    clearTimeout(timer)
    plannedAt = at
    timer = setTimeout(() => void tellDue(), Math.max(0, at - now()))
  }

  async function tellDue(): Promise<void> {
    isTelling = true
    for (let app = nextDue(); app; app = nextDue()) {
      const room = roomFor(app)
      if (room === 0) break
      await tellSome(app, room)
      takeLastTurn(app)
    }
    isTelling = false
    plannedAt = Number.POSITIVE_INFINITY
    const isFull = leftInRound() <= 0
    for (const { waiting, dueAt } of apps.values()) {
      if (waiting.size > 0) plan(isFull ? Math.max(dueAt, roundBeganAt + pace.roundMilliseconds) : dueAt)
    }
  }

  /** Apps take turns. One that all have left meanwhile stays away: whoever came after that listens anew. */
  function takeLastTurn(app: Listening): void {
    if (apps.get(app.appId) !== app) return
    apps.delete(app.appId)
    apps.set(app.appId, app)
  }

  function nextDue(): Listening | undefined {
    if (isStopped) return undefined
    for (const app of apps.values()) if (app.waiting.size > 0 && app.dueAt <= now()) return app
    return undefined
  }

  function leftInRound(): number {
    if (now() - roundBeganAt >= pace.roundMilliseconds) {
      roundBeganAt = now()
      sentInRound = 0
    }
    let waiting = 0
    for (const app of apps.values()) waiting += app.waiting.size * app.subscribers.size
    const wanted = Math.max(pace.framesPerRound, waiting / waitRoundsMax)
    return Math.min(pace.framesPerRoundMax, wanted) - sentInRound
  }

  /** Of how many users may be told now; at least of one, however many subscribers there are. */
  function roomFor({ subscribers }: Listening): number {
    const left = leftInRound()
    return left <= 0 ? 0 : Math.min(usersAtOnce, Math.max(1, Math.floor(left / subscribers.size)))
  }

  async function tellSome(app: Listening, count: number): Promise<void> {
    const changes = takeSome(app.waiting, count)
    app.toldAt = now()
    try {
      const announcements = await reading(app.appId, (connection) => prepare(app, connection, new Map(changes)))
      await nextTurn()
      await tell(app, announcements)
      await nextTurn()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) log.error({ err: error }, 'who came and went could not be told')
      putBack(app, changes)
    }
  }

  function putBack(app: Listening, changes: [string, LastChange][]): void {
    const later = app.waiting
    app.waiting = new Map(changes)
    for (const [uid, change] of later) add(app.waiting, uid, change)
    app.dueAt = now() + pace.roundMilliseconds
  }

  /** Where everybody waits, unless it turns out to take long. */
  async function reading<T>(appId: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      return await database.read((connection) => work({ ...connection, isShared: true }), appId)
    } catch (error) {
      if (!(error instanceof TakesLong)) throw error
      return database.readLong(work, AbortSignal.timeout(longReadMilliseconds))
    }
  }

  /** Users who are deactivated or gone are not spoken of, but that those have gone who are deactivated. */
  async function prepare(
    app: Listening,
    connection: Connection,
    changes: Map<string, LastChange>,
  ): Promise<Announcement[]> {
    const view = viewIn(connection, app.appId, tools())
    const { db } = view
    const found = [...(await usersByUid(db, [...changes.keys()])).values()]
    const users = found.filter(({ uid, deactivated_at }) => deactivated_at === null || !changes.get(uid)?.isOnline)
    if (users.length === 0) return []
    await readViewers(app, db)
    const others = [...app.viewers.byUid.keys()]
    const blocked = byId(await blockedPairs(db, users, others))
    const friends = byId(friendsMatter(app) ? await friendPairs(db, users, others) : [])
    return users.map((user) => {
      const { isOnline, at } = changes.get(user.uid) as LastChange
      const action = isOnline ? 'online' : 'offline'
      const lastActiveAt = Math.max(user.last_active_at ?? 0, at)
      const body = { action, user: { ...toUser(view, user), status: action, lastActiveAt } }
      return {
        user,
        frame: frame('presence', { sender: user.uid, body }),
        blocked: blocked.get(user.id) ?? nobody,
        friends: friends.get(user.id) ?? nobody,
      }
    })
  }

  async function readViewers(app: Listening, db: TenantDb): Promise<void> {
    if (now() - app.viewers.readAt >= pace.roundMilliseconds) app.viewers = { readAt: now(), byUid: new Map() }
    const { byUid } = app.viewers
    const missing = new Set<string>()
    for (const { uid } of app.subscribers) if (!byUid.has(uid)) missing.add(uid)
    const uids = [...missing]
    const policies = new Map<string, Promise<roleRules.Policy>>()
    for (let n = 0; n < uids.length; n += viewersAtOnce) {
      const some = uids.slice(n, n + viewersAtOnce)
      const identities = await identitiesOf(db, some)
      for (const uid of some) byUid.set(uid, undefined)
      for (const identity of identities) {
        const { uid, role, role_id: roleId } = identity
        const key = JSON.stringify([role, roleId])
        const policy = policies.get(key) ?? policyOf(db, { uid, role, roleId })
        policies.set(key, policy)
        byUid.set(uid, { ...identity, policy: await policy })
      }
      await nextTurn()
    }
  }

  /** The frames of a subscriber follow each other, so that they can be written together. */
  async function tell(app: Listening, announcements: Announcement[]): Promise<void> {
    let beganAt = now()
    for (const subscriber of [...app.subscribers]) {
      const viewer = app.viewers.byUid.get(subscriber.uid)
      if (!viewer) continue
      for (const announcement of announcements) {
        if (!isFor(announcement, subscriber, viewer) || !app.subscribers.has(subscriber)) continue
        subscriber.send(announcement.frame)
        sentInRound += 1
      }
      if (now() - beganAt < turnMilliseconds) continue
      await nextTurn()
      if (isStopped) return
      beganAt = now()
    }
  }

  const stopHearing = presence.onChange(hear)

  return {
    subscribe(subscriber) {
      const { appId } = subscriber
      const app = apps.get(appId) ?? newlyListening(appId, pace)
      apps.set(appId, app)
      app.subscribers.add(subscriber)
      return () => {
        app.subscribers.delete(subscriber)
        if (app.subscribers.size === 0 && apps.get(appId) === app) apps.delete(appId)
      }
    },
    stop() {
      isStopped = true
      stopHearing()
      clearTimeout(timer)
      apps.clear()
    },
  }
}

const nobody: ReadonlySet<string> = new Set()

function newlyListening(appId: string, { changesPerRound }: AnnouncerPace): Listening {
  const never = Number.NEGATIVE_INFINITY
  return {
    ...{ appId, subscribers: new Set(), waiting: new Map(), dueAt: never, toldAt: never },
    ...{ allowance: changesPerRound, allowedAt: performance.now() },
    viewers: { readAt: never, byUid: new Map() },
  }
}

/** Somebody who is again as was last told is not spoken of. */
function add(waiting: Map<string, LastChange>, uid: string, change: LastChange): void {
  const known = waiting.get(uid)
  if (known && known.isOnline !== change.isOnline) waiting.delete(uid)
  else waiting.set(uid, change)
}

function takeSome(waiting: Map<string, LastChange>, count: number): [string, LastChange][] {
  const some: [string, LastChange][] = []
  for (const entry of waiting) {
    if (some.length === count) break
    waiting.delete(entry[0])
    some.push(entry)
  }
  return some
}

function byId(pairs: [string, string][]): Map<string, Set<string>> {
  const sets = new Map<string, Set<string>>()
  for (const [id, other] of pairs) sets.set(id, (sets.get(id) ?? new Set()).add(other))
  return sets
}

function friendsMatter({ subscribers, viewers }: Listening): boolean {
  for (const { mode } of subscribers) if (mode === 'FRIENDS') return true
  for (const viewer of viewers.byUid.values()) if (viewer && roleRules.seesFriendsOnly(viewer.policy)) return true
  return false
}

/** Whether a subscriber wants to hear it, and may: as over REST, nobody is told of users whom they may not see. */
function isFor({ user, blocked, friends }: Announcement, { mode, roles }: PresenceSubscriber, viewer: Viewer): boolean {
  if (viewer.id === user.id || blocked.has(viewer.id)) return false
  const isFriend = friends.has(viewer.id)
  if (mode === 'FRIENDS' && !isFriend) return false
  if (mode === 'ROLES' && !roles.has(user.role)) return false
  return roleRules.maySeeUser(viewer.policy, { friend: isFriend, role: user.role })
}
