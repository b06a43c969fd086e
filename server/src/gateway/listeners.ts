import type { Shows } from '../kit/channel.ts'
import type { Session } from './session.ts'
import type { Told } from './told.ts'

/** A user who is connected to this node, by one device or by several. */
export interface Listener {
  appId: string
  uid: string
  sessions: Set<Session>
  /** Keys of what they hear. */
  channels: Set<string>
  /** What of it they may be shown; all, if nothing stands here. Read again before it is next asked, where it is `unknown`. */
  shows: Shows | 'unknown' | undefined
  /** How often that has changed. */
  sightChanges: number
  /** What is told to them once it is known again what they may be shown. */
  held: Told[]
}

interface ListenersOfApp {
  byUid: Map<string, Listener>
  byChannel: Map<string, Set<Listener>>
}

/** Who is here, found by user and by what they hear. Each app has maps of its own: no two keys of different apps can meet. */
export interface Listeners {
  find(appId: string, uid: string): Listener | undefined
  add(listener: Listener): void
  remove(listener: Listener): void
  /** Whoever hears one of these channels, each once. */
  hearing(appId: string, channels: string[]): Iterable<Listener>
  /** Lets those who are here join and leave, as an event says. */
  move(told: Told): void
  all(): Iterable<Listener>
  ofApp(appId: string): Iterable<Listener>
}

const nobody: readonly Listener[] = []

/** What was read of what a user may be shown does not hold any more. */
export function doubtSight(listener: Listener): void {
  listener.shows = 'unknown'
  listener.sightChanges += 1
}

export function createListeners(): Listeners {
  const apps = new Map<string, ListenersOfApp>()

  function appOf(appId: string): ListenersOfApp {
    const known = apps.get(appId)
    if (known) return known
    const app: ListenersOfApp = { byUid: new Map(), byChannel: new Map() }
    apps.set(appId, app)
    return app
  }

  function enter({ byChannel }: ListenersOfApp, listener: Listener, channel: string): void {
    const others = byChannel.get(channel)
    if (others) others.add(listener)
    else byChannel.set(channel, new Set([listener]))
  }

  function leave({ byChannel }: ListenersOfApp, listener: Listener, channel: string): void {
    const others = byChannel.get(channel)
    others?.delete(listener)
    if (others?.size === 0) byChannel.delete(channel)
  }

  function join(app: ListenersOfApp, channel: string, uid: string | undefined): void {
    const listener = uid === undefined ? undefined : app.byUid.get(uid)
    if (!listener) return
    listener.channels.add(channel)
    enter(app, listener, channel)
    // What holds for members of the group holds for them from now on.
    doubtSight(listener)
  }

  function part(app: ListenersOfApp, channel: string, uid: string | undefined): void {
    const named = uid === undefined ? undefined : app.byUid.get(uid)
    for (const listener of uid === undefined ? [...(app.byChannel.get(channel) ?? nobody)] : named ? [named] : nobody) {
      listener.channels.delete(channel)
      leave(app, listener, channel)
    }
  }

  return {
    find: (appId, uid) => apps.get(appId)?.byUid.get(uid),
    add(listener) {
      const app = appOf(listener.appId)
      app.byUid.set(listener.uid, listener)
      for (const channel of listener.channels) enter(app, listener, channel)
    },
    remove(listener) {
      const app = apps.get(listener.appId)
      if (app?.byUid.get(listener.uid) !== listener) return
      app.byUid.delete(listener.uid)
      for (const channel of listener.channels) leave(app, listener, channel)
      if (app.byUid.size === 0) apps.delete(listener.appId)
    },
    hearing(appId, channels) {
      const byChannel = apps.get(appId)?.byChannel
      if (!byChannel) return nobody
      if (channels.length === 1) return byChannel.get(channels[0] as string) ?? nobody
      return new Set(channels.flatMap((channel) => [...(byChannel.get(channel) ?? nobody)]))
    },
    move({ appId, joins, leaves }) {
      const app = apps.get(appId)
      if (!app) return
      for (const { channel, uid } of joins) join(app, channel, uid)
      for (const { channel, uid } of leaves) part(app, channel, uid)
    },
    *all() {
      for (const { byUid } of apps.values()) yield* byUid.values()
    },
    ofApp: (appId) => apps.get(appId)?.byUid.values() ?? nobody,
  }
}
