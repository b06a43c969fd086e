import assert from 'node:assert/strict'
import { toldOf } from '../../../server/src/dispatch/frames.ts'
import { channelsOf, showsTo } from '../../../server/src/dispatch/hearing.ts'
import { channelKey, type Shows } from '../../../server/src/kit/channel.ts'
import type { EventDefinition } from '../../../server/src/kit/event.ts'
import { tenantDb } from '../../../server/src/storage/tenant.ts'
import type { Caller } from '../house.ts'
import { logAfter } from '../told.ts'
import { shownOf } from './app-people.ts'
import { appReducers } from './app-reducers.ts'
import { comparable } from './comparable.ts'
import { differences } from './differences.ts'
import { fetchApp } from './fetch-app.ts'
import { fetchOwn, takeFetched } from './fetch-own.ts'
import { forgiveToApp, gaps } from './gaps.ts'
import { recount } from './own-messages.ts'
import { ownReducers, type Reducers } from './own-reducers.ts'
import { type Scene, watchers } from './stage.ts'
import type { AppState, Json, OwnState } from './state.ts'

/** Copies of what everybody was shown, kept by events alone, and held against what they are shown. */
export interface Watch {
  /** Gives everybody what was told since, and lets them fetch what they came into. */
  catchUp(): Promise<void>
  /** Gives everybody what was told since, and compares; answers whether all of them are still there. */
  compare(what: string, withApp: boolean): Promise<boolean>
}

/** Whom these are told to has nothing left to look at. */
const lastWords = ['user.deactivated', 'user.deleted']

interface Told {
  definition: EventDefinition
  payload: Json
}

interface Watcher {
  uid: string
  client: Caller
  heard: Set<string>
  copy: OwnState
}

/** Names of events that were applied to a copy; for the question which never were. */
export const applied = { own: new Set<string>(), app: new Set<string>() }

export async function watch(scene: Scene): Promise<Watch> {
  const { house, app, clients } = scene
  const { areas, database, tools } = house.service.house
  const db = () => tenantDb(database.reader, app.id)
  let position = 0

  async function newEvents(): Promise<Told[]> {
    await house.settle()
    const { events, end } = await logAfter(house, app, position)
    position = end
    return events.map(({ definition, payload }) => ({
      definition,
      payload: toldOf(definition, payload, { appId: app.id, tools }),
    }))
  }

  async function begin(uid: string): Promise<Watcher> {
    const client = clients.get(uid) ?? assert.fail(uid)
    const heard = new Set((await channelsOf(areas, db(), uid)).map(channelKey))
    return { uid, client, heard, copy: await fetchOwn(client, uid) }
  }

  await newEvents()
  let everybody = await Promise.all(watchers.map(begin))
  let appCopy = await fetchApp(house, app)

  /** Gives everybody what was told since; answers the names of what each has heard. */
  async function tellAll(events: Told[]): Promise<Map<string, string[]>> {
    for (const { definition, payload } of events) apply(appReducers, appCopy, definition, payload, applied.app)
    const heard = new Map<string, string[]>()
    for (const watcher of everybody) {
      heard.set(watcher.uid, tell(watcher, events, await showsTo(areas, db(), watcher.uid)))
    }
    return heard
  }

  async function compareApp(events: Told[]): Promise<string[]> {
    const fresh = await fetchApp(house, app)
    const gone = events.filter(({ definition }) => definition.name === 'user.deleted')
    const forgiving = (state: AppState) => gone.reduce((some, { payload }) => forgiveToApp(some, payload.uid), state)
    const lines = differences(forgiving(comparable(shownOf(appCopy))), forgiving(comparable(fresh)))
    if (gone.length > 0) appCopy = fresh
    return lines
  }

  return {
    async catchUp() {
      await tellAll(await newEvents())
      for (const { copy, client, uid } of everybody) {
        if (copy.toFetch.size > 0) takeFetched(copy, await fetchOwn(client, uid, copy.toFetch))
      }
    },
    async compare(what, withApp) {
      const events = await newEvents()
      const names = events.map(({ definition }) => definition.name)
      if (names.includes('app.archived')) return false
      const heard = await tellAll(events)
      const found = withApp ? (await compareApp(events)).map((line) => `the app: ${line}`) : []
      const isThere = ({ uid }: Watcher) => !heard.get(uid)?.some((name) => lastWords.includes(name))
      const left = everybody.filter(isThere)
      const compared = left.map(async (watcher) => {
        const untold = events.filter(({ definition: { name } }) => !heard.get(watcher.uid)?.includes(name))
        return (await compareOwn(watcher, untold)).map((line) => `${watcher.uid}: ${line}`)
      })
      found.push(...(await Promise.all(compared)).flat())
      assert.equal(found.length, 0, `${what}, of which was told ${names.join(', ')}\n${found.join('\n')}`)
      const areAllThere = left.length === everybody.length
      everybody = left
      return areAllThere
    },
  }
}

/** Holds a user's copy against what they are shown, but for what they were not told. */
async function compareOwn(watcher: Watcher, untold: Told[]): Promise<string[]> {
  const fresh = await fetchOwn(watcher.client, watcher.uid)
  takeFetched(watcher.copy, fresh)
  recount(watcher.copy)
  const missed = untold.filter(({ definition }) => definition.name in gaps)
  const forgiving = (state: OwnState) =>
    missed.reduce((some, { definition, payload }) => gaps[definition.name]?.forgive(some, payload) ?? some, state)
  const lines = differences(forgiving(comparable(watcher.copy)), forgiving(comparable(fresh)))
  // Whoever was not told is right again when they have fetched.
  if (missed.length > 0) watcher.copy = fresh
  return lines
}

/** Gives somebody the events that they hear; answers their names. */
function tell({ uid, heard, copy }: Watcher, events: Told[], shows: Shows | undefined): string[] {
  const names: string[] = []
  for (const { definition, payload } of events) {
    const isHeard = definition.audience(payload).some((channel) => heard.has(channelKey(channel)))
    if (isHeard && (shows?.isTold?.(definition, payload) ?? true)) {
      names.push(definition.name)
      apply(ownReducers, copy, definition, payload, applied.own)
    }
    for (const { channel, uid: who } of definition.joins?.(payload) ?? []) {
      if (who === uid) heard.add(channelKey(channel))
    }
    for (const { channel, uid: who = uid } of definition.leaves?.(payload) ?? []) {
      if (who === uid) heard.delete(channelKey(channel))
    }
  }
  return names
}

function apply<State extends OwnState | AppState>(
  reducers: Reducers<State>,
  copy: State,
  { name }: EventDefinition,
  payload: Json,
  names: Set<string>,
): void {
  const reduce = reducers[name]
  if (typeof reduce !== 'function') return
  names.add(name)
  // Nothing that is kept is shared with what was told to others.
  reduce(copy, structuredClone(payload))
}
