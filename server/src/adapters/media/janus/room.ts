import {
  type FromDevice,
  type MediaEvent,
  type MediaKind,
  MediaRefused,
  MediaUnavailable,
  type RoomSpec,
  type ToDevice,
  type VideoWish,
} from '../../../common/media.ts'
import { type OneByOne, oneByOne } from '../../../plain/one-by-one.ts'
import { isRefusal, JanusError, type JanusSaid, JanusSilent, janusErrors } from './client.ts'
import type { EngineEvent } from './event-reading.ts'
import {
  forgetTimers,
  type LiveDevice,
  liveDevice,
  nameIn,
  nameOf,
  type RoomInside,
  senderOf,
  tellDevice,
} from './live-device.ts'
import { opaqueName } from './names.ts'
import type { JanusTimes, RunningJanus } from './process.ts'
import {
  beginAnew,
  goOnReceiving,
  receiverOf,
  refresh,
  refreshAll,
  restartReceiving,
  takeAnswer,
  takeDeviceAnswer,
} from './receiving.ts'
import type { RememberedDevice, RememberedRoom } from './remembered.ts'
import { destroyRoom, roomSecret } from './room-secret.ts'
import { mute, takeOffer } from './sending.ts'

/** A room in one process of the engine, and the devices in it. All that is done to it is done in turn. */
export interface JanusRoom {
  spec: RoomSpec
  known(): RememberedRoom
  deviceCount(): number
  /** Without a device, and with nothing left to do. */
  isIdle(): boolean
  create(): Promise<void>
  /** Makes it go on with what an earlier server, or an earlier connection, has left; who is not there any more has left. */
  claim(): Promise<void>
  close(): Promise<void>
  /** It is gone already, with its process. */
  drop(): void
  join(device: string, mayPublish: boolean, toDevice: ToDevice): Promise<void>
  resume(device: string, toDevice: ToDevice): Promise<boolean>
  signal(device: string, signal: FromDevice): Promise<void>
  leave(device: string, reason: 'left' | 'lost'): Promise<void>
  select(device: string, videos: VideoWish[]): Promise<void>
  setMuted(device: string, media: MediaKind, isMuted: boolean): Promise<void>
  /** What the engine has said unasked to a device. */
  take(device: LiveDevice, way: 'send' | 'receive', said: JanusSaid): void
  /** What it has told of a device. */
  takeEvent(event: EngineEvent): void
  keepAlive(): void
}

export interface JanusRoomParts {
  running(): RunningJanus
  times: JanusTimes
  awaitedMilliseconds: number
  route: RoomInside['route']
  unroute: RoomInside['unroute']
  save(): void
  tell(event: MediaEvent): void
  onTrouble(error: unknown): void
}

const wishesMax = 100
const candidateCharactersMax = 4_000
const keyFrameSeconds = 10
// Half a second of sound that is louder than so many decibels below the loudest counts as speaking.
const speakingPackets = 25
const speakingLevel = 40

let lastVisit = 0

/** Greater than any before, also those of an earlier server. */
function nextVisit(): number {
  lastVisit = Math.max(lastVisit + 1, Date.now())
  return lastVisit
}

export function janusRoom(spec: RoomSpec, parts: JanusRoomParts, left?: RememberedRoom): JanusRoom {
  const turns: OneByOne = oneByOne()
  const devices = new Map<string, LiveDevice>()
  const { running, times, save, tell } = parts

  const inside: RoomInside = {
    ...{ spec, devices, times, running, save },
    secret: () => roomSecret(running(), nameIn({ spec })),
    route: parts.route,
    unroute: parts.unroute,
    inTurn: (work) => turns.inTurn(work).catch(throwInOurWords),
    later: (work) => void turns.inTurn(work).catch(notWaitedFor),
  }
  const { inTurn } = inside
  const roomName = nameIn(inside)

  /** That the engine is gone is told by whoever watches it, and a handle may have ended just before. */
  function notWaitedFor(error: unknown): void {
    if (!(error instanceof JanusSilent || error instanceof MediaUnavailable)) parts.onTrouble(error)
  }

  function add(known: RememberedDevice, toDevice?: ToDevice): LiveDevice {
    const device = liveDevice(known, toDevice)
    devices.set(known.device, device)
    parts.route(known.sender, device, 'send')
    if (known.receiver !== undefined) parts.route(known.receiver, device, 'receive')
    return device
  }

  /** It is not there any more for anybody, whatever the engine still has of it. */
  function remove(device: LiveDevice, reason: 'left' | 'lost', at = Date.now()): void {
    if (device.isGone) return
    device.isGone = true
    forgetTimers(device)
    const { known } = device
    parts.unroute(known.sender)
    if (known.receiver !== undefined) parts.unroute(known.receiver)
    if (devices.get(known.device) === device) devices.delete(known.device)
    save()
    tell({ kind: 'left', room: spec.room, device: known.device, reason, at })
    refreshAll(inside)
  }

  async function enter(device: string, mayPublish: boolean, toDevice: ToDevice): Promise<void> {
    const { client } = running()
    const visit = nextVisit()
    const session = await client.createSession()
    try {
      const id = nameOf({ device, visit })
      const sender = await client.attach(session, opaqueName(spec.room, id))
      const { data } = await sender.request({ request: 'join', ptype: 'publisher', room: roomName, id })
      const known: RememberedDevice = {
        ...{ device, visit, mayPublish, session, sender: sender.id, privateId: data.private_id },
        ...{ receiver: undefined, connection: 0, isOffered: false, sends: {}, isSending: false, receives: {} },
        ...{ arriving: {}, isSpeaking: false, wishes: undefined, muted: [] },
      }
      const entered = add(known, toDevice)
      save()
      tell({ kind: 'joined', room: spec.room, device, at: Date.now() })
      inside.later(() => refresh(inside, entered))
    } catch (error) {
      await client.destroySession(session).catch(() => {})
      throw error
    }
  }

  async function takeDown(device: LiveDevice, reason: 'left' | 'lost'): Promise<void> {
    if (device.isGone) return
    const { receiver } = device.known
    remove(device, reason)
    try {
      await takeDownInOrder(device.known, receiver)
    } catch (error) {
      // What a dead engine has not done needs no doing.
      if (!(error instanceof JanusSilent || error instanceof MediaUnavailable)) throw error
    }
  }

  /** In the order that engines survive: what it receives, its place in the room, then all that is left of it. */
  async function takeDownInOrder({ session, sender }: RememberedDevice, receiver: number | undefined): Promise<void> {
    const { client } = running()
    if (receiver !== undefined) await client.handle(session, receiver).detach().catch(unlessRefused)
    await client.handle(session, sender).request({ request: 'leave' }).catch(unlessRefused)
    await client.destroySession(session)
  }

  function found(name: string): LiveDevice {
    const device = devices.get(name)
    if (!device) throw new MediaRefused('noDevice', 'This device is not in the room.')
    return device
  }

  async function claimOne(device: LiveDevice): Promise<void> {
    const { client } = running()
    if (!(await client.claimSession(device.known.session))) remove(device, 'lost')
  }

  /** What has come up or gone down while nobody listened. */
  async function lookWhoSends(): Promise<void> {
    const { data } = await running().control.request({ request: 'listparticipants', room: roomName })
    const told: Record<string, unknown>[] = Array.isArray(data.participants) ? data.participants : []
    for (const device of [...devices.values()]) {
      const there = told.find(({ id }) => id === nameOf(device.known))
      if (!there) await takeDown(device, 'lost')
      device.known.isSending = there?.publisher === true
      if (!device.known.isSending) device.known.sends = {}
    }
    refreshAll(inside)
  }

  function awaitReturn(device: LiveDevice): void {
    clearTimeout(device.awaitedTimer)
    device.awaitedTimer = setTimeout(() => inside.later(() => takeDown(device, 'lost')), parts.awaitedMilliseconds)
    device.awaitedTimer.unref()
  }

  for (const known of left?.devices ?? []) awaitReturn(add(known))

  async function takeSignal(device: LiveDevice, signal: FromDevice): Promise<void> {
    if (signal.type === 'offer') return takeOffer(inside, device, signal)
    if (signal.type === 'answer') return takeDeviceAnswer(inside, device, signal)
    if (signal.type === 'restart') return restartReceiving(inside, device)
    if (signal.type !== 'candidate' || !isCandidate(signal.candidate)) {
      throw new MediaRefused('badSignal', 'This is neither a session description nor a candidate.')
    }
    const handle = signal.way === 'send' ? senderOf(inside, device) : receiverOf(inside, device)
    await handle?.trickle(signal.candidate)
  }

  return {
    spec,
    known: () => ({ spec, devices: [...devices.values()].map(({ known }) => known) }),
    deviceCount: () => devices.size,
    isIdle: () => devices.size === 0 && turns.isAtRest(),
    create: () =>
      inTurn(async () => {
        const { control, adminKey } = running()
        const request = createRequest(spec, roomName, inside.secret(), adminKey)
        await control.request(request).catch(async (error) => {
          if (!isRefusal(error, janusErrors.roomExists)) throw error
          // An earlier server was killed when it had just made it.
          await destroyRoom(running(), roomName)
          await control.request(request)
        })
        save()
      }),
    claim: () =>
      inTurn(async () => {
        for (const device of [...devices.values()]) await claimOne(device)
        await lookWhoSends()
        save()
      }),
    close: () =>
      inTurn(async () => {
        for (const device of [...devices.values()]) await takeDown(device, 'left')
        await destroyRoom(running(), roomName)
      }),
    drop() {
      for (const device of devices.values()) {
        device.isGone = true
        forgetTimers(device)
      }
      devices.clear()
    },
    join: (device, mayPublish, toDevice) =>
      inTurn(async () => {
        const before = devices.get(device)
        if (before) await takeDown(before, 'left')
        await enter(device, mayPublish, toDevice)
      }),
    resume: (name, toDevice) =>
      inTurn(async () => {
        const device = devices.get(name)
        if (!device) return false
        clearTimeout(device.awaitedTimer)
        device.toDevice = toDevice
        await goOnReceiving(inside, device)
        return true
      }),
    signal: (device, signal) => inTurn(() => takeSignal(found(device), signal)),
    leave: (name, reason) =>
      inTurn(async () => {
        const device = devices.get(name)
        if (device) await takeDown(device, reason)
      }),
    select: (name, videos) =>
      inTurn(async () => {
        const device = found(name)
        device.known.wishes = videos.slice(0, wishesMax)
        save()
        await refresh(inside, device)
      }),
    setMuted: (name, media, isMuted) =>
      inTurn(async () => {
        const device = found(name)
        const others = device.known.muted.filter((each) => each !== media)
        device.known.muted = isMuted ? [...others, media] : others
        save()
        await mute(inside, device, media, isMuted)
      }),
    take(device, way, said) {
      if (device.isGone) return
      if (way === 'receive') takeOfReceiving(device, said)
      else takeOfSending(device, said)
    },
    takeEvent(event) {
      const device = devices.get(event.visit.device)
      // Of somebody who has left, or joined anew since.
      if (device?.known.visit !== event.visit.number) return
      if (event.kind === 'gone') remove(device, 'lost', event.at)
      else tellOf(device, event)
    },
    keepAlive() {
      const { client } = running()
      for (const device of devices.values()) void client.keepAlive(device.known.session).catch(lostWithSession(device))
    },
  }

  function lostWithSession(device: LiveDevice): (error: unknown) => void {
    return (error) => {
      if (isRefusal(error, janusErrors.noSession)) remove(device, 'lost')
    }
  }

  function takeOfSending(device: LiveDevice, said: JanusSaid): void {
    const { known } = device
    if (said.kind === 'webrtcup') known.isSending = true
    else if (said.kind === 'hangup') {
      known.isSending = false
      known.sends = {}
      tellDevice(device, { type: 'hangup', reason: said.reason })
    } else return
    save()
    refreshAll(inside)
  }

  function takeOfReceiving(device: LiveDevice, said: JanusSaid): void {
    const { connection } = device.known
    if (said.kind === 'event') takeAnswer(inside, device, said.answer)
    else if (said.kind === 'hangup') inside.later(() => beginAnew(inside, device, connection))
  }

  /** What is told twice, or was known before a restart of the server, is no news. */
  function tellOf({ known }: LiveDevice, event: Exclude<EngineEvent, { kind: 'gone' }>): void {
    const about = { at: event.at, room: spec.room, device: known.device }
    if (event.kind === 'lost') {
      tell({ ...about, kind: 'quality', lostPackets: event.lostPackets, way: event.way })
    } else if (event.kind === 'speaking') {
      if (known.isSpeaking === event.isOn) return
      known.isSpeaking = event.isOn
      tell({ ...about, kind: 'speaking', isOn: event.isOn })
    } else {
      const isAny = () => Object.values(known.arriving).includes(event.media)
      const wasOn = isAny()
      if (event.isOn) known.arriving[event.mid] = event.media
      else delete known.arriving[event.mid]
      if (isAny() !== wasOn) tell({ ...about, kind: 'media', media: event.media, isOn: event.isOn })
    }
    save()
  }
}

function createRequest(spec: RoomSpec, room: string, secret: string, adminKey: string) {
  return {
    ...{ request: 'create', room, secret, admin_key: adminKey, permanent: false, is_private: true },
    ...{ publishers: spec.publishersMax, require_pvtid: true, notify_joining: false },
    ...{ audiocodec: 'opus', videocodec: 'h264', h264_profile: '42e01f', opus_dtx: true },
    ...{ bitrate: spec.videoBitrateMax, bitrate_cap: true, fir_freq: keyFrameSeconds },
    ...{ audiolevel_event: true, audio_active_packets: speakingPackets, audio_level_average: speakingLevel },
    lock_record: true,
  }
}

function isCandidate(candidate: unknown): boolean {
  if (candidate === null) return true
  if (typeof candidate !== 'object' || !('candidate' in candidate)) return false
  return typeof candidate.candidate === 'string' && JSON.stringify(candidate).length <= candidateCharactersMax
}

/** What the engine answers is for us; whoever asked learns whether it is worth to try again. */
function throwInOurWords(error: unknown): never {
  if (error instanceof JanusSilent) throw new MediaUnavailable(error.message)
  if (isRefusal(error, janusErrors.noSuchRoom)) {
    throw new MediaRefused('noRoom', 'There is no such room.')
  }
  if (error instanceof JanusError) throw new MediaRefused('badSignal', `The media engine refuses: ${error.message}`)
  throw error
}

/** What it does not know any more has left already. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof JanusError)) throw error
}
