import type { Shows } from '../kit/channel.ts'
import type { Session } from './session.ts'
import type { Told } from './told.ts'

/** A user who is connected to this node, by one device or by several. */
export interface Hearer {
  appId: string
  uid: string
  sessions: Set<Session>
  /** Keys of what they hear; for very many users in very many groups a list takes half of what a set does. */
  channels: string[]
  /** What of it they may be shown; all, if nothing stands here. Read again before it is next asked, where it is `unknown`. */
  shows: Shows | 'unknown' | undefined
  /** How often that has changed. */
  sightChanges: number
  /** What is told to them once it is known again what they may be shown. */
  held: Told[]
  /** Keys of channels that they left since. */
  leftMeanwhile: string[]
}

interface HearersOfApp {
  byUid: Map<string, Hearer>
  byChannel: Map<string, ChannelHere>
}

interface ChannelHere {
  /** The one text that all of its hearers have for it: each of them was read another one. */
  key: string
  hearers: Set<Hearer>
}

/** Who is here, found by user and by what they hear. Each app has maps of its own: no two keys of different apps can meet. */
export interface Hearers {
  find(appId: string, uid: string): Hearer | undefined
  add(hearer: Hearer): void
  remove(hearer: Hearer): void
  /** Whoever hears one of these channels, each once. */
  hearing(appId: string, channels: string[]): Iterable<Hearer>
  /** Lets those who are here join and leave, as an event says. */
  move(told: Told): void
  all(): Iterable<Hearer>
  ofApp(appId: string): Iterable<Hearer>
}

const nobody: readonly Hearer[] = []

/** What was read of what a user may be shown does not hold any more. */
export function doubtSight(hearer: Hearer): void {
  hearer.shows = 'unknown'
  hearer.sightChanges += 1
}

export function createHearers(): Hearers {
  const apps = new Map<string, HearersOfApp>()

  function appOf(appId: string): HearersOfApp {
    const known = apps.get(appId)
    if (known) return known
    const app: HearersOfApp = { byUid: new Map(), byChannel: new Map() }
    apps.set(appId, app)
    return app
  }

  /** Answers the key to keep. */
  function enter({ byChannel }: HearersOfApp, hearer: Hearer, channel: string): string {
    const here = byChannel.get(channel)
    if (here) here.hearers.add(hearer)
    else byChannel.set(channel, { key: channel, hearers: new Set([hearer]) })
    return here?.key ?? channel
  }

  function leave({ byChannel }: HearersOfApp, hearer: Hearer, channel: string): void {
    const here = byChannel.get(channel)
    here?.hearers.delete(hearer)
    if (here?.hearers.size === 0) byChannel.delete(channel)
  }

  const hearersAt = ({ byChannel }: HearersOfApp, channel: string): Iterable<Hearer> =>
    byChannel.get(channel)?.hearers ?? nobody

  function join(app: HearersOfApp, channel: string, uid: string | undefined): void {
    const hearer = uid === undefined ? undefined : app.byUid.get(uid)
    if (!hearer) return
    if (!app.byChannel.get(channel)?.hearers.has(hearer)) hearer.channels.push(enter(app, hearer, channel))
    // What holds for members of the group holds for them from now on.
    doubtSight(hearer)
  }

  function part(app: HearersOfApp, channel: string, uid: string | undefined): void {
    const named = uid === undefined ? undefined : app.byUid.get(uid)
    for (const hearer of uid === undefined ? [...hearersAt(app, channel)] : named ? [named] : nobody) {
      const place = hearer.channels.indexOf(channel)
      if (place >= 0) hearer.channels.splice(place, 1)
      leave(app, hearer, channel)
    }
  }

  return {
    find: (appId, uid) => apps.get(appId)?.byUid.get(uid),
    add(hearer) {
      const app = appOf(hearer.appId)
      app.byUid.set(hearer.uid, hearer)
      hearer.channels = hearer.channels.map((channel) => enter(app, hearer, channel))
    },
    remove(hearer) {
      const app = apps.get(hearer.appId)
      if (app?.byUid.get(hearer.uid) !== hearer) return
      app.byUid.delete(hearer.uid)
      for (const channel of hearer.channels) leave(app, hearer, channel)
      if (app.byUid.size === 0) apps.delete(hearer.appId)
    },
    hearing(appId, channels) {
      const app = apps.get(appId)
      if (!app) return nobody
      if (channels.length === 1) return hearersAt(app, channels[0] as string)
      return new Set(channels.flatMap((channel) => [...hearersAt(app, channel)]))
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
