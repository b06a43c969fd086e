/**
 * What carries the sound and the pictures of calls, as areas and the gateway see it. It knows rooms and devices, never users,
 * tokens or what state a call is in; and what it has devices say to each other is opaque to everybody above it.
 *
 * This port stands here and not in `kit/ports.ts`, because the kit knows nothing of the product; `Tools` learns of it below.
 */
export interface MediaEngine {
  /** Why there is no media, in a sentence for the operator; nothing, if there is. It looks anew every time. */
  trouble(): Promise<string | undefined>
  /**
   * Makes a room where there is none; one that is there stays as it is. To be asked before every `join`: a room that was
   * lost, or stood empty for a while, is not there any more.
   */
  openRoom(spec: RoomSpec): Promise<{ node: string }>
  /** Has everybody leave, one after the other, and removes the room. What is not there needs no removing. */
  closeRoom(room: string): Promise<void>
  /** Whoever joins again begins anew, and what was there of the device before is taken down first. */
  join(device: DeviceRef, how: { mayPublish: boolean }, toDevice: ToDevice): Promise<void>
  /**
   * A device is back whose connections may have lasted, after its socket or this server was away. Whether they have; if not,
   * it has to join again.
   */
  resume(device: DeviceRef, toDevice: ToDevice): Promise<boolean>
  /** Takes in what a device says; its answers go the other way by `toDevice`. */
  signal(device: DeviceRef, signal: FromDevice): Promise<void>
  /** Who is not there needs no leaving. */
  leave(device: DeviceRef): Promise<void>
  /** Which videos a device wants, of those there are and those to come. The sound of all others it always gets. */
  select(device: DeviceRef, videos: VideoWish[]): Promise<void>
  /** Whether what a device sends of a kind is kept from all others, also what it sends later. */
  setMuted(device: DeviceRef, media: MediaKind, isMuted: boolean): Promise<void>
  /** With credentials that are this device's own and hold for a while. */
  iceServers(device: DeviceRef): IceServer[]
  /** Answers how to stop hearing. What is told while nobody hears yet is kept for the first who does. */
  hear(listener: (event: MediaEvent) => void): () => void
  nodes(): MediaNode[]
  figures(): MediaFigures
  close(): Promise<void>
}

export type MediaKind = 'audio' | 'video'

export interface RoomSpec {
  /** Unique in the install. */
  room: string
  /** A call of sound alone refuses pictures. */
  media: MediaKind[]
  /** How many devices may send at once; how many may be there at all is for the caller to count. */
  publishersMax: number
  videoBitrateMax: number
}

export interface DeviceRef {
  room: string
  /** Unique in the room. */
  device: string
}

export type ToDevice = (signal: ToDeviceSignal) => void

/** What a device says: it offers what it sends, and answers what it is offered to receive. */
export type FromDevice =
  | {
      type: 'offer'
      sdp: string
      /** What its streams are, by their mid, such as `screen`; others that get them are told. */
      labels?: Record<string, string>
    }
  | { type: 'answer'; sdp: string; connection: number }
  | { type: 'candidate'; way: 'send' | 'receive'; candidate: IceCandidate | null }
  /** Its network has changed: it wants a new offer for the connection that it receives over. */
  | { type: 'restart' }

export type ToDeviceSignal =
  | { type: 'answer'; sdp: string }
  | {
      type: 'offer'
      sdp: string
      /** Another number than before: the offer is for a new connection, and the one before is over. */
      connection: number
      /** Whose streams they are, by the mid they have in this offer. */
      streams: Record<string, ReceivedStream>
    }
  /** Its connection for sending or receiving has ended at the engine; it has to join again. */
  | { type: 'hangup'; reason: string }

export interface ReceivedStream {
  device: string
  media: MediaKind
  label: string
}

export interface IceCandidate {
  candidate: string
  sdpMid?: string | null
  sdpMLineIndex?: number | null
}

export interface VideoWish {
  device: string
  /** Any of its videos, if absent. */
  label?: string
  heightMax?: 180 | 360 | 720
}

export interface IceServer {
  urls: string[]
  username?: string
  credential?: string
}

/** What has happened; `at` is when, in milliseconds. An event that is told twice by an engine is heard once. */
export type MediaEvent = { at: number; room: string } & (
  | { kind: 'joined'; device: string }
  | { kind: 'left'; device: string; reason: 'left' | 'lost' }
  /** The engine gets packets of this kind from the device, or has got none for a second. */
  | { kind: 'media'; device: string; media: MediaKind; isOn: boolean }
  | { kind: 'speaking'; device: string; isOn: boolean }
  | { kind: 'quality'; device: string; lostPackets: number; way: 'send' | 'receive' }
  /** The room died with its process: everybody in it has to join again. Nobody is told to have left. */
  | { kind: 'roomLost' }
)

export interface MediaNode {
  node: string
  isReady: boolean
  rooms: number
  devices: number
}

export interface MediaFigures {
  rooms: number
  devices: number
  /** How often a process of the engine was started anew because it had died. */
  restarts: number
}

/** There is no media now; the message says why, and what to do about it. */
export class MediaUnavailable extends Error {
  override name = 'MediaUnavailable'
}

/** What was asked for cannot be; the caller has made a mistake, or comes too late. */
export class MediaRefused extends Error {
  override name = 'MediaRefused'
  readonly reason: MediaRefusal
  constructor(reason: MediaRefusal, message: string) {
    super(message)
    this.reason = reason
  }
}

export type MediaRefusal =
  | 'noRoom'
  | 'noDevice'
  | 'videoInAudioRoom'
  | 'mayNotPublish'
  | 'tooManyPublishers'
  | 'badSignal'

declare module '../kit/ports.ts' {
  interface Tools {
    media: MediaEngine
  }
}
