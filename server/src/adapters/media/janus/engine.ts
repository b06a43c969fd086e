import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type DeviceRef,
  type IceServer,
  type MediaEngine,
  MediaRefused,
  MediaUnavailable,
  type RoomSpec,
} from '../../../common/media.ts'
import { oneByOne } from '../../../plain/one-by-one.ts'
import { mediaHearers } from '../hearers.ts'
import { preflight } from '../preflight.ts'
import { type MediaSettings, partOf } from '../settings.ts'
import { reclaimSeconds } from './configuration.ts'
import { readEngineEvent } from './event-reading.ts'
import { type EventServer, openEventServer } from './event-server.ts'
import type { LiveDevice } from './live-device.ts'
import { engineName } from './names.ts'
import {
  endLeftover,
  type JanusProcess,
  type JanusTimes,
  janusProcess,
  type RunningJanus,
  usualJanusTimes,
} from './process.ts'
import { memoryIn, type Remembered, type RememberedProcess, readRemembered } from './remembered.ts'
import { type JanusRoom, janusRoom } from './room.ts'
import { destroyRoom } from './room-secret.ts'

/** Rooms in several small processes of Janus, each of which can die without the others. */
export interface JanusEngine extends MediaEngine {
  /** Leaves all processes and what is in them to another server, as a kill of this one would. */
  letGo(): Promise<void>
  /** For tests, which kill them. */
  processIds(): number[]
  /** Waits until another server could go on from here. */
  remembered(): Promise<void>
}

export interface JanusEngineOptions {
  settings: MediaSettings
  iceServers?: (device: DeviceRef) => IceServer[]
  onTrouble(error: unknown, what: string): void
  times?: Partial<JanusTimes>
}

const pathBytes = 24
const millisecondsPerSecond = 1000
const clearAwayMilliseconds = 2 * reclaimSeconds * millisecondsPerSecond

/** One process, its rooms, and whose each of its handles is. */
interface Node {
  process: JanusProcess
  running: RunningJanus | undefined
  rooms: Map<string, JanusRoom>
  owners: Map<number, { room: string; device: LiveDevice; way: 'send' | 'receive' }>
  idleSince: number
}

export async function openJanusEngine(options: JanusEngineOptions): Promise<JanusEngine> {
  const { settings, iceServers = () => [] } = options
  const times = { ...usualJanusTimes, ...options.times }
  const { tell, hear } = mediaHearers((error) => options.onTrouble(error, 'a media event could not be taken in'))
  const before = readRemembered(settings.folder)
  const path = before?.events.path ?? randomBytes(pathBytes).toString('base64url')
  const takeEvent = (told: Record<string, unknown>) => {
    const event = readEngineEvent(told)
    if (event) roomNamed(event.room)?.takeEvent(event)
  }
  let listening: Promise<EventServer> | undefined
  let eventsPort = before?.events.port ?? 0
  /** From the first start of a process on; where processes are left that tell to a port, at that one if it is free. */
  function eventServer(): Promise<EventServer> {
    listening ??= openEventServer(path, eventsPort, takeEvent)
      .catch(() => openEventServer(path, 0, takeEvent))
      .then((server) => {
        eventsPort = server.port
        return server
      })
    return listening
  }
  const memory = memoryIn(settings.folder, remembered, (error) => options.onTrouble(error, 'calls are not remembered'))
  /** Openings and closings of one room follow each other, whether there is one or not. */
  const doorways = new Map<string, ReturnType<typeof oneByOne>>()
  const nodes = Array.from({ length: settings.processes }, (_, n) => nodeOf(n))
  const findings = () => preflight(settings)
  let isClosed = false

  function remembered(): Remembered {
    const processes = nodes.flatMap(({ process, rooms }): RememberedProcess[] => {
      const known = process.known()
      return known ? [{ ...known, rooms: [...rooms.values()].map((room) => room.known()) }] : []
    })
    return { events: { port: eventsPort, path }, processes }
  }

  function nodeOf(n: number): Node {
    const node: Node = {
      process: janusProcess({
        node: `media-${n + 1}`,
        ports: partOf(settings.ports, n, settings.processes),
        uid: settings.uid,
        preflight: () => findings(),
        address: settings.address,
        publicAddress: settings.publicAddress,
        eventsUrl: async () => (await eventServer()).url,
        times,
        onReconnected: (running) => takeUp(node, running),
        onLost: (why) => lose(node, why),
        isNeeded: () => !isClosed,
      }),
      running: undefined,
      rooms: new Map(),
      owners: new Map(),
      idleSince: performance.now(),
    }
    return node
  }

  const roomNamed = (name: string) => nodes.map(({ rooms }) => rooms.get(name)).find((room) => room !== undefined)
  const nodeWith = (name: string) => nodes.find(({ rooms }) => rooms.has(name))

  /** Listens to a process, and makes all in it go on that was there before. */
  async function takeUp(node: Node, running: RunningJanus): Promise<void> {
    listenTo(node, running)
    for (const [name, room] of node.rooms) {
      await room.claim().catch((error) => {
        options.onTrouble(error, 'a room could not be taken up')
        node.rooms.delete(name)
        room.drop()
        tell({ kind: 'roomLost', room: name, at: Date.now() })
      })
    }
    memory.save()
  }

  function listenTo(node: Node, running: RunningJanus): void {
    node.running = running
    running.client.onUnasked((handle, said) => {
      const owner = node.owners.get(handle)
      if (owner) node.rooms.get(owner.room)?.take(owner.device, owner.way, said)
    })
  }

  function lose(node: Node, why: string): void {
    options.onTrouble(new Error(why || 'It said nothing.'), `${node.process.node} has died`)
    node.running = undefined
    node.owners.clear()
    const lost = [...node.rooms]
    node.rooms.clear()
    memory.save()
    for (const [name, room] of lost) {
      room.drop()
      tell({ kind: 'roomLost', room: name, at: Date.now() })
    }
  }

  function roomIn(node: Node, spec: RoomSpec, left?: RememberedProcess['rooms'][number]): JanusRoom {
    return janusRoom(
      spec,
      {
        running() {
          if (!node.running || !node.process.isReady())
            throw new MediaUnavailable('The media engine is being started anew.')
          return node.running
        },
        times,
        awaitedMilliseconds: settings.awaitedSeconds * millisecondsPerSecond,
        route: (handle, device, way) => void node.owners.set(handle, { room: spec.room, device, way }),
        unroute: (handle) => void node.owners.delete(handle),
        save: memory.save,
        tell,
        onTrouble: (error) => options.onTrouble(error, 'something was not done in a room'),
      },
      left,
    )
  }

  /** The one with the least to do; among equals, one that runs. */
  function leastBusy(): Node {
    const busy = ({ rooms }: Node) => [...rooms.values()].reduce((sum, room) => sum + 1 + room.deviceCount(), 0)
    const order = (node: Node) => busy(node) * 2 + (node.process.isReady() ? 0 : 1)
    return nodes.reduce((best, node) => (order(node) < order(best) ? node : best))
  }

  async function atDoorOf<T>(name: string, work: () => Promise<T>): Promise<T> {
    const doorway = doorways.get(name) ?? oneByOne()
    doorways.set(name, doorway)
    try {
      return await doorway.inTurn(work)
    } finally {
      if (doorway.isAtRest()) doorways.delete(name)
    }
  }

  async function open(spec: RoomSpec): Promise<{ node: string }> {
    const there = nodeWith(spec.room)
    if (there) return { node: there.process.node }
    if (isClosed) throw new MediaUnavailable('The media engine is being ended.')
    const node = leastBusy()
    const running = await node.process.ready()
    if (node.running !== running) listenTo(node, running)
    const room = roomIn(node, spec)
    node.rooms.set(spec.room, room)
    try {
      await room.create()
    } catch (error) {
      node.rooms.delete(spec.room)
      throw error
    }
    return { node: node.process.node }
  }

  async function closeOne(name: string): Promise<void> {
    const node = nodeWith(name)
    const room = node?.rooms.get(name)
    if (!node || !room) return
    try {
      await room.close()
    } catch (error) {
      // It has died with its process.
      if (!(error instanceof MediaUnavailable)) throw error
    } finally {
      room.drop()
      if (node.rooms.get(name) === room) node.rooms.delete(name)
      node.idleSince = performance.now()
      memory.save()
    }
  }

  function roomOf({ room: name }: DeviceRef): JanusRoom {
    const room = roomNamed(name)
    if (!room) throw new MediaRefused('noRoom', 'There is no such room.')
    return room
  }

  async function takeOverAll(left: RememberedProcess[]): Promise<void> {
    const portBefore = eventsPort
    const { port } = await eventServer()
    await Promise.all(left.map((each) => takeOverOne(each, port === portBefore)))
    memory.save()
  }

  /** Where its events cannot be heard, it is of no use, and its rooms are as lost as if it had died. */
  async function takeOverOne(left: RememberedProcess, isHeard: boolean): Promise<void> {
    const node = nodes.find(({ process }) => process.node === left.node)
    const running = await node?.process.takeOver(left)
    if (!node || !running || !isHeard) {
      await node?.process.end()
      if (!node) await endLeftover(left)
      for (const { spec } of left.rooms) tell({ kind: 'roomLost', room: spec.room, at: Date.now() })
      return
    }
    for (const each of left.rooms) node.rooms.set(each.spec.room, roomIn(node, each.spec, each))
    await takeUp(node, running)
    void clearAway(node, running).catch((error) => options.onTrouble(error, 'rooms may be left over'))
  }

  /** Rooms that were made in the moment of a kill; whoever was in them is gone by then. */
  async function clearAway({ rooms, process }: Node, running: RunningJanus): Promise<void> {
    await pause(clearAwayMilliseconds, undefined, { ref: false })
    if (isClosed || !process.isReady()) return
    const { data } = await running.control.request({ request: 'list', admin_key: running.adminKey })
    const known = new Set([...rooms.keys()].map(engineName))
    for (const { room } of Array.isArray(data.list) ? data.list : []) {
      if (!known.has(String(room))) await destroyRoom(running, String(room))
    }
  }

  const emptySince = new Map<JanusRoom, number>()

  function closeIfLongEmpty(name: string, room: JanusRoom, now: number): void {
    const since = emptySince.get(room) ?? now
    if (!room.isIdle()) emptySince.delete(room)
    else if (now - since < times.emptyRoomMilliseconds) emptySince.set(room, since)
    else {
      emptySince.delete(room)
      void atDoorOf(name, async () => (room.isIdle() ? closeOne(name) : undefined)).catch(() => {})
    }
  }

  function endIfLongIdle(node: Node, now: number): void {
    // Whoever is at a door may be about to open a room in it.
    if (node.rooms.size > 0 || doorways.size > 0) node.idleSince = now
    else if (node.process.isReady() && now - node.idleSince >= times.idleProcessMilliseconds) {
      node.running = undefined
      void node.process.end().finally(memory.save)
    }
  }

  function tidy(): void {
    const now = performance.now()
    for (const node of nodes) {
      for (const [name, room] of node.rooms) closeIfLongEmpty(name, room, now)
      endIfLongIdle(node, now)
    }
  }

  function keepAlive(): void {
    for (const { running, rooms } of nodes) {
      if (!running) continue
      void running.client.keepAlive(running.control.session).catch(() => {})
      for (const room of rooms.values()) room.keepAlive()
    }
  }

  const timers = [setInterval(keepAlive, times.keepAliveMilliseconds), setInterval(tidy, tidyMilliseconds)]
  for (const timer of timers) timer.unref()
  if (before && before.processes.length > 0) await takeOverAll(before.processes)

  const sum = (figure: (node: Node) => number) => nodes.reduce((all, node) => all + figure(node), 0)
  const devicesIn = ({ rooms }: Node) => [...rooms.values()].reduce((all, room) => all + room.deviceCount(), 0)

  return {
    async trouble() {
      const found = await findings()
      if ('trouble' in found) return found.trouble
      return nodes.map(({ process }) => process.trouble()).find((each) => each !== undefined)
    },
    openRoom: (spec) => atDoorOf(spec.room, () => open(spec)),
    closeRoom: (name) => atDoorOf(name, () => closeOne(name)),
    join: async (ref, { mayPublish }, toDevice) => roomOf(ref).join(ref.device, mayPublish, toDevice),
    resume: async (ref, toDevice) => (await roomNamed(ref.room)?.resume(ref.device, toDevice)) ?? false,
    signal: async (ref, signal) => roomOf(ref).signal(ref.device, signal),
    leave: async (ref) => roomNamed(ref.room)?.leave(ref.device, 'left'),
    select: async (ref, videos) => roomOf(ref).select(ref.device, videos),
    setMuted: async (ref, media, isMuted) => roomOf(ref).setMuted(ref.device, media, isMuted),
    iceServers,
    hear,
    nodes: () =>
      nodes.map((node) => ({
        node: node.process.node,
        isReady: node.process.isReady(),
        rooms: node.rooms.size,
        devices: devicesIn(node),
      })),
    figures: () => ({
      rooms: sum(({ rooms }) => rooms.size),
      devices: sum(devicesIn),
      restarts: sum(({ process }) => process.restarts()),
    }),
    async close() {
      isClosed = true
      for (const timer of timers) clearInterval(timer)
      await Promise.all(nodes.map(({ process }) => process.end()))
      for (const { rooms } of nodes) for (const room of rooms.values()) room.drop()
      memory.save()
      await memory.saved()
      await (await listening)?.close()
    },
    async letGo() {
      isClosed = true
      for (const timer of timers) clearInterval(timer)
      await memory.saved()
      for (const { process, rooms } of nodes) {
        process.letGo()
        for (const room of rooms.values()) room.drop()
      }
      await (await listening)?.close()
    },
    remembered: memory.saved,
    processIds: () => nodes.flatMap(({ process }) => process.known()?.pid ?? []),
  }
}

const tidyMilliseconds = 1_000
