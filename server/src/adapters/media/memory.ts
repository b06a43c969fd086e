import {
  type DeviceRef,
  type MediaEngine,
  type MediaKind,
  MediaRefused,
  type RoomSpec,
  type ToDevice,
} from '../../common/media.ts'
import { mediaHearers } from './hearers.ts'
import { hasLiveVideo, looksLikeSdp } from './sdp.ts'

/**
 * An engine that carries nothing, for tests of the rules above it: who is in which room, what is refused, and what is told.
 * What a device sends counts as flowing as soon as it is offered.
 */
export interface MemoryMedia extends MediaEngine {
  /** As if the process with this room had died. */
  loseRoom(room: string): void
  /** As if the engine had found this out. */
  noteMedia(device: DeviceRef, media: MediaKind, isOn: boolean): void
  noteSpeaking(device: DeviceRef, isOn: boolean): void
  isMuted(device: DeviceRef, media: MediaKind): boolean
}

interface Inmate {
  mayPublish: boolean
  toDevice: ToDevice
  muted: Set<MediaKind>
}

const node = 'memory-1'

export function memoryMedia(now: () => number = Date.now): MemoryMedia {
  const rooms = new Map<string, { spec: RoomSpec; devices: Map<string, Inmate> }>()
  const { tell, hear } = mediaHearers((error) => {
    throw error
  })
  let restarts = 0

  function roomNamed(name: string) {
    const room = rooms.get(name)
    if (!room) throw new MediaRefused('noRoom', 'There is no such room.')
    return room
  }

  function inmate({ room, device }: DeviceRef): Inmate {
    const found = roomNamed(room).devices.get(device)
    if (!found) throw new MediaRefused('noDevice', 'This device is not in the room.')
    return found
  }

  function remove({ room, device }: DeviceRef): void {
    if (rooms.get(room)?.devices.delete(device)) tell({ kind: 'left', at: now(), room, device, reason: 'left' })
  }

  function takeOffer(ref: DeviceRef, sdp: string): void {
    const { mayPublish, toDevice } = inmate(ref)
    if (!looksLikeSdp(sdp)) throw new MediaRefused('badSignal', 'This is no session description.')
    if (!mayPublish) throw new MediaRefused('mayNotPublish', 'This device may only receive.')
    const isVideo = hasLiveVideo(sdp)
    if (isVideo && !roomNamed(ref.room).spec.media.includes('video')) {
      throw new MediaRefused('videoInAudioRoom', 'This call is one of sound alone, and carries no video.')
    }
    try {
      toDevice({ type: 'answer', sdp })
    } catch {
      // It is away.
    }
    tell({ kind: 'media', at: now(), ...ref, media: 'audio', isOn: true })
    if (isVideo) tell({ kind: 'media', at: now(), ...ref, media: 'video', isOn: true })
  }

  const devices = () => [...rooms.values()].reduce((all, room) => all + room.devices.size, 0)

  return {
    trouble: async () => undefined,
    async openRoom(spec) {
      if (!rooms.has(spec.room)) rooms.set(spec.room, { spec, devices: new Map() })
      return { node }
    },
    async closeRoom(name) {
      for (const device of [...(rooms.get(name)?.devices.keys() ?? [])]) remove({ room: name, device })
      rooms.delete(name)
    },
    async join(ref, { mayPublish }, toDevice) {
      const { devices: inside } = roomNamed(ref.room)
      remove(ref)
      inside.set(ref.device, { mayPublish, toDevice, muted: new Set() })
      tell({ kind: 'joined', at: now(), ...ref })
    },
    async resume({ room, device }, toDevice) {
      const found = rooms.get(room)?.devices.get(device)
      if (found) found.toDevice = toDevice
      return found !== undefined
    },
    async signal(ref, signal) {
      inmate(ref)
      if (signal.type === 'offer') takeOffer(ref, signal.sdp)
      if (signal.type === 'answer' && !looksLikeSdp(signal.sdp)) {
        throw new MediaRefused('badSignal', 'This is no session description.')
      }
    },
    leave: async (ref) => remove(ref),
    async select(ref) {
      inmate(ref)
    },
    async setMuted(ref, media, isMuted) {
      const { muted } = inmate(ref)
      if (isMuted) muted.add(media)
      else muted.delete(media)
    },
    iceServers: () => [],
    hear,
    nodes: () => [{ node, isReady: true, rooms: rooms.size, devices: devices() }],
    figures: () => ({ rooms: rooms.size, devices: devices(), restarts }),
    async close() {
      rooms.clear()
    },
    loseRoom(room) {
      restarts += 1
      if (rooms.delete(room)) tell({ kind: 'roomLost', at: now(), room })
    },
    noteMedia: (ref, media, isOn) => tell({ kind: 'media', at: now(), ...ref, media, isOn }),
    noteSpeaking: (ref, isOn) => tell({ kind: 'speaking', at: now(), ...ref, isOn }),
    isMuted: (ref, media) => inmate(ref).muted.has(media),
  }
}
